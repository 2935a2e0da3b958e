package kv_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
	"github.com/idmint/idmint/launchlog/storetest"
)

var (
	launchOne  = launchlog.Ref{Namespace: "n", Launch: 1}
	counterOne = launchlog.CounterRef{Namespace: "n", Name: "c"}
)

// A step whose commits others beat tries some times, and then says that nothing was done. One whose
// commit is in doubt does not try again by itself: the log does, under the same key.
func TestCommitsThatFail(t *testing.T) {
	errLost := &launchlog.AttemptError{Ambiguous: true, Err: errCut}
	for _, test := range []struct {
		err     error // of a commit
		commits int
	}{{nil, 10}, {errLost, 1}} {
		synctest.Test(t, func(t *testing.T) {
			for _, name := range []string{
				"StartLaunch", "EndLaunch", "AdvanceLaunches", "ClaimGenerator", "ReserveNumbers",
				"AdvanceCounter", "RaiseCounter",
			} {
				engine := &hooked{Engine: kvtest.NewMemory()}
				s := kv.New(engine, nil)
				_, err := s.StartLaunch(ctx, launchlog.Launch{
					Namespace: launchlog.DefaultNamespace, Request: storetest.Request("a"),
				})
				if err == nil {
					_, err = s.ReserveNumbers(ctx, launchlog.CounterRef{
						Namespace: launchlog.DefaultNamespace, Name: "c",
					}, 0, 10)
				}
				if err != nil {
					t.Fatal(err)
				}
				commits := 0
				engine.commit = func(string, []kv.Change, func() (bool, error)) (bool, error) {
					commits++
					return false, test.err
				}
				began := time.Now()
				err = storetest.Writes(s)[name]()
				var attempt *launchlog.AttemptError
				if took := time.Since(began); !errors.As(err, &attempt) || took > 4*time.Second ||
					attempt.Ambiguous != (test.err != nil) || commits != test.commits {
					t.Errorf("%s: %v after %d commits in %v", name, err, commits, took)
				}
				engine.commit = nil
				if err := storetest.Writes(s)[name](); err != nil {
					t.Errorf("%s, with nobody else: %v", name, err)
				}
			}
		})
	}
}

// lined is an engine with a line, in which all wait for a minute.
type lined struct {
	*hooked
	waited, left int
}

func (l *lined) Wait(_ context.Context, _ string) (leave func()) {
	l.waited++
	time.Sleep(time.Minute)
	return func() { l.left++ }
}

// A step that loses often stands in line, once. At its head it tries some times without a pause.
func TestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &lined{hooked: &hooked{Engine: kvtest.NewMemory()}}
		var at []time.Duration
		began := time.Now()
		engine.commit = func(_ string, _ []kv.Change, commit func() (bool, error)) (bool, error) {
			if at = append(at, time.Since(began)); len(at) < 8 {
				return false, nil
			}
			return commit()
		}
		s := kv.New(engine, nil)
		_, err := s.StartLaunch(ctx, launchlog.Launch{
			Namespace: launchlog.DefaultNamespace, Request: storetest.Request("a"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if engine.waited != 1 || engine.left != 1 || len(at) != 8 || at[2] > time.Second ||
			at[3] < time.Minute || at[7] != at[3] {
			t.Errorf("%d waits, %d ends of them, commits after %v", engine.waited, engine.left, at)
		}
	})
}

// A look that others overtake has not raised the register. It says what the register was, if it was
// to raise nothing: so a generator that starts beside others begins above it.
func TestLookThatIsOvertaken(t *testing.T) {
	engine := &hooked{Engine: kvtest.NewMemory()}
	s := kv.New(engine, nil)
	look := launchlog.Look{Ref: launchOne, Service: "shop", Reached: 7}
	if _, _, err := s.Order(ctx, look); err != nil {
		t.Fatal(err)
	}
	engine.commit = func(string, []kv.Change, func() (bool, error)) (bool, error) {
		return false, nil
	}
	for _, reached := range []int64{1, 8} {
		look.Reached = reached
		if is, _, err := s.Order(ctx, look); !errors.As(err, new(*launchlog.AttemptError)) {
			t.Errorf("a report of %d: %d, %v", reached, is, err)
		}
	}
	look.Reached = 0
	if is, looks, err := s.Order(ctx, look); is != 7 || looks != 1 || err != nil {
		t.Errorf("a question: %d, %d, %v", is, looks, err)
	}
}

