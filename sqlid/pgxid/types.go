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

// Which Go types are IDs, wrappers of IDs and lists of IDs.

// An idKind is a type of IDs, with what is asked of it.
type idKind struct {
	typ    reflect.Type
	direct direct
	form   idtype.Storage // of the columns of such IDs
	// A text can only mean the ID. That is false for a Short ID, since Scan takes digits for its
	// integer, and they may be its text. It is false for an EightByte, since Scan takes 8
	// characters for its bytes.
	textIsDistinct bool
}

func newKind(t reflect.Type) *idKind {
	zero := reflect.Zero(t).Interface().(keys.ID)
	k := &idKind{typ: t, direct: directOf(t, zero.Storage()), form: zero.Storage()}
	// of a scheme that is not known neither is this
	k.textIsDistinct = k.form == idtype.StorageUUID || schemes.OfID(zero).Text.Digits
	return k
}

// kinds holds the *idKind of each type that was asked for, or a nil one. To ask anew would take
// longer than to read an ID.
var kinds sync.Map

// idOf is the ID type of a value: its own, or that of the ID that it points to or wraps. It asks no
// value, since pgx plans for pointers that it has yet to make.
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

// findID finds the ID in a type that is no pointer. A wrapper is a struct that begins with it. A
// struct of another package that embeds an ID has its methods, and is no ID.
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

// storageOf is the form in which a column holds the IDs of a type.
func storageOf(t reflect.Type) (idtype.Storage, bool) {
	if k, ok := idOf(t); ok {
		return k.form, true
	}
	return "", false
}

// isSlice recognises an idtype.Slice, and a pointer to one: alone among slices it has a Value.
func isSlice(t reflect.Type) bool {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && t.Kind() == reflect.Slice && t.PkgPath() == keys.Package &&
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
