package kv_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
	"github.com/idmint/idmint/launchlog/storetest"
)

var ctx = context.Background()

// hooked is an engine whose commits go through a function.
type hooked struct {
	kv.Engine
	commit func(part string, changes []kv.Change, run func() (bool, error)) (bool, error)
	parts  int // that Each was asked for
}

func (h *hooked) Commit(ctx context.Context, part string, changes ...kv.Change) (bool, error) {
	run := func() (bool, error) { return h.Engine.Commit(ctx, part, changes...) }
	if h.commit == nil {
		return run()
	}
	return h.commit(part, changes, run)
}

func (h *hooked) Each(ctx context.Context, parts []string, name string) ([]kv.Row, error) {
	h.parts += len(parts)
	return h.Engine.Each(ctx, parts, name)
}

var errCut = errors.New("cut off")

// cutOff fails commits to the partitions of launches, after the first n.
func cutOff(n int) func(string, []kv.Change, func() (bool, error)) (bool, error) {
	var mu sync.Mutex
	return func(part string, _ []kv.Change, run func() (bool, error)) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(part, "n/launch/") {
			if n--; n < 0 {
				return false, &launchlog.AttemptError{Err: errCut}
			}
		}
		return run()
	}
}

func start(t *testing.T, s launchlog.Store, key string, id int) {
	t.Helper()
	l, err := s.StartLaunch(ctx, launchlog.Launch{
		Namespace: "n", Request: storetest.Request(key), RequestHash: "h",
	})
	if err != nil || l.ID != id {
		t.Fatalf("start %s: launch %d, %v, want %d", key, l.ID, err, id)
	}
}

func advance(t *testing.T, s launchlog.Store, to, want int, actor string) {
	t.Helper()
	ending := launchlog.Ending{Outcome: launchlog.Superseded, Actor: actor}
	if now, _, err := s.AdvanceLaunches(ctx, "n", to, ending); err != nil || now != want {
		t.Fatalf("advance to %d: %d, %v, want %d", to, now, err, want)
	}
}

// wantCut has an advance that is cut off after it has written: it must not say that nothing was
// done.
func wantCut(t *testing.T, s launchlog.Store, to int, actor string) {
	t.Helper()
	ending := launchlog.Ending{Outcome: launchlog.Superseded, Actor: actor}
	_, _, err := s.AdvanceLaunches(ctx, "n", to, ending)
	var attempt *launchlog.AttemptError
	if !errors.As(err, &attempt) || !attempt.Ambiguous || !errors.Is(err, errCut) {
		t.Fatalf("an advance that was cut off: %v, want it ambiguous", err)
	}
}

// wantRunning looks which launches of those up to last run.
func wantRunning(t *testing.T, s launchlog.Store, last int, want ...int) {
	t.Helper()
	var running []int
	for id := 1; id <= last; id++ {
		l, err := s.Launch(ctx, launchlog.Ref{Namespace: "n", Launch: id})
		if err != nil && err != launchlog.ErrNotFound {
			t.Fatal(err)
		}
		if err == nil && l.Running() {
			running = append(running, id)
		}
	}
	if !slices.Equal(running, want) {
		t.Errorf("launches %v run, want %v", running, want)
	}
}

func kinds(t *testing.T, s launchlog.Store, launch int) (lines []string) {
	t.Helper()
	events, err := s.Events(ctx, launchlog.Ref{Namespace: "n", Launch: launch})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		lines = append(lines, e.Kind+" "+e.Actor+" "+string(e.Detail))
	}
	return lines
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func claim(s launchlog.Store, launch int, token string) error {
	_, err := s.ClaimGenerator(ctx, launchlog.Claim{Namespace: "n", Launch: launch, Token: token})
	return err
}

// An advance is cut off after it raised the number. Whatever comes in between, the next one ends
// the launches that were to end, in the name of who began it.
func TestAdvanceCutOff(t *testing.T) {
	for ended := range 3 {
		for _, test := range []struct {
			name  string
			start bool // a launch is started before the next advance
			to    int  // of the next advance
			now   int  // that it returns
			left  []int
		}{
			{"Again", false, 10, 10, nil},
			{"AgainTooLate", true, 10, 11, []int{11}},
			{"Lower", false, 5, 10, nil},
			{"ToTheNewest", true, 11, 11, nil},
			{"Higher", true, 20, 20, nil},
		} {
			t.Run(fmt.Sprint(test.name, ended), func(t *testing.T) {
				engine := &hooked{Engine: kvtest.NewMemory()}
				s := kv.New(engine, nil)
				for id := 1; id <= 3; id++ {
					start(t, s, fmt.Sprint(id), id)
				}
				if err := claim(s, 2, "t"); err != nil {
					t.Fatal(err)
				}
				engine.commit = cutOff(ended)
				wantCut(t, s, 10, "ann")
				engine.commit = nil
				if test.start {
					start(t, s, "4", 11)
				}
				advance(t, s, test.to, test.now, "bob")
				wantRunning(t, s, 20, test.left...)
				for id := 1; id <= 3; id++ {
					if err := claim(s, id, fmt.Sprint("after ", id)); err != launchlog.ErrEnded {
						t.Errorf("claim of launch %d: %v", id, err)
					}
					wantLines(t, kinds(t, s, id), "started ann ",
						`ended ann {"outcome":"superseded","reason":""}`)
				}
				lines := []string{`advanced ann {"from":3,"to":10}`}
				if test.name == "Higher" {
					lines = append(lines, `advanced bob {"from":11,"to":20}`)
				}
				wantLines(t, kinds(t, s, 0), lines...)
				if rows, err := engine.Read(ctx, "n/launches", "state"); err != nil ||
					strings.Contains(string(rows[0].Value), "pending") {
					t.Errorf("what is left: %s, %v", rows[0].Value, err)
				}
			})
		}
	}
}

