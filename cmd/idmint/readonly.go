package main

import (
	"context"
	"errors"
	"time"

	"github.com/idmint/idmint/launchlog"
)

var errReadOnly = errors.New("the launch log was opened to be read")

// A readOnly store refuses to write, whatever asks it to. It passes on what a logReader has, and
// nothing that a store may have beside it.
type readOnly struct {
	logReader
	clock bool // the store tells the time without writing
}

var _ launchlog.Store = readOnly{}

// A logReader is what reads of a launchlog.Store.
type logReader interface {
	Launch(context.Context, launchlog.Ref) (launchlog.Launch, error)
	Launches(context.Context, string, launchlog.Filter) ([]launchlog.Launch, error)
	Events(context.Context, launchlog.Ref) ([]launchlog.Event, error)
	Claims(ctx context.Context, ref launchlog.Ref, from, limit int) ([]launchlog.Claim, error)
	LastNumber(context.Context, launchlog.CounterRef) (int64, error)
	Counters(ctx context.Context, namespace, after string, limit int) (
		[]launchlog.CounterState, error,
	)
	Now(context.Context) (time.Time, error)
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
	return s.logReader.Now(ctx)
}
