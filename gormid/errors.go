package gormid

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
)

// An Error says what the plugin refused, and why. There are five reasons:
//
//   - A model whose fields cannot hold its IDs.
//   - A condition or an assigned value that is no ID of its column.
//   - A key or a foreign key that is zero. The driver may refuse it first. The Error then replaces
//     the driver's, and names the field.
//   - A source that cannot mint. Err wraps the source's error.
//   - The look-up that some upserts need, which comes after the INSERT. Err is the database's.
//
// The plugin refuses all but the last before it sends anything.
//
// errors.Is finds [idtype.ErrZero] in it for a zero, and errors.As an [*idtype.InputError] for a
// text or another value that is no ID.
type Error struct {
	// Model is the Go type, for example "shop.Order". It is empty for a table without a model, and
	// for a model that GORM made up.
	Model string
	Table string
	Err   error // the reason
}

func (e *Error) Error() string {
	if e.Table == "" {
		return fmt.Sprintf("gormid: %v", e.Err)
	}
	if e.Model == "" {
		return fmt.Sprintf("gormid: table %s: %v", e.Table, e.Err)
	}
	return fmt.Sprintf("gormid: %s (table %s): %v", e.Model, e.Table, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// within is an [Error] in the middle of another text, without the package's name.
type within struct{ error }

func (w within) Error() string { return strings.TrimPrefix(w.error.Error(), "gormid: ") }

func (w within) Unwrap() error { return w.error }

// A zeroReason is idtype.ErrZero in words that name the field and what to do.
type zeroReason string

func (r zeroReason) Error() string { return string(r) }

func (zeroReason) Unwrap() error { return idtype.ErrZero }

func zeroErrorf(format string, args ...any) error {
	return zeroReason(fmt.Sprintf(format, args...))
}

// typeName is a type without the paths of the packages in it: idtype.Decimal[shop.User].
func typeName(t reflect.Type) string {
	return strings.ReplaceAll(importPath.ReplaceAllString(t.String(), ""), "[interface {}]", "ID")
}

var importPath = regexp.MustCompile(`[^\[\],*]*/`)

// fail ends the create with err. It takes the db of the callback: a scope may have made it another
// than the statement's.
func fail(db *gorm.DB, err error) {
	_ = db.AddError(newError(db.Statement.Schema, db.Statement.Table, err))
}

func newError(s *schema.Schema, table string, err error) *Error {
	if known, ok := err.(*Error); ok {
		return known
	}
	e := &Error{Table: table, Err: err}
	if s != nil && s.ModelType.Name() != "" { // a join table's type has none
		e.Model = typeName(s.ModelType)
	}
	return e
}

// explain names the field that the driver refused for being zero. Drivers tell no more than the
// number of the argument.
func explain(db *gorm.DB) {
	var known *Error // of this statement, or of an association that failed before it
	switch {
	case !errors.Is(db.Error, idtype.ErrZero),
		errors.As(db.Error, &known),
		db.Statement.Schema == nil:
		return
	}
	for k, rows := range written(db.Statement) {
		for i := range rows.n {
			if k.get(rows.at(i)).isRefused() {
				db.Error = nil
				fail(db, zeroError(k.field, i))
				return
			}
		}
	}
}

// written are the columns of IDs that an INSERT of the statement's rows writes.
func written(stmt *gorm.Statement) iter.Seq2[*key, rows] {
	return func(yield func(*key, rows) bool) {
		rows := rowsOf(stmt)
		columns, restricted := stmt.SelectAndOmitColumns(true, false)
		for _, name := range stmt.Schema.DBNames {
			field := stmt.Schema.FieldsByDBName[name]
			_, isID := schemeOf(field)
			selected, named := columns[name]
			switch {
			case !isID || !field.Creatable || named && !selected || !named && restricted:
			case field.HasDefaultValue && !rows.isMaps(): // the database gives a value for zero
			case !yield(newKey(field), rows):
				return
			}
		}
	}
}

// fieldName is the name of a field. Embedded structs may share names within them, so their fields
// are named with the structs and the column.
func fieldName(field *schema.Field) string {
	if len(field.BindNames) < 2 {
		return field.Name
	}
	return field.BindName() + " (column " + field.DBName + ")"
}

// zeroError is for a key or a foreign key that is zero in a row to be created.
func zeroError(field *schema.Field, row int) error {
	name := fieldName(field)
	switch parent := referred(field); {
	case parent != "":
		return zeroErrorf("row %d: %s", row, zeroForeign(field, parent))
	case len(field.Schema.PrimaryFields) > 1 && field.PrimaryKey:
		return zeroErrorf("row %d: %s, part of the composite primary key, is zero: "+
			"rules assign no such key, so set it", row, name)
	case field.PrimaryKey:
		scheme, _ := schemeOf(field)
		return zeroErrorf("row %d: the primary key %s of type %s is zero, and no rule assigns it: "+
			"set it, or give gormid.New a rule for %s IDs",
			row, name, typeName(field.FieldType), scheme)
	}
	return zeroErrorf("row %d: %s of type %s is zero: set it%s",
		row, name, typeName(field.FieldType), orNull(field))
}

// zeroForeign says what to do about a foreign key that is zero.
func zeroForeign(field *schema.Field, parent string) string {
	return fmt.Sprintf("%s of type %s is zero: set it to the ID of an existing %s "+
		"(if the %[3]s met a conflict, look it up first)%s",
		fieldName(field), typeName(field.FieldType), parent, orNull(field))
}

// orNull says how a field is NULL.
func orNull(field *schema.Field) string {
	if field.FieldType.Kind() == reflect.Pointer {
		return ", or to nil for NULL"
	}
	return ", or make it a pointer if it is optional"
}

// referred is the model that a foreign key refers to, as far as GORM has seen the relation, or "".
func referred(field *schema.Field) string {
	field.Schema.Relationships.Mux.RLock()
	defer field.Schema.Relationships.Mux.RUnlock()
	for _, rel := range field.Schema.Relationships.Relations {
		for _, ref := range rel.References {
			if ref.ForeignKey == field && ref.PrimaryKey != nil {
				return ref.PrimaryKey.Schema.Name
			}
		}
	}
	if isForeignKey(field.Schema, field) {
		return "row"
	}
	return ""
}

// foreignError is for a primary key that a general rule left alone, and nobody set.
func foreignError(field *schema.Field, row int) error {
	return zeroErrorf("row %d: the primary key %s of type %s is zero: "+
		"a general rule does not assign a key that is a foreign key or is named like one: "+
		"set it, or add a rule with For(&%s{})",
		row, fieldName(field), typeName(field.FieldType), field.Schema.Name)
}

// assignError is for a value that a statement assigns, from a map or a struct.
func assignError(field *schema.Field, row string, isMap bool, err error) error {
	switch {
	case !errors.Is(err, idtype.ErrZero):
		return fmt.Errorf("%s%s of type %s: %w",
			row, fieldName(field), typeName(field.FieldType), err)
	case isMap:
		return zeroErrorf("%s%s of type %s is zero: set it, or give nil for NULL",
			row, fieldName(field), typeName(field.FieldType))
	}
	if parent := referred(field); parent != "" {
		return zeroErrorf("%s%s", row, zeroForeign(field, parent))
	}
	return zeroErrorf("%s%s of type %s is zero: set it%s",
		row, fieldName(field), typeName(field.FieldType), orNull(field))
}
