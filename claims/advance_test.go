package claims_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

// A failing is a store that fails over to a copy of an earlier moment.
type failing struct {
	launchlog.Store
	drop bool // raises are sent and do not arrive
}

// copyOf copies the counters of a log.
func copyOf(t *testing.T, l *launchlog.Log) launchlog.Store {
	t.Helper()
	store := memory.New(nil)
	for _, row := range must(l.Counters(ctx, "", 1000))(t) {
		must(store.RaiseCounter(ctx,
			launchlog.CounterRef{Namespace: row.Namespace, Name: row.Name},
			launchlog.Raise{To: row.Value, Note: row.Note, Holder: row.Holder}))(t)
	}
	return store
}

func (s *failing) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (launchlog.CounterState, error) {
	if s.drop {
		return launchlog.CounterState{}, &launchlog.AttemptError{Ambiguous: true, Err: errMute}
	}
	return s.Store.RaiseCounter(ctx, ref, r)
}

// ahead is what an operator adds to the time: the length of windows, and what clocks are off.
const ahead = 10 * time.Second

// lostTail is a pool with one number, on a store that fails over.
type lostTail struct {
	*testing.T
	store   *failing
	log     *launchlog.Log
	windows []storesuite.Range // of the number
}

// source makes a source of the only number, which does not wait.
func (l *lostTail) source() *claims.Source[int] {
	l.Helper()
	return must(claims.Partitions(l.log, &claims.Options{
		Part: &claims.Range{Min: 5, Max: 5}, FailWhenLent: true,
	}))(l.T)
}

// window asks for a window by a clock that is behind by so much.
func (l *lostTail) window(s *claims.Source[int], behind time.Duration) error {
	l.Helper()
	w, err := s.NextWindow(ctx, now(4*ms)-int64(behind/(4*ms)), 4*ms)
	if err == nil {
		if w.From >= w.To {
			l.Errorf("a window %+v", w)
		}
		l.windows = append(l.windows, storesuite.Range{First: w.From, N: w.To - w.From})
	}
	return err
}

func (l *lostTail) must(s *claims.Source[int], behind time.Duration) {
	l.Helper()
	if err := l.window(s, behind); err != nil {
		l.Fatal(err)
	}
}

// A store fails over to a copy that lacks the newest rows. An operator advances the pool, and no
// window overlaps one that the copy knows nothing of. Without that they do.
func TestAdvance(t *testing.T) {
	const quiet = 2 * time.Minute // and more than a window
	for name, run := range map[string]func(l *lostTail, failover func()){
		// The number was lent for the first time since the copy was made. A process whose clock is
		// behind takes it.
		"Missing": func(l *lostTail, failover func()) {
			old := copyOf(l.T, l.log)
			l.must(l.source(), 0)
			l.store.Store = old
			failover()
			for late := l.source(); l.window(late, 3*time.Second) != nil; {
				time.Sleep(time.Second)
			}
		},
		// The copy says that the number rests. Since then somebody else took it.
		"Rests": func(l *lostTail, failover func()) {
			l.must(l.source(), 0)
			time.Sleep(quiet)
			old := copyOf(l.T, l.log)
			l.must(l.source(), 0)
			l.store.Store = old
			failover()
			for late := l.source(); l.window(late, 3*time.Second) != nil; {
				time.Sleep(10 * time.Second)
			}
		},
		// The copy says that a process has the number, which slept while somebody else took it.
		"Slept": func(l *lostTail, failover func()) {
			slept := l.source()
			l.must(slept, 0)
			old := copyOf(l.T, l.log)
			time.Sleep(quiet)
			l.must(l.source(), 0)
			l.store.Store = old
			failover()
			_ = l.window(slept, 0)
		},
		// The same, where the copy does not know the number at all.
		"SleptAndMissing": func(l *lostTail, failover func()) {
			old := copyOf(l.T, l.log)
			slept := l.source()
			l.must(slept, 0)
			time.Sleep(quiet)
			l.must(l.source(), 0)
			l.store.Store = old
			failover()
			l.must(slept, 0)
		},
		// A process has sent its step, which did not arrive. It runs the step again on the copy.
		"Doubt": func(l *lostTail, failover func()) {
			old := copyOf(l.T, l.log)
			doubts := l.source()
			l.store.drop = true
			if err := l.window(doubts, 0); err == nil {
				l.Fatal("an answer came")
			}
			l.store.drop = false
			const budget = 30 * time.Second // which the lost step has waited
			l.must(l.source(), budget)
			l.store.Store = old
			failover()
			l.must(doubts, budget)
		},
		// A process reads that the number is free, and raises its counter on the copy.
		"Paused": func(l *lostTail, failover func()) {
			old := copyOf(l.T, l.log)
			gate := make(chan struct{})
			paused := must(claims.Partitions(newLog(l.T, &pausing{l.store, gate}),
				&claims.Options{Part: &claims.Range{Min: 5, Max: 5}}))(l.T)
			done := make(chan error)
			go func() { done <- l.window(paused, 0) }()
			gate <- struct{}{} // it has read the table
			other := l.source()
			l.must(other, 0)
			time.Sleep(3 * time.Second)
			l.must(other, 0)
			l.store.Store = old
			failover()
			gate <- struct{}{}
			if err := <-done; err != nil {
				l.Fatal(err)
			}
		},
		// The number was locked by a wrong clock. An operator freed it since the copy was made, and
		// frees it again.
		"Freed": func(l *lostTail, failover func()) {
			free := func() {
				must(claims.Sno.Free(ctx, l.log, "5", time.Now(), "ann"))(l.T)
			}
			at := now(4 * ms)
			note := fmt.Sprintf("%s/%d-%d", launchlog.NewNote(), at-1e5, at+1e9)
			must(must(l.log.Counter("sno/5"))(l.T).Raise(ctx,
				launchlog.Raise{To: at + 1e9, Note: note, Holder: "wrong"}))(l.T)
			old := copyOf(l.T, l.log)
			free()
			l.must(l.source(), 0)
			l.store.Store = old
			failover()
			free()
			for late := l.source(); l.window(late, 3*time.Second) != nil; {
				time.Sleep(time.Second)
			}
		},
	} {
		for _, advanced := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/advanced=%v", name, advanced), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					store := &failing{Store: memory.New(nil)}
					l := &lostTail{T: t, store: store, log: newLog(t, store)}
					run(l, func() {
						if advanced {
							must(claims.Sno.Advance(ctx, l.log, time.Now().Add(ahead), "ann"))(t)
						}
					})
					if n := storesuite.Repeats(l.windows); (n == 0) != advanced {
						t.Errorf("%d of the windows %+v overlap", n, l.windows)
					}
				})
			})
		}
	}
}

