package kv_test

import (
	"context"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/storetest"
)

// faulty wraps an engine and spoils what a network would. Requests and answers are lost. Requests
// come late, after their caller has tried again, and twice. They take their time, in which others
// come between. A commit loses against nobody. Each is reported as by an engine that settles
// nothing, or by one that settles by [kv.Settle]. It is for a clock that makes waiting free.
type faulty struct {
	kv.Engine
	*storetest.Network
}

// newFaulty makes the wrapper, with faults that follow from seed.
func newFaulty(engine kv.Engine, seed uint64, rate float64) *faulty {
	return &faulty{engine, storetest.NewNetwork(seed, rate)}
}

// pause is how long a request is on its way.
func (f *faulty) pause() time.Duration {
	most := 5 * time.Millisecond
	if f.Int64N(100) == 0 {
		most = 3 * time.Second
	}
	return 1 + time.Duration(f.Int64N(int64(most))) // none that is over at once
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
func (f *faulty) Commit(
	ctx context.Context, part string, changes ...kv.Change,
) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	kind, coin, end := f.Call("lost request", "lost answer", "late request", "twice",
		"lost to nobody")
	defer end()
	run := func() bool {
		done, _ := f.Engine.Commit(context.WithoutCancel(ctx), part, changes...)
		return done
	}
	if err := sleep(ctx, f.pause()); err != nil { // it may be under way
		f.Late(func() { run() })
		return false, &launchlog.AttemptError{Ambiguous: true, Err: err}
	}
	ambiguous := &launchlog.AttemptError{Ambiguous: true, Err: storetest.ErrInjected}
	switch kind {
	case "lost request":
		ambiguous.Ambiguous = coin
		return false, ambiguous
	case "late request":
		f.Late(func() { run() })
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
	if err := sleep(ctx, f.pause()); err != nil {
		return false, &launchlog.AttemptError{Ambiguous: true, Err: err}
	}
	rows, err := kv.Reread(context.WithoutCancel(ctx), f.Engine, part, changes)
	if err != nil {
		return false, err
	}
	if done, known := kv.Settle(changes, rows); known {
		return done, nil
	}
	return false, ambiguous
}

// reading spoils a call that reads.
func reading[T any](ctx context.Context, f *faulty, read func() (T, error)) (v T, err error) {
	kind, coin, end := f.Call("failed read")
	defer end()
	if kind != "" && coin { // not all of them, since some steps read much
		return v, &launchlog.AttemptError{Err: storetest.ErrInjected}
	}
	if err := sleep(ctx, f.pause()); err != nil {
		return v, err
	}
	return read()
}

// Read implements kv.Engine.
func (f *faulty) Read(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	return reading(ctx, f, func() ([]kv.Row, error) { return f.Engine.Read(ctx, part, names...) })
}

// List implements kv.Engine.
func (f *faulty) List(
	ctx context.Context, part, after, before string, limit int,
) ([]kv.Row, error) {
	return reading(ctx, f, func() ([]kv.Row, error) {
		return f.Engine.List(ctx, part, after, before, limit)
	})
}

// Each implements kv.Engine.
func (f *faulty) Each(ctx context.Context, parts []string, name string) ([]kv.Row, error) {
	return reading(ctx, f, func() ([]kv.Row, error) { return f.Engine.Each(ctx, parts, name) })
}
