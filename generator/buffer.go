package generator

import (
	"context"
	"errors"
	"strconv"
)

// Buffer keeps IDs ready and refills itself in the background. It hands them out in the order in
// which they were minted. It has two halves: when one is used up, the other takes its place and the
// next one is minted. So a burst above a generator's cap finds IDs without a wait. They carry the
// times at which they were minted, not those at which they are used. It is safe for use by many
// goroutines.
type Buffer[T any] struct {
	half requester[[]T]
	ids  []T // the half in use; guarded by half.mu
}

var errNothingMinted = errors.New("generator: the source minted no IDs and returned no error")

// NewBuffer makes a buffer of size IDs, 2 ..= 16777216. It is empty until the first ID is asked
// for. The error is an [*OptionError].
func NewBuffer[T any](source Source[T], size int) (*Buffer[T], error) {
	const most = 1 << 24
	if size < 2 || size > most {
		return nil, &OptionError{"size", strconv.Itoa(size), "is outside 2..16777216"}
	}
	if isNil(source) {
		return nil, noSource("source")
	}
	b := &Buffer[T]{}
	b.half.ask = func(ctx context.Context) ([]T, error) {
		ids := make([]T, size/2)
		n, err := source.Fill(ctx, ids)
		return ids[:min(max(n, 0), len(ids))], err
	}
	b.half.settled = func(ids []T, err error) ([]T, error) {
		// IDs were minted before the error. It comes back with the next request if it lasts.
		if len(ids) > 0 {
			return ids, nil
		}
		if err == nil {
			err = errNothingMinted
		}
		return nil, err
	}
	return b, nil
}

// Next returns the next ID. It waits, within ctx, where both halves are used up. Its errors are the
// source's, or a [*NumberError] that wraps a [*PanicError] where that panicked, or [ErrNotMade].
func (b *Buffer[T]) Next(ctx context.Context) (T, error) {
	var ids [1]T
	_, err := b.Fill(ctx, ids[:])
	return ids[0], err
}

// Fill returns the next len(dst) IDs, and how many there were before an error.
func (b *Buffer[T]) Fill(ctx context.Context, dst []T) (int, error) {
	if b.half.ask == nil {
		return 0, errNotMade
	}
	n := 0
	for {
		b.half.mu.Lock()
		k := copy(dst[n:], b.ids)
		b.ids = b.ids[k:]
		b.half.mu.Unlock()
		if n += k; n == len(dst) {
			return n, nil
		}
		if err := b.half.refresh(ctx, b.empty, b.install); err != nil {
			if _, panicked := err.(*PanicError); panicked || err == errNoAnswer {
				err = &NumberError{Err: err}
			}
			return n, err
		}
	}
}

func (b *Buffer[T]) empty() bool { return len(b.ids) == 0 }

func (b *Buffer[T]) install(ids []T) {
	b.ids = ids
	b.half.startLocked()
}
