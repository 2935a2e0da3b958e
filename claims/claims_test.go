package claims_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

var (
	ctx                = context.Background()
	trace, sno, paired = claims.Pools()[0], claims.Pools()[1], claims.Pools()[2]
)

func newLog(t *testing.T, store launchlog.Store) *launchlog.Log {
	t.Helper()
	l, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// must fails the test for an error.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// bubble runs a test on a clock of its own, which begins within all layouts.
func bubble(t *testing.T, run func(*testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)))
		run(t)
	})
}

// now is the unit of the present time.
func now(unit time.Duration) int64 { return time.Now().UnixMilli() / unit.Milliseconds() }

// raise raises a counter by hand.
func raise(t *testing.T, l *launchlog.Log, name string, from, to int64, holder string) {
	t.Helper()
	c := must(l.Counter(name))(t)
	r := launchlog.Raise{From: from, To: to, Note: launchlog.NewNote(), Holder: holder}
	if row := must(c.Raise(ctx, r))(t); !r.Done(row) {
		t.Fatalf("%s from %d to %d: there is %+v", name, from, to, row)
	}
}

func last(t *testing.T, l *launchlog.Log, name string) int64 {
	t.Helper()
	return must(must(l.Counter(name))(t).Last(ctx))(t)
}

const ms = time.Millisecond

// A heard collects events.
type heard struct{ events []claims.Event }

func (h *heard) add(e claims.Event) { h.events = append(h.events, e) }

func (h *heard) want(t *testing.T, kinds ...claims.EventKind) {
	t.Helper()
	var got []claims.EventKind
	for _, e := range h.events {
		got = append(got, e.Kind)
	}
	if !slices.Equal(got, kinds) {
		t.Errorf("events %v, want %v", h.events, kinds)
	}
	h.events = nil
}

// A lender is a log and the options of the sources that it makes.
type lender struct {
	*testing.T
	log  *launchlog.Log
	opts claims.Options
}

// nodes makes a source of nodes, changed so.
func (l *lender) nodes(change ...func(*claims.Options)) *claims.Source[int] {
	l.Helper()
	o := l.opts
	for _, f := range change {
		f(&o)
	}
	return must(claims.Nodes(l.log, &o))(l.T)
}

// partitions makes a source of partitions.
func (l *lender) partitions() *claims.Source[int] {
	l.Helper()
	return must(claims.Partitions(l.log, &l.opts))(l.T)
}

// at asks for a window at a second.
func (l *lender) at(s *claims.Source[int], second int64) generator.Window[int] {
	l.Helper()
	return must(s.NextWindow(ctx, second, time.Second))(l.T)
}

// now asks for a window.
func (l *lender) now(s *claims.Source[int]) generator.Window[int] {
	l.Helper()
	return l.at(s, now(time.Second))
}

// inBubble runs a test with a store, whose log lends.
func inBubble(t *testing.T, store launchlog.Store, o claims.Options, run func(l *lender)) {
	t.Helper()
	bubble(t, func(t *testing.T) { run(&lender{t, newLog(t, store), o}) })
}

func only(n int) *generator.Pool { return &generator.Pool{Min: n, Max: n} }

// A window is taken, renewed ahead of its end, and never overlaps the one before.
func TestTakeAndRenew(t *testing.T) {
	var h heard
	o := claims.Options{Holder: "pod-1", Notify: h.add}
	inBubble(t, memory.New(nil), o, func(l *lender) {
		s, at := l.nodes(), now(time.Second)
		w := l.now(s)
		if w.From != at || w.To != at+5 || last(l.T, l.log, fmt.Sprint("trace/", w.Number)) != w.To-1 {
			l.Errorf("the first window is %+v, at %d", w, at)
		}
		for range 100 {
			time.Sleep(3 * time.Second)
			next := l.now(s)
			if next.Number != w.Number || next.From != w.To || next.To != now(time.Second)+5 {
				l.Fatalf("after %+v: %+v", w, next)
			}
			w = next
		}
		h.want(l.T, claims.Taken)
		st := s.Stats()
		if st.Raised != 101 || st.Taken != 1 || st.Lost != 0 || st.Holder != "pod-1" ||
			st.Number != fmt.Sprint(w.Number) || st.Until.Unix() != w.To {
			l.Errorf("stats %+v", st)
		}
		// Whoever was idle has its number still, unless somebody took it.
		time.Sleep(time.Hour)
		if next := l.now(s); next.Number != w.Number || next.From != now(time.Second) {
			l.Errorf("after an hour: %+v", next)
		}
	})
}

