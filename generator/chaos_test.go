package generator_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/idmint/idmint/generator"
)

// A chaosClock may step at any reading, by 1 ms to 1 year, forward and back, and creeps at the
// others. It stays within a span.
type chaosClock struct {
	first, end int64
	odds       int   // one of so many readings is a step
	creep      int64 // nanoseconds it moves at most at the others; 0 for a clock that stands still
	unit       int64

	mu       sync.Mutex // guards what follows
	rnd      *rand.Rand
	now, top int64    // top is the latest that was read
	haunts   [8]int64 // some of the times at which it stepped, 0 before it did so often
	steps    int
	calm     bool // it does not step
}

const year = 365 * 24 * time.Hour

// clockMargin is left at the end of the span for what a clock creeps and sleeps.
const clockMargin = 20 * 24 * time.Hour

func newChaosClock(
	rnd *rand.Rand, unit time.Duration, from time.Time, span time.Duration,
) *chaosClock {
	first := from.UnixNano()
	now := first + rnd.Int64N(int64(min(span/10, year)))
	return &chaosClock{
		first: first, end: first + int64(span), odds: []int{3, 30, 300}[rnd.IntN(3)],
		creep: int64(unit) / []int64{1, 10, 1000, math.MaxInt64}[rnd.IntN(4)], unit: int64(unit),
		rnd: rand.New(rand.NewPCG(rnd.Uint64(), 0)), now: now, top: now,
	}
}

func (c *chaosClock) UnixNano() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.calm && c.rnd.IntN(c.odds) == 0 {
		c.steps++
		c.step()
	} else if c.now < c.end-int64(clockMargin)/2 {
		c.now += c.rnd.Int64N(c.creep + 1)
	}
	c.top = max(c.top, c.now)
	return c.now
}

// step moves the clock forward, or back, by any length or to where it has been. Half of the time it
// moves the clock to where it is as late as ever. Without that, no generator that waits would mint
// any more.
func (c *chaosClock) step() {
	most := float64(year / time.Millisecond)
	d := int64(float64(time.Millisecond) * math.Pow(most, c.rnd.Float64()))
	haunt := &c.haunts[c.rnd.IntN(len(c.haunts))]
	switch r := c.rnd.IntN(8); {
	case r < 2 && *haunt != 0:
		c.now = *haunt
	case r < 3:
		*haunt, c.now = c.now, max(c.now-d, c.first)
	case r == 3 && c.now+d < c.end-int64(clockMargin):
		c.now += d
	default:
		c.now = c.top + c.rnd.Int64N(c.creep+1)
		if c.rnd.IntN(2) == 0 { // the very moment at which a unit begins
			c.now += c.unit - c.now%c.unit
		}
	}
}

// Sleep moves the clock by d, or more.
func (c *chaosClock) Sleep(ctx context.Context, d time.Duration) error {
	runtime.Gosched()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now += int64(d); c.rnd.IntN(4) == 0 {
		c.now += c.rnd.Int64N(int64(d))
	}
	return ctx.Err()
}

// home brings the clock to the latest time it has been at, and keeps it from stepping until the
// function it returns is called.
func (c *chaosClock) home() (leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.calm = c.top, true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calm = false
	}
}

// seen is how often the clock stepped, and whether it kept within its span.
func (c *chaosClock) seen() (steps int, within bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steps, c.top < c.end
}

// A tally is a generator.Counter in memory. With rnd, some of its answers are errors or get lost.
type tally struct {
	mu   sync.Mutex // guards the rest
	rnd  *rand.Rand
	next int64
}

func (c *tally) Reserve(_ context.Context, floor, n int64) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := 2
	if c.rnd != nil {
		r = c.rnd.IntN(8)
	}
	if r == 0 {
		return 0, errAway
	}
	first := max(floor, c.next)
	c.next = first + n
	if r == 1 {
		return first, errAway // a number beside an error is none
	}
	return first, nil
}

// Last now and then says less than it could, as a reader that is late does.
func (c *tally) Last(context.Context) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rnd == nil {
		return max(c.next-1, 0), nil
	}
	switch c.rnd.IntN(8) {
	case 0:
		return 0, errAway
	case 1:
		return c.rnd.Int64N(max(c.next, 1)), nil
	}
	return max(c.next-1, 0), nil
}

// A lending hands out windows of several numbers, any number to whoever asks.
type lending struct {
	numbers []int

	mu   sync.Mutex // guards the rest
	rnd  *rand.Rand
	ends []int64 // the ends of the numbers' last windows, in units since 1970
}

func (l *lending) NextWindow(
	_ context.Context, now int64, _ time.Duration,
) (generator.Window[int], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.rnd.IntN(8)
	if r == 0 {
		return generator.Window[int]{}, errAway
	}
	best := l.rnd.IntN(len(l.numbers))
	for i := range l.ends { // one whose window can begin, or else the one that can the earliest
		if l.ends[best] > now && l.ends[i] < l.ends[best] {
			best = i
		}
	}
	from := max(l.ends[best], now-l.rnd.Int64N(4))
	l.ends[best] = from + 1 + l.rnd.Int64N(7)
	w := generator.Window[int]{Number: l.numbers[best], From: from, To: l.ends[best]}
	if r == 1 {
		return w, errAway
	}
	return w, nil
}
