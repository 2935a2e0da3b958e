package generator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
	"weak"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

// A Hinter is [Numbers] with registers of the counters that their generators have reached. A
// launchlog.Generators is one. A [Decimal] reports to them, and begins above what they tell. So IDs
// ascend from one deployment to the next. Where an answer is late, wrong or missing, IDs do not
// ascend so, and none is repeated.
type Hinter interface {
	Numbers
	// Hint raises the register of an epoch to counter, where it is below. It returns the
	// register's value before: 0 where nothing was reported. Counter 0 raises nothing.
	//
	// Epochs are 0, 1, 2 …. One has ended when its register is above 820,880,110, which leaves 11 %
	// of the counters. Then numbering begins at 1 again, in the next epoch.
	Hint(ctx context.Context, epoch int, counter int64) (int64, error)
}

// FromOne makes numbers without registers of those that may have some. A [Decimal] of them begins
// each number at counter 1, reports nothing, and asks for nothing in the background.
func FromOne(numbers Numbers) Numbers {
	if isNil(numbers) {
		return nil
	}
	return struct{ Numbers }{numbers}
}

// A number that begins above a hint, or moves up to one, has room counters left at least. That is
// more than the tenth at which the next number is asked for: so a hint uses up no numbers.
const (
	room    = perNumber/10 + perNumber/100
	highest = perNumber - room // counter to begin above, or to move up to
)

// A generator looks at the register at each number that it takes. While it has one it looks in the
// background: after firstLook, after twice that, and so on up to everyLook. Where it minted manyIDs
// since the last look, busyLook is the most. It spends a twentieth of its time on looks at most, so
// a register that is overloaded has fewer.
//
// Few generators keep close, so that their keys fill the same page of a database's index: they look
// each closeIDs, but not sooner than soonest. Those with higher numbers are too many for a page,
// and too many for the register. So are looks of a generator that mints alone.
const (
	firstLook = 100 * time.Millisecond
	busyLook  = time.Second
	everyLook = 10 * time.Second
	manyIDs   = 10
	spareTime = 20 // times the time that a look took are before the next

	closeNumbers = 8 // of a launch: the first ones keep close
	closeIDs     = 32
	soonest      = 20 * time.Millisecond
	farIDs       = 1024 // that the others may be behind for up to everyLook

	hintWait  = 2 * time.Second // that a number waits for its hint, at most
	mostEnded = 16              // epochs that one look passes over, at most
)

var (
	errNoLook    = errors.New("the register was not asked yet")
	errAllEnded  = fmt.Errorf("%d epochs in a row have ended", mostEnded)
	errLookEnded = errors.New("the register ended its goroutine without an answer")
)

// A follower is what a [Decimal] knows of its registers. The generator's bases.mu guards it.
type follower struct {
	hinter Hinter // immutable; nil where counters begin at 1

	// The highest counter that was reported in the newest epoch, as far as it is known.
	newest  int
	counter uint64 // highest, or less

	epoch int   // of the counters of the number in use
	err   error // of the last look

	skipped                  uint64 // counters that were passed over
	moves, unhinted, unheard uint64 // for Stats

	timer  *time.Timer        // of the next look; nil before the first number
	pause  time.Duration      // before it, at most
	looked time.Time          // when it looked last
	taken  uint64             // at that time: see Decimal.taken
	others bool               // somebody moved the register between the last two looks
	level  time.Time          // when the number in use was not behind
	cancel context.CancelFunc // of the look in the background; nil if there is none
	ended  chan struct{}      // closed when that has ended
	closed bool
}

// follow makes g follow the registers of its numbers. IDs of tests are none of their business.
func (g *Decimal) follow() {
	if hinter, ok := g.numbers.(Hinter); ok && g.launch != 0 {
		g.hints = follower{hinter: hinter, err: errNoLook}
	}
}

// look reports how far g has come, and hears how far others have. Where g is behind it moves up.
func (g *Decimal) look(ctx context.Context) error {
	f := &g.hints
	g.bases.mu.Lock()
	newest, own := f.newest, uint64(0)
	if g.begun > 0 && f.epoch == newest && g.lost == nil {
		own = g.counter()
	}
	g.bases.mu.Unlock()

	asked := newest
	newest, counter, err := f.ask(ctx, newest, own)

	g.bases.mu.Lock()
	defer g.bases.mu.Unlock()
	if f.err = asRepeated(err); err != nil {
		f.unheard++
		if g.stopFor(f.err); g.lost != nil {
			g.bases.pending = nil // which may be a number
			return f.err
		}
	} else {
		f.others = newest != f.newest || counter != f.counter
		if newest == asked {
			counter = max(counter, own) // what the register is now
		}
	}
	switch { // an answer may be late
	case newest > f.newest:
		f.newest, f.counter = newest, counter
	case newest == f.newest:
		f.counter = max(f.counter, counter)
	}
	g.moveUp()
	return err
}

// ask reports a counter of an epoch, and finds the newest epoch from there on, and its register as
// it was. With an error too, the epochs before the one that it returns have ended.
func (f *follower) ask(
	ctx context.Context, epoch int, own uint64,
) (newest int, counter uint64, err error) {
	err = errLookEnded // which stays if the register ends the goroutine
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	newest = epoch
	for range mostEnded {
		answer, failed := f.hinter.Hint(ctx, newest, int64(own))
		if failed == nil && answer < 0 {
			failed = &idtype.RangeError{
				Type: "DecimalID", Part: "counter", Value: answer, Max: formats.DecimalMaxCounter,
			}
		}
		if failed != nil {
			return newest, 0, failed
		}
		if max(uint64(answer), own) <= highest {
			return newest, uint64(answer), nil
		}
		newest, own = newest+1, 0
	}
	return newest, 0, errAllEnded
}

