package kvtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

var errInjected = errors.New("injected fault")

// Faulty wraps an engine and spoils what a network would. Requests and answers are lost. Requests
// come late, after their caller has tried again, and twice. They take their time, in which others
// come between. A commit loses against nobody. Faulty reports each as an engine would that settles
// nothing, or as one that settles by [kv.Settle]. It is for a clock that makes waiting free.
type Faulty struct {
	kv.Engine
	Rate float64 // of calls that are spoilt

	mu     sync.Mutex // guards what follows
	random *rand.Rand
	late   []func()
	Faults map[string]int
}

// NewFaulty makes the wrapper, with faults that follow from seed.
func NewFaulty(engine kv.Engine, seed uint64, rate float64) *Faulty {
	return &Faulty{
		Engine: engine, Rate: rate, random: rand.New(rand.NewPCG(seed, 0)),
		Faults: map[string]int{},
	}
}

// fault draws one of the faults, or "".
func (f *Faulty) fault(kinds ...string) (kind string, coin bool, pause time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.random.Float64() < f.Rate {
		kind = kinds[f.random.IntN(len(kinds))]
		f.Faults[kind]++
	}
	pause = time.Duration(f.random.Int64N(int64(5 * time.Millisecond)))
	if f.random.IntN(100) == 0 {
		pause = time.Duration(f.random.Int64N(int64(3 * time.Second)))
	}
	return kind, f.random.IntN(2) == 0, pause
}

// runLate runs what was to come late.
func (f *Faulty) runLate() {
	f.mu.Lock()
	late := f.late
	f.late = nil
	f.mu.Unlock()
	for _, run := range late {
		run()
	}
}

// sleep returns the context's error where that ends before.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Commit implements kv.Engine.
func (f *Faulty) Commit(
	ctx context.Context, part string, changes ...kv.Change,
) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	defer f.runLate()
	kind, coin, pause := f.fault("lost request", "lost answer", "late request", "twice",
		"lost to nobody")
	run := func() bool {
		done, _ := f.Engine.Commit(context.WithoutCancel(ctx), part, changes...)
		return done
	}
	if err := sleep(ctx, pause); err != nil { // it may be under way
		f.mu.Lock()
		f.late = append(f.late, func() { run() })
		f.mu.Unlock()
		return false, &launchlog.AttemptError{Ambiguous: true, Err: err}
	}
	ambiguous := &launchlog.AttemptError{Ambiguous: true, Err: errInjected}
	switch kind {
	case "lost request":
		ambiguous.Ambiguous = coin
		return false, ambiguous
	case "late request":
		f.mu.Lock()
		f.late = append(f.late, func() { run() })
		f.mu.Unlock()
		return false, ambiguous
	case "lost answer":
		run()
	case "twice":
		run()
		run()
	case "lost to nobody":
		return false, nil
	default:
		return run(), nil
	}
	if !coin {
		return false, ambiguous
	}
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Name
	}
	if err := sleep(ctx, pause); err != nil {
		return false, &launchlog.AttemptError{Ambiguous: true, Err: err}
	}
	rows, err := f.Engine.Read(context.WithoutCancel(ctx), part, names...)
	if err != nil {
		return false, err
	}
	if done, known := kv.Settle(changes, rows); known {
		return done, nil
	}
	return false, ambiguous
}

// reading spoils a call that reads.
func reading[T any](ctx context.Context, f *Faulty, read func() (T, error)) (v T, err error) {
	defer f.runLate()
	kind, coin, pause := f.fault("failed read")
	if kind != "" && coin { // not all of them, since some steps read much
		return v, &launchlog.AttemptError{Err: errInjected}
	}
	if err := sleep(ctx, pause); err != nil {
		return v, err
	}
	return read()
}

// Read implements kv.Engine.
func (f *Faulty) Read(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	return reading(ctx, f, func() ([]kv.Row, error) { return f.Engine.Read(ctx, part, names...) })
}

// List implements kv.Engine.
func (f *Faulty) List(
	ctx context.Context, part, after, before string, limit int,
) ([]kv.Row, error) {
	return reading(ctx, f, func() ([]kv.Row, error) {
		return f.Engine.List(ctx, part, after, before, limit)
	})
}

// Each implements kv.Engine.
func (f *Faulty) Each(ctx context.Context, parts []string, name string) ([]kv.Row, error) {
	return reading(ctx, f, func() ([]kv.Row, error) { return f.Engine.Each(ctx, parts, name) })
}