// All pools lend to generators, with the names of counters that the command line uses as well.
func TestGenerators(t *testing.T) {
	l := newLog(t, memory.New(nil))
	nodes := must(claims.Nodes(l, &claims.Options{Part: only(7)}))(t)
	node := must(must(generator.NewTrace(nodes, nil))(t).Next(ctx))(t)
	partitions := must(claims.Partitions(l, &claims.Options{Part: only(9)}))(t)
	partition := must(must(generator.NewSno(partitions, nil))(t).Next(ctx))(t)
	if err := paired.SetClusters(ctx, l, []int{0}, []int{11}, "ann"); err != nil {
		t.Fatal(err)
	}
	pairs := must(claims.Pairs(l, &claims.Options{Part: only(63)}))(t)
	g := must(generator.NewEightByte(idtype.EightByteSpread, pairs, nil))(t)
	pair := must(g.Next(ctx))(t).Parts()
	if node.Parts().Node != 7 || partition.Parts().Partition != 9 || pair.Generator != 63 ||
		pair.Cluster != 11 {
		t.Errorf("%+v, %+v, %+v", node.Parts(), partition.Parts(), pair)
	}
	for _, name := range []string{"trace/7", "sno/9", "eightbyte/11/63"} {
		if last(t, l, name) == 0 {
			t.Errorf("there is no counter %s", name)
		}
	}
	var wrong *claims.OptionError
	of := must(generator.NewSno(nodes, nil))(t)
	if _, err := of.Next(ctx); !errors.As(err, &wrong) || wrong.Option != "generator" {
		t.Errorf("nodes as partitions: %v", err)
	}
}

// A number is free once its counter lies a quiet time behind. Of those the longest unused ones are
// taken, before any that never was.
func TestChoice(t *testing.T) {
	inBubble(t, memory.New(nil), claims.Options{}, func(l *lender) {
		at := now(time.Second)
		for n, behind := range []int64{500, 61, 400, 60, 300, -5, 100_000, 1} {
			raise(l.T, l.log, fmt.Sprint("trace/", n), 0, at-behind, "somebody")
		}
		seen := map[int]bool{}
		for range 60 {
			w := l.at(l.nodes(), at)
			seen[w.Number] = true
			if len(seen) == 1 && (w.Number == 1 || w.Number == 4) || w.Number > 8+4*60 {
				l.Errorf("%d is taken after %v", w.Number, seen)
			}
		}
		for n := range 8 {
			if free := n != 3 && n != 5 && n != 7; seen[n] != free {
				l.Errorf("number %d is taken: %v", n, seen[n])
			}
		}
	})
}

