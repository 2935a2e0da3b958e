package pgxid

import (
	"database/sql"
	"database/sql/driver"
	"reflect"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
	"github.com/idmint/idmint/internal/schemes"
)

// This file decides which Go types are IDs, wrappers of IDs, and lists of IDs.

// An idKind describes a type of IDs.
type idKind struct {
	typ    reflect.Type
	direct direct
	form   idtype.Storage // of columns with such IDs
	// textIsDistinct reports that a text can only mean the ID. It is false for a Short, because
	// Scan reads digits as the integer although they may be a text. It is false for an EightByte,
	// because Scan reads 8 characters as bytes.
	textIsDistinct bool
}

func newKind(t reflect.Type) *idKind {
	zero := reflect.Zero(t).Interface().(keys.ID)
	k := &idKind{typ: t, direct: directOf(t, zero.Storage()), form: zero.Storage()}
	// Of an unknown scheme this is false too.
	k.textIsDistinct = k.form == idtype.StorageUUID || schemes.OfID(zero).Text.Digits
	return k
}

// kinds caches the *idKind of each type that was looked up, or nil, because looking it up again
// would take longer than reading an ID.
var kinds sync.Map

// idOf returns the ID type of a value: its own type, or the type of the ID that it points to or
// wraps. It looks only at types, because pgx makes plans for pointers before it creates them.
func idOf(t reflect.Type) (*idKind, bool) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return nil, false
	}
	switch t.Kind() {
	case reflect.Int64, reflect.Array, reflect.Struct:
		if t.NumMethod() == 0 || !keys.IsWrapper(t) {
			return nil, false
		}
	default:
		return nil, false
	}
	known, ok := kinds.Load(t)
	if !ok {
		known, _ = kinds.LoadOrStore(t, findID(t))
	}
	k := known.(*idKind)
	return k, k != nil
}

// findID returns the ID in a type that is not a pointer. A wrapper is a struct whose first field is
// the ID. A struct of another package that embeds an ID has the ID's methods, but does not count as
// one.
func findID(t reflect.Type) *idKind {
	switch {
	case t.Kind() != reflect.Struct:
		if t.PkgPath() == keys.Package && keys.IsID(t) {
			return newKind(t)
		}
	case t.NumField() != 0 && isColumn(t):
		k, _ := idOf(t.Field(0).Type)
		return k
	}
	return nil
}

func isColumn(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[driver.Valuer]()) &&
		reflect.PointerTo(t).Implements(reflect.TypeFor[sql.Scanner]())
}

// storageOf returns the form in which a column holds the IDs of a type.
func storageOf(t reflect.Type) (idtype.Storage, bool) {
	if k, ok := idOf(t); ok {
		return k.form, true
	}
	return "", false
}

// isSlice recognizes an idtype.Slice, and a pointer to one. It is the only slice type with a Value.
func isSlice(t reflect.Type) bool {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && t.Kind() == reflect.Slice && t.PkgPath() == keys.Package &&
		t.Implements(reflect.TypeFor[driver.Valuer]())
}

// elementForm returns the form of the elements of an array of IDs, or of ranges of integer IDs.
func elementForm(t reflect.Type) (idtype.Storage, bool) {
	if isRange(t) || t != nil && t.Kind() == reflect.Pointer && isRange(t.Elem()) {
		return formRange, true
	}
	return storageOf(t)
}

// isRange recognizes ranges of integer IDs. PostgreSQL has no ranges for the other forms.
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
