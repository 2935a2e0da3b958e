package generator_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/idmint/idmint/generator"
)

// mill is a Source that counts, and that a test steers.
type mill struct {
	mu    sync.Mutex // guards the rest
	last  int
	calls int
	most  int // per call, where err is set
	err   error
}

func (m *mill) Next(context.Context) (int, error) { panic("a buffer fills") }

func (m *mill) Fill(_ context.Context, dst []int) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	n := len(dst)
	if m.err != nil {
		n = min(n, m.most)
	}
	for i := range n {
		m.last++
		dst[i] = m.last
	}
	return n, m.err
}

func (m *mill) set(most int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.most, m.err = most, err
}

// wantMill fails unless the mill was asked and has minted so often.
func (m *mill) wantMill(t *testing.T, calls, last int) {
	t.Helper()
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls != calls || m.last != last {
		t.Fatalf("the source was asked %d times and minted %d, want %d and %d", m.calls, m.last,
			calls, last)
	}
}

func wantInt(t *testing.T, b *generator.Buffer[int], want int) {
	t.Helper()
	if got, err := b.Next(ctx); err != nil || got != want {
		t.Fatalf("Next = %d, %v, want %d", got, err, want)
	}
}

// TestBufferOrder: IDs come in the order in which they were minted, and while a half is in use, the
// next one is ready.
func TestBufferOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mill{}
		b := made(generator.NewBuffer(m, 10))
		if n, err := b.Fill(ctx, nil); n != 0 || err != nil {
			t.Errorf("Fill of none: %d, %v", n, err)
		}
		m.wantMill(t, 0, 0) // an app that mints nothing asks for nothing
		for want := 1; want <= 5; want++ {
			wantInt(t, b, want)
			m.wantMill(t, 2, 10)
		}
		wantInt(t, b, 6)
		m.wantMill(t, 3, 15)
		dst := make([]int, 23) // the rest of a half, whole ones and part of another
		n, err := b.Fill(ctx, dst)
		for i, got := range dst {
			if got != 7+i || n != 23 || err != nil {
				t.Fatalf("Fill gave %d, %v, %v", n, err, dst)
			}
		}
		m.wantMill(t, 7, 35)
		if got, err := b.Next(canceled); err != nil || got != 30 {
			t.Errorf("with IDs there, a context is not looked at: %d, %v", got, err)
		}
		if got := testing.AllocsPerRun(4, func() { _, sinkErr = b.Next(ctx) }); got != 0 {
			t.Errorf("%v allocations", got)
		}
	})
}

// TestBufferFails: an error is that of the call that needs IDs, not of those before; what was
// minted before it is used.
func TestBufferFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &mill{}
		b := made(generator.NewBuffer(m, 8))
		m.set(0, errAway)
		for calls := 1; calls <= 3; calls++ {
			if got, err := b.Next(ctx); !errors.Is(err, errAway) || got != 0 {
				t.Errorf("Next = %d, %v", got, err)
			}
			m.wantMill(t, calls, 0)
		}
		m.set(0, nil)
		wantInt(t, b, 1)
		m.wantMill(t, 5, 8)
		m.set(2, errAway) // two at a time
		for want := 2; want <= 20; want++ {
			wantInt(t, b, want)
		}
		m.wantMill(t, 12, 22)
		m.set(0, errAway)
		dst := make([]int, 5)
		if n, err := b.Fill(ctx, dst); n != 2 || !errors.Is(err, errAway) || dst[0] != 21 ||
			dst[1] != 22 || dst[2] != 0 {
			t.Errorf("Fill = %d, %v, %v", n, err, dst)
		}
	})
}

// sourceFunc is a Source for what mill cannot do.
type sourceFunc func(context.Context, []int) (int, error)

func (sourceFunc) Next(context.Context) (int, error)                  { panic("a buffer fills") }
func (f sourceFunc) Fill(ctx context.Context, dst []int) (int, error) { return f(ctx, dst) }

// TestBufferOfBadSources: what a source does is an error, and neither a wait for ever nor the end
// of the process. What the buffer says of it begins with the package's name.
func TestBufferOfBadSources(t *testing.T) {
	for want, source := range map[string]sourceFunc{
		"generator: the source panicked: the launch log is away": func(
			context.Context, []int,
		) (int, error) {
			panic(errAway)
		},
		"generator: the source ended its goroutine without an answer": func(
			context.Context, []int,
		) (int, error) {
			runtime.Goexit()
			return 0, nil
		},
		"generator: the source minted no IDs and returned no error": func(
			_ context.Context, dst []int,
		) (int, error) {
			dst[0] = 7
			return 0, nil
		},
		errAway.Error(): func(context.Context, []int) (int, error) { return 0, errAway },
	} {
		b := made(generator.NewBuffer[int](source, 2))
		if got, err := b.Next(ctx); got != 0 || err == nil || err.Error() != want {
			t.Errorf("got %d, %v, want %s", got, err, want)
		}
	}
	for size, ok := range map[int]bool{2: true, 16777216: true, 1: false, 16777217: false} {
		b, err := generator.NewBuffer(&mill{}, size)
		if (b != nil) != ok || ok != (err == nil) ||
			!ok && !errors.As(err, new(*generator.OptionError)) {
			t.Errorf("size %d: %v", size, err)
		}
	}
}
