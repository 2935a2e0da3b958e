package gormid

import (
	"errors"
	"fmt"
	"iter"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
)

// An Error is returned for what the plugin refuses, before anything is sent: a model whose fields
// cannot hold its IDs; a condition or a value in a map that is no ID of its column; a key or
// foreign key that is zero. It wraps the reason: [idtype.ErrZero], an [*idtype.InputError], the
// error of the source, or that of the look-up that some upserts need.
type Error struct {
	Model string // the Go type, for example "shop.Order"; empty for a table without a model, or with one that GORM made up
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

// fail ends the create with err. It takes the db of the callback, which a scope may have made
// another than the statement's.
func fail(db *gorm.DB, err error) {
	_ = db.AddError(newError(db.Statement.Schema, db.Statement.Table, err))
}

func newError(s *schema.Schema, table string, err error) *Error {
	e := &Error{Table: table, Err: err}
	if s != nil && s.ModelType.Name() != "" { // a join table's is a struct of all its fields and tags
		e.Model = s.ModelType.String()
	}
	return e
}

// explain says instead of the driver which field it refused for being zero: drivers tell no more
// than the number of the argument.
func explain(db *gorm.DB) {
	var known *Error // of this statement, or of an association that failed before it
	if !errors.Is(db.Error, idtype.ErrZero) || errors.As(db.Error, &known) || db.Statement.Schema == nil {
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
			case field.HasDefaultValue && !rows.isMaps(): // the database gives it a value where it is zero
			case !yield(newKey(field), rows):
				return
			}
		}
	}
}

// fieldName is the name of a field, and of those that it is embedded in; these share the names
// within them, so the column is named too.
func fieldName(field *schema.Field) string {
	if len(field.BindNames) < 2 {
		return field.Name
	}
	return field.BindName() + " (column " + field.DBName + ")"
}

func zeroError(field *schema.Field, row int) error {
	name, why := fieldName(field), zeroReason(field)
	if field.PrimaryKey {
		name = "the primary key " + name
		if why == "" {
			why = ", and no rule assigns it"
		}
	}
	return fmt.Errorf("row %d: %s is not set%s: %w", row, name, why, idtype.ErrZero)
}

// zeroReason says why a foreign key may be zero.
func zeroReason(field *schema.Field) string {
	field.Schema.Relationships.Mux.RLock()
	defer field.Schema.Relationships.Mux.RUnlock()
	if isForeignKey(field.Schema, field) {
		return ". Give it the ID of a row, or make it a pointer if it is optional. " +
			"A row that met a conflict was not stored and has none: load it first"
	}
	return ""
}

func foreignError(field *schema.Field, row int) error {
	return fmt.Errorf("row %d: the primary key %s is not set, and a general rule does not assign a key that is a foreign key or"+
		" named like one: set it, or add a rule with For(&%s{}): %w", row, fieldName(field), field.Schema.Name, idtype.ErrZero)
}

// assignError is of a value that a statement assigns, of a map or a struct.
func assignError(field *schema.Field, row string, isMap bool, err error) error {
	switch {
	case !errors.Is(err, idtype.ErrZero):
		return fmt.Errorf("%s%s: %w", row, fieldName(field), err)
	case isMap:
		return fmt.Errorf("%s%s is not set; for NULL give nil: %w", row, fieldName(field), err)
	}
	return fmt.Errorf("%s%s is not set%s: %w", row, fieldName(field), zeroReason(field), err)
}