// An advance is cut off, and a launch is started since. An advance to the same number, or a lower
// one, finishes it and tells that from one that changes nothing. One attempt of it may tell, and
// another one be answered.
func TestAdvanceSaysWhatItFinished(t *testing.T) {
	for _, to := range []int{70, 60} {
		for _, fails := range []bool{false, true} {
			e := &hooked{Engine: kvtest.NewMemory()}
			s := kv.New(e, nil)
			start(t, s, "a", 1)
			e.commit = cutOff(0)
			wantCut(t, s, 70, "ann")
			e.commit = nil
			start(t, s, "b", 71)
			l, err := launchlog.New(s, &launchlog.Options{Namespace: "n"})
			if err != nil {
				t.Fatal(err)
			}
			cleared := false
			e.commit = func(part string, changes []kv.Change, run func() (bool, error)) (bool, error) {
				done, err := run()
				if fails && !cleared && part == "n/launches" {
					cleared = true
					return false, &launchlog.AttemptError{Ambiguous: true, Err: errCut}
				}
				return done, err
			}
			const finished = "an unfinished advance to 70 has now been completed"
			for _, want := range []bool{true, false} {
				now, err := l.Advance(ctx, to, "bob")
				below := (*launchlog.RequestError)(nil)
				if !errors.As(err, &below) || now != 71 ||
					!strings.Contains(below.Reason, "is below the last launch, 71") ||
					strings.Contains(below.Reason, finished) != want {
					t.Errorf("advance to %d: %d, %v; want it to say that it finished one: %v", to, now,
						err, want)
				}
			}
			wantRunning(t, s, 71, 71)
			if err := claim(s, 1, "t"); err != launchlog.ErrEnded {
				t.Errorf("claim of launch 1: %v", err)
			}
		}
	}
}

// An advance to the last number ends the launches that run. So it is written down as well: cut off,
// it is finished although a launch was started since.
func TestAdvanceToTheLast(t *testing.T) {
	engine := &hooked{Engine: kvtest.NewMemory()}
	s := kv.New(engine, nil)
	for id := 1; id <= 3; id++ {
		start(t, s, fmt.Sprint(id), id)
	}
	advance(t, s, 3, 3, "ann")
	wantRunning(t, s, 3)
	start(t, s, "4", 4)
	start(t, s, "5", 5)
	engine.commit = cutOff(1)
	wantCut(t, s, 5, "ann")
	engine.commit = nil
	start(t, s, "6", 6)
	advance(t, s, 5, 6, "bob")
	wantRunning(t, s, 6, 6)
	wantLines(t, kinds(t, s, 0))
}

// Somebody finishes an advance, and begins another one that is cut off, before the first one
// is to be cleared. The other one stays written down.
func TestAdvanceClearsItsOwn(t *testing.T) {
	memory := kvtest.NewMemory()
	engine, other := &hooked{Engine: memory}, &hooked{Engine: memory}
	s, o := kv.New(engine, nil), kv.New(other, nil)
	start(t, s, "1", 1)
	engine.commit = func(part string, changes []kv.Change, run func() (bool, error)) (bool, error) {
		if part == "n/launches" && !strings.Contains(string(changes[0].Value), "pending") {
			engine.commit = nil
			advance(t, o, 5, 5, "bob")
			start(t, o, "6", 6)
			other.commit = cutOff(0)
			wantCut(t, o, 9, "carl")
		}
		return run()
	}
	advance(t, s, 5, 5, "ann")
	wantRunning(t, s, 9, 6)
	advance(t, s, 9, 9, "ann")
	wantRunning(t, s, 9)
	wantLines(t, kinds(t, s, 6), "started ann ", `ended carl {"outcome":"superseded","reason":""}`)
}

