package clickhouse

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
)

// Go can convert between an ID and an int64, but between slices of them only by copying each
// element. Two functions of this file, and no other code of the package, use unsafe to reinterpret
// one slice as the other. Three facts make that sound:
//
//   - [formOf] accepts only types whose underlying type is int64 or an array of bytes, so that the
//     elements of both slices have the same size. An ID of bytes is only read as bytes, so that its
//     alignment is not stricter.
//   - Neither type contains pointers, or bit patterns that are not a value, so that whatever is
//     written through one type is a value of the other.
//     a value of the other.
//   - Both slices point to the same array, and the garbage collector keeps it for either. The
//     second slice is not longer than the capacity of the first.
//
// A slice of [8]byte is never reinterpreted as one of int64, because it may lack the alignment.

// int64s returns IDs of 63 bits as int64s, in the same memory.
func int64s[T idtype.ID](ids []T) []int64 {
	if formOf[T]().size != 0 {
		panic("clickhouse: int64s of an ID of bytes")
	}
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(ids))), cap(ids))[:len(ids)]
}

// rawBytes returns the concatenated bytes of the IDs, in the same memory.
func rawBytes[T idtype.ID](ids []T) []byte {
	size := formOf[T]().size
	if size == 0 {
		panic("clickhouse: rawBytes of an ID of 63 bits")
	}
	first := (*byte)(unsafe.Pointer(unsafe.SliceData(ids)))
	return unsafe.Slice(first, cap(ids)*size)[:len(ids)*size]
}

// A form describes how a column stores the IDs of a type.
type form struct {
	scheme  idtype.Scheme // by [idtype.LayoutOf]
	storage idtype.Storage
	size    int // bytes of an ID, 0 for an int64
}

// formOf panics for a type that has the methods of an ID but is not one, such as a struct that
// embeds an ID.
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
	panic(fmt.Sprintf("clickhouse: %v is not an ID type of package idtype", t))
}

const textLen = 16 // characters in the text of a byte ID

// columnType returns the column's type in ClickHouse.
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

// firstBad returns the index of the first ID that a column cannot hold, or -1. Such an ID is
// negative, or zero if zero is an error.
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
