package generator_test

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/testclock"
)

// noon is where most clocks of these tests start: a multiple of every scheme's unit.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// A mark is what tells an ID from all others of its scheme. Metabyte and random bits are left out:
// they may repeat.
type mark struct {
	number int
	time   int64 // of the beginning of the unit, in nanoseconds since 1970
	bit    int   // tick-tock
	slot   int
}

// minted is an ID in the terms that all schemes have.
type minted struct {
	mark
	bytes string // the ID, in its order
}

// after is the time of an ID, counted from noon.
func (m mark) after() time.Duration { return time.Duration(m.time - noon.UnixNano()) }

// A timed is a generator of any scheme whose IDs carry the time.
type timed struct {
	next     func(context.Context) (minted, error)
	fill     func(context.Context, int) ([]minted, error)
	ready    func(context.Context) error
	stats    func() generator.Stats
	snapshot func() generator.Snapshot
	bare     []func() error // Next and Fill of 10, without anything around them
}

// windows are a source for the number type of any scheme.
type windows struct {
	given int
	of    generator.Windows[int] // unless it is nil
}

func given(number int) windows { return windows{given: number} }

func windowsOf(w generator.Windows[int]) windows { return windows{of: w} }

func ceiling(c generator.Counter, length time.Duration) windows {
	return windowsOf(generator.Ceiling(1, c, length))
}

func numbered[N any](w windows, number func(int) N) generator.Windows[N] {
	if w.of == nil {
		return generator.Given(number(w.given))
	}
	return converted[N]{w.of, number}
}

type converted[N any] struct {
	of     generator.Windows[int]
	number func(int) N
}

func (c converted[N]) NextWindow(
	ctx context.Context, now int64, unit time.Duration,
) (generator.Window[N], error) {
	w, err := c.of.NextWindow(ctx, now, unit)
	return generator.Window[N]{Number: c.number(w.Number), From: w.From, To: w.To}, err
}

// A scheme is what the tests know about a scheme, and how to make its generators.
type scheme struct {
	name        string
	id          idtype.Scheme
	typ         string
	unit        time.Duration
	begin, end  time.Time
	first, last int    // slots
	lag         int    // units
	numbers     int    // how many numbers IDs can tell apart
	part        string // that the number is, for errors
	below       int    // how many bits of it are another part
	ascends     bool
	toggles     bool
	make        func(windows, *generator.Options) (*timed, error)
	zero        *timed // a generator that no constructor made
}

var schemes []scheme

func add(s scheme) scheme {
	schemes = append(schemes, s)
	return s
}

// intact panics unless an ID is valid and its parts make the same ID.
func intact[ID idtype.ID](id ID) func(ID, error) {
	return func(back ID, err error) {
		if err != nil || back != id {
			panic(fmt.Sprintf("the parts of %v make %v, %v", id, back, err))
		}
	}
}

// A timedSource is a generator of any scheme whose IDs carry the time.
type timedSource[ID any] interface {
	generator.Source[ID]
	Ready(context.Context) error
	Stats() generator.Stats
	Snapshot() generator.Snapshot
}

func adapt[ID idtype.ID](g timedSource[ID], read func(ID) mark) *timed {
	dst := make([]ID, 10)
	return &timed{
		next: reading(g.Next, read),
		fill: func(ctx context.Context, n int) ([]minted, error) {
			ids := make([]ID, n)
			n, err := g.Fill(ctx, ids)
			all := make([]minted, n)
			for i, id := range ids[:n] {
				all[i] = readID(id, read)
			}
			for _, id := range ids[n:] {
				if !id.IsZero() {
					panic("Fill minted more than it says")
				}
			}
			return all, err
		},
		ready: g.Ready, stats: g.Stats, snapshot: g.Snapshot,
		bare: []func() error{
			func() error { _, err := g.Next(ctx); return err },
			func() error { _, err := g.Fill(ctx, dst); return err },
		},
	}
}

