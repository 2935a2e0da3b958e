package generator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/testclock"
)

// window is a Window from a unit to another one, counted from noon.
func (s scheme) window(number, from, to int) generator.Window[int] {
	at := noon.UnixNano() / int64(s.unit)
	return generator.Window[int]{
		Number: number % s.numbers, From: at + int64(from), To: at + int64(to),
	}
}

// endless is a window that begins at a unit, counted from noon.
func (s scheme) endless(number, from int) generator.Window[int] {
	w := s.window(number, from, 0)
	w.To = math.MaxInt64
	return w
}

// lent is a generator with windows, and its clock, which stands at noon. No window was asked for.
func lent(
	t *testing.T, s scheme, w ...generator.Window[int],
) (*timed, *claims, *testclock.Clock) {
	t.Helper()
	source, clock := newClaims(w...), testclock.New(noon)
	pool := s.pool(0, 2)
	return s.must(t, windowsOf(source), &generator.Options{Clock: clock, Pool: pool}), source, clock
}

// wantLent fails unless Next mints an ID of a number and of the unit that is n after noon.
func wantLent(t *testing.T, s scheme, g *timed, number, n, slot int) {
	t.Helper()
	got, err := g.next(ctx)
	want := mark{number % s.numbers, noon.Add(s.units(n)).UnixNano(), 0, s.first + slot}
	if err != nil || got.mark != want {
		t.Fatalf("minted %+v, %v after noon, %v; want %+v, %v after", got.mark, got.after(), err,
			want, s.units(n))
	}
}

// wantNoNumber fails unless err is a *NumberError of the scheme, for the reason.
func wantNoNumber(t *testing.T, s scheme, err, reason error) {
	t.Helper()
	var e *generator.NumberError
	if !errors.As(err, &e) || e.Scheme != s.id || !errors.Is(err, reason) {
		t.Fatalf("error is %#v, want a *NumberError of %s that wraps %v", err, s.id, reason)
	}
}

// TestWindowIsAskedForAhead: half-way through, once, and nobody waits for it.
func TestWindowIsAskedForAhead(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			g, source, clock := lent(t, s, s.window(5, 0, 10), s.window(6, 10, 20),
				s.window(7, 20, 30))
			at := func(n, number, asked int) {
				t.Helper()
				clock.Set(noon.Add(s.units(n)))
				// would never return if it waited for a source that is held
				wantLent(t, s, g, number, n, 0)
				wantLent(t, s, g, number, n, 1)
				synctest.Wait()
				source.wantCalls(t, asked)
			}
			source.wantCalls(t, 0)
			at(0, 5, 1)
			at(4, 5, 1)
			release := source.block()
			at(5, 5, 2)
			at(6, 5, 2)
			at(9, 5, 2)
			release()
			synctest.Wait()
			if st := g.stats(); st.Windows != 1 || st.Issued != 10 ||
				!st.Time.Equal(noon.Add(s.units(9))) {
				t.Errorf("%+v", st)
			}
			at(10, 6, 2)
			at(14, 6, 2)
			at(16, 6, 3)
			at(19, 6, 3)
			at(20, 7, 3)
			if st := g.stats(); st.Windows != 3 || st.Issued != 20 || st.Waits != 0 {
				t.Errorf("%+v", st)
			}
		})
	})
}

// TestWindowFailsAhead: a failure is nobody's error as long as the window lasts. It is tried again
// after half of what is left. What was fetched ahead and has passed meanwhile is not used.
func TestWindowFailsAhead(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		synctest.Test(t, func(t *testing.T) {
			g, source, clock := lent(t, s, s.window(5, 0, 16), s.window(5, 16, 20),
				s.window(5, 20, 30), s.window(6, 100, 120))
			wantLent(t, s, g, 5, 0, 0)
			source.fail(errAway)
			for n, asked := range []int{1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5} {
				clock.Set(noon.Add(s.units(n)))
				if _, err := g.next(ctx); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				source.wantCalls(t, asked)
			}
			clock.Set(noon.Add(s.units(16)))
			_, err := g.next(ctx)
			wantNoNumber(t, s, err, errAway)
			wantNoNumber(t, s, g.ready(ctx), errAway)
			source.wantCalls(t, 7)
			source.fail(nil)
			wantLent(t, s, g, 5, 16, 0)
			clock.Set(noon.Add(s.units(19)))
			wantLent(t, s, g, 5, 19, 0)
			synctest.Wait()
			source.wantCalls(t, 9)
			clock.Set(noon.Add(s.units(100)))
			wantLent(t, s, g, 6, 100, 0)
			if st := g.stats(); st.Windows != 4 || st.Issued != 1+16+3 {
				t.Errorf("%+v", st)
			}
		})
	})
}

// TestWindowAhead: one that has not begun is waited for, unless that is too long.
func TestWindowAhead(t *testing.T) {
	eachBubble(t, func(t *testing.T, s scheme) {
		g, source, clock := lent(t, s, s.window(5, 7, 9), s.endless(5, int(time.Hour/s.unit)))
		if err := g.ready(ctx); err != nil {
			t.Fatal(err)
		}
		wantAt(t, clock, 0) // a window that comes is a number too
		wantLent(t, s, g, 5, 7, 0)
		wantAt(t, clock, s.units(7))
		late := 9 + s.lag // what was waited for is not used any more
		clock.Set(noon.Add(s.units(late)))
		for range 2 {
			_, err := g.next(ctx)
			wantClockError(t, s, err, generator.ErrClockBehind, s.units(late), time.Hour)
		}
		source.wantCalls(t, 2)
		clock.Set(noon.Add(time.Hour - 2*time.Second))
		wantLent(t, s, g, 5, int(time.Hour/s.unit), 0)
		wantAt(t, clock, time.Hour)
	})
}