// pausing waits before a raise, at a gate: once to say so, and once to go on.
type pausing struct {
	launchlog.Store
	gate chan struct{}
}

func (s *pausing) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (launchlog.CounterState, error) {
	if s.gate != nil {
		<-s.gate
		<-s.gate
		s.gate = nil
	}
	return s.Store.RaiseCounter(ctx, ref, r)
}

// A step comes to an older row before the operator raises that row. Nobody knows any more who had
// the number in the meantime.
func TestAdvanceDuringStep(t *testing.T) {
	for _, renew := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			store := &overtaken{Store: memory.New(nil)}
			l := newLog(t, store)
			const name = "sno/0"
			raise(t, l, name, 0, now(4*ms), "other")
			time.Sleep(time.Hour)
			s := must(claims.Partitions(l, &claims.Options{
				Part: &claims.Range{}, MaxAhead: 2 * time.Hour,
			}))(t)
			if renew { // after it slept for long
				must(s.NextWindow(ctx, now(4*ms), 4*ms))(t)
				time.Sleep(time.Hour)
			}
			floor := now(4*ms) + 500
			store.first = func() {
				counter := must(l.Counter("sno/floor"))(t)
				must(counter.Advance(ctx, floor, "ann"))(t)
			}
			w := must(s.NextWindow(ctx, now(4*ms), 4*ms))(t)
			if store.first != nil || w.From <= floor {
				t.Errorf("renewed %v: %+v, the floor is %d", renew, w, floor)
			}
		})
	}
}

// The floor rises beyond the time that was freed while a source takes the number for it. Then the
// number is lent, as all others.
func TestAdvanceBeyondFreed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := &overtaken{Store: clockless{memory.New(nil)}}
		l := newLog(t, store)
		o := claims.Options{Part: &claims.Range{}, FailWhenLent: true}
		wrong := now(4*ms) + 3600*250
		must(must(claims.Partitions(l, &o))(t).NextWindow(ctx, wrong, 4*ms))(t)
		must(claims.Sno.Free(ctx, l, "0", time.Now(), "ann"))(t)
		s := must(claims.Partitions(l, &o))(t)
		store.first = func() {
			must(must(l.Counter("sno/floor"))(t).Advance(ctx, wrong+5000, "ann"))(t)
		}
		_, err := s.NextWindow(ctx, now(4*ms), 4*ms)
		if lent := (*claims.LentError)(nil); store.first != nil || !errors.As(err, &lent) {
			t.Errorf("below the floor: %v", err)
		}
		time.Sleep(2 * time.Hour)
		if w := must(s.NextWindow(ctx, now(4*ms), 4*ms))(t); w.From <= wrong+5000 {
			t.Errorf("%+v, the floor is %d", w, wrong+5000)
		}
	})
}

