package generator_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// Every generator may be buffered.
var (
	_ generator.Source[idtype.DecimalID]   = (*generator.Decimal)(nil)
	_ generator.Source[idtype.TraceID]     = (*generator.Trace)(nil)
	_ generator.Source[idtype.EightByteID] = (*generator.EightByte)(nil)
	_ generator.Source[idtype.ShortID]     = (*generator.Short)(nil)
	_ generator.Source[idtype.SnoID]       = (*generator.Sno)(nil)
	_ generator.Source[idtype.SnoID]       = generator.SnoMeta{}
	_ generator.Source[idtype.SequenceID]  = (*generator.Sequence)(nil)
)

// mill is a Source that counts, and that a test steers.
type mill struct {
	mu    sync.Mutex // guards the rest
	last  int
	calls int
	most  int // per call, if not 0: then it fails
	err   error
	hold  chan struct{}
}

func (m *mill) Fill(ctx context.Context, dst []int) (int, error) {
	m.mu.Lock()
	m.calls++
	hold := m.hold
	m.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
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

// inBuffer runs a test with a buffer of a mill's numbers.
func inBuffer(t *testing.T, size int, test func(*testing.T, *generator.Buffer[int], *mill)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &mill{}
		b, err := generator.NewBuffer(m, size)
		if err != nil {
			t.Fatal(err)
		}
		test(t, b, m)
	})
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
	inBuffer(t, 10, func(t *testing.T, b *generator.Buffer[int], m *mill) {
		m.wantMill(t, 0, 0) // an app that mints nothing asks for nothing
		if n, err := b.Fill(ctx, nil); n != 0 || err != nil {
			t.Errorf("Fill of none: %d, %v", n, err)
		}
		m.wantMill(t, 0, 0)
		wantInt(t, b, 1)
		m.wantMill(t, 2, 10)
		for want := 2; want <= 5; want++ {
			wantInt(t, b, want)
			m.wantMill(t, 2, 10)
		}
		wantInt(t, b, 6)
		m.wantMill(t, 3, 15)
		dst := make([]int, 23) // the rest of a half, whole ones and part of another
		n, err := b.Fill(ctx, dst)
		if n != 23 || err != nil {
			t.Fatalf("Fill = %d, %v", n, err)
		}
		for i, got := range dst {
			if got != 7+i {
				t.Fatalf("Fill gave %v", dst)
			}
		}
		m.wantMill(t, 7, 35)
		wantInt(t, b, 30)
	})
}

// TestBufferServesBursts: without a wait, as long as a half is left; then calls wait, each within
// its context.
func TestBufferServesBursts(t *testing.T) {
	inBuffer(t, 6, func(t *testing.T, b *generator.Buffer[int], m *mill) {
		wantInt(t, b, 1)
		m.wantMill(t, 2, 6)
		m.hold = make(chan struct{})
		for want := 2; want <= 3; want++ {
			// with IDs there, it is not looked at
			if got, err := b.Next(canceled); err != nil || got != want {
				t.Errorf("Next = %d, %v, want %d", got, err, want)
			}
		}
		for want := 4; want <= 6; want++ {
			wantInt(t, b, want)
		}
		if got, err := b.Next(canceled); got != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("with none there: %d, %v", got, err)
		}
		started := time.Now()
		limited, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		dst := make([]int, 3)
		if n, err := b.Fill(limited, dst); n != 0 || !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(started) != time.Second {
			t.Errorf("Fill = %d, %v, after %v", n, err, time.Since(started))
		}
		var wg sync.WaitGroup
		got := make([]int, 5)
		for i := range got {
			wg.Go(func() { got[i], _ = b.Next(ctx) })
		}
		m.wantMill(t, 3, 6)
		close(m.hold)
		wg.Wait()
		sum := 0
		for _, n := range got {
			sum += n
		}
		if sum != 7+8+9+10+11 {
			t.Errorf("waiting calls got %v, want 7 to 11", got)
		}
	})
}

// TestBufferFails: an error is that of the call that needs IDs, not of those before; what was
// minted before it is used.
func TestBufferFails(t *testing.T) {
	inBuffer(t, 8, func(t *testing.T, b *generator.Buffer[int], m *mill) {
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
		for want := 2; want <= 8; want++ {
			wantInt(t, b, want)
		}
		for want := 9; want <= 20; want++ {
			wantInt(t, b, want)
		}
		m.wantMill(t, 12, 22)
		m.set(0, errAway)
		dst := make([]int, 5)
		if n, err := b.Fill(ctx, dst); n != 2 || !errors.Is(err, errAway) || dst[0] != 21 ||
			dst[1] != 22 || dst[2] != 0 {
			t.Errorf("Fill = %d, %v, %v", n, err, dst)
		}
		m.set(0, nil)
		wantInt(t, b, 23)
	})
}

// sourceFunc is a Source for what mill cannot do.
type sourceFunc func(context.Context, []int) (int, error)

func (f sourceFunc) Fill(ctx context.Context, dst []int) (int, error) { return f(ctx, dst) }

// TestBufferOfBadSources: each of them is an error, and neither a wait for ever nor the end of the
// process.
func TestBufferOfBadSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, source := range map[string]generator.Source[int]{
			"mints nothing": sourceFunc(func(context.Context, []int) (int, error) {
				return 0, nil
			}),
			"writes and does not": sourceFunc(func(_ context.Context, dst []int) (int, error) {
				dst[0] = 7
				return 0, nil
			}),
		} {
			b, err := generator.NewBuffer(source, 4)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := b.Next(ctx); err == nil || got != 0 {
				t.Errorf("a source that %s: %d, %v", name, got, err)
			}
		}
	})
}

func TestBufferSizes(t *testing.T) {
	for _, size := range []int{2, 3, 16777216} {
		if _, err := generator.NewBuffer(&mill{}, size); err != nil {
			t.Errorf("size %d: %v", size, err)
		}
	}
	for _, size := range []int{-1, 0, 1, 16777217} {
		b, err := generator.NewBuffer(&mill{}, size)
		var e *generator.OptionError
		if b != nil || !errors.As(err, &e) || e.Option != "size" {
			t.Errorf("size %d: %v", size, err)
		}
	}
}