// Clocks of processes differ. Nothing is before what was there before it.
func TestClamp(t *testing.T) {
	memory := kvtest.NewMemory()
	early := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	late := early.Add(time.Hour)
	first := kv.New(memory, func() time.Time { return late })
	second := kv.New(memory, func() time.Time { return early.In(time.FixedZone("", 3600)) })
	at := func(time time.Time, err error) {
		t.Helper()
		if err != nil || time != late {
			t.Errorf("at %v, %v", time, err)
		}
	}
	start(t, first, "1", 1)
	start(t, second, "2", 2)
	// The first of these claims makes the partition.
	for i, s := range []*kv.Store{second, first, second} {
		c, err := s.ClaimGenerator(ctx, launchlog.Claim{Namespace: "n", Launch: 1, Token: fmt.Sprint(i)})
		at(c.ClaimedAt, err)
	}
	for id := 1; id <= 2; id++ { // with and without a partition
		ref := launchlog.Ref{Namespace: "n", Launch: id}
		l, err := second.EndLaunch(ctx, ref, launchlog.Ending{Outcome: "failed"})
		at(l.StartedAt, err)
		at(l.EndedAt, err)
	}
	advance(t, second, 5, 5, "ann")
	for i, s := range []*kv.Store{first, second, second} {
		if _, err := s.AdvanceCounter(ctx, counterOne, int64(i+1), "ann"); err != nil {
			t.Fatal(err)
		}
	}
	events, err := second.Events(ctx, launchlog.Ref{Namespace: "n"})
	if err != nil || len(events) != 4 {
		t.Fatalf("events: %+v, %v", events, err)
	}
	for _, e := range events {
		at(e.At, nil)
	}
	found, err := second.Counters(ctx, "n", "", 9)
	at(found[0].UpdatedAt, err)
}

// Callers of one process that want the same partition lose no commit to each other.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := newFaulty(kvtest.NewMemory(), 1, 0)
		engine := &hooked{Engine: slow}
		s := kv.New(engine, nil)
		start(t, s, "a", 1)
		var mu sync.Mutex // guards what follows
		commits, lost := 0, 0
		engine.commit = func(_ string, _ []kv.Change, run func() (bool, error)) (bool, error) {
			done, err := run()
			mu.Lock()
			defer mu.Unlock()
			commits++
			if !done {
				lost++
			}
			return done, err
		}
		err := kv.Parallel(ctx, 16, 16, func(ctx context.Context, w int) error {
			for i := range 10 {
				if err := claim(s, 1, fmt.Sprint(w, " ", i)); err != nil {
					return err
				}
				if _, err := s.ReserveNumbers(ctx, counterOne, 0, 1); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || lost != 0 || commits != 321 { // one for the index
			t.Errorf("%d of %d commits were lost: %v", lost, commits, err)
		}
	})
}

// Who waits in the queue obeys its context, and sends nothing. Others partitions do not wait.
func TestQueueContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &hooked{Engine: kvtest.NewMemory()}
		s := kv.New(engine, nil)
		start(t, s, "1", 1)
		start(t, s, "2", 2)
		resume := make(chan struct{})
		var commits []string
		engine.commit = func(part string, _ []kv.Change, run func() (bool, error)) (bool, error) {
			commits = append(commits, part)
			if part == "n/launch/00001" {
				<-resume
			}
			return run()
		}
		first := make(chan error)
		go func() { first <- claim(s, 1, "a") }()
		synctest.Wait()
		calling, cancel := context.WithTimeout(ctx, time.Second)
		_, err := s.ClaimGenerator(calling, launchlog.Claim{Namespace: "n", Launch: 1, Token: "b"})
		cancel()
		if err != context.DeadlineExceeded || len(commits) != 1 {
			t.Errorf("waiting: %v, commits %v", err, commits)
		}
		if err := claim(s, 2, "c"); err != nil {
			t.Errorf("another launch: %v", err)
		}
		close(resume)
		if err := <-first; err != nil {
			t.Errorf("the first: %v", err)
		}
		if err := claim(s, 1, "d"); err != nil {
			t.Errorf("after that: %v", err)
		}
	})
}

