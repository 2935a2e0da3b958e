package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// Orders are what a worker process is told.
type orders struct {
	Kind   databases.Kind
	Source string        // the DSN
	Name   string        // of the process
	Out    string        // the file that it writes its records to
	Keys   string        // begins the launches' keys
	Budget time.Duration // of every call
	Hurry  float64       // the share of calls whose context ends within 40 ms
	Pause  time.Duration // the longest before a call
	// Advance has workers advance launches and counters, now and then.
	Advance bool
	// Processes is how many there are; 0 is processes.
	Processes int
}

func (o orders) size() int {
	if o.Processes == 0 {
		return processes
	}
	return o.Processes
}

// A record is a line of a worker's file. The worker writes each attempt of a call down before it
// makes it, and again when it has ended. It writes the call's result down before it uses it. So the
// file of a worker that was killed says what it may have done.
type record struct {
	Call  string        // names the call
	Event event         // what happened
	At    time.Duration // by a clock that all processes share
	Op    op
	Space string // the namespace
	// the launch's key, the claim's token, the counter's name, or what launches are advanced to
	Key    string `json:",omitempty"`
	Launch int    `json:",omitempty"` // of a claim
	Floor  int64  `json:",omitempty"`
	N      int64  `json:",omitempty"` // how many numbers are asked for
	From   int64  `json:",omitempty"` // of a raise
	To     int64  `json:",omitempty"` // of a raise or an advance
	Note   string `json:",omitempty"` // of a raise
	// the launch, the generator number, the first number of the counter or its value: the result
	Number int64         `json:",omitempty"`
	Found  string        `json:",omitempty"` // the note of the row that a raise left
	Limit  time.Duration `json:",omitempty"` // how long the call may take
	Took   time.Duration `json:",omitempty"`
	Error  string        `json:",omitempty"`
}

// An op is what a call does.
type op string

const (
	start          op = "start"
	claim          op = "claim"
	reserve        op = "reserve"
	raise          op = "raise"
	last           op = "last"            // reads a counter
	advance        op = "advance"         // of launches
	advanceCounter op = "advance-counter" // of numbers
	mint           op = "mint"            // IDs with numbers that are claimed
	listed         op = "list"            // reads a counter with its note; the audit's
)

// names reports whether errors of launchlog name the op so.
func (o op) names(name string) bool { return strings.TrimSuffix(string(o), "-counter") == name }

type event string

const (
	sent event = "sent" // an attempt begins
	won  event = "won"  // the attempt succeeded
	// the attempt failed, and the store says that it changed nothing
	refused      event = "refused"
	doubtful     event = "doubtful"     // the attempt failed, and may have succeeded
	over         event = "over"         // the attempt found that the launch has ended
	acknowledged event = "acknowledged" // the call has a result
	// the call ended with an error that is right for a database that does not answer
	unresolved event = "unresolved"
	ended      event = "ended"   // the call ended as the launch has ended
	missing    event = "missing" // the call ended as there is no such launch
	failed     event = "failed"  // the call ended with another error
)

// worker is a process that uses a launch log until it is told to end, or is killed. It starts
// launches, claims generator numbers, takes numbers of counters, advances both, and mints IDs.
type worker struct {
	orders
	launchlog.Store // whose attempts it records

	out    *os.File
	calls  atomic.Int64
	latest atomic.Int64 // a launch of the first namespace
	told   func() bool  // to end: it makes no further call
}

const (
	goroutines = 3 // of a worker, beside those that mint
	// restartTime bounds how long a slow machine takes to start all nodes of a cluster again.
	restartTime = 5 * time.Minute
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
	d, err := dsn.Parse(w.Source)
	if err != nil {
		return err
	}
	if w.out, err = os.OpenFile(w.Out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) { // the server may be away
		if w.Store, err = targets[w.Kind].open(stop, d); err == nil {
			break
		}
		if w.told() {
			return nil
		}
		if time.Since(began) > restartTime {
			return err
		}
	}
	var group sync.WaitGroup
	failures := make(chan error, goroutines+len(minters))
	for g := range goroutines {
		l, err := w.log(namespaces[g%2])
		if err != nil {
			return err
		}
		group.Go(func() {
			for round := 0; !w.told(); round++ {
				err := w.round(l, namespaces[g%2], fmt.Sprintf("%s-%d-%d", w.Name, g, round))
				if err != nil {
					failures <- err
					return
				}
			}
		})
	}
	for scheme, m := range minters {
		l, err := w.log(namespaces[0])
		if err != nil {
			return err
		}
		group.Go(func() {
			if err := w.mint(l, scheme, m); err != nil {
				failures <- err
			}
		})
	}
	group.Wait()
	close(failures)
	return <-failures
}