func reading[ID idtype.ID](
	next func(context.Context) (ID, error), read func(ID) mark,
) func(context.Context) (minted, error) {
	return func(ctx context.Context) (minted, error) {
		id, err := next(ctx)
		if err != nil {
			if !id.IsZero() {
				panic(fmt.Sprintf("minted %v beside the error %v", id, err))
			}
			return minted{}, err
		}
		return readID(id, read), nil
	}
}

func readID[ID idtype.ID](id ID, read func(ID) mark) minted {
	return minted{read(id), string(idtype.AppendBytes(nil, id))}
}

// must makes a generator.
func (s scheme) must(t testing.TB, w windows, o *generator.Options) *timed {
	t.Helper()
	g, err := s.make(w, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// pool is the slots from one to another, counted from the first.
func (s scheme) pool(from, to int) *generator.Pool {
	return &generator.Pool{Min: s.first + from, Max: s.first + to}
}

// units is a number of the scheme's units.
func (s scheme) units(n int) time.Duration { return time.Duration(n) * s.unit }

// eachScheme runs a test for every scheme.
func eachScheme(t *testing.T, test func(*testing.T, scheme)) {
	for _, s := range schemes {
		t.Run(s.name, func(t *testing.T) { test(t, s) })
	}
}

// eachBubble runs a test for every scheme in a bubble: where the machine stands still, no call has
// waited for too long.
func eachBubble(t *testing.T, test func(*testing.T, scheme)) {
	for _, s := range schemes {
		inBubble(t, s.name, func(t *testing.T) { test(t, s) })
	}
}

// inBubble runs a subtest in a bubble.
func inBubble(t *testing.T, name string, test func(*testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// idle is a generator with a given number, and its clock, which stands at noon. It has minted one
// ID a minute before.
func idle(t testing.TB, s scheme, o generator.Options) (*timed, *testclock.Clock) {
	t.Helper()
	clock := testclock.New(noon.Add(-time.Hour))
	o.Clock = clock
	g := s.must(t, given(5%s.numbers), &o)
	clock.Set(noon.Add(-time.Minute))
	if _, err := g.next(ctx); err != nil {
		t.Fatal(err)
	}
	clock.Set(noon)
	return g, clock
}

// wantNext fails unless Next mints an ID of the unit that is n after noon.
func wantNext(t *testing.T, s scheme, g *timed, n, bit, slot int) {
	t.Helper()
	got, err := g.next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if want := (mark{5 % s.numbers, noon.Add(s.units(n)).UnixNano(), bit, slot}); got.mark != want {
		t.Fatalf("minted %+v, %v after noon; want %+v, %v after", got.mark, got.after(), want,
			s.units(n))
	}
}

// wantAt fails unless the clock stands at d after noon.
func wantAt(t *testing.T, clock generator.Clock, d time.Duration) {
	t.Helper()
	if got := time.Duration(clock.UnixNano() - noon.UnixNano()); got != d {
		t.Fatalf("the clock stands %v after noon, want %v", got, d)
	}
}

// claims is a Windows.
type claims struct{ script[generator.Window[int]] }

func newClaims(w ...generator.Window[int]) *claims {
	return &claims{script[generator.Window[int]]{answers: w}}
}

func (c *claims) NextWindow(
	ctx context.Context, now int64, _ time.Duration,
) (generator.Window[int], error) {
	// A window beside an error is none.
	return c.ask(ctx, generator.Window[int]{Number: 7, From: now, To: math.MaxInt64})
}

// steppable is a clock that moves by itself, in a bubble of synctest by fake time, and that a test
// sets back.
type steppable struct {
	by atomic.Int64
}

// newSteppable stands at noon.
func newSteppable() *steppable {
	c := &steppable{}
	c.by.Store(noon.UnixNano() - time.Now().UnixNano())
	return c
}

func (c *steppable) UnixNano() int64      { return time.Now().UnixNano() + c.by.Load() }
func (c *steppable) Step(d time.Duration) { c.by.Add(int64(d)) }

func (c *steppable) Sleep(ctx context.Context, d time.Duration) error {
	return generator.WallClock().Sleep(ctx, d)
}