// A counter is in the index before it is there, so that no counter is ever missing in the list. One
// that did not come to be is not listed, and a page is full nevertheless.
func TestIndex(t *testing.T) {
	engine := &hooked{Engine: kvtest.NewMemory()}
	s := kv.New(engine, nil)
	reserve := func(name string) error {
		_, err := s.ReserveNumbers(ctx, launchlog.CounterRef{Namespace: "n", Name: name}, 0, 1)
		return err
	}
	refuse := func(prefix string) func(string, []kv.Change, func() (bool, error)) (bool, error) {
		return func(part string, _ []kv.Change, run func() (bool, error)) (bool, error) {
			if strings.HasPrefix(part, prefix) {
				return false, errCut
			}
			return run()
		}
	}
	engine.commit = refuse("n/counter/") // all but the index
	for _, name := range []string{"a", "b", "d"} {
		if err := reserve(name); !errors.Is(err, errCut) {
			t.Fatal(err)
		}
	}
	engine.commit = refuse("n/counters") // the index
	if err := reserve("c"); !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	engine.commit = nil
	if last, err := s.LastNumber(ctx, counterOne); err != nil || last != 0 {
		t.Errorf("a counter that is not in the index is at %d, %v", last, err)
	}
	for _, name := range []string{"c", "e", "d/e"} {
		if err := reserve(name); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range map[int][]string{
		1: {"c"}, 2: {"c", "d/e"}, 9: {"c", "d/e", "e"},
	} {
		found, err := s.Counters(ctx, "n", "", limit)
		var names []string
		for _, c := range found {
			names = append(names, c.Name)
		}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("up to %d: %v, %v, want %v", limit, names, err, want)
		}
	}
}

// Lists are longer than a page.
func TestPages(t *testing.T) {
	engine := kvtest.NewMemory()
	s := kv.New(engine, nil)
	request := storetest.Request("")
	for id := 1; id <= 320; id++ { // a page has 250 rows
		request.Key, request.Service = fmt.Sprint(id), []string{"mail", "shop", "shop"}[id%3]
		counter := launchlog.CounterRef{Namespace: "n", Name: fmt.Sprintf("c/%04d", id)}
		_, err := s.StartLaunch(ctx, launchlog.Launch{Namespace: "n", Request: request})
		_, err2 := s.AdvanceCounter(ctx, counter, 5, "ann")
		if err := cmp.Or(err, err2, claim(s, 1, fmt.Sprint(id))); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Launches(ctx, "n", launchlog.Filter{Limit: launchlog.MaxLaunch})
	if err != nil || len(all) != 320 || all[0].ID != 320 || all[319].ID != 1 {
		t.Errorf("%d launches, %v", len(all), err)
	}
	some, err := s.Launches(ctx, "n", launchlog.Filter{Service: "mail", Before: 319, Limit: 97})
	if err != nil || len(some) != 97 || some[0].ID != 318 || some[96].ID != 30 {
		t.Errorf("%d launches, %v", len(some), err)
	}
	claims, err := s.Claims(ctx, launchOne, 1, 300)
	if err != nil || len(claims) != 300 || claims[0].Generator != 1 ||
		claims[299].Generator != 300 {
		t.Errorf("%d claims, %v", len(claims), err)
	}
	counters, err := s.Counters(ctx, "n", "c/0010", 300)
	if err != nil || len(counters) != 300 || counters[0].Name != "c/0011" ||
		counters[299].Name != "c/0310" {
		t.Errorf("%d counters, %v", len(counters), err)
	}
	events, err := s.Events(ctx, launchlog.Ref{Namespace: "n"})
	if err != nil || len(events) != 320 {
		t.Errorf("%d events, %v", len(events), err)
	}
	for i, e := range events[1:] {
		if e.At.Before(events[i].At) {
			t.Fatalf("event %d at %v, after %v", i+1, e.At, events[i].At)
		}
	}
}

// A log that was not prepared is not taken for an empty one.
func TestSchema(t *testing.T) {
	memory := kvtest.NewMemory()
	want := func(err error, have int) {
		t.Helper()
		var schema *launchlog.SchemaError
		if !errors.As(err, &schema) || schema.Have != have || schema.Want != kv.SchemaVersion {
			t.Errorf("%v, want version %d", err, have)
		}
	}
	_, err := kv.Find(ctx, memory)
	want(err, 0)
	var made atomic.Int64
	if err := kv.Parallel(ctx, 8, 8, func(ctx context.Context, _ int) error {
		from, to, err := kv.Migrate(ctx, memory)
		if to != kv.SchemaVersion || from != 0 && from != to {
			t.Errorf("migrated from %d to %d", from, to)
		}
		if from == 0 {
			made.Add(1)
		}
		if err == nil {
			_, err = kv.Find(ctx, memory)
		}
		return err
	}); err != nil || made.Load() != 1 {
		t.Errorf("%v, and %d say that they made the log", err, made.Load())
	}
	for version := kv.SchemaVersion + 1; version < kv.SchemaVersion+3; version++ {
		newer := kvtest.NewMemory()
		row := kv.Change{Name: "version", Value: fmt.Appendf(nil, `{"version":%d}`, version)}
		if _, err := newer.Commit(ctx, kv.SchemaPart, row); err != nil {
			t.Fatal(err)
		}
		from, to, up := kv.Migrate(ctx, newer)
		_, find := kv.Find(ctx, newer)
		if version == kv.SchemaVersion+1 { // a release works on the next one's log
			if up != nil || find != nil || from != version || to != version {
				t.Errorf("from %d to %d, %v, %v", from, to, up, find)
			}
			continue
		}
		want(up, version)
		want(find, version)
	}
}

// Who made the log knows it, even where the answer was lost. Who comes after finds it.
func TestMigrateKnowsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := kvtest.NewMemory()
		for i, want := range []int{0, kv.SchemaVersion} {
			lost := false
			engine := &hooked{Engine: memory}
			engine.commit = func(_ string, _ []kv.Change, run func() (bool, error)) (bool, error) {
				done, err := run()
				if !lost {
					lost = true
					return false, &launchlog.AttemptError{Ambiguous: true, Err: errCut}
				}
				return done, err
			}
			from, to, err := kv.Migrate(ctx, engine)
			if from != want || to != kv.SchemaVersion || err != nil {
				t.Errorf("run %d: from %d to %d, %v; want from %d", i, from, to, err, want)
			}
		}
	})
}

