package gormid

import (
	"database/sql"
	"reflect"

	"gorm.io/gorm"
)

// GORM reads a column into one int64 or the like, into a struct, or into a slice. One ID is neither
// to it: Pluck reads an integer before there is a row, and takes an array for a list of bytes. So
// it reads a text, which the ID takes as it takes any driver's.

// A singleID is a destination of one ID.
type singleID struct {
	stmt  *gorm.Statement
	dest  any
	value reflect.Value
	text  sql.NullString
}

type singleKey struct{} // in the settings of a statement

func single(db *gorm.DB) {
	stmt := db.Statement
	if db.Error != nil || !stmt.ReflectValue.IsValid() || !stmt.ReflectValue.CanSet() {
		return
	}
	if !stmt.ReflectValue.Type().Implements(reflect.TypeFor[anID]()) {
		return
	}
	s := &singleID{stmt: stmt, dest: stmt.Dest, value: stmt.ReflectValue}
	stmt.Settings.Store(singleKey{}, s)
	stmt.Dest, stmt.ReflectValue = &s.text, reflect.ValueOf(&s.text).Elem()
}

func unwrapSingle(db *gorm.DB) {
	stmt := db.Statement
	v, _ := stmt.Settings.Load(singleKey{})
	s, ok := v.(*singleID)
	if !ok || s.stmt != stmt {
		return
	}
	stmt.Settings.Delete(singleKey{})
	stmt.Dest, stmt.ReflectValue = s.dest, s.value
	if db.Error == nil && db.RowsAffected != 0 {
		var src any // NULL
		if s.text.Valid {
			src = s.text.String
		}
		_ = db.AddError(s.value.Addr().Interface().(sql.Scanner).Scan(src))
	}
}