// moveUp moves a generator up that is behind others, unless it may wait. The caller holds bases.mu:
// so the number does not change meanwhile.
func (g *Decimal) moveUp() {
	if g.begun == 0 || g.mayWait() {
		return
	}
	for !g.moveFrom(g.last()) {
	}
	g.hints.level = time.Now()
}

// mayWait reports whether the generator is behind by little, and can move up in time at a later
// look. Each move leaves a gap, and gaps cost bytes where IDs are stored in order.
func (g *Decimal) mayWait() bool {
	f := &g.hints
	few, patience := uint64(farIDs), everyLook
	if g.keepsClose() {
		few, patience = closeIDs, busyLook
	}
	counter := g.counter()
	return counter < f.counter && f.counter <= counter+few &&
		time.Since(f.level)+2*f.pause <= patience
}

// keepsClose reports whether the number in use is one of those that keep close.
func (g *Decimal) keepsClose() bool { return g.used[g.begun-1] < closeNumbers }

// moveFrom moves up from the last ID. It reports false where another call has taken IDs meanwhile.
func (g *Decimal) moveFrom(last uint64) bool {
	f := &g.hints
	to, ok := raised(last, f.counter)
	if !ok {
		return true
	}
	if !g.advance(last, to) {
		return false
	}
	f.skipped += (to - last) / formats.DecimalStep
	f.moves++
	f.epoch = f.newest
	return true
}

// raised is the last ID after a move up to counter. It is never lower, nor where less than room is
// left.
func raised(last, counter uint64) (to uint64, ok bool) {
	if counter > highest || counter <= last/formats.DecimalStep {
		return last, false
	}
	return counter*formats.DecimalStep + last%formats.DecimalStep, true
}

// begin returns the counter that the next number begins above. The caller holds bases.mu.
func (f *follower) begin() uint64 {
	if f.err != nil {
		f.unhinted++
	}
	f.epoch = f.newest
	f.skipped += f.counter
	f.level = time.Now()
	return f.counter
}

// lookOn begins the looks in the background. The caller holds bases.mu.
func (g *Decimal) lookOn() {
	f := &g.hints
	if f.hinter == nil || f.closed || f.timer != nil {
		return
	}
	// The timer keeps no generator alive that nobody uses any more.
	self := weak.Make(g)
	f.pause, f.looked = firstLook, time.Now()
	f.timer = time.AfterFunc(f.jittered(), func() {
		if g := self.Value(); g != nil {
			g.lookAgain()
		}
	})
}

// jittered is the time until the next look. Generators that were started at once do not look at
// once.
func (f *follower) jittered() time.Duration { return f.pause - rand.N(f.pause/4) }

// pace sets the pause after a look. The caller holds bases.mu.
func (g *Decimal) pace(began time.Time) {
	f := &g.hints
	most, taken, now := everyLook, g.taken(), time.Now()
	minted, since := taken-f.taken, now.Sub(f.looked)
	if minted >= manyIDs {
		most = busyLook
	}
	if minted > 0 && f.others && g.keepsClose() {
		most = min(most, max(soonest, since*closeIDs/time.Duration(minted)))
	}
	f.taken, f.looked = taken, now
	// A generator that is behind, and waits to move up, looks again in time. So the order of IDs
	// does not depend on how long a look took.
	rest := everyLook
	if g.counter() < f.counter {
		rest = max(soonest, everyLook-now.Sub(f.level))
	}
	f.pause = min(max(min(2*f.pause, most), spareTime*now.Sub(began)), rest)
}

// lookAgain looks in the background, and sets the timer again.
func (g *Decimal) lookAgain() {
	f := &g.hints
	ctx, cancel := context.WithTimeout(context.Background(), everyLook)
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	g.bases.mu.Lock()
	closed := f.closed
	f.cancel, f.ended = cancel, ended
	g.bases.mu.Unlock()
	if closed {
		return
	}
	began := time.Now()
	defer func() {
		g.bases.mu.Lock()
		defer g.bases.mu.Unlock()
		if f.cancel, f.ended = nil, nil; !f.closed {
			g.pace(began)
			f.timer.Reset(f.jittered())
		}
	}()
	_ = g.look(ctx) // Stats has the error
}

// Close reports how far the generator has come, so that the next deployment begins above it, and
// ends its looks in the background. Call it when the app ends. Without it, and after a kill, the
// last report may be late: see [Decimal]. It does nothing for a generator that took no number, or
// whose numbers have no register. IDs that are minted after Close are not reported. After an
// error the next deployment may begin below its last IDs. None is repeated.
func (g *Decimal) Close(ctx context.Context) error {
	f := &g.hints
	if f.hinter == nil {
		return nil
	}
	g.bases.mu.Lock()
	f.closed = true
	if f.timer != nil {
		f.timer.Stop()
	}
	cancel, ended, begun := f.cancel, f.ended, g.begun > 0
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
	return fmt.Errorf("generator: the counters of launch %d are not reported: %w", g.launch, err)
}

// stats adds what the generator knows of its registers. The caller holds bases.mu.
func (f *follower) stats(s *DecimalStats) {
	s.Epoch, s.Newest, s.Highest = f.epoch, f.newest, int(f.counter)
	s.Unhinted, s.Unheard, s.Moves, s.Skipped = f.unhinted, f.unheard, f.moves, f.skipped
	if f.err != errNoLook {
		s.Err = f.err
	}
}
