package viewer_test

import (
	"context"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// A watcher is a store that only reads: what writes panics. It may be away, or slow.
type watcher struct {
	launchlog.Store // nil
	of              launchlog.Store
	err             error // what reads return, where it is set
	hang            bool  // reads wait for their context
	reads           int
}

func reading[T any](ctx context.Context, w *watcher, read func() (T, error)) (none T, _ error) {
	w.reads++
	if w.hang {
		<-ctx.Done()
		return none, ctx.Err()
	}
	if w.err != nil {
		return none, w.err
	}
	return read()
}

func (w *watcher) Digits(ctx context.Context, namespace string) (launchlog.Digits, error) {
	return reading(ctx, w, func() (launchlog.Digits, error) { return w.of.Digits(ctx, namespace) })
}

func (w *watcher) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	return reading(ctx, w, func() (launchlog.Launch, error) { return w.of.Launch(ctx, ref) })
}

func (w *watcher) Launches(
	ctx context.Context, namespace string, f launchlog.Filter,
) ([]launchlog.Launch, error) {
	return reading(ctx, w, func() ([]launchlog.Launch, error) {
		return w.of.Launches(ctx, namespace, f)
	})
}

func (w *watcher) Events(ctx context.Context, ref launchlog.Ref) ([]launchlog.Event, error) {
	return reading(ctx, w, func() ([]launchlog.Event, error) { return w.of.Events(ctx, ref) })
}

func (w *watcher) Claims(
	ctx context.Context, ref launchlog.Ref, from, limit int,
) ([]launchlog.Claim, error) {
	return reading(ctx, w, func() ([]launchlog.Claim, error) {
		return w.of.Claims(ctx, ref, from, limit)
	})
}

func (w *watcher) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	return reading(ctx, w, func() (int64, error) { return w.of.LastNumber(ctx, ref) })
}

func (w *watcher) Counters(
	ctx context.Context, namespace, after string, limit int,
) ([]launchlog.CounterState, error) {
	return reading(ctx, w, func() ([]launchlog.CounterState, error) {
		return w.of.Counters(ctx, namespace, after, limit)
	})
}

func (w *watcher) Now(ctx context.Context) (time.Time, error) {
	return reading(ctx, w, func() (time.Time, error) { return w.of.Now(ctx) })
}