// overtaken does something first when a number's counter is raised.
type overtaken struct {
	launchlog.Store
	first func()
}

func (s *overtaken) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (launchlog.CounterState, error) {
	if first := s.first; first != nil {
		s.first = nil
		first()
	}
	return s.Store.RaiseCounter(ctx, ref, r)
}

// A source that cannot read the floor does not use the number yet, nor does it give it up.
func TestAdvanceFloorUnread(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := &unread{Store: memory.New(nil), unread: true}
		l := newLog(t, store)
		s := must(claims.Nodes(l, nil))(t)
		if _, err := s.NextWindow(ctx, now(time.Second), time.Second); !errors.Is(err, errMute) {
			t.Errorf("without the floor: %v", err)
		}
		store.unread = false
		must(s.NextWindow(ctx, now(time.Second), time.Second))(t)
		if list := must(claims.Trace.List(ctx, l, time.Now()))(t); len(list) != 1 {
			t.Errorf("claims %+v", list)
		}
	})
}

// unread does not say what a counter's value is.
type unread struct {
	launchlog.Store
	unread bool
}

func (s *unread) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	if s.unread {
		return 0, errMute
	}
	return s.Store.LastNumber(ctx, ref)
}

// After an advance all numbers are lent until that time. Then their holders have them again.
func TestAdvanceWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		pod := func(o claims.Options) *claims.Source[int] {
			o.Holder = "pod-1"
			return must(claims.Nodes(l, &o))(t)
		}
		first := must(pod(claims.Options{}).NextWindow(ctx, now(time.Second), time.Second))(t)
		time.Sleep(30 * time.Second)
		until := time.Now().Add(8 * time.Second)
		if n := must(claims.Trace.Advance(ctx, l, until, "ann"))(t); n != 1 {
			t.Errorf("%d counters were raised", n)
		}
		var lent *claims.LentError
		s := pod(claims.Options{FailWhenLent: true})
		_, err := s.NextWindow(ctx, now(time.Second), time.Second)
		if !errors.As(err, &lent) || lent.Numbers != 65536 || lent.Until.Unix() != until.Unix()+1 {
			t.Errorf("before that time: %v", err)
		}
		if st := s.Stats(); st.Lent != 65536 {
			t.Errorf("stats %+v", st)
		}
		waiting := must(generator.NewTrace(pod(claims.Options{}),
			&generator.Options{MaxWait: time.Minute}))(t)
		id := must(waiting.Next(ctx))(t)
		if d := time.Since(until); d < 0 || d > 10*time.Second {
			t.Errorf("it waited until %v after that time", d)
		}
		if id.Parts().Node != first.Number {
			t.Errorf("node %d, and it was %d before", id.Parts().Node, first.Number)
		}
	})
}

// An advance lowers nothing, keeps holders and gaps, leaves other counters alone, and may be run
// again.
func TestAdvanceAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := memory.New(nil)
		l := newLog(t, store)
		at := now(ms)
		gap := fmt.Sprintf("/%d-%d", at-5000, at-1000)
		locked := fmt.Sprintf("/%d-%d", at-1000, at+1e9)
		for name, r := range map[string]launchlog.Raise{
			"eightbyte/0/7":              {To: at - 900, Note: gap, Holder: "pod-7"},
			"eightbyte/15/2047":          {To: at + 1e9 + 5, Note: locked, Holder: "pod-8"},
			"eightbyte/15/2047" + locked: {To: at - 500, Holder: "pod-9"},
			"eightbyte/clusters":         {To: 1<<16 | 1},
			"eightbyte/16/1":             {To: 3},
			"eightbyte":                  {To: 4},
			"eightbyte/orders":           {To: 5},
			"sno/7":                      {To: 6},
		} {
			r.Note = launchlog.NewNote() + r.Note
			c := must(l.Counter(name))(t)
			must(c.Raise(ctx, r))(t)
		}
		all := func() string {
			var text []string
			for _, row := range must(l.Counters(ctx, "", 100))(t) {
				_, gaps, _ := strings.Cut(row.Note, "/")
				text = append(text, fmt.Sprintf("%s %d %s %s", strings.ReplaceAll(row.Name,
					fmt.Sprint(at), "now"), row.Value-at, gaps, row.Holder))
			}
			return strings.Join(text, "\n")
		}
		until := time.Now().Add(ahead)
		for round, want := range []int{2, 0, 0} {
			n := must(claims.EightByte.Advance(ctx, l, until, "ann"))(t)
			if n != want {
				t.Errorf("round %d: %d counters were raised", round, n)
			}
			if round == 1 {
				until = until.Add(-time.Second)
			}
		}
		want := fmt.Sprintf(`eightbyte %d  
eightbyte/0/7 10000 %s pod-7
eightbyte/15/2047 1000000005 %s pod-8
eightbyte/15/2047%s 10000  pod-9
eightbyte/16/1 %d  
eightbyte/clusters %d  
eightbyte/floor 10000  
eightbyte/orders %d  
sno/7 %d  `, 4-at, gap[1:], locked[1:], locked, 3-at, 1<<16+1-at, 5-at, 6-at)
		if got := all(); got != strings.ReplaceAll(want, fmt.Sprint(at), "now") {
			t.Errorf("counters\n%s\nwant\n%s", got, want)
		}
		events := must(l.Events(ctx, 0))(t)
		if len(events) != 1 || events[0].Kind != "counter-advanced" || events[0].Actor != "ann" {
			t.Errorf("events %+v", events)
		}
	})
}

