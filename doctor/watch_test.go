package doctor_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/memory"
)

// A slow store counts readings, of which each takes a second, and hangs, fails or panics on demand.
type slow struct {
	launchlog.Store
	readings atomic.Int32
	hangs    atomic.Bool
	err      error
	panics   bool
}

func (s *slow) Events(ctx context.Context, ref launchlog.Ref) ([]launchlog.Event, error) {
	s.readings.Add(1)
	if s.panics {
		panic("of the store")
	}
	delay := time.Second
	if s.hangs.Load() {
		delay = time.Hour
	}
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	list, err := s.Store.Events(ctx, ref)
	return list, errors.Join(err, s.err)
}

func watch(t *testing.T, opts *doctor.WatchOptions) (*slow, *launchlog.Log, *doctor.Watch) {
	t.Helper()
	store := &slow{Store: memory.New(nil)}
	log := newLog(t, store)
	return store, log, doctor.NewWatch(log, opts)
}

// crowded is a store with a million counters.
type crowded struct{ launchlog.Store }

func (crowded) Counters(
	_ context.Context, _, after string, limit int,
) (found []launchlog.CounterState, err error) {
	n := 0
	if after != "" {
		if n, err = strconv.Atoi(after); err != nil { // a name of a pool's
			return nil, nil
		}
	}
	for ; len(found) < limit && n < 1_000_000; n++ {
		found = append(found, launchlog.CounterState{Name: strconv.Itoa(n + 1), Value: 1})
	}
	return found, nil
}

// A watch takes no more memory for an app that makes counters, and says that it does not see all.
func TestManyCounters(t *testing.T) {
	w := doctor.NewWatch(newLog(t, crowded{memory.New(nil)}),
		&doctor.WatchOptions{Timeout: time.Hour})
	r := w.Read(t.Context())
	if r.Err != nil || len(r.Shares) > 11_000 || !slices.ContainsFunc(r.Results,
		func(of checks.Result) bool {
			return of.Check == "counters" && of.Level == checks.Note &&
				strings.Contains(of.Message, "only the first 10000 were checked")
		}) {
		t.Errorf("%d shares, %v: %+v", len(r.Shares), r.Err, r.Results)
	}
}

// wantReading reads, and compares what a reading says of launches, how old it is, how long it was
// waited for, and how many readings there were.
func wantReading(
	t *testing.T, w *doctor.Watch, s *slow, launches int64, age, took time.Duration, readings int32,
) *doctor.Reading {
	t.Helper()
	began := time.Now()
	r := w.Read(ctx)
	if waited := time.Since(began); waited != took || s.readings.Load() != readings {
		t.Errorf("%d readings, and waited %v; want %d, %v", s.readings.Load(), waited, readings, took)
	}
	if r.Good == nil || r.Good.Shares[0].Used != launches || time.Since(r.Good.At) != age {
		t.Errorf("%+v, want %d launches, %v ago", r.Good, launches, age)
	}
	return r
}

// However often a watch is asked, its log is read once a minute, also by many who come at once.
func TestWatchIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log, w := watch(t, &doctor.WatchOptions{
			Checks: func(context.Context) ([]checks.Result, error) {
				return []checks.Result{checks.New("rights", checks.Note, "of the database")}, nil
			},
		})
		start(t, log, "a")
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { wantReading(t, w, store, 1, time.Second, time.Second, 1) })
		}
		all.Wait()
		start(t, log, "b")
		r := wantReading(t, w, store, 1, time.Second, 0, 1)
		want(t, "a note", r.Results, map[string]string{"rights": "note: of the database"})
		if r.Level() != checks.Note || r.Took != time.Second || r.Err != nil {
			t.Errorf("%+v", r)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		wantReading(t, w, store, 1, time.Minute+time.Second-time.Nanosecond, 0, 1)
		time.Sleep(time.Nanosecond)
		wantReading(t, w, store, 2, time.Second, time.Second, 2)
	})
}

// A log that hangs costs two seconds, and is asked again after five. What was read before is kept.
func TestWatchOfALogThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log, w := watch(t, nil)
		start(t, log, "a")
		wantReading(t, w, store, 1, time.Second, time.Second, 1)
		store.hangs.Store(true)
		time.Sleep(time.Minute)
		r := wantReading(t, w, store, 1, 63*time.Second, 2*time.Second, 2)
		if !errors.Is(r.Err, context.DeadlineExceeded) || r.Failures != 1 || r.Shares != nil {
			t.Errorf("%+v", r)
		}
		time.Sleep(5*time.Second - time.Nanosecond)
		if again := w.Read(ctx); again != r {
			t.Errorf("%+v, and then %+v", r, again)
		}
		time.Sleep(time.Nanosecond)
		store.hangs.Store(false)
		store.err = errAway
		if r = w.Read(ctx); !errors.Is(r.Err, errAway) || r.Failures != 2 {
			t.Errorf("%+v", r)
		}
		store.err = nil
		time.Sleep(5 * time.Second)
		if r = wantReading(t, w, store, 1, time.Second, time.Second, 4); r.Err != nil ||
			r.Failures != 2 {
			t.Errorf("%+v", r)
		}
	})
}

// Whoever gives up does not wait, and says nothing of the log: others who wait read it themselves.
func TestWatchGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _, w := watch(t, nil)
		ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		var first, second sync.WaitGroup
		gaveUp := func() {
			began := time.Now()
			r := w.Read(ctx)
			if took := time.Since(began); took != 10*time.Millisecond ||
				!errors.Is(r.Err, context.DeadlineExceeded) || r.Failures != 0 || r.Good != nil {
				t.Errorf("it took %v, %+v", took, r)
			}
		}
		first.Go(gaveUp)
		synctest.Wait()
		first.Go(gaveUp) // which waits for the first
		second.Go(func() {
			synctest.Wait()
			wantReading(t, w, store, 0, time.Second, time.Second+10*time.Millisecond, 2)
		})
		first.Wait()
		second.Wait()
	})
}

// A store or a check that panics does not keep the watch from reading again.
func TestWatchPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log, w := watch(t, nil)
		start(t, log, "a")
		store.panics = true
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is swallowed")
				}
			}()
			w.Read(ctx)
		}()
		store.panics = false
		wantReading(t, w, store, 1, time.Second, time.Second, 2)
	})
}

// Numbers that were lent come with the latest ceiling first.
func TestWatchClaims(t *testing.T) {
	log := logAt(t, begin)
	raise(t, log, "trace/1", begin.Unix())
	raise(t, log, "sno/7", begin.Add(time.Minute).UnixMilli()/4)
	var numbers []string
	for _, c := range read(t, log).Claims {
		numbers = append(numbers, string(c.Scheme)+" "+c.Number)
	}
	if !slices.Equal(numbers, []string{"sno 7", "trace 1"}) {
		t.Errorf("%q", strings.Join(numbers, ", "))
	}
}
