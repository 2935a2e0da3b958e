package generator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
	"weak"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

// Ordered is [Numbers] with an order register, which all generators of a service share. The
// register holds how far the counters of their IDs have come. A [Decimal] begins above the
// register, and reports to it, so that IDs ascend from one start and one deployment to the next. If
// an answer is late, wrong or missing, IDs may be out of order, but none is repeated. A
// launchlog.Generators is Ordered.
type Ordered interface {
	Numbers
	// Order counts a look at the register, raises the register to reached if it is below, and
	// returns the register's value, and how many looks it has counted. Reached is not negative, and
	// 0 raises nothing.
	Order(ctx context.Context, reached int64) (is, looks int64, err error)
}

// The register keeps counting when counters restart at 1: it holds a counter of a round as round ×
// roundLength + counter. The last 11 % of the counters belong to no round: a generator that gets
// there continues, while the others begin the next round. The part is larger than the tenth at
// which the next number is requested, so a generator that begins at the end of a round does not
// request one at once.
const roundLength = perNumber - perNumber/10 - perNumber/100

// A generator looks at the register whenever it takes a number, and while it mints. Together, the
// generators of a service look at most serviceLooks times a second: see [order.pace].
const (
	shortestRest = time.Second
	longestRest  = 1000 * time.Second
	awayRest     = 100 * time.Second // the longest rest while the register does not answer
	serviceLooks = 10
	evenRest     = 10 * time.Second // each rest moves towards it by a power of evenBy
	evenBy       = 0.03             // which lets a large fleet look slightly more often
	lookTime     = 10 * time.Second // timeout of a look in the background
	firstLook    = 2 * time.Second  // how long a number waits for its look, at most
)

// A report raises the register by at most the content of the generator's bucket, which begins with
// burst and fills by perSecond each second. If a generator is further ahead of the register, the
// others do not follow until its reports have caught up. Thus a benchmark or an endless loop does
// not use up the round of a whole service.
const (
	burst     = 1_000_000
	perSecond = 10_000

	// longestFill exceeds each rest. The time in which a generator minted nothing does not count.
	longestFill = 2 * longestRest
)

var errLookEnded = errors.New("the register ended its goroutine without an answer")

// An order is what a [Decimal] knows about its register. It is guarded by the generator's bases.mu.
type order struct {
	register Ordered // immutable; nil if there is none

	is     uint64    // the last value received from the register
	round  uint64    // round of the number in use
	told   uint64    // how far the generator had come after the last look
	bucket uint64    // by how much the generator may raise the register
	looks  int64     // the register's count of looks
	looked time.Time // begin of the last look that was answered; zero before the first
	err    error     // error of the last look; nil before the first

	skipped               uint64 // counters that were passed over
	moves, blind, unheard uint64 // for Stats

	timer  *time.Timer        // of the next look; nil before the first number
	rest   time.Duration      // approximate time before the next look
	cancel context.CancelFunc // ends the look in the background; nil if there is none
	ended  chan struct{}      // closed when the look in the background has ended
	closed bool
}

// join makes g keep the order of its numbers. Generators of test IDs do not take part.
func (g *Decimal) join() {
	if register, ok := g.numbers.(Ordered); ok && !g.test {
		g.order = order{register: register, rest: shortestRest, bucket: burst}
	}
}

// reached returns how far g has come, in terms of the register. The caller holds bases.mu.
func (g *Decimal) reached() uint64 {
	if g.begun == 0 || g.lost != nil {
		return 0
	}
	return g.order.round*roundLength + min(g.counter(), roundLength)
}

// look reports how far g has come, learns how far the others have, and moves g up if it is behind.
func (g *Decimal) look(ctx context.Context) error {
	o := &g.order
	g.bases.mu.Lock()
	began, reached := time.Now(), g.reached()
	report, left := o.report(reached, o.since(began))
	g.bases.mu.Unlock()

	is, looks, err := o.ask(ctx, report)

	g.bases.mu.Lock()
	defer g.bases.mu.Unlock()
	answered := o.err == nil // the look before this one
	if o.err = asRepeated(err); err != nil {
		o.unheard++
		o.rest = max(o.rest, min(2*o.rest, awayRest))
		if g.stopFor(o.err); g.lost != nil {
			g.bases.pending = nil // it may hold a number
		}
		return o.err
	}
	if began.After(o.looked) { // or else the answer is late
		if since := o.since(began); since > 0 && answered {
			o.pace(looks-o.looks, since)
		}
		o.looked, o.looks, o.bucket = began, looks, left
	}
	o.is, o.told = max(o.is, is), reached // excludes IDs minted meanwhile
	g.moveUp()
	return nil
}

// since returns the time since the last look that was answered, or 0 before the first.
func (o *order) since(now time.Time) time.Duration {
	if o.looked.IsZero() {
		return 0
	}
	return now.Sub(o.looked)
}

// report returns the value to report, and what is left in the bucket afterwards. The bucket is only
// changed once the register has answered: if a report gets no answer, the next one raises the
// register to the same value at most, whether or not the first one arrived.
func (o *order) report(reached uint64, since time.Duration) (report, left uint64) {
	filled := uint64(min(since, longestFill).Seconds() * perSecond)
	left = min(o.bucket+filled, max(burst, filled))
	report = min(reached, o.is+left)
	return report, left - (report - min(report, o.is))
}

