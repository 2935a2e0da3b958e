package generator

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/nilable"
)

// A Source mints IDs. All generators of this package except owned ones are Sources, and so are
// [Keys].
type Source[T any] interface {
	// Next mints one ID.
	Next(ctx context.Context) (T, error)
	// Fill mints len(dst) IDs and returns how many it minted, which are fewer only if there is an
	// error. Those IDs are valid, and are not minted again.
	Fill(ctx context.Context, dst []T) (int, error)
}

// Keys mints the typed keys of an entity, such as idtype.Decimal[User]. Any number of Keys may
// share a generator, because Keys have no other state. They are safe for use by many goroutines if
// the generator is.
type Keys[T idtype.ID] struct {
	next func(context.Context) (T, error)
	fill func(context.Context, []T) (int, error)
}

// For returns Keys that mint typed keys with a generator:
//
//	users, err := generator.For[UserID](gen)
//	ann.ID, err = users.Next(ctx)
//
// The error is an [*OptionError] if the generator is nil, or if the key is of another scheme or
// layout, or a pointer to a key, such as *UserID.
func For[T, S idtype.ID](m Source[S]) (*Keys[T], error) {
	var key T
	var id S
	if nilable.IsNil(m) {
		return nil, noSource("generator")
	}
	to, from := reflect.TypeFor[T](), reflect.TypeFor[S]()
	// Pointers to IDs, and structs that embed them, have the methods of IDs, but panic on nil.
	for _, t := range []reflect.Type{to, from} {
		if t.Kind() != reflect.Int64 && t.Kind() != reflect.Array {
			return nil, &OptionError{
				"key", t.String(), "is not an ID: use the type that it points to or embeds",
			}
		}
	}
	minted := idtype.LayoutOf(id)
	if idtype.LayoutOf(key) != minted || !from.ConvertibleTo(to) {
		return nil, &OptionError{"key", to.String(), fmt.Sprintf("is not a key for the %s IDs "+
			"that this generator mints", minted)}
	}
	return &Keys[T]{
		next: func(ctx context.Context) (T, error) {
			id, err := m.Next(ctx)
			return *(*T)(unsafe.Pointer(&id)), err
		},
		// Go converts a slice only by copying each ID. Instead, this treats the memory of the keys
		// as IDs. The types convert into each other, and IDs are an int64 or an array of bytes, so
		// that both have the same size and alignment, and no pointers.
		fill: func(ctx context.Context, dst []T) (int, error) {
			return m.Fill(ctx, unsafe.Slice((*S)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst)))
		},
	}, nil
}

// Next mints one key. Its errors come from the generator.
func (k *Keys[T]) Next(ctx context.Context) (T, error) {
	if k.next == nil {
		var none T
		return none, errNotMade
	}
	return k.next(ctx)
}

// Fill mints len(dst) keys: see [Source].
func (k *Keys[T]) Fill(ctx context.Context, dst []T) (int, error) {
	if k.fill == nil {
		return 0, errNotMade
	}
	return k.fill(ctx, dst)
}

// Many mints n keys at once, and none if n is below 1. If there is an error, it returns the keys
// that were minted.
func (k *Keys[T]) Many(ctx context.Context, n int) ([]T, error) {
	keys := make([]T, max(n, 0))
	minted, err := k.Fill(ctx, keys)
	return keys[:minted], err
}