func TestAllLent(t *testing.T) {
	var h heard
	o := claims.Options{Part: &generator.Pool{Min: 3, Max: 4}}
	inBubble(t, memory.New(nil), o, func(l *lender) {
		for range 2 {
			must(l.partitions().NextWindow(ctx, now(4*ms), 4*ms))(l.T)
		}
		failing := claims.Options{Part: o.Part, FailWhenLent: true, Notify: h.add}
		s := must(claims.Partitions(l.log, &failing))(l.T)
		_, err := s.NextWindow(ctx, now(4*ms), 4*ms)
		var lent *claims.LentError
		if !errors.As(err, &lent) || lent.Numbers != 2 ||
			time.Until(lent.Until).Round(time.Second) != 65*time.Second {
			l.Errorf("all lent: %v", err)
		}
		h.want(l.T, claims.Lent)
		if st := s.Stats(); st.Lent != 2 || st.Numbers != 2 || st.Number != "" {
			l.Errorf("stats %+v", st)
		}

		waiting := l.partitions()
		var later *generator.NotBeforeError
		_, err = waiting.NextWindow(ctx, now(4*ms), 4*ms)
		if !errors.As(err, &later) || !errors.As(err, &lent) || later.From <= now(4*ms) {
			l.Errorf("all lent, waiting: %v", err)
		}
		// A call waits for a number within its context and its generator's MaxWait, and says what
		// it waited for.
		short := must(generator.NewSno(waiting, &generator.Options{MaxWait: 20 * time.Second}))(l.T)
		if _, err := short.Next(ctx); !errors.As(err, &lent) ||
			!strings.Contains(err.Error(), "2 of 2 are lent") {
			l.Errorf("a short wait: %v", err)
		}
		long := must(generator.NewSno(waiting, &generator.Options{MaxWait: 5 * time.Minute}))(l.T)
		brief, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		if _, err := long.Next(brief); !errors.Is(err, context.DeadlineExceeded) {
			l.Errorf("with a context: %v", err)
		}
		before := time.Now()
		if _, err := long.Next(ctx); err != nil || time.Since(before) > 90*time.Second {
			l.Errorf("a long wait: %v, after %v", err, time.Since(before))
		}
	})
}

// A number that somebody else took is given up, and another one is taken.
func TestLost(t *testing.T) {
	var h heard
	inBubble(t, memory.New(nil), claims.Options{Notify: h.add}, func(l *lender) {
		s := l.nodes()
		first := l.now(s)
		time.Sleep(2 * time.Minute)
		name := fmt.Sprint("trace/", first.Number)
		raise(l.T, l.log, name, last(l.T, l.log, name), now(time.Second)+100, "thief")
		second := l.now(s)
		if second.Number == first.Number {
			l.Errorf("%v and %v have one node", first, second)
		}
		h.want(l.T, claims.Taken, claims.Lost, claims.Taken)
		if st := s.Stats(); st.Lost != 1 || st.Taken != 2 || st.Number != fmt.Sprint(second.Number) {
			l.Errorf("stats %+v", st)
		}
	})
}

// After a restart the number that names this holder is taken again. While its counter is ahead,
// the start waits, or fails. Where that rises twice meanwhile, somebody else lives under this name.
func TestHolder(t *testing.T) {
	inBubble(t, memory.New(nil), claims.Options{Holder: "pod-1"}, func(l *lender) {
		for range 20 {
			l.now(l.nodes(func(o *claims.Options) { o.Holder = "" })) // others
		}
		live := l.nodes()
		w := l.now(live)
		name := fmt.Sprint("trace/", w.Number)
		for range 5 {
			value := last(l.T, l.log, name)
			again := l.nodes()
			_, err := again.NextWindow(ctx, now(time.Second), time.Second)
			var later *generator.NotBeforeError
			if !errors.As(err, &later) || later.From != value+1 ||
				!strings.Contains(err.Error(), "pod-1") {
				l.Fatalf("at once: %v", err)
			}
			fails := l.nodes(func(o *claims.Options) { o.FailWhenLent = true })
			_, err = fails.NextWindow(ctx, now(time.Second), time.Second)
			var lent *claims.LentError
			if !errors.As(err, &lent) || lent.Until.Unix() != value+1 ||
				lent.Number != fmt.Sprint(w.Number) || last(l.T, l.log, name) != value {
				l.Errorf("%v, and the counter went from %d to %d", err, value, last(l.T, l.log, name))
			}
			time.Sleep(time.Duration(later.From-now(time.Second)) * time.Second)
			if next := l.now(again); next.Number != w.Number || next.From != later.From {
				l.Fatalf("after it: %+v", next)
			}
			live = again
		}
		// The name of a holder that lives. One rise may be a late request, and is waited for.
		second := l.nodes()
		for rises := range 3 {
			w2, err := second.NextWindow(ctx, now(time.Second), time.Second)
			if (err == nil) != (rises == 2) || err == nil && w2.Number == w.Number {
				l.Fatalf("after %d rises: %+v, %v", rises, w2, err)
			}
			time.Sleep(4 * time.Second)
			l.now(live)
			time.Sleep(time.Second)
		}
	})
}