// ask sends a report to the register.
func (o *order) ask(ctx context.Context, report uint64) (is uint64, looks int64, err error) {
	err = errLookEnded // kept if the register ends the goroutine
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	answer, looks, err := o.register.Order(ctx, int64(min(report, math.MaxInt64)))
	if err == nil && answer < 0 {
		err = &idtype.RangeError{
			Type: "DecimalID", Part: "order register", Value: answer, Max: math.MaxInt64,
		}
	}
	return uint64(answer), looks, err
}

// pace sets the rest before the next look, according to the looks of all generators since the last
// one. If all generators rest equally long, they look serviceLooks times a second together. With
// each look, a generator that rests longer than others comes slightly closer to them, and they to
// it. Without that, an uneven fleet would stay uneven, because only the pace of the whole fleet is
// controlled.
func (o *order) pace(looks int64, since time.Duration) {
	rest := float64(o.rest) * float64(looks) / (serviceLooks * since.Seconds())
	rest *= math.Pow(float64(evenRest)/float64(o.rest), evenBy)
	o.rest = time.Duration(min(max(rest, float64(shortestRest)), float64(longestRest)))
}

// jittered returns the time until the next look. It varies, so that generators that were started
// together do not look at the same time.
func (o *order) jittered() time.Duration { return max(o.rest/2+rand.N(o.rest), shortestRest) }

// moveUp moves a generator up if it is behind the register, but not into the last counters of a
// number, which belong to no round. The caller holds bases.mu, so the number does not change
// meanwhile.
func (g *Decimal) moveUp() {
	for g.begun > 0 && !g.moveFrom(g.last()) {
	}
}

// moveFrom moves up from the last ID. It returns false if another call has taken IDs meanwhile.
func (g *Decimal) moveFrom(last uint64) bool {
	o := &g.order
	counter := o.is % roundLength
	if counter <= last/formats.DecimalStep {
		return true
	}
	to := counter*formats.DecimalStep + last%formats.DecimalStep
	if !g.advance(last, to) {
		return false
	}
	o.skipped += (to - last) / formats.DecimalStep
	o.moves++
	o.round, o.told = o.is/roundLength, o.is
	return true
}

// begin returns the counter above which the next number begins. The caller holds bases.mu.
func (o *order) begin() uint64 {
	if o.err != nil {
		o.blind++
	}
	counter := o.is % roundLength
	o.round, o.told = o.is/roundLength, o.is
	o.skipped += counter
	return counter
}

// lookOn starts the looks in the background. The caller holds bases.mu.
func (g *Decimal) lookOn() {
	o := &g.order
	if o.register == nil || o.closed || o.timer != nil {
		return
	}
	// The timer must not keep an unused generator alive.
	self := weak.Make(g)
	o.timer = time.AfterFunc(o.jittered(), func() {
		if g := self.Value(); g != nil {
			g.lookAgain()
		}
	})
}

// lookAgain looks in the background if the generator has minted since the last look, and resets the
// timer.
func (g *Decimal) lookAgain() {
	o := &g.order
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	g.bases.mu.Lock()
	closed, idle := o.closed, g.reached() == o.told
	o.cancel, o.ended = cancel, ended
	g.bases.mu.Unlock()
	if closed {
		return
	}
	defer func() {
		g.bases.mu.Lock()
		defer g.bases.mu.Unlock()
		if o.cancel, o.ended = nil, nil; !o.closed {
			o.timer.Reset(o.jittered())
		}
	}()
	if !idle {
		_ = g.look(ctx) // Stats reports the error
	}
}

// Close reports how far the generator has come, so that the next start begins above it, and ends
// the looks in the background. Call it when the app ends. Without Close, as after a kill, the last
// report may be out of date: see [Decimal]. Close does nothing if the generator took no number, or
// if its numbers have no register. IDs that are minted after Close are not reported. After an
// error, the next start may begin below the last IDs, but never repeats one.
func (g *Decimal) Close(ctx context.Context) error {
	o := &g.order
	if o.register == nil {
		return nil
	}
	g.bases.mu.Lock()
	o.closed = true
	if o.timer != nil {
		o.timer.Stop()
	}
	cancel, ended, begun := o.cancel, o.ended, g.begun > 0
	g.bases.mu.Unlock()
	if cancel != nil {
		cancel()
		select {
		case <-ended:
		case <-ctx.Done():
			return g.unreported(ctx.Err())
		}
	}
	if !begun {
		return nil
	}
	if err := g.look(ctx); err != nil {
		return g.unreported(err)
	}
	return nil
}

func (g *Decimal) unreported(err error) error {
	return fmt.Errorf("generator: the counters of launch %d were not reported: %w",
		g.Stats().Launch, err)
}

// stats adds what the generator knows about its register. The caller holds bases.mu.
func (o *order) stats(s *DecimalStats) {
	s.Round, s.Register = int(o.round), int(o.is)
	s.Blind, s.Unheard, s.Moves, s.Skipped = o.blind, o.unheard, o.moves, o.skipped
	s.Rest, s.Err = o.rest, o.err
}