// The namespaces that workers use.
var namespaces = []string{"first", "second"}

func (w *worker) log(namespace string) (*launchlog.Log, error) {
	return launchlog.New(w, &launchlog.Options{
		Namespace: namespace, Budget: w.Budget, Host: w.Name,
	})
}

// round starts a launch, under its own key or under one that others use at the same time. It takes
// numbers of launches and of counters.
func (w *worker) round(l *launchlog.Log, space, own string) error {
	key := fmt.Sprintf("%s-shared-%d", w.Keys, now()/sharing)
	if rand.IntN(3) == 0 {
		key = fmt.Sprintf("%s-own-%s", w.Keys, own)
	}
	newest, err := w.call(record{Op: start, Space: space, Key: key},
		func(ctx context.Context) (int64, error) {
			launch, err := l.Start(ctx, storetest.Request(key))
			return int64(launch.ID), err
		})
	if space == namespaces[0] && newest != 0 {
		w.latest.Store(newest)
	}
	for i := 0; i < 3 && newest != 0 && err == nil; i++ {
		launch := newest - rand.Int64N(min(newest, 4)) // others know these as well
		if rand.IntN(4) == 0 {
			launch = 1 + rand.Int64N(newest)
		}
		_, err = w.call(record{Op: claim, Space: space, Launch: int(launch)},
			func(ctx context.Context) (int64, error) {
				claim, err := l.Claim(ctx, int(launch))
				return int64(claim.Generator), err
			})
	}
	if err == nil && newest != 0 && w.Advance && rand.IntN(40) == 0 {
		to := newest + rand.Int64N(4)
		_, err = w.call(record{Op: advance, Space: space, Key: fmt.Sprint(to), To: to},
			func(ctx context.Context) (int64, error) {
				now, err := l.Advance(ctx, int(to), w.Name)
				if below := (*launchlog.RequestError)(nil); errors.As(err, &below) && now > int(to) {
					err = nil // others were faster
				}
				return int64(now), err
			})
	}
	for range 2 {
		if err == nil {
			err = w.count(l, space)
		}
	}
	return err
}

// count takes numbers of a counter, reads it, and advances it now and then.
func (w *worker) count(l *launchlog.Log, space string) error {
	// each for some seconds, so that no history is too long to be checked
	name := fmt.Sprint(plain, int64(now()/turn))
	r := record{Op: reserve, Space: space, Key: name, N: 1 + rand.Int64N(20)}
	if rand.IntN(2) == 0 {
		name = fmt.Sprint(floored, int64(now()/turn))
		r.Key, r.Floor = name, time.Now().UnixMilli()
	}
	c, err := l.Counter(name)
	if err != nil {
		return err
	}
	_, err = w.call(r, func(ctx context.Context) (int64, error) {
		return c.Reserve(ctx, r.Floor, r.N)
	})
	if err != nil || rand.IntN(4) != 0 {
		return err
	}
	there, err := w.call(record{Op: last, Space: space, Key: name}, c.Last)
	if err != nil || there == 0 || !w.Advance || rand.IntN(8) != 0 {
		return err
	}
	to := there + rand.Int64N(100)
	_, err = w.call(record{Op: advanceCounter, Space: space, Key: name, To: to},
		func(ctx context.Context) (int64, error) { return c.Advance(ctx, to, w.Name) })
	return err
}

// What the names of the counters begin with.
const (
	plain   = "plain/"   // whose numbers all are asked for
	floored = "floored/" // which follows the clock

	turn = 3 * time.Second // of a counter
)

type callKey struct{} // of the call's record, in the context of its attempts