// away is an engine that does not answer for a while.
type away struct {
	kv.Engine
	until time.Time
	err   error
}

func (a away) Read(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if time.Now().Before(a.until) {
		return nil, a.err
	}
	return a.Engine.Read(ctx, part, names...)
}

// Find and Migrate wait for 10 s, but not for what waiting does not mend.
func TestOpenWaits(t *testing.T) {
	errWrong, ended := errors.New("wrong password"), context.DeadlineExceeded
	passing := func(err error) error {
		return &launchlog.AttemptError{Err: kv.Nodes(&kv.NodeError{Node: "a:1", Err: err})}
	}
	for _, test := range []struct {
		away, patience time.Duration
		err            error // of the engine
		want           []error
		took           time.Duration // to the second
	}{
		{3 * time.Second, time.Hour, passing(errRefused), nil, 3 * time.Second},
		{time.Hour, time.Hour, passing(errRefused), []error{errRefused}, 10 * time.Second},
		{time.Hour, 2 * time.Second, passing(errRefused), []error{errRefused, ended}, 2 * time.Second},
		{time.Hour, time.Hour, passing(errForeign), []error{errForeign}, 0},
		{time.Hour, time.Hour, errWrong, []error{errWrong}, 0},
		{time.Hour, 0, errWrong, []error{ended}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			memory := kvtest.NewMemory()
			if _, _, err := kv.Migrate(ctx, memory); err != nil {
				t.Fatal(err)
			}
			for name, open := range map[string]func(context.Context, kv.Engine) error{
				"find": func(ctx context.Context, e kv.Engine) error {
					_, err := kv.Find(ctx, e)
					return err
				},
				"migrate": func(ctx context.Context, e kv.Engine) error {
					_, _, err := kv.Migrate(ctx, e)
					return err
				},
			} {
				began := time.Now()
				calling, cancel := context.WithTimeout(ctx, test.patience)
				err := open(calling, away{memory, began.Add(test.away), test.err})
				cancel()
				for _, want := range test.want {
					if !errors.Is(err, want) {
						t.Errorf("%s, %+v: %v, want %v", name, test, err, want)
					}
				}
				if took := time.Since(began) - test.took; took < 0 || took > 4*time.Second ||
					(err != nil) != (test.want != nil) {
					t.Errorf("%s, %+v: %v after %v", name, test, err, time.Since(began))
				}
			}
		})
	}
}

// A store that opens by several waits has one deadline for all: Find within Await ends with it.
func TestWaitWithinWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		refused := &launchlog.AttemptError{Err: errRefused}
		err := kv.Await(ctx, 10*time.Second, func(ctx context.Context) error {
			time.Sleep(6 * time.Second) // another question, which is answered late
			_, err := kv.Find(ctx, away{kvtest.NewMemory(), began.Add(time.Hour), refused})
			return err
		})
		took := time.Since(began) - 10*time.Second
		if !errors.Is(err, errRefused) || took < 0 || took > time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A row that is none is an error that names it.
func TestDamaged(t *testing.T) {
	memory := kvtest.NewMemory()
	damage := kv.Change{Name: "launch-00001", Value: []byte(`{"launch_id":`)}
	if done, err := memory.Commit(ctx, "n/launches", damage); err != nil || !done {
		t.Fatal(err)
	}
	_, err := kv.New(memory, nil).Launch(ctx, launchOne)
	if !strings.Contains(fmt.Sprint(err), "row launch-00001 of n/launches is damaged") {
		t.Errorf("got %v", err)
	}
}