// TestBadWindows: a window that has no times is refused, and the next one is asked for. A source
// that hands out times again has lost them. Then the generator mints nothing more, not even in what
// is left of its window, and does not ask again.
func TestBadWindows(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		for name, window := range map[string]generator.Window[int]{
			"inverted":                   s.window(5, 14, 12),
			"empty":                      s.window(5, 12, 12),
			"the same":                   s.window(5, 0, 10),
			"overlapping":                s.window(5, 9, 20),
			"overlapping without an end": s.endless(5, 9),
			"of all time":                {Number: 5 % s.numbers, To: math.MaxInt64},
		} {
			synctest.Test(t, func(t *testing.T) {
				g, source, clock := lent(t, s, s.window(5, 0, 10), window, s.window(5, 20, 30))
				wantLent(t, s, g, 5, 0, 0)
				clock.Set(noon.Add(s.units(8)))
				wantLent(t, s, g, 5, 8, 0)
				synctest.Wait()
				source.wantCalls(t, 2)
				if window.From >= window.To {
					wantLent(t, s, g, 5, 8, 1)
					clock.Set(noon.Add(s.units(20)))
					wantLent(t, s, g, 5, 20, 0)
					return
				}
				for _, n := range []int{9, 20} {
					clock.Set(noon.Add(s.units(n)))
					_, err := g.next(ctx)
					if wantNoNumber(t, s, err, generator.ErrRepeated); t.Failed() {
						t.Fatal(name)
					}
					synctest.Wait()
					source.wantCalls(t, 2)
				}
				last := noon.Add(s.units(8)) // of the two IDs that there are
				if st := g.stats(); st.Issued != 2 || !st.Time.Equal(last) || st.PoolUsed != 0 {
					t.Errorf("%s: %+v, want 2 IDs until %v", name, st, last)
				}
			})
		}
	})
}

// TestBadNumberOfWindow: one that would overflow into the bits beside is refused, at construction
// where it is given. At the edges of its range a number stays within its bits.
func TestBadNumberOfWindow(t *testing.T) {
	eachBubble(t, func(t *testing.T, s scheme) {
		if s.numbers == 1 {
			return // it has no number
		}
		for _, bad := range []int{-1, s.numbers, s.numbers + 5, math.MaxInt, math.MinInt} {
			want := idtype.RangeError{
				Type: s.typ, Part: s.part, Value: int64(bad >> s.below),
				Max: int64((s.numbers - 1) >> s.below),
			}
			var e *idtype.RangeError
			g, err := s.make(given(bad), &generator.Options{Clock: testclock.New(noon)})
			if !errors.As(err, &e) || g != nil || *e != want {
				t.Errorf("Given(%d): %v, %v, want %v", bad, g, err, &want)
			}
			g, _, _ = lent(t, s, generator.Window[int]{Number: bad, To: math.MaxInt64},
				s.window(5, 0, 10))
			_, err = g.next(ctx)
			wantNoNumber(t, s, err, errors.Unwrap(err))
			if !errors.As(err, &e) || *e != want {
				t.Errorf("number %d: error is %v, want %v", bad, err, &want)
			}
			wantLent(t, s, g, 5, 0, 0)
		}
		for _, good := range []int{0, 1, s.numbers - 1} {
			clock := testclock.New(noon.Add(-1))
			id, err := s.must(t, given(good), &generator.Options{Clock: clock}).next(ctx)
			if want := (mark{good, noon.UnixNano(), 0, s.first}); err != nil || id.mark != want {
				t.Errorf("Given(%d): minted %+v, %v, want %+v", good, id.mark, err, want)
			}
		}
	})
}

// windowsFunc is a Windows for what claims cannot do.
type windowsFunc func(ctx context.Context, now int64, unit time.Duration) (window, error)

type window = generator.Window[int]

func (f windowsFunc) NextWindow(
	ctx context.Context, now int64, unit time.Duration,
) (generator.Window[int], error) {
	return f(ctx, now, unit)
}

// TestOptions: a setting that cannot be is refused, with its name and value.
func TestOptions(t *testing.T) {
	eachScheme(t, func(t *testing.T, s scheme) {
		bad := map[string]generator.Options{
			"MaxWait -1ns":                       {MaxWait: -1},
			"Pool 3..2":                          {Pool: &generator.Pool{Min: 3, Max: 2}},
			fmt.Sprintf("Pool %d..5", s.first-1): {Pool: &generator.Pool{Min: s.first - 1, Max: 5}},
			fmt.Sprintf("Pool 5..%d", s.last+1):  {Pool: &generator.Pool{Min: 5, Max: s.last + 1}},
		}
		for want, o := range bad {
			g, err := s.make(given(0), &o)
			var e *generator.OptionError
			if g != nil || !errors.As(err, &e) || err.Error() != "generator: "+want+" "+e.Reason {
				t.Errorf("%s: %v, %v", want, g, err)
			}
		}
	})
}
