package viewer_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// A watcher is a store that fails a test where anything is written. It may be away, or slow.
type watcher struct {
	launchlog.Store
	t     testing.TB
	err   error // what reads return, where it is set
	hang  bool  // reads wait for their context
	reads int
}

func (w *watcher) read(ctx context.Context) error {
	w.reads++
	if w.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	return w.err
}

func (w *watcher) wrote(method string) error {
	w.t.Errorf("the pages called %s", method)
	return errors.New("this store is read only")
}

func (w *watcher) StartLaunch(context.Context, launchlog.Start) (launchlog.Launch, error) {
	return launchlog.Launch{}, w.wrote("StartLaunch")
}

func (w *watcher) EndLaunch(context.Context, launchlog.Ref, launchlog.Ending) (
	launchlog.Launch, error,
) {
	return launchlog.Launch{}, w.wrote("EndLaunch")
}

func (w *watcher) ClaimGenerator(context.Context, launchlog.Take) (launchlog.Claim, error) {
	return launchlog.Claim{}, w.wrote("ClaimGenerator")
}

func (w *watcher) AdvanceLaunches(context.Context, string, int, launchlog.Ending) (
	launchlog.Advanced, error,
) {
	return launchlog.Advanced{}, w.wrote("AdvanceLaunches")
}

func (w *watcher) ReserveNumbers(context.Context, launchlog.CounterRef, int64, int64) (
	int64, error,
) {
	return 0, w.wrote("ReserveNumbers")
}

func (w *watcher) AdvanceCounter(context.Context, launchlog.CounterRef, int64, string) (
	int64, error,
) {
	return 0, w.wrote("AdvanceCounter")
}

func (w *watcher) RaiseCounter(context.Context, launchlog.CounterRef, launchlog.Raise) (
	launchlog.CounterState, error,
) {
	return launchlog.CounterState{}, w.wrote("RaiseCounter")
}

func (w *watcher) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	if err := w.read(ctx); err != nil {
		return launchlog.Launch{}, err
	}
	return w.Store.Launch(ctx, ref)
}

func (w *watcher) Launches(
	ctx context.Context, namespace string, filter launchlog.Filter,
) ([]launchlog.Launch, error) {
	if err := w.read(ctx); err != nil {
		return nil, err
	}
	return w.Store.Launches(ctx, namespace, filter)
}

func (w *watcher) Counters(ctx context.Context, namespace, after string, limit int) (
	[]launchlog.CounterState, error,
) {
	if err := w.read(ctx); err != nil {
		return nil, err
	}
	return w.Store.Counters(ctx, namespace, after, limit)
}

func (w *watcher) Now(ctx context.Context) (time.Time, error) {
	if err := w.read(ctx); err != nil {
		return time.Time{}, err
	}
	return w.Store.Now(ctx)
}