func TestClusters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		set := func(old, list []int) error { return paired.SetClusters(ctx, l, old, list, "ann") }
		are := func(want ...int) {
			t.Helper()
			if got := must(paired.Clusters(ctx, l))(t); !slices.Equal(got, want) {
				t.Errorf("clusters %v", got)
			}
		}
		are(0)
		var h heard
		s := must(claims.Pairs(l, &claims.Options{Notify: h.add}))(t)
		next := func() generator.EightBytePair {
			return must(s.NextWindow(ctx, now(ms), ms))(t).Number
		}
		if pair := next(); pair.Cluster != 0 {
			t.Errorf("pair %+v", pair)
		}
		if err := set([]int{0}, []int{3, 15}); err != nil {
			t.Fatal(err)
		}
		are(3, 15)
		if n := must(paired.Size(ctx, l))(t); n != 4096 {
			t.Errorf("%d numbers", n)
		}
		var bad *claims.OptionError
		for _, test := range []struct{ old, list []int }{
			{[]int{0}, []int{1}},
			{[]int{15, 3}, []int{1}},
			{[]int{3, 15}, nil},
			{[]int{3, 15}, []int{16}},
			{[]int{3, 15}, []int{-1}},
		} {
			if err := set(test.old, test.list); !errors.As(err, &bad) {
				t.Errorf("%v after %v: %v", test.list, test.old, err)
			}
		}
		// Who has a pair of another cluster hears of it within the quiet time.
		if pair := next(); pair.Cluster != 0 {
			t.Errorf("at once: %+v", pair)
		}
		time.Sleep(time.Minute)
		if pair := next(); pair.Cluster != 3 && pair.Cluster != 15 {
			t.Errorf("pair %+v", pair)
		}
		h.want(t, claims.Taken, claims.Freed, claims.Taken)
		seen := map[int]int{}
		for range 100 { // of the older layout
			s := must(claims.Pairs(l, &claims.Options{Part: &generator.Pool{Max: 63}}))(t)
			w := must(s.NextWindow(ctx, now(ms), ms))(t)
			if seen[w.Number.Cluster]++; w.Number.Generator > 63 {
				t.Errorf("%+v", w.Number)
			}
		}
		if seen[3] != 64 && seen[3] != 63 || seen[15]+seen[3] != 100 {
			t.Errorf("pairs by cluster: %v", seen)
		}
		if err := trace.SetClusters(ctx, l, nil, []int{0}, ""); !errors.As(err, &bad) {
			t.Errorf("clusters of trace: %v", err)
		}
	})
}

