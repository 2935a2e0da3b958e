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

// Ordered is [Numbers] with a register of order, which all generators of a service share: it holds
// how far the counters of their IDs have come. A launchlog.Generators is one. A [Decimal] begins
// above the register, and reports to it. So IDs ascend from one start and one deployment to the
// next. Where an answer is late, wrong or missing, IDs do not ascend so, and none is repeated.
type Ordered interface {
	Numbers
	// Order counts a look at the register, raises the register to reached, where it is below, and
	// returns what it is then, and how many looks it has counted. Reached is not negative, and 0
	// raises nothing.
	Order(ctx context.Context, reached int64) (is, looks int64, err error)
}

// The register counts on where counters begin again at 1: a counter of a round is round × roundLength
// + counter. The last 11 % of the counters belong to no round. A generator that comes there goes on,
// and the others begin the next round. That is more than the tenth at which the next number is asked
// for, so whoever begins at the end of a round does not ask at once.
const roundLength = perNumber - perNumber/10 - perNumber/100

// A generator looks at the register at each number that it takes, and while it mints. All generators
// of a service look serviceLooks times a second together, or less: see [order.pace].
const (
	shortestRest = time.Second
	longestRest  = 1000 * time.Second
	awayRest     = 100 * time.Second // where the register does not answer, at most
	serviceLooks = 10
	evenRest     = 10 * time.Second // towards which each rest goes by a power of evenBy
	evenBy       = 0.03             // so a large fleet looks a little more often
	lookTime     = 10 * time.Second // that a look in the background may take
	firstLook    = 2 * time.Second  // that a number waits for its look, at most
)

// A report raises the register by what the generator has in its bucket: burst, and perSecond each second.
// A generator that is ahead of the register by more is alone with its counters until its reports have
// come there. So a benchmark, or a loop without an end, does not use up the round of a whole service.
const (
	burst     = 1_000_000
	perSecond = 10_000

	// longestFill is beyond each rest. The time of a generator that minted nothing does not count.
	longestFill = 2 * longestRest
)

var errLookEnded = errors.New("the register ended its goroutine without an answer")

// An order is what a [Decimal] knows of its register. The generator's bases.mu guards it.
type order struct {
	register Ordered // immutable; nil where there is none

	is     uint64    // the register, as it was heard last
	round  uint64    // of the number in use
	told   uint64    // how far the generator had come after the last look
	bucket uint64    // by how much it may raise the register
	looks  int64     // that the register had counted
	looked time.Time // when the last look began that it answered; zero before the first
	err    error     // of the last look; nil before the first

	skipped               uint64 // counters that were passed over
	moves, blind, unheard uint64 // for Stats

	timer  *time.Timer        // of the next look; nil before the first number
	rest   time.Duration      // before it, about
	cancel context.CancelFunc // of the look in the background; nil if there is none
	ended  chan struct{}      // closed when that has ended
	closed bool
}

// join makes g keep the order of its numbers. IDs of tests are none of their business.
func (g *Decimal) join() {
	if register, ok := g.numbers.(Ordered); ok && !g.test {
		g.order = order{register: register, rest: shortestRest, bucket: burst}
	}
}

// reached is how far g has come, as a register has it. The caller holds bases.mu.
func (g *Decimal) reached() uint64 {
	if g.begun == 0 || g.lost != nil {
		return 0
	}
	return g.order.round*roundLength + min(g.counter(), roundLength)
}

// look reports how far g has come, and hears how far others have. Where g is behind it moves up.
func (g *Decimal) look(ctx context.Context) error {
	o := &g.order
	g.bases.mu.Lock()
	began, reached := time.Now(), g.reached()
	report, left := o.report(reached, o.since(began))
	g.bases.mu.Unlock()

	is, looks, err := o.ask(ctx, report)

	g.bases.mu.Lock()
	defer g.bases.mu.Unlock()
	answered := o.err == nil // the one before
	if o.err = asRepeated(err); err != nil {
		o.unheard++
		o.rest = max(o.rest, min(2*o.rest, awayRest))
		if g.stopFor(o.err); g.lost != nil {
			g.bases.pending = nil // which may be a number
		}
		return o.err
	}
	if began.After(o.looked) { // else the answer is late
		if since := o.since(began); since > 0 && answered {
			o.pace(looks-o.looks, since)
		}
		o.looked, o.looks, o.bucket = began, looks, left
	}
	o.is, o.told = max(o.is, is), reached // without what was minted meanwhile
	g.moveUp()
	return nil
}

