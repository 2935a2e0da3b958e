package gormid

import (
	"errors"
	"fmt"
	"iter"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
)

// An Error is that of a create that fails for want of an ID, or of a migration that finds a primary key that holds none. It wraps
// the error of the source, that of the look-up that some upserts need, or [idtype.ErrZero] where a key or a foreign key is zero.
type Error struct {
	Model string // the Go type, for example "shop.Order"; empty for a table without a model, or with one that GORM made up
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
	_ = db.AddError(newError(db.Statement.Schema, db.Statement.Table, err))
}

func newError(s *schema.Schema, table string, err error) *Error {
	e := &Error{Table: table, Err: err}
	if s != nil && s.ModelType.Name() != "" { // a join table's is a struct of all its fields and tags
		e.Model = s.ModelType.String()
	}
	return e
}

// explain says instead of the driver which field it refused for being zero: drivers tell no more than the number of the argument.
func explain(db *gorm.DB) {
	stmt := db.Statement
	var known *Error // of this statement, or of an association that failed before it
	if !errors.Is(db.Error, idtype.ErrZero) || errors.As(db.Error, &known) || stmt.Schema == nil {
		return
	}
	for k, rows := range written(stmt) {
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
	name, why := field.Name, ""
	if field.PrimaryKey {
		name, why = "the primary key "+name, ", and no rule assigns it"
	}
	field.Schema.Relationships.Mux.RLock()
	defer field.Schema.Relationships.Mux.RUnlock()
	if isForeignKey(field.Schema, field) {
		why = ": it refers to no row, or to one that met a conflict and was not stored, and is to be looked up before"
	}
	return fmt.Errorf("row %d: %s is not set%s: %w", row, name, why, idtype.ErrZero)
}

func foreignError(field *schema.Field, row int) error {
	return fmt.Errorf("row %d: the primary key %s is not set, and a general rule does not assign a key that is a foreign key or"+
		" named like one: set it, or add a rule with For(&%s{}): %w", row, field.Name, field.Schema.Name, idtype.ErrZero)
}
