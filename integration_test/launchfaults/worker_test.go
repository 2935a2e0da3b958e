package launchfaults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// Orders are what a worker process is told.
type orders struct {
	Kind   databases.Kind
	Source string        // of the database, for its driver
	Name   string        // of the process
	Out    string        // the file that it writes its records to
	Keys   string        // begins the launches' keys
	Budget time.Duration // of every call
	Hurry  float64       // the share of calls whose context ends within 40 ms
}

// A record is a line of a worker's file. The worker writes each attempt of a call down before it
// makes it, and again when it has ended. It writes the call's result down before it uses it. So the
// file of a worker that was killed says what it may have done.
type record struct {
	Call  string        // names the call
	Event event         // what happened
	At    time.Duration // by a clock that all processes share
	Op    string        // "start", "claim" or "reserve", as errors of launchlog name it
	Space string        // the namespace
	// the launch's key, the claim's token or the counter's name
	Key    string `json:",omitempty"`
	Launch int    `json:",omitempty"` // of a claim
	Floor  int64  `json:",omitempty"`
	N      int64  `json:",omitempty"` // how many numbers are asked for
	// the launch, the generator number or the first number of the counter: the result
	Number int64         `json:",omitempty"`
	Limit  time.Duration `json:",omitempty"` // how long the call may take
	Took   time.Duration `json:",omitempty"`
	Error  string        `json:",omitempty"`
}

type event string

const (
	sent event = "sent" // an attempt begins
	won  event = "won"  // the attempt succeeded
	// the attempt failed, and the store says that it changed nothing
	refused      event = "refused"
	doubtful     event = "doubtful"     // the attempt failed, and may have succeeded
	acknowledged event = "acknowledged" // the call has a result
	// the call ended with an error that is right for a database that does not answer
	unresolved event = "unresolved"
	ended      event = "ended"   // the call ended as the launch has ended
	missing    event = "missing" // the call ended as there is no such launch
	failed     event = "failed"  // the call ended with another error
)

// worker is a process that starts launches, claims generator numbers and reserves numbers of
// counters, until it is told to end, or is killed.
type worker struct {
	orders
	launchlog.Store // whose attempts it records

	out   *os.File
	calls atomic.Int64
	told  func() bool // to end: it makes no further call
}

const (
	goroutines = 3 // of a worker
	// sharing is how long all workers start a launch of a namespace by the same key, if they have
	// no key of their own.
	sharing = 100 * time.Millisecond
)

