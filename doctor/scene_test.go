package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/memory"
)

var ctx = context.Background()

// begin is when the tests' stores and machines begin.
var begin = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func newLog(t *testing.T, store launchlog.Store) *launchlog.Log {
	t.Helper()
	log, err := launchlog.New(store, &launchlog.Options{Host: "h"})
	check(t, err)
	return log
}

// logAt is a log whose clock stands still.
func logAt(t *testing.T, now time.Time) *launchlog.Log {
	t.Helper()
	return newLog(t, memory.New(func() time.Time { return now }))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T, log *launchlog.Log, key string) int {
	t.Helper()
	launch, err := log.Start(ctx, launchlog.Request{
		Key: key, Service: "shop", Environment: "test", Initiator: "me",
	})
	check(t, err)
	return launch.ID
}

func end(t *testing.T, log *launchlog.Log, launch int) {
	t.Helper()
	_, err := log.End(ctx, launch, launchlog.Ending{Outcome: launchlog.Failed})
	check(t, err)
}

// claim takes the next n generator numbers of a launch.
func claim(t *testing.T, log *launchlog.Log, launch, n int) {
	t.Helper()
	for range n {
		_, err := log.Claim(ctx, launch)
		check(t, err)
	}
}

func advance(t *testing.T, log *launchlog.Log, to int) {
	t.Helper()
	_, err := log.Advance(ctx, to, "me")
	check(t, err)
}

// raise sets a counter, as a claim does.
func raise(t *testing.T, log *launchlog.Log, name string, to int64) {
	t.Helper()
	counter, err := log.Counter(name)
	check(t, err)
	from, err := counter.Last(ctx)
	if err == nil && from < to {
		_, err = counter.Raise(ctx, launchlog.Raise{From: from, To: to, Note: launchlog.NewNote()})
	}
	check(t, err)
}

// seen are the levels and messages by code, several of a code one after another. Those that passed
// are left out.
func seen(t *testing.T, results []checks.Result) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, r := range results {
		if (r.Remedy == "") != (r.Level == checks.Passed || r.Level == checks.Unknown) ||
			r.Message == "" {
			t.Errorf("%+v", r)
		}
		if r.Level != checks.Passed {
			got[r.Check] += fmt.Sprintf("%s: %s. ", r.Level, r.Message)
		}
	}
	return got
}

// want fails where other checks than those that are wanted have something to say, or where one says
// what does not begin so.
func want(t *testing.T, when string, results []checks.Result, wanted map[string]string) {
	t.Helper()
	got := seen(t, results)
	for code, text := range wanted {
		if got[code] == "" || !strings.HasPrefix(got[code], text) {
			t.Errorf("%s: %s: %q, want %q", when, code, got[code], text)
		}
		delete(got, code)
	}
	for code, text := range got {
		t.Errorf("%s: %s: %q, want nothing", when, code, text)
	}
}

// read reads a log, on a machine whose time is begin.
func read(t *testing.T, log *launchlog.Log) *doctor.Reading {
	t.Helper()
	return doctor.NewWatch(log, &doctor.WatchOptions{
		Timeout: time.Hour, Now: func() time.Time { return begin },
	}).Read(ctx)
}

// wantOne is [want] of a reading where one check has something to say, or none for "".
func wantOne(t *testing.T, when string, log *launchlog.Log, code, text string) {
	t.Helper()
	r := read(t, log)
	check(t, r.Err)
	wanted := map[string]string{}
	if text != "" {
		wanted[code] = text
	}
	want(t, when, r.Results, wanted)
}

// look looks at a log, and compares it with an earlier look as a file keeps that.
func look(
	t *testing.T, log *launchlog.Log, identity map[string]string, before *doctor.State,
) (doctor.State, []checks.Result) {
	t.Helper()
	if before != nil {
		text, err := json.Marshal(before)
		check(t, err)
		before = new(doctor.State)
		check(t, json.Unmarshal(text, before))
	}
	now, results, err := doctor.Look(ctx, log, identity, before)
	check(t, err)
	return now, results
}

var errAway = errors.New("away")

// A broken store does not answer questions of a kind.
type broken struct {
	launchlog.Store
	of string
}

func (s broken) err(of string) error {
	if s.of == of {
		return errAway
	}
	return nil
}

func (s broken) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	if err := s.err("launch"); err != nil {
		return launchlog.Launch{}, err
	}
	return s.Store.Launch(ctx, ref)
}

func (s broken) Launches(
	ctx context.Context, namespace string, f launchlog.Filter,
) ([]launchlog.Launch, error) {
	list, err := s.Store.Launches(ctx, namespace, f)
	return list, errors.Join(err, s.err("launches"))
}

func (s broken) Counters(
	ctx context.Context, namespace, after string, limit int,
) ([]launchlog.CounterState, error) {
	list, err := s.Store.Counters(ctx, namespace, after, limit)
	return list, errors.Join(err, s.err("counters"))
}

func (s broken) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, raise launchlog.Raise,
) (launchlog.CounterState, error) {
	if err := s.err("raise"); err != nil {
		return launchlog.CounterState{}, err
	}
	return s.Store.RaiseCounter(ctx, ref, raise)
}

func (s broken) Now(ctx context.Context) (time.Time, error) {
	now, err := s.Store.Now(ctx)
	if s.of == "without a clock" {
		return time.Time{}, err
	}
	return now, errors.Join(err, s.err("now"))
}
