package claims_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

var errFault = errors.New("a fault of the simulation")

// A naive store, or a naive user of it, breaks one of the rules.
type naive int

const (
	sound         naive = iota
	ignoresNotes        // a counter at the wanted value counts as raised, whoever did it
	comparesNot         // a raise overwrites whatever is there
	trustsSilence       // a step without an answer counts as done
)

func (n naive) String() string {
	return []string{
		"sound", "notes ignored", "compare ignored", "windows used without an answer",
	}[n]
}

// A world is the store of a fleet, and what it remembers of it. The store is memory behind a
// network that spoils, as storetest.Faulty does. Here answers are late as well, or never come, and
// requests are executed again.
type world struct {
	naive  naive
	faulty *storetest.Faulty
	clock  bool // the store has one

	mu      sync.Mutex // guards what follows; not held while time passes
	rnd     *rand.Rand
	calm    bool // no more faults
	history map[string][]launchlog.Raise
	broken  []string
	stale   []launchlog.CounterState
	again   int // requests that were executed again
	silent  int // answers that never came
}

func newWorld(seed uint64, naive naive, clock bool, rate float64) *world {
	w := &world{
		naive: naive, clock: clock, rnd: rand.New(rand.NewPCG(seed, 1)),
		history: map[string][]launchlog.Raise{},
	}
	w.faulty = storetest.NewFaulty(&audited{memory.New(nil), w}, seed, rate)
	return w
}

// audited keeps the history of the counters: each raise must begin where the one before ended.
type audited struct {
	launchlog.Store
	world *world
}

func (a *audited) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (launchlog.CounterState, error) {
	w := a.world
	w.mu.Lock()
	defer w.mu.Unlock()
	before, err := a.Store.LastNumber(ctx, ref)
	if err != nil {
		return launchlog.CounterState{}, err
	}
	real := r
	if w.naive == comparesNot {
		if real.From = before; r.To <= before {
			return launchlog.CounterState{Value: r.To, Note: r.Note}, nil
		}
	}
	row, err := a.Store.RaiseCounter(ctx, ref, real)
	if err == nil && row.Value != before {
		if row.Value != r.To || row.Note != r.Note || w.naive == sound && before != r.From {
			w.broken = append(w.broken, fmt.Sprintf("%s: %+v at %d left %+v", ref.Name, r, before,
				row))
		}
		w.history[ref.Name] = append(w.history[ref.Name], r)
	}
	if w.naive == ignoresNotes && row.Value == r.To {
		row.Note = r.Note
	}
	return row, err
}

func (a *audited) Counters(
	ctx context.Context, namespace, after string, limit int,
) ([]launchlog.CounterState, error) {
	a.world.mu.Lock()
	defer a.world.mu.Unlock()
	return a.Store.Counters(ctx, namespace, after, limit)
}

func (a *audited) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	a.world.mu.Lock()
	defer a.world.mu.Unlock()
	return a.Store.LastNumber(ctx, ref)
}

func (w *world) count(n *int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*n++
}

// A link is a process's connection to the store. A process that is dead asks nothing and hears
// nothing. One that is stopped hears what it asked for when it goes on.
type link struct {
	launchlog.Store // steps that the simulation does not use
	world           *world

	mu      sync.Mutex // guards what follows; not held while time passes
	rnd     *rand.Rand
	dead    bool
	stopped time.Time // until then
	giveUp  func()    // ends the budget of the call under way
}

func (l *link) die() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
}

func (l *link) stop(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = time.Now().Add(d)
}

// pass waits, and reports whether the process is alive and no longer stopped.
func (l *link) pass(d time.Duration) bool {
	for {
		time.Sleep(d)
		l.mu.Lock()
		d = time.Until(l.stopped)
		dead := l.dead
		l.mu.Unlock()
		if dead || d <= 0 {
			return !dead
		}
	}
}

// draw is a number of the process's own, so that what others do does not change it.
func (l *link) draw(n int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rnd.Int64N(n)
}

// delay is mostly some milliseconds, and seconds now and then.
func (l *link) delay() time.Duration {
	most := int64(20 * time.Millisecond)
	if l.draw(20) == 0 {
		most = int64(12 * time.Second)
	}
	return time.Duration(1 + l.draw(most))
}

// lost ends the call's budget: what comes after a fault is the source's decision, and not a rerun
// of the log's.
func (l *link) lost(ambiguous bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.giveUp()
	return &launchlog.AttemptError{Ambiguous: ambiguous, Err: errFault}
}

func (l *link) calm() bool {
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	return l.world.calm
}

func (l *link) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (launchlog.CounterState, error) {
	if !l.pass(l.delay()) {
		return launchlog.CounterState{}, context.Canceled
	}
	w := l.world
	run := func() (launchlog.CounterState, error) { return w.faulty.RaiseCounter(ctx, ref, r) }
	if l.calm() {
		return w.faulty.Store.RaiseCounter(ctx, ref, r)
	}
	switch l.draw(25) {
	case 0: // executed again, much later
		w.count(&w.again)
		later := time.Duration(1 + l.draw(int64(2*time.Minute)))
		go func() {
			time.Sleep(later)
			_, _ = w.faulty.Store.RaiseCounter(context.WithoutCancel(ctx), ref, r)
		}()
	case 1: // no answer comes, executed or not
		w.count(&w.silent)
		if l.draw(2) == 0 {
			_, _ = run()
		}
		l.pass(time.Duration(1 + l.draw(int64(40*time.Second))))
		return l.answer(r, launchlog.CounterState{}, l.lost(true))
	}
	row, err := run()
	if !l.pass(l.delay()) {
		return launchlog.CounterState{}, context.Canceled
	}
	var again *launchlog.AttemptError
	if errors.As(err, &again) {
		err = l.lost(again.Ambiguous)
	}
	return l.answer(r, row, err)
}

// answer is what the process makes of it.
func (l *link) answer(
	r launchlog.Raise, row launchlog.CounterState, err error,
) (launchlog.CounterState, error) {
	if err != nil && l.world.naive == trustsSilence {
		return launchlog.CounterState{Value: r.To, Note: r.Note}, nil
	}
	return row, err
}

// read runs a read, which is late or fails.
func read[T any](l *link, run func() (T, error)) (v T, err error) {
	if !l.pass(l.delay()) {
		return v, context.Canceled
	}
	if !l.calm() && l.draw(12) == 0 {
		return v, l.lost(false)
	}
	v, err = run()
	if !l.pass(l.delay()) {
		return v, context.Canceled
	}
	return v, err
}

func (l *link) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	return read(l, func() (int64, error) { return l.world.faulty.LastNumber(ctx, ref) })
}

func (l *link) Now(context.Context) (time.Time, error) {
	return read(l, func() (now time.Time, _ error) {
		if l.world.clock {
			now = time.Now()
		}
		return now, nil
	})
}

// Counters may be out of date, as of a replica.
func (l *link) Counters(
	ctx context.Context, namespace, after string, limit int,
) ([]launchlog.CounterState, error) {
	return read(l, func() ([]launchlog.CounterState, error) {
		stale := !l.calm() && l.draw(6) == 0
		keep := l.draw(4) == 0
		rows, err := l.world.faulty.Counters(ctx, namespace, after, limit)
		l.world.mu.Lock()
		defer l.world.mu.Unlock()
		if stale {
			rows = l.world.stale
		} else if keep {
			l.world.stale = rows
		}
		return rows, err
	})
}