// A number that a clock far ahead has locked is got back for the time that was passed over.
func TestFree(t *testing.T) {
	o := claims.Options{Part: only(7), FailWhenLent: true}
	inBubble(t, clockless{memory.New(nil)}, o, func(l *lender) {
		const day = int64(86400 * 250)
		take := func(at int64) (generator.Window[int], error) {
			return l.partitions().NextWindow(ctx, at, 4*ms)
		}
		free := func(number string) (claims.Claim, error) {
			return sno.Free(ctx, l.log, number, time.Now(), "ann")
		}
		must(take(now(4 * ms)))(l.T)
		var bad *claims.OptionError
		for _, number := range []string{"7", "8", "07", "-1", "65536", "0/7", ""} {
			if _, err := free(number); !errors.As(err, &bad) {
				l.Errorf("free %q: %v", number, err)
			}
		}
		time.Sleep(2 * time.Minute)
		stood := last(l.T, l.log, "sno/7")
		locked := must(take(now(4*ms) + 400*day))(l.T)
		for range 3 {
			list := must(sno.List(ctx, l.log, time.Now()))(l.T)
			if len(list) != 1 || !list[0].Lent || list[0].Number != "7" ||
				list[0].Gap[1].UnixMilli() != locked.From*4 ||
				list[0].Gap[0].UnixMilli() != (stood+1)*4 {
				l.Errorf("list: %+v", list)
			}
			time.Sleep(time.Hour)
			if _, err := take(now(4 * ms)); err == nil {
				l.Fatal("a number that is locked was taken")
			}
		}
		c := must(free("7"))(l.T)
		if c.Before.UnixMilli() != locked.From*4 || c.Lent || c.Holder != "ann" ||
			must(free("7"))(l.T) != c {
			l.Errorf("freed: %+v", c)
		}
		if w := must(take(now(4 * ms)))(l.T); w.Number != 7 || w.From != now(4*ms) {
			l.Errorf("after it was freed: %+v", w)
		}
		if _, err := take(now(4 * ms)); err == nil {
			l.Error("it was taken twice")
		}
		if list := must(sno.List(ctx, l.log, time.Now()))(l.T); len(list) != 2 ||
			list[1].Before != c.Before || !list[1].Lent {
			l.Errorf("list: %+v", list)
		}
		// At its end the gap's counter lends no unit of the window that locked the number.
		end := must(take(locked.From - 3))(l.T)
		if end.From != locked.From-3 || end.To != locked.From ||
			last(l.T, l.log, "sno/7") != locked.To-1 {
			l.Errorf("at the end: %+v, locked from %d", end, locked.From)
		}
		if w, err := take(locked.From); err == nil {
			l.Errorf("beyond the end: %+v", w)
		}
		if w := must(take(locked.To + 15000))(l.T); w.From != locked.To+15000 {
			l.Errorf("when time has come there: %+v", w)
		}
	})
}

func TestOptions(t *testing.T) {
	l := newLog(t, memory.New(nil))
	for _, test := range []struct {
		opts   claims.Options
		option string
	}{
		{claims.Options{Length: time.Second}, "Length"},
		{claims.Options{Length: 2 * time.Hour}, "Length"},
		{claims.Options{Quiet: -1}, "Quiet"},
		{claims.Options{MaxAhead: -1}, "MaxAhead"},
		{claims.Options{Holder: "a\n"}, "Holder"},
		{claims.Options{Holder: strings.Repeat("a", 256)}, "Holder"},
		{claims.Options{Part: &generator.Pool{Min: -1}}, "Part"},
		{claims.Options{Part: &generator.Pool{Max: 65536}}, "Part"},
		{claims.Options{Part: &generator.Pool{Min: 2, Max: 1}}, "Part"},
	} {
		_, err := claims.Nodes(l, &test.opts)
		var bad *claims.OptionError
		if !errors.As(err, &bad) || bad.Option != test.option {
			t.Errorf("%+v: %v", test.opts, err)
		}
	}
	if _, err := claims.Nodes(nil, nil); err == nil {
		t.Error("no log is taken")
	}
	var none claims.Source[int]
	if _, err := none.NextWindow(ctx, 1, time.Second); err == nil {
		t.Error("a zero source lends")
	}
	if _, err := claims.ByScheme("decimal"); err == nil {
		t.Error("decimal has a pool")
	}
	if p := must(claims.ByScheme(idtype.SchemeSno))(t); p != sno {
		t.Errorf("sno's pool is %+v", p)
	}
}