// since is the time since the last look that was answered, or 0 before the first.
func (o *order) since(now time.Time) time.Duration {
	if o.looked.IsZero() {
		return 0
	}
	return now.Sub(o.looked)
}

// report returns a report, and what it leaves in the bucket. That is taken once the report is
// answered: whatever became of one without an answer, the next one raises the register to no more.
func (o *order) report(reached uint64, since time.Duration) (report, left uint64) {
	filled := uint64(min(since, longestFill).Seconds() * perSecond)
	left = min(o.bucket+filled, max(burst, filled))
	report = min(reached, o.is+left)
	return report, left - (report - min(report, o.is))
}

// ask asks the register.
func (o *order) ask(ctx context.Context, report uint64) (is uint64, looks int64, err error) {
	err = errLookEnded // which stays if the register ends the goroutine
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	answer, looks, err := o.register.Order(ctx, int64(min(report, math.MaxInt64)))
	if err == nil && answer < 0 {
		err = &idtype.RangeError{
			Type: "DecimalID", Part: "register of order", Value: answer, Max: math.MaxInt64,
		}
	}
	return uint64(answer), looks, err
}

// pace sets the rest before the next look, by the looks of all generators since the last one. Where
// all rest as long as this one, they come to serviceLooks a second. Who rests longer than others
// comes a little nearer to them at each look, and so do they. Without that each fleet would stay as
// uneven as it is: it keeps the pace as a whole.
func (o *order) pace(looks int64, since time.Duration) {
	rest := float64(o.rest) * float64(looks) / (serviceLooks * since.Seconds())
	rest *= math.Pow(float64(evenRest)/float64(o.rest), evenBy)
	o.rest = time.Duration(min(max(rest, float64(shortestRest)), float64(longestRest)))
}

// jittered is the time until the next look. Generators that were started at once do not look at
// once.
func (o *order) jittered() time.Duration { return max(o.rest/2+rand.N(o.rest), shortestRest) }

// moveUp moves a generator up that is behind the register, but not into the last counters of a
// number, which belong to no round. The caller holds bases.mu: so the number does not change
// meanwhile.
func (g *Decimal) moveUp() {
	for g.begun > 0 && !g.moveFrom(g.last()) {
	}
}

// moveFrom moves up from the last ID. It reports false where another call has taken IDs meanwhile.
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

// begin returns the counter that the next number begins above. The caller holds bases.mu.
func (o *order) begin() uint64 {
	if o.err != nil {
		o.blind++
	}
	counter := o.is % roundLength
	o.round, o.told = o.is/roundLength, o.is
	o.skipped += counter
	return counter
}

// lookOn begins the looks in the background. The caller holds bases.mu.
func (g *Decimal) lookOn() {
	o := &g.order
	if o.register == nil || o.closed || o.timer != nil {
		return
	}
	// The timer keeps no generator alive that nobody uses any more.
	self := weak.Make(g)
	o.timer = time.AfterFunc(o.jittered(), func() {
		if g := self.Value(); g != nil {
			g.lookAgain()
		}
	})
}

// lookAgain looks in the background where the generator has minted since the last look, and sets the
// timer again.
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
		_ = g.look(ctx) // Stats has the error
	}
}

// Close reports how far the generator has come, so that the next start begins above it, and ends its
// looks in the background. Call it when the app ends. Without it, and after a kill, the last report
// may be late: see [Decimal]. It does nothing for a generator that took no number, or whose numbers
// have no register. IDs that are minted after Close are not reported. After an error the next start
// may begin below its last IDs. None is repeated.
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
	return fmt.Errorf("generator: the counters of launch %d are not reported: %w",
		g.Stats().Launch, err)
}

// stats adds what the generator knows of its register. The caller holds bases.mu.
func (o *order) stats(s *DecimalStats) {
	s.Round, s.Register = int(o.round), int(o.is)
	s.Blind, s.Unheard, s.Moves, s.Skipped = o.blind, o.unheard, o.moves, o.skipped
	s.Rest, s.Err = o.rest, o.err
}
