package main

import (
	"context"
	"errors"
	"time"

	"github.com/idmint/idmint/launchlog"
)

var errReadOnly = errors.New("the launch log was opened to be read")

// A readOnly store refuses to write, whatever asks it to.
type readOnly struct {
	launchlog.Store
	clock bool // the store tells the time without writing
}

func (readOnly) StartLaunch(context.Context, launchlog.Start) (launchlog.Launch, error) {
	return launchlog.Launch{}, errReadOnly
}

func (readOnly) EndLaunch(context.Context, launchlog.Ref, launchlog.Ending) (
	launchlog.Launch, error,
) {
	return launchlog.Launch{}, errReadOnly
}

func (readOnly) ClaimGenerator(context.Context, launchlog.Take) (launchlog.Claim, error) {
	return launchlog.Claim{}, errReadOnly
}

func (readOnly) AdvanceLaunches(context.Context, string, int, launchlog.Ending) (
	launchlog.Advanced, error,
) {
	return launchlog.Advanced{}, errReadOnly
}

func (readOnly) ReserveNumbers(context.Context, launchlog.CounterRef, int64, int64) (
	int64, error,
) {
	return 0, errReadOnly
}

func (readOnly) AdvanceCounter(context.Context, launchlog.CounterRef, int64, string) (
	int64, error,
) {
	return 0, errReadOnly
}

func (readOnly) RaiseCounter(context.Context, launchlog.CounterRef, launchlog.Raise) (
	launchlog.CounterState, error,
) {
	return launchlog.CounterState{}, errReadOnly
}

func (s readOnly) Now(ctx context.Context) (time.Time, error) {
	if !s.clock {
		return time.Time{}, nil
	}
	return s.Store.Now(ctx)
}