// A clock that is ahead of the store's takes nothing, nor does it raise the number that it has that
// far, nor in steps that are small. A store without a clock cannot tell.
func TestClockAhead(t *testing.T) {
	var h heard
	inBubble(t, memory.New(nil), claims.Options{Notify: h.add}, func(l *lender) {
		s, at := l.nodes(), now(time.Second)
		ask := func(second int64) error {
			_, err := s.NextWindow(ctx, second, time.Second)
			return err
		}
		var clock *claims.ClockError
		if err := ask(at + 31); !errors.As(err, &clock) ||
			clock.Now.Sub(clock.Store).Round(time.Second) != 31*time.Second {
			l.Errorf("31 s ahead: %v", err)
		}
		h.want(l.T, claims.Refused)
		w := l.at(s, at+29)
		if err := ask(at + 3600); !errors.As(err, &clock) ||
			last(l.T, l.log, fmt.Sprint("trace/", w.Number)) != w.To-1 {
			l.Errorf("an hour ahead, after %+v: %v", w, err)
		}
		if err := ask(1 << 33); !errors.As(err, &clock) || !clock.Store.IsZero() {
			l.Errorf("beyond the last time of IDs: %v", err)
		}
		s = l.nodes()
		for steps := 1; ; steps++ {
			if err := ask(at); err != nil {
				if !errors.As(err, &clock) {
					l.Errorf("a clock that gains: %v", err)
				}
				break
			}
			if steps == 4 {
				l.Fatal("a clock gained 60 s in four steps")
			}
			time.Sleep(3 * time.Second)
			at += 3 + 20
		}
		l.log = newLog(l.T, clockless{memory.New(nil)})
		l.at(l.nodes(), at+3600)
	})
}

type clockless struct{ launchlog.Store }

func (clockless) Now(context.Context) (time.Time, error) { return time.Time{}, nil }

// A clock that was set back by more than the length takes another number.
func TestClockSetBack(t *testing.T) {
	var h heard
	inBubble(t, memory.New(nil), claims.Options{Notify: h.add}, func(l *lender) {
		s, at := l.nodes(), now(time.Second)
		w := l.at(s, at)
		if same := l.at(s, at-1); same.Number != w.Number || same.From != w.To || same.To != w.To+1 {
			l.Errorf("a second back: %+v after %+v", same, w)
		}
		if other := l.at(s, at-60); other.Number == w.Number || other.From != at-60 {
			l.Errorf("a minute back: %+v after %+v", other, w)
		}
		h.want(l.T, claims.Taken, claims.Freed, claims.Taken)
	})
}

// A step in doubt is run again, the same step, before any other. Where its window is not over it is
// used. Where somebody else was faster it is lost.
func TestDoubt(t *testing.T) {
	store := &mute{Store: memory.New(nil)}
	inBubble(t, store, claims.Options{}, func(l *lender) {
		s := l.nodes()
		fails := func() {
			l.Helper()
			_, err := s.NextWindow(ctx, now(time.Second), time.Second)
			var unresolved *launchlog.UnresolvedError
			if !errors.As(err, &unresolved) || !unresolved.Uncertain {
				l.Fatalf("without an answer: %v", err)
			}
			if n := len(must(l.log.Counters(ctx, "", 0))(l.T)); n != 1 {
				l.Fatalf("%d counters", n)
			}
		}
		store.mute = true
		fails()
		fails()
		store.mute = false
		w := l.now(s)
		if rows := must(l.log.Counters(ctx, "", 0))(l.T); len(rows) != 1 ||
			rows[0].Name != fmt.Sprint("trace/", w.Number) || rows[0].Value != w.To-1 {
			l.Errorf("%+v after %+v", rows, w)
		}
		time.Sleep(3 * time.Second)
		store.mute = true
		fails()
		store.mute = false
		at := now(time.Second)
		if again := l.now(s); again.Number != w.Number || again.From < w.To || again.To <= at {
			l.Errorf("%+v after %+v, at %d", again, w, at)
		}
		if st := s.Stats(); st.Doubts != 2 || st.Taken != 1 {
			l.Errorf("stats %+v", st)
		}
		name := fmt.Sprint("trace/", w.Number)
		for _, carriedOut := range []bool{false, true} {
			time.Sleep(3 * time.Second)
			store.drop, store.mute = !carriedOut, carriedOut
			_, err := s.NextWindow(ctx, now(time.Second), time.Second)
			if store.drop, store.mute = false, false; err == nil {
				l.Fatal("an answer came")
			}
			raise(l.T, l.log, name, last(l.T, l.log, name), now(time.Second)+500, "thief")
			other := l.now(s)
			if fmt.Sprint("trace/", other.Number) == name {
				l.Errorf("%+v is the thief's", other)
			}
			name = fmt.Sprint("trace/", other.Number)
		}
	})
}

