package claims_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

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

// ahead is what an operator adds to the time: the length of windows, and what clocks are off.
const ahead = 10 * time.Second

// lostTail is a pool with one number, on a store that fails over.
type lostTail struct {
	*testing.T
	store   *before
	log     *launchlog.Log
	windows []storetest.Range // of the number
}

// source makes a source of the only number, of a process of its own, which does not wait.
func (l *lostTail) source() *claims.Source[int] {
	l.Helper()
	return must(claims.Partitions(newLog(l.T, l.store), &claims.Options{
		Part: only(5), FailWhenLent: true,
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
		l.windows = append(l.windows, storetest.Range{First: w.From, N: w.To - w.From})
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
		// A process has sent its step, which did not arrive. It runs the step again on the copy.
		"Doubt": func(l *lostTail, failover func()) {
			old := copyOf(l.T, l.log)
			doubts := l.source()
			l.store.raise = func(string) error {
				return &launchlog.AttemptError{Ambiguous: true, Err: errMute}
			}
			if err := l.window(doubts, 0); err == nil {
				l.Fatal("an answer came")
			}
			l.store.raise = nil
			const budget = 30 * time.Second // which the lost step has waited
			l.must(l.source(), budget)
			l.store.Store = old
			failover()
			l.must(doubts, budget)
		},
		// A process reads that the number is free, and raises its counter on the copy.
		"Paused": func(l *lostTail, failover func()) {
			old := copyOf(l.T, l.log)
			gate := make(chan struct{}) // it says that it has read the table, and may go on
			store := &before{l.store, func(string) error { <-gate; <-gate; return nil }}
			paused := must(claims.Partitions(newLog(l.T, store), &claims.Options{Part: only(5)}))(l.T)
			done := make(chan error)
			go func() { done <- l.window(paused, 0) }()
			gate <- struct{}{}
			store.raise = nil
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
				must(sno.Free(ctx, l.log, "5", time.Now(), "ann"))(l.T)
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
					store := &before{Store: memory.New(nil)}
					l := &lostTail{T: t, store: store, log: newLog(t, store)}
					run(l, func() {
						if advanced {
							must(sno.Advance(ctx, l.log, time.Now().Add(ahead), "ann"))(t)
						}
					})
					if n := storetest.Repeats(l.windows); (n == 0) != advanced {
						t.Errorf("%d of the windows %+v overlap", n, l.windows)
					}
				})
			})
		}
	}
}

// A step comes to an older row before the operator raises that row, and nobody knows any more who
// had the number in the meantime. Or the floor rises beyond the time that was freed while a source
// takes the number for it: then the number is lent, as all others.
func TestAdvanceDuringStep(t *testing.T) {
	for _, renew := range []bool{false, true} {
		store := &before{Store: memory.New(nil)}
		o := claims.Options{Part: only(0), MaxAhead: 2 * time.Hour}
		inBubble(t, store, o, func(l *lender) {
			raise(l.T, l.log, "trace/0", 0, now(time.Second), "other")
			time.Sleep(time.Hour)
			s := l.nodes()
			if renew { // after it slept for long
				l.now(s)
				time.Sleep(time.Hour)
			}
			floor := now(time.Second) + 2
			store.raise = func(string) error {
				store.raise = nil
				must(must(l.log.Counter("trace/floor"))(l.T).Advance(ctx, floor, "ann"))(l.T)
				return nil
			}
			if w := l.now(s); store.raise != nil || w.From <= floor {
				l.Errorf("renewed %v: %+v, the floor is %d", renew, w, floor)
			}
		})
	}
	store := &before{Store: memory.New(nil)}
	inBubble(t, store, claims.Options{}, func(l *lender) {
		floor := now(ms) + 25 // a longer unit has begun
		store.raise = func(string) error {
			store.raise = nil
			must(must(l.log.Counter("snowflake/floor"))(l.T).Advance(ctx, floor, "ann"))(l.T)
			return nil
		}
		s := must(claims.Snowflakes[idtype.SonyflakeV2](l.log, nil))(l.T)
		if w := must(s.NextWindow(ctx, now(10*ms), 10*ms))(l.T); w.From*10 != floor+5 {
			l.Errorf("long units: %+v, the floor is %d", w, floor)
		}
	})
	store = &before{Store: clockless{memory.New(nil)}}
	o := claims.Options{Part: only(0), FailWhenLent: true}
	inBubble(t, store, o, func(l *lender) {
		wrong := now(4*ms) + 1e6
		must(l.partitions().NextWindow(ctx, wrong, 4*ms))(l.T)
		must(sno.Free(ctx, l.log, "0", time.Now(), "ann"))(l.T)
		s := l.partitions()
		store.raise = func(string) error {
			store.raise = nil
			must(must(l.log.Counter("sno/floor"))(l.T).Advance(ctx, wrong+5000, "ann"))(l.T)
			return nil
		}
		_, err := s.NextWindow(ctx, now(4*ms), 4*ms)
		if store.raise != nil || !errors.As(err, new(*claims.LentError)) {
			l.Errorf("below the floor: %v", err)
		}
	})
}