// call makes a call and records it, unless the worker was told to end. It returns 0 where there is
// no result. The error is that of the file.
func (w *worker) call(r record, run func(context.Context) (int64, error)) (int64, error) {
	if w.Pause != 0 {
		time.Sleep(rand.N(w.Pause))
	}
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
	case errors.Is(err, launchlog.ErrNotFound): // so whatever was sent before has taken nothing
		return 0, w.write(r, missing)
	case errors.As(err, &lost) && r.Op.names(lost.Op) && lost.Key != "" &&
		(lost.Key == r.Key || r.Key == ""):
		// no attempt has given the token of a claim
		return 0, w.write(r, unresolved)
	case errors.Is(err, launchlog.ErrEnded):
		return 0, w.write(r, ended)
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

// attempt records an attempt, and what it told. It belongs to the call that ctx is of, or is a call
// of its own: generators ask in the background.
func attempt[T any](
	ctx context.Context, w *worker, r record, run func() (T, error), told func(*record, T),
) (T, error) {
	call, _ := ctx.Value(callKey{}).(*record)
	if call != nil {
		call.Key = r.Key
		r.Call, r.Limit = call.Call, call.Limit
	} else {
		r.Call = fmt.Sprintf("%s:%d", w.Name, w.calls.Add(1))
		if r.Op == claim { // the attempts of a token are one call
			r.Call = w.Name + ":" + r.Key
		}
	}
	if err := w.write(r, sent); err != nil {
		var zero T
		return zero, err
	}
	v, err := run()
	if err == nil {
		told(&r, v)
		err = w.write(r, won)
		if err == nil && call == nil {
			err = w.write(r, acknowledged)
		}
		return v, err
	}
	r.Error = err.Error()
	outcome := refused
	switch again := (*launchlog.AttemptError)(nil); {
	case errors.As(err, &again) && again.Ambiguous:
		outcome = doubtful
	case errors.Is(err, launchlog.ErrEnded):
		outcome = over
	}
	return v, errors.Join(err, w.write(r, outcome))
}

// StartLaunch implements launchlog.Store.
func (w *worker) StartLaunch(ctx context.Context, s launchlog.Launch) (launchlog.Launch, error) {
	return attempt(ctx, w, record{Op: start, Space: s.Namespace, Key: s.Key},
		func() (launchlog.Launch, error) { return w.Store.StartLaunch(ctx, s) },
		func(r *record, l launchlog.Launch) { r.Number = int64(l.ID) })
}

// ClaimGenerator implements launchlog.Store.
func (w *worker) ClaimGenerator(ctx context.Context, t launchlog.Claim) (launchlog.Claim, error) {
	return attempt(ctx, w,
		record{Op: claim, Space: t.Namespace, Key: t.Token, Launch: t.Launch},
		func() (launchlog.Claim, error) { return w.Store.ClaimGenerator(ctx, t) },
		func(r *record, c launchlog.Claim) { r.Number = int64(c.Generator) })
}

// AdvanceLaunches implements launchlog.Store.
func (w *worker) AdvanceLaunches(
	ctx context.Context, namespace string, to int, ending launchlog.Ending,
) (last, finished int, err error) {
	last, err = attempt(ctx, w,
		record{Op: advance, Space: namespace, Key: fmt.Sprint(to), To: int64(to)},
		func() (last int, err error) {
			last, finished, err = w.Store.AdvanceLaunches(ctx, namespace, to, ending)
			return last, err
		},
		func(r *record, last int) { r.Number = int64(last) })
	return last, finished, err
}

// value is the result of an attempt that is a number.
func value(r *record, n int64) { r.Number = n }

// ReserveNumbers implements launchlog.Store.
func (w *worker) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	return attempt(ctx, w,
		record{Op: reserve, Space: ref.Namespace, Key: ref.Name, Floor: floor, N: n},
		func() (int64, error) { return w.Store.ReserveNumbers(ctx, ref, floor, n) }, value)
}

// AdvanceCounter implements launchlog.Store.
func (w *worker) AdvanceCounter(
	ctx context.Context, ref launchlog.CounterRef, target int64, actor string,
) (int64, error) {
	return attempt(ctx, w,
		record{Op: advanceCounter, Space: ref.Namespace, Key: ref.Name, To: target},
		func() (int64, error) { return w.Store.AdvanceCounter(ctx, ref, target, actor) }, value)
}

// RaiseCounter implements launchlog.Store.
func (w *worker) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, raised launchlog.Raise,
) (launchlog.CounterState, error) {
	return attempt(ctx, w,
		record{
			Op: raise, Space: ref.Namespace, Key: ref.Name, From: raised.From, To: raised.To,
			Note: raised.Note,
		},
		func() (launchlog.CounterState, error) { return w.Store.RaiseCounter(ctx, ref, raised) },
		func(r *record, row launchlog.CounterState) { r.Number, r.Found = row.Value, row.Note })
}

// LastNumber implements launchlog.Store.
func (w *worker) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	return attempt(ctx, w, record{Op: last, Space: ref.Namespace, Key: ref.Name},
		func() (int64, error) { return w.Store.LastNumber(ctx, ref) }, value)
}
