package gormid

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strconv"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// An Error describes what the plugin rejected before anything was sent. That may be a model whose
// fields cannot hold its IDs, a condition or an assigned value that is not an ID of its column, or
// a key or a foreign key that is zero. It may also be rows whose source cannot mint, in which case
// Err wraps the source's error. An Error may also replace the error of a driver or a database about
// a key, or about the look-up that some upserts need.
//
// errors.Is finds [idtype.ErrZero] in it for a zero, and errors.As finds an [*idtype.InputError]
// for a text or another value that is not an ID.
type Error struct {
	// Model is the Go type, for example "shop.Order". It is empty for a table without a model, and
	// for a model that GORM created.
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

// A zeroReason is an idtype.ErrZero whose text names the field, and how to fix it.
type zeroReason string

func (r zeroReason) Error() string { return string(r) }

func (zeroReason) Unwrap() error { return idtype.ErrZero }

// fail ends the create with err. It uses the db of the callback, because a scope may have made it
// differ from the statement's.
func fail(db *gorm.DB, err error) {
	_ = db.AddError(newError(db.Statement.Schema, db.Statement.Table, err))
}

func newError(s *schema.Schema, table string, err error) *Error {
	if known, ok := err.(*Error); ok {
		return known
	}
	e := &Error{Table: table, Err: err}
	if s != nil && s.ModelType.Name() != "" { // the type of a join table has no name
		e.Model = keys.TypeName(s.ModelType)
	}
	return e
}

var nullText = pattern(`(?i)not.null|be null|null value|default value`)

// explain names the field that was rejected for being zero, or the key that is NULL. Drivers only
// report the number of the argument, and databases do not say how to fix it.
func (in *installed) explain(db *gorm.DB) {
	stmt, cause := db.Statement, db.Error
	var known *Error // of this statement, or of an association that failed before it
	isZero, isNull := errors.Is(cause, idtype.ErrZero), nullText().MatchString(cause.Error())
	replace := func(err error) {
		db.Error = nil
		fail(db, err)
	}
	switch {
	case errors.As(cause, &known) || !isZero && !isNull:
		return
	case stmt.Schema == nil:
		if rowsOf(stmt).isMaps() && in.tableKey(stmt) == nil {
			replace(fmt.Errorf("%w (no rule assigns keys of this table: if its key is missing, "+
				"give gormid.New a rule with ForTable(%q, column), or name a model)",
				cause, stmt.Table))
		}
		return
	}
	for k, rows := range written(stmt) {
		isKey := isNull && k.field.PrimaryKey && !k.field.HasDefaultValue
		for i := range rows.n {
			row := rows.at(i)
			id := k.get(row)
			if isZero && id.given && id.zero {
				replace(zeroError(k.field, rowName(i), false))
				return
			}
			if isKey && row.present() && id.zero {
				replace(fmt.Errorf("%w: %w", zeroError(k.field, rowName(i), false), cause))
				return
			}
		}
	}
}

// written yields the columns of IDs that an INSERT of the statement's rows writes.
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
			case field.HasDefaultValue && !rows.isMaps(): // the database has a default for zero
			case !yield(newKey(field), rows):
				return
			}
		}
	}
}

func rowName(i int) string { return "row " + strconv.Itoa(i) + ": " }

// fieldName returns the name of a field. Fields of different embedded structs may have the same
// name, so it includes the structs and the column for them.
func fieldName(field *schema.Field) string {
	if len(field.BindNames) < 2 {
		return field.Name
	}
	return field.BindName() + " (column " + field.DBName + ")"
}

// zeroError is the error for a key or a foreign key that is zero in a row, or in a map of
// assignments.
func zeroError(field *schema.Field, row string, inMap bool) error {
	parent, cure := referred(field), "set it"
	if parent != "" {
		cure = fmt.Sprintf("set it to the ID of an existing %s "+
			"(if the %[1]s met a conflict, look it up first)", parent)
	}
	switch isPointer := field.FieldType.Kind() == reflect.Pointer; {
	case inMap:
		cure = "set it, or give nil for NULL"
	case field.PrimaryKey && len(field.Schema.PrimaryFields) > 1:
		cure = "it is part of a composite primary key, which no rule assigns: set it"
	case field.PrimaryKey && parent == "":
		cure = fmt.Sprintf("no rule assigns this primary key, and a general rule leaves "+
			"the key of another model alone: set it, or give gormid.New a rule with For(&%s{})",
			field.Schema.Name)
	case field.PrimaryKey:
	case isPointer:
		cure += ", or to nil for NULL"
	default:
		cure += "; if it is optional, declare it as idtype.OrZero if 0 in the column means none, " +
			"or as a pointer or sqlid.Null if NULL does"
	}
	return zeroReason(fmt.Sprintf("%s%s of type %s is zero: %s",
		row, fieldName(field), keys.TypeName(field.FieldType), cure))
}

// referred returns the model that a foreign key refers to, if GORM has seen the relation, or else
// "".
func referred(field *schema.Field) string {
	for _, rel := range relationsOf(field.Schema) {
		for _, ref := range rel.References {
			if ref.ForeignKey == field && ref.PrimaryKey != nil {
				return ref.PrimaryKey.Schema.Name
			}
		}
	}
	return ""
}