// mute carries raises out without an answer. With drop it does not carry them out.
type mute struct {
	launchlog.Store
	mute, drop bool
}

var errMute = errors.New("no answer")

func (s *mute) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (row launchlog.CounterState, err error) {
	if !s.drop {
		row, err = s.Store.RaiseCounter(ctx, ref, r)
	}
	if s.mute || s.drop {
		return launchlog.CounterState{}, &launchlog.AttemptError{Ambiguous: true, Err: errMute}
	}
	return row, err
}

// A store that was restored has lost numbers. A holder that sees it has no window any more, because
// somebody else may have had its number since, and says so once.
func TestStoreLostNumbers(t *testing.T) {
	for _, value := range []int64{0, 1500, 2} { // how far the counter is behind then; 0 for no row
		store := &struct{ launchlog.Store }{memory.New(nil)}
		var h heard
		inBubble(t, store, claims.Options{Notify: h.add}, func(l *lender) {
			s := l.nodes()
			w := l.now(s)
			time.Sleep(3 * time.Second)
			if store.Store = memory.New(nil); value != 0 {
				raise(l.T, newLog(l.T, store), fmt.Sprint("trace/", w.Number), 0, w.To-value, "thief")
			}
			for range 3 {
				again, err := s.NextWindow(ctx, now(time.Second), time.Second)
				if !errors.Is(err, launchlog.ErrBehind) {
					l.Errorf("%+v after %+v, %v", again, w, err)
				}
				time.Sleep(time.Hour)
			}
			h.want(l.T, claims.Taken, claims.Behind)
		})
	}
}

// A clock far ahead goes on after its number was freed, for more than a year. An operator frees
// what it locks, every day, and another generator uses that. Trace IDs of a number are the same
// again where their seconds are, modulo their period. None is.
func TestFreedBesideAWrongClock(t *testing.T) {
	const day = 24 * time.Hour
	o := claims.Options{Part: only(7), FailWhenLent: true}
	for _, short := range []time.Duration{15 * day, 30 * day, 200 * day, 380 * day} {
		inBubble(t, clockless{memory.New(nil)}, o, func(l *lender) {
			bad, good := l.nodes(), l.nodes()
			var ids []storetest.Range // modulo the period
			mint := func(s *claims.Source[int], clock time.Time) (minted int) {
				w, err := s.NextWindow(ctx, clock.Unix(), time.Second)
				if err == nil {
					period := int64(formats.TracePeriod / time.Second)
					ids = append(ids, storetest.Range{First: w.From % period, N: w.To - w.From})
					return 1
				}
				if !errors.As(err, new(*claims.LentError)) {
					l.Fatal(err)
				}
				return 0
			}
			freed, minted := 0, 0
			for range 420 {
				mint(bad, time.Now().Add(formats.TracePeriod-short))
				for _, c := range must(trace.List(ctx, l.log, time.Now()))(l.T) {
					if c.Gap[1].IsZero() {
						continue
					}
					if _, err := trace.Free(ctx, l.log, c.Number, time.Now(), "ann"); err == nil {
						freed++
					}
				}
				minted += mint(good, time.Now())
				time.Sleep(day)
			}
			if n := storetest.Repeats(ids); n != 0 || freed == 0 || minted < 8 {
				l.Errorf("%v short of the period: %d of %d windows repeat; freed %d times, %d windows",
					short, n, len(ids), freed, minted)
			}
		})
	}
}

