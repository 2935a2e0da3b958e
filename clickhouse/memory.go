package clickhouse

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
)

// Go converts between an ID and an int64. It converts between slices of them only by copying each.
// Two functions of this file see one slice as the other, and no other code of the package uses
// unsafe. That is sound because:
//
//   - [formOf] lets in only types whose underlying type is int64 or an array of bytes. So the two
//     types of elements have the same size. An ID of bytes is only seen as bytes, so its alignment
//     is not stricter.
//   - Neither has pointers, nor bit patterns that are no value. What is written through one type is
//     a value of the other.
//   - Both slices point to the same array, and the garbage collector keeps it for either. The
//     second is not longer than the capacity of the first.
//
// A slice of [8]byte is never seen as one of int64: it may lack the alignment.

// int64s are IDs of 63 bits in their own memory.
func int64s[T idtype.ID](ids []T) []int64 {
	if formOf[T]().size != 0 {
		panic("clickhouse: int64s of an ID of bytes")
	}
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(ids))), cap(ids))[:len(ids)]
}

// rawBytes are IDs of bytes, one after the other, in their own memory.
func rawBytes[T idtype.ID](ids []T) []byte {
	size := formOf[T]().size
	if size == 0 {
		panic("clickhouse: rawBytes of an ID of 63 bits")
	}
	first := (*byte)(unsafe.Pointer(unsafe.SliceData(ids)))
	return unsafe.Slice(first, cap(ids)*size)[:len(ids)*size]
}

// A form is how a column holds the IDs of a type.
type form struct {
	scheme  idtype.Scheme // by [idtype.LayoutOf]
	storage idtype.Storage
	size    int // bytes of an ID, 0 for an int64
}

// formOf panics for a type that has the methods of an ID and is none, such as a struct that embeds
// one.
func formOf[T idtype.ID]() form {
	var zero T
	f := form{scheme: idtype.LayoutOf(zero), storage: zero.Storage()}
	t := reflect.TypeFor[T]()
	switch {
	case t.Kind() == reflect.Int64:
		return f
	case t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		f.size = t.Len()
		return f
	}
	panic(fmt.Sprintf("clickhouse: %v is no ID type of package idtype", t))
}

const textLen = 16 // characters of a byte ID's text

// columnType is the type in ClickHouse's words.
func (f form) columnType() string {
	size := f.size
	if f.storage == idtype.StorageText {
		size = textLen
	}
	return dialect.Column(dialect.ClickHouse, string(f.storage), size)
}

// check returns a [*RowError] for the first ID that a column cannot hold.
func check[T idtype.ID](ids []T, none None) error {
	i := firstBad(ids, none)
	if i < 0 {
		return nil
	}
	_, err := ids[i].Value()
	return rowError[T](i, err)
}

// firstBad is the index of the first ID that a column cannot hold, or -1. Such an ID is negative,
// or zero where zero is an error.
func firstBad[T idtype.ID](ids []T, none None) int {
	if formOf[T]().size == 0 {
		return firstBelow(int64s(ids), none)
	}
	if none != noNone {
		return -1
	}
	return slices.IndexFunc(ids, T.IsZero)
}

func firstBelow(vs []int64, none None) int {
	least := int64(1)
	if none != noNone {
		least = 0
	}
	for i, v := range vs {
		if v < least {
			return i
		}
	}
	return -1
}