// A claim's commit meets the end of its launch, which came first. The claim may be the one that was
// to make the launch's partition, and the end that of an advance.
func TestClaimMeetsEnd(t *testing.T) {
	for _, earlier := range []int{0, 2} {
		for _, by := range []string{"end", "advance"} {
			memory := kvtest.NewMemory()
			engine := &hooked{Engine: memory}
			s, other := kv.New(engine, nil), kv.New(memory, nil)
			start(t, s, "1", 1)
			for i := range earlier {
				if err := claim(s, 1, fmt.Sprint(i)); err != nil {
					t.Fatal(err)
				}
			}
			engine.commit = func(_ string, _ []kv.Change, run func() (bool, error)) (bool, error) {
				engine.commit = nil
				if by == "advance" {
					advance(t, other, 5, 5, "bob")
				} else if _, err := other.EndLaunch(ctx, launchlog.Ref{Namespace: "n", Launch: 1},
					launchlog.Ending{Outcome: launchlog.Failed}); err != nil {
					t.Error(err)
				}
				return run()
			}
			if err := claim(s, 1, "late"); err != launchlog.ErrEnded {
				t.Errorf("%d claims, %s: %v, want %v", earlier, by, err, launchlog.ErrEnded)
			}
			if l, err := s.Launch(ctx, launchlog.Ref{Namespace: "n", Launch: 1}); err != nil ||
				l.Running() || l.NextGenerator != earlier {
				t.Errorf("%d claims, %s: %+v, %v", earlier, by, l, err)
			}
		}
	}
}

// A trimmed engine loses claim 0 of launch 1 before that is read by itself.
type trimmed struct{ kv.Engine }

func (e trimmed) Read(ctx context.Context, part string, names ...string) ([]kv.Row, error) {
	if names[0] == "claim-00000" {
		_ = kv.New(e.Engine, nil).TrimClaims(ctx, launchlog.Ref{Namespace: "n", Launch: 1}, 1)
	}
	return e.Engine.Read(ctx, part, names...)
}

// A claim that is run again, and trimmed meanwhile, takes a new number then.
func TestClaimMeetsTrim(t *testing.T) {
	s := kv.New(trimmed{kvtest.NewMemory()}, nil)
	start(t, s, "1", 1)
	for i, token := range []string{"a", "b", "a", "a"} {
		raced := (*launchlog.AttemptError)(nil)
		if err := claim(s, 1, token); errors.As(err, &raced) != (i == 2) {
			t.Errorf("claim %d: %v", i, err)
		}
	}
	l, err := s.Launch(ctx, launchlog.Ref{Namespace: "n", Launch: 1})
	if err != nil || l.NextGenerator != 3 {
		t.Errorf("%+v, %v", l, err)
	}
}

// An advance is cut off, or comes between the end of a launch by a start and the start's own commit.
// Launches that it is to end, or that the start has ended, pass their digits to nobody: the log may
// have lost generator numbers of theirs.
func TestAdvanceBesideHandingOn(t *testing.T) {
	for _, cut := range []bool{true, false} {
		memory := kvtest.NewMemory()
		engine, other := &hooked{Engine: memory}, &hooked{Engine: memory}
		s, o := kv.New(engine, nil), kv.New(other, nil)
		if _, err := s.SetDigits(ctx, "n", launchlog.Digits{First: 1, Last: 3}); err != nil {
			t.Fatal(err)
		}
		for id := 1; id <= 3; id++ {
			start(t, s, fmt.Sprint(id), id)
		}
		failed := launchlog.Ending{Outcome: launchlog.Failed}
		ended, err := s.EndLaunch(ctx, launchlog.Ref{Namespace: "n", Launch: 3}, failed)
		if err != nil || ended.NextGenerator != 0 {
			t.Fatal(ended, err)
		}
		if cut {
			other.commit = cutOff(0)
		}
		advance := func() {
			engine.commit = nil
			_, _, err := o.AdvanceLaunches(ctx, "n", 3, launchlog.Ending{Outcome: launchlog.Advanced})
			if (err != nil) != cut {
				t.Error(err)
			}
		}
		engine.commit = func(part string, _ []kv.Change, run func() (bool, error)) (bool, error) {
			if part == "n/launches" {
				advance()
			}
			return run()
		}
		start(t, s, "4", 100_003) // launch 1 has ended before, for this start
		_, err = s.StartLaunch(ctx, launchlog.Launch{
			Namespace: "n", Request: storetest.Request("5"), RequestHash: "h",
		})
		if err != nil {
			t.Fatal(err) // launch 100003 goes on with its own digits
		}
		for id := 1; id <= 2; id++ {
			l, err := s.Launch(ctx, launchlog.Ref{Namespace: "n", Launch: 100_000 + id})
			if err != launchlog.ErrNotFound {
				t.Errorf("cut off: %v: launch %d has digits that may be lost: %v", cut, l.ID, err)
			}
		}
	}
}

// A start that hands a launch on changes two partitions. Those of n/launches and of launch 247 have
// the same lane in the queue: the start does not wait for itself.
func TestHandingOnInOneLane(t *testing.T) {
	l, err := launchlog.New(kv.New(kvtest.NewMemory(), nil), &launchlog.Options{Namespace: "n"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.SetDigits(ctx, launchlog.Digits{First: 247, Last: 247}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []int{247, 100_247} {
		launch, err := l.Start(ctx, storetest.Request(fmt.Sprint(id)))
		if err != nil || launch.ID != id {
			t.Errorf("launch %d, %v, want %d", launch.ID, err, id)
		}
	}
}