func work(args []string) error {
	w := &worker{}
	if err := json.Unmarshal([]byte(args[0]), &w.orders); err != nil {
		return err
	}
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	w.told = func() bool { return stop.Err() != nil }
	var err error
	if w.out, err = os.OpenFile(w.Out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) { // the server may be away
		if w.Store, err = targets[w.Kind].open(stop, w.Source); err == nil {
			break
		}
		if w.told() {
			return nil
		}
		if time.Since(began) > ample {
			return err
		}
	}
	var group sync.WaitGroup
	failures := make(chan error, goroutines)
	for g := range goroutines {
		l, err := launchlog.New(w, &launchlog.Options{
			Namespace: []string{"first", "second"}[g%2], Budget: w.Budget, Host: w.Name,
		})
		if err != nil {
			return err
		}
		group.Go(func() {
			for round := 0; !w.told(); round++ {
				err := w.round(l, []string{"first", "second"}[g%2],
					fmt.Sprintf("%s-%d-%d", w.Name, g, round))
				if err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)
	return <-failures
}

// round starts a launch, under its own key or under one that others use at the same time. It takes
// numbers of launches and of counters.
func (w *worker) round(l *launchlog.Log, space, own string) error {
	key := fmt.Sprintf("%s-shared-%d", w.Keys, now()/sharing)
	if rand.IntN(3) == 0 {
		key = fmt.Sprintf("%s-own-%s", w.Keys, own)
	}
	last, err := w.call(record{Op: "start", Space: space, Key: key},
		func(ctx context.Context) (int64, error) {
			launch, err := l.Start(ctx, storetest.Request(key))
			return int64(launch.ID), err
		})
	for i := 0; i < 3 && last != 0 && err == nil; i++ {
		launch := last - rand.Int64N(min(last, 4)) // others know these as well
		if rand.IntN(4) == 0 {
			launch = 1 + rand.Int64N(last)
		}
		_, err = w.call(record{Op: "claim", Space: space, Launch: int(launch)},
			func(ctx context.Context) (int64, error) {
				claim, err := l.Claim(ctx, int(launch))
				return int64(claim.Generator), err
			})
	}
	for range 2 {
		if err != nil {
			return err
		}
		r := record{Op: "reserve", Space: space, Key: plain, N: 1 + rand.Int64N(20)}
		if rand.IntN(2) == 0 {
			r.Key, r.Floor = floored, time.Now().UnixMilli()
		}
		var c *launchlog.Counter
		if c, err = l.Counter(r.Key); err == nil {
			_, err = w.call(r, func(ctx context.Context) (int64, error) {
				return c.Reserve(ctx, r.Floor, r.N)
			})
		}
	}
	return err
}

// The names of the counters.
const (
	plain   = "plain"   // whose numbers all are asked for
	floored = "floored" // which follows the clock
)

type callKey struct{} // of the call's record, in the context of its attempts

// call makes a call and records it, unless the worker was told to end. It returns 0 where there is
// no result. The error is that of the file.
func (w *worker) call(r record, run func(context.Context) (int64, error)) (int64, error) {
	if w.told() {
		return 0, nil
	}
	r.Call, r.Limit = fmt.Sprintf("%s:%d", w.Name, w.calls.Add(1)), w.Budget
	ctx := context.WithValue(context.Background(), callKey{}, &r)
	if rand.Float64() < w.Hurry {
		r.Limit = rand.N(40 * time.Millisecond)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Limit)
		defer cancel()
	}
	began := now()
	number, err := run(ctx)
	r.Took = now() - began
	if err != nil {
		r.Error = err.Error()
	}
	var lost *launchlog.UnresolvedError
	switch {
	case err == nil:
		r.Number = number
		return number, w.write(r, acknowledged)
	case errors.As(err, &lost) && lost.Op == r.Op && lost.Key != "" &&
		(lost.Key == r.Key || r.Key == ""):
		// no attempt has given the token of a claim
		return 0, w.write(r, unresolved)
	case errors.Is(err, launchlog.ErrEnded):
		return 0, w.write(r, ended)
	case errors.Is(err, launchlog.ErrNotFound):
		return 0, w.write(r, missing)
	default:
		time.Sleep(100 * time.Millisecond) // it may fail again and again
		return 0, w.write(r, failed)
	}
}

func (w *worker) write(r record, e event) error {
	r.Event, r.At = e, now()
	line, err := json.Marshal(r)
	if err == nil {
		_, err = w.out.Write(append(line, '\n'))
	}
	return err
}

// now is of a clock that processes share and nobody sets.
func now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// attempt records an attempt of the call that ctx is of.
func attempt[T any](ctx context.Context, w *worker, key string, run func() (T, error)) (T, error) {
	r := ctx.Value(callKey{}).(*record)
	r.Key = key
	if err := w.write(*r, sent); err != nil {
		var zero T
		return zero, err
	}
	v, err := run()
	outcome := won
	if again := (*launchlog.AttemptError)(nil); errors.As(err, &again) && again.Ambiguous {
		outcome = doubtful
	} else if err != nil {
		outcome = refused
	}
	ended := *r
	if err != nil {
		ended.Error = err.Error()
	}
	return v, errors.Join(err, w.write(ended, outcome))
}

// StartLaunch implements launchlog.Store.
func (w *worker) StartLaunch(ctx context.Context, s launchlog.Start) (launchlog.Launch, error) {
	return attempt(ctx, w, s.Key, func() (launchlog.Launch, error) {
		return w.Store.StartLaunch(ctx, s)
	})
}

// ClaimGenerator implements launchlog.Store.
func (w *worker) ClaimGenerator(ctx context.Context, t launchlog.Take) (launchlog.Claim, error) {
	return attempt(ctx, w, t.Token, func() (launchlog.Claim, error) {
		return w.Store.ClaimGenerator(ctx, t)
	})
}

// ReserveNumbers implements launchlog.Store.
func (w *worker) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	return attempt(ctx, w, ref.Name, func() (int64, error) {
		return w.Store.ReserveNumbers(ctx, ref, floor, n)
	})
}
