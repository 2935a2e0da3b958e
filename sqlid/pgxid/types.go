package pgxid

import (
	"database/sql"
	"database/sql/driver"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
)

// Which Go types are IDs, wrappers of IDs and lists of IDs.

// id is what IDs have.
type id interface {
	Codec() idtype.Codec
	Scheme() idtype.Scheme
}

var (
	idType    = reflect.TypeFor[id]()
	idPackage = reflect.TypeFor[idtype.DecimalID]().PkgPath()
)

// wrappers are the packages that wrap IDs. What others make of a struct that has one is their own.
var wrappers = map[string]bool{
	"database/sql": true, idPackage: true, strings.TrimSuffix(idPackage, "idtype") + "sqlid": true,
}

// idOf is the ID type of a value: its own, or that which it points to or wraps. A wrapper is a
// struct that begins with the ID. It asks no value: pgx plans for pointers that it is yet to make.
func idOf(t reflect.Type) (reflect.Type, bool) {
	for t != nil {
		switch t.Kind() {
		case reflect.Int64, reflect.Array:
			// A struct that embeds an ID has its methods, and is none.
			return t, t.NumMethod() != 0 && t.PkgPath() == idPackage && t.Implements(idType)
		case reflect.Pointer:
			t = t.Elem()
		case reflect.Struct:
			if !wrappers[t.PkgPath()] || t.NumField() == 0 || !isColumn(t) {
				return nil, false
			}
			t = t.Field(0).Type
		default:
			return nil, false
		}
	}
	return nil, false
}

func isColumn(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[driver.Valuer]()) &&
		reflect.PointerTo(t).Implements(reflect.TypeFor[sql.Scanner]())
}

// codecOf is that of an ID type.
func codecOf(t reflect.Type) idtype.Codec { return reflect.Zero(t).Interface().(id).Codec() }

// storageOf is the form in which a column holds the IDs of a type.
func storageOf(t reflect.Type) (idtype.Storage, bool) {
	if id, ok := idOf(t); ok {
		return codecOf(id).Storage(), true
	}
	return "", false
}

// isSlice recognises an idtype.Slice, and a pointer to one: alone among slices it has a Value.
func isSlice(t reflect.Type) bool {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && t.Kind() == reflect.Slice && t.PkgPath() == idPackage &&
		t.Implements(reflect.TypeFor[driver.Valuer]())
}

// elementForm is the form of the elements of an array: of IDs, or of ranges of IDs that are
// integers.
func elementForm(t reflect.Type) (idtype.Storage, bool) {
	if isRange(t) || t != nil && t.Kind() == reflect.Pointer && isRange(t.Elem()) {
		return formRange, true
	}
	return storageOf(t)
}

// isRange recognises ranges of IDs that are integers: PostgreSQL has no ranges of the other forms.
func isRange(t reflect.Type) bool {
	if t == nil || t.Kind() != reflect.Struct || t == reflect.TypeFor[idRange]() {
		return false
	}
	r, ok := reflect.Zero(t).Interface().(pgtype.RangeValuer)
	if !ok {
		return false
	}
	lower, _ := r.Bounds()
	form, ok := storageOf(reflect.TypeOf(lower))
	return ok && form == idtype.StorageBigint
}