// A pool of more counters than a page, or a transaction, is advanced whole. Where that is cut off
// it goes on.
func TestAdvanceMany(t *testing.T) {
	const counters = 2500
	store := &few{Store: memory.New(nil), left: counters}
	l := newLog(t, store)
	at := now(4 * ms)
	for n := range counters {
		raise(t, l, fmt.Sprint("sno/", n), 0, at, "somebody")
	}
	until := time.Now().Add(ahead)
	below := func() (n int) {
		for _, c := range must(claims.Sno.List(ctx, l, time.Now()))(t) {
			if c.Until.Before(until) {
				n++
			}
		}
		return n
	}
	store.left = 1000
	if _, err := claims.Sno.Advance(ctx, l, until, "ann"); !errors.Is(err, errMute) {
		t.Errorf("cut off: %v", err)
	}
	if n := below(); n != counters-1000 {
		t.Errorf("%d counters are below", n)
	}
	store.left = counters
	n, err := claims.Sno.Advance(ctx, l, until, "ann")
	if err != nil || n != counters-1000 || below() != 0 {
		t.Errorf("again: %d counters, %v; %d are below", n, err, below())
	}
}

// few carries out so many raises, and fails those that follow.
type few struct {
	launchlog.Store
	mu   sync.Mutex // guards what follows
	left int
}

func (s *few) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (launchlog.CounterState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left < 0 {
		return launchlog.CounterState{}, errMute
	}
	return s.Store.RaiseCounter(ctx, ref, r)
}

// A counter that somebody raises meanwhile is raised nevertheless, from where it is then.
func TestAdvanceRaced(t *testing.T) {
	store := &racing{Store: memory.New(nil)}
	l := newLog(t, store)
	at := now(time.Second)
	raise(t, l, "trace/7", 0, at, "pod-7")
	store.meanwhile = func() { raise(t, l, "trace/7", at, at+3, "pod-7") }
	must(claims.Trace.Advance(ctx, l, time.Unix(at+10, 0), "ann"))(t)
	if got := last(t, l, "trace/7"); got != at+10 {
		t.Errorf("the counter is at %d, of %d", got, at)
	}
}

// racing does something else before the next raise.
type racing struct {
	launchlog.Store
	meanwhile func()
}

func (s *racing) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (launchlog.CounterState, error) {
	if f := s.meanwhile; f != nil {
		s.meanwhile = nil
		f()
	}
	return s.Store.RaiseCounter(ctx, ref, r)
}

func TestAdvanceRefuses(t *testing.T) {
	l := newLog(t, memory.New(nil))
	for _, until := range []time.Time{
		{}, time.Unix(0, 0), time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		var bad *claims.PoolError
		if _, err := claims.Trace.Advance(ctx, l, until, "ann"); !errors.As(err, &bad) ||
			bad.Field != "until" {
			t.Errorf("%v: %v", until, err)
		}
	}
	if found := must(l.Counters(ctx, "", 10))(t); len(found) != 0 {
		t.Errorf("counters %+v", found)
	}
	var request *launchlog.RequestError
	if _, err := claims.Trace.Advance(ctx, l, time.Now(), "\x00"); !errors.As(err, &request) {
		t.Errorf("actor: %v", err)
	}
}

func TestHas(t *testing.T) {
	var own []string
	for _, name := range []string{
		"trace/7", "trace/7/1-5", "trace/floor", "trace/clusters", "trace/65536", "trace/07",
		"trace", "sno/7", "eightbyte/0/7", "eightbyte/7", "eightbyte/clusters", "decimal/hint/0",
	} {
		for _, p := range claims.Pools() {
			if p.Has(name) {
				own = append(own, fmt.Sprint(p.Scheme(), " has ", name))
			}
		}
	}
	if want := []string{
		"trace has trace/7", "trace has trace/7/1-5", "trace has trace/floor", "sno has sno/7",
		"eightbyte has eightbyte/0/7", "eightbyte has eightbyte/clusters",
	}; !slices.Equal(own, want) {
		t.Errorf("%q, want %q", own, want)
	}
}