// Free of a trace node may be cut off after its first step, and run again. It lends the same gap
// once, however late, and never a second one that overlaps with it.
func TestFreeTraceAgain(t *testing.T) {
	store := &before{Store: clockless{memory.New(nil)}}
	o := claims.Options{Part: only(7), FailWhenLent: true}
	inBubble(t, store, o, func(l *lender) {
		l.at(l.nodes(), now(time.Second)+100*86400)
		free := func() error {
			_, err := trace.Free(ctx, l.log, "7", time.Now(), "ann")
			return err
		}
		store.raise = func(name string) error {
			if strings.Contains(name, "-") { // of freed time
				return errMute
			}
			return nil
		}
		if err := free(); !errors.Is(err, errMute) {
			l.Fatal(err)
		}
		store.raise = nil
		for range 3 {
			time.Sleep(24 * time.Hour)
			if err := free(); err != nil {
				l.Fatal(err)
			}
		}
		l.now(l.nodes())
		if all := must(l.log.Counters(ctx, "trace/", 0))(l.T); len(all) != 2 {
			l.Errorf("%d counters: %+v", len(all), all)
		}
	})
}

// before does something before it raises a counter, or instead.
type before struct {
	launchlog.Store
	raise func(name string) error
}

func (b *before) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (launchlog.CounterState, error) {
	if b.raise != nil {
		if err := b.raise(ref.Name); err != nil {
			return launchlog.CounterState{}, err
		}
	}
	return b.Store.RaiseCounter(ctx, ref, r)
}

// A generator that had a number far ahead does not get what was freed of it. It would take the
// window for a repeat, until the time has come there.
func TestFreedForOthers(t *testing.T) {
	inBubble(t, clockless{memory.New(nil)}, claims.Options{Part: only(7)}, func(l *lender) {
		s, at := l.nodes(), now(time.Second)
		l.at(s, at+1e6)
		must(trace.Free(ctx, l.log, "7", time.Now(), "ann"))(l.T)
		_, err := s.NextWindow(ctx, at, time.Second)
		if !errors.As(err, new(*claims.LentError)) {
			l.Errorf("the generator that locked the number: %v", err)
		}
		if w := l.at(l.nodes(), at); w.From != at {
			l.Errorf("another one: %+v", w)
		}
	})
}

// Calls go on by turns. One whose context ends while another has the turn, ends then.
func TestTurns(t *testing.T) {
	store := &before{Store: memory.New(nil)}
	inBubble(t, store, claims.Options{}, func(l *lender) {
		gate := make(chan struct{})
		store.raise = func(string) error { <-gate; return nil }
		s := l.nodes()
		var group sync.WaitGroup
		var mu sync.Mutex // guards windows
		var windows []generator.Window[int]
		for range 8 {
			group.Go(func() {
				w := l.now(s)
				mu.Lock()
				defer mu.Unlock()
				windows = append(windows, w)
			})
		}
		synctest.Wait()
		brief, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		before := time.Now()
		_, err := s.NextWindow(brief, now(time.Second), time.Second)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(before) != time.Second {
			l.Errorf("after %v: %v", time.Since(before), err)
		}
		close(gate)
		group.Wait()
		slices.SortFunc(windows, func(a, b generator.Window[int]) int { return int(a.From - b.From) })
		for i, w := range windows[1:] {
			if before := windows[i]; w.Number != before.Number || w.From < before.To {
				l.Errorf("%+v", windows)
			}
		}
	})
}

// A claim that blocks gets a window. If that has passed by the time of the answer, nothing is
// stamped in it.
func TestClaimThatBlocks(t *testing.T) {
	store := &before{memory.New(nil), nil}
	inBubble(t, store, claims.Options{}, func(l *lender) {
		var answered time.Time
		store.raise = func(string) error {
			time.Sleep(20 * time.Second) // four windows long
			answered, store.raise = time.Now(), nil
			return nil
		}
		g := must(generator.NewTrace(l.nodes(), nil))(l.T)
		id := must(g.Next(ctx))(l.T)
		at, _ := id.Times(time.Now().Add(time.Hour))
		stands := last(l.T, l.log, fmt.Sprint("trace/", id.Parts().Node))
		if at.Before(answered.Truncate(time.Second)) || stands < answered.Unix() {
			l.Errorf("%v is stamped with %v, and the number was had at %v; the counter stands at %d",
				id, at, answered, stands)
		}
	})
}
