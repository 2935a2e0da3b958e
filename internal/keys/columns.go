package keys

import (
	"database/sql/driver"
	"reflect"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/schemes"
)

// textSize is how many characters an ID has that is stored as text.
const textSize = 16

// ID has the methods of all IDs that reflection needs.
type ID interface {
	IsZero() bool
	Scheme() idtype.Scheme
	Storage() idtype.Storage
}

// In finds the ID in a field of type t, or nil, and reports whether the field can be NULL. A type
// contains an ID if it is one, a pointer to one, or a Valuer whose first field is one, such as
// sql.Null.
func In(t reflect.Type) (found ID, null bool) {
	// A struct may begin with a pointer to its own type, and a pointer type may point to itself.
	for seen := map[reflect.Type]bool{}; !seen[t]; {
		seen[t] = true
		if t.Kind() == reflect.Pointer {
			t, null = t.Elem(), true
			continue
		}
		value := reflect.Zero(t).Interface()
		if id, ok := value.(ID); ok {
			return id, null
		}
		if _, ok := value.(driver.Valuer); !ok || t.Kind() != reflect.Struct || t.NumField() == 0 {
			return nil, false
		}
		null = null || t.PkgPath() == "database/sql"
		t = t.Field(0).Type
	}
	return nil, false
}

// TypeOf returns a value's type, or the type that it points to, through any number of pointers, and
// nil for nil.
func TypeOf(v any) reflect.Type {
	t := reflect.TypeOf(v)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// NoTests returns a condition by which a column rejects test IDs, or "" if the scheme has none.
func NoTests(id ID, column string) string { return schemes.Of(id.Scheme()).NoTests(column) }

// Column returns the type of the column that stores the ID, or "" if the dialect has none. In
// SQLite an integer primary key is INT, because SQLite would assign values to an INTEGER key.
func Column(d dialect.Dialect, id ID, primary bool) string {
	size := int(reflect.TypeOf(id).Size())
	if id.Storage() == idtype.StorageText {
		size = textSize
	}
	column := dialect.Column(d, string(id.Storage()), size)
	if primary && d == dialect.SQLite && column == "INTEGER" {
		return "INT"
	}
	return column
}