// After an advance all numbers are lent until that time. Then their holders have them again.
func TestAdvanceWaits(t *testing.T) {
	inBubble(t, memory.New(nil), claims.Options{Holder: "pod-1"}, func(l *lender) {
		first := l.now(l.nodes())
		time.Sleep(30 * time.Second)
		until := time.Now().Add(8 * time.Second)
		if n := must(trace.Advance(ctx, l.log, until, "ann"))(l.T); n != 1 {
			l.Errorf("%d counters were raised", n)
		}
		var lent *claims.LentError
		s := l.nodes(func(o *claims.Options) { o.FailWhenLent = true })
		_, err := s.NextWindow(ctx, now(time.Second), time.Second)
		if !errors.As(err, &lent) || lent.Numbers != 65536 || s.Stats().Lent != 65536 ||
			lent.Until.Unix() != until.Unix()+1 {
			l.Errorf("before that time: %v", err)
		}
		waiting := must(generator.NewTrace(l.nodes(), &generator.Options{MaxWait: time.Minute}))(l.T)
		id := must(waiting.Next(ctx))(l.T)
		if d := time.Since(until); d < 0 || d > 10*time.Second || id.Parts().Node != first.Number {
			l.Errorf("it waited until %v after that time, for node %d, and had %d before", d,
				id.Parts().Node, first.Number)
		}
	})
}

// An advance lowers nothing, keeps holders and gaps, leaves other counters alone, and may be run
// again.
func TestAdvanceAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		at := now(ms)
		gap, locked := fmt.Sprintf("/%d-%d", at-5000, at-1000), fmt.Sprintf("/%d-%d", at-1000, at+1e9)
		type row struct {
			value        int64
			gaps, holder string
		}
		want := map[string]row{
			"eightbyte/0/7":              {at - 900, gap, "pod-7"},
			"eightbyte/15/2047":          {at + 1e9 + 5, locked, "pod-8"},
			"eightbyte/15/2047" + locked: {at - 500, "", "pod-9"},
			"eightbyte/clusters":         {1<<16 | 1, "", ""},
			"eightbyte/16/1":             {3, "", ""},
			"eightbyte/orders":           {5, "", ""},
			"sno/7":                      {6, "", ""},
		}
		for name, r := range want {
			must(must(l.Counter(name))(t).Raise(ctx, launchlog.Raise{
				To: r.value, Note: launchlog.NewNote() + r.gaps, Holder: r.holder,
			}))(t)
		}
		for _, name := range []string{
			"eightbyte/0/7", "eightbyte/15/2047" + locked, "eightbyte/floor",
		} {
			want[name] = row{at + ahead.Milliseconds(), want[name].gaps, want[name].holder}
		}
		for round, later := range []time.Duration{0, 0, -time.Second} {
			n := must(paired.Advance(ctx, l, time.Now().Add(ahead+later), "ann"))(t)
			if n != 2 && round == 0 || n != 0 && round > 0 {
				t.Errorf("round %d: %d counters were raised", round, n)
			}
		}
		got := map[string]row{}
		for _, r := range must(l.Counters(ctx, "", 100))(t) {
			_, gaps, found := strings.Cut(r.Note, "/")
			if found {
				gaps = "/" + gaps
			}
			got[r.Name] = row{r.Value, gaps, r.Holder}
		}
		if !maps.Equal(got, want) {
			t.Errorf("counters\n%+v\nwant\n%+v", got, want)
		}
		events := must(l.Events(ctx, 0))(t)
		if len(events) != 1 || events[0].Kind != "counter-advanced" || events[0].Actor != "ann" {
			t.Errorf("events %+v", events)
		}
		for _, until := range []time.Time{{}, time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)} {
			var bad *claims.OptionError
			if _, err := trace.Advance(ctx, l, until, "ann"); !errors.As(err, &bad) ||
				bad.Option != "until" {
				t.Errorf("%v: %v", until, err)
			}
		}
	})
}

func TestHas(t *testing.T) {
	var own []string
	for _, name := range []string{
		"trace/7", "trace/7/1-5", "trace/floor", "trace/clusters", "trace/65536", "trace/07",
		"trace", "sno/7", "eightbyte/0/7", "eightbyte/7", "eightbyte/clusters", "decimal/hint/0",
		"snowflake/7",
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
		"snowflake has snowflake/7",
	}; !slices.Equal(own, want) {
		t.Errorf("%q, want %q", own, want)
	}
}
