package gormid

import (
	"errors"
	"fmt"
	"iter"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
)

// An Error is what the plugin adds to a create that fails for want of an ID. It wraps the error of the source, that of the
// look-up that some upserts need, or [idtype.ErrZero] where a key or a foreign key is zero.
type Error struct {
	Model string // the Go type, for example "shop.Order"; empty for a table without a model
	Table string
	Err   error // the reason
}

func (e *Error) Error() string {
	if e.Model == "" {
		return fmt.Sprintf("gormid: table %s: %v", e.Table, e.Err)
	}
	return fmt.Sprintf("gormid: %s (table %s): %v", e.Model, e.Table, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// fail ends the create with err. It takes the db of the callback, which a scope may have made another than the statement's.
func fail(db *gorm.DB, err error) {
	e := &Error{Table: db.Statement.Table, Err: err}
	if s := db.Statement.Schema; s != nil {
		e.Model = s.ModelType.String()
	}
	_ = db.AddError(e)
}

// explain says which field the driver refused for being zero: drivers tell no more than the number of the argument.
func explain(db *gorm.DB) {
	stmt := db.Statement
	var known *Error // of this statement, or of an association that failed before it
	if !errors.Is(db.Error, idtype.ErrZero) || errors.As(db.Error, &known) || stmt.Schema == nil {
		return
	}
	for k, rows := range written(stmt) {
		for i := range rows.n {
			if k.get(rows.at(i)).isRefused() {
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
			if selected, named := columns[name]; !isID || named && !selected || !named && restricted {
				continue
			}
			if !yield(newKey(field), rows) {
				return
			}
		}
	}
}

func zeroError(field *schema.Field, row int) error {
	if field.PrimaryKey {
		return fmt.Errorf("row %d: the primary key %s is not set, and no rule assigns it: %w", row, field.Name, idtype.ErrZero)
	}
	return fmt.Errorf("row %d: %s is not set: %w", row, field.Name, idtype.ErrZero)
}

func foreignError(field *schema.Field, row int) error {
	return fmt.Errorf("row %d: the primary key %s is not set, and a general rule does not assign a key that is a foreign key or"+
		" named like one: set it, or add a rule with For(&%s{}): %w", row, field.Name, field.Schema.Name, idtype.ErrZero)
}
