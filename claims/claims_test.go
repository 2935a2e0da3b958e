package claims_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

var ctx = context.Background()

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

// A window is taken, renewed ahead of its end, and never overlaps the one before.
func TestTakeAndRenew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		var h heard
		s := must(claims.Nodes(l, &claims.Options{Holder: "pod-1", Notify: h.add}))(t)
		at := now(time.Second)
		w := must(s.NextWindow(ctx, at, time.Second))(t)
		if w.From != at || w.To != at+5 {
			t.Errorf("the first window is %+v, at %d", w, at)
		}
		name := fmt.Sprint("trace/", w.Number)
		if got := last(t, l, name); got != w.To-1 {
			t.Errorf("the counter stands at %d, for %+v", got, w)
		}
		h.want(t, claims.Taken)
		for range 100 {
			time.Sleep(3 * time.Second)
			at := now(time.Second)
			next := must(s.NextWindow(ctx, at, time.Second))(t)
			if next.Number != w.Number || next.From != w.To || next.To != at+5 {
				t.Fatalf("after %+v, at %d: %+v", w, at, next)
			}
			w = next
		}
		h.want(t)
		st := s.Stats()
		if st.Raised != 101 || st.Taken != 1 || st.Lost != 0 || st.Holder != "pod-1" ||
			st.Number != fmt.Sprint(w.Number) || st.Until.Unix() != w.To {
			t.Errorf("stats %+v", st)
		}
		// Whoever was idle has its number still, unless somebody took it.
		time.Sleep(time.Hour)
		if next := must(s.NextWindow(ctx, now(time.Second), time.Second))(t); next.Number !=
			w.Number || next.From != now(time.Second) {
			t.Errorf("after an hour: %+v", next)
		}
	})
}

// All pools lend to generators, with the names of counters that the command line uses as well.
func TestGenerators(t *testing.T) {
	l := newLog(t, memory.New(nil))
	nodes := must(claims.Nodes(l, &claims.Options{Part: &claims.Range{Min: 7, Max: 7}}))(t)
	trace := must(must(generator.NewTrace(nodes, nil))(t).Next(ctx))(t)
	partitions := must(claims.Partitions(l, &claims.Options{
		Part: &claims.Range{Min: 9, Max: 9},
	}))(t)
	sno := must(must(generator.NewSno(partitions, nil))(t).Next(ctx))(t)
	if err := claims.EightByte.SetClusters(ctx, l, []int{0}, []int{11}, "ann"); err != nil {
		t.Fatal(err)
	}
	pairs := must(claims.Pairs(l, &claims.Options{Part: &claims.Range{Min: 63, Max: 63}}))(t)
	g := must(generator.NewEightByte(idtype.EightByteSpread, pairs, nil))(t)
	eight := must(g.Next(ctx))(t)
	if trace.Node() != 7 || sno.Partition() != 9 || eight.Generator() != 63 ||
		eight.Cluster() != 11 {
		t.Errorf("%v has node %d, %v partition %d, %v pair %d, %d", trace, trace.Node(), sno,
			sno.Partition(), eight, eight.Generator(), eight.Cluster())
	}
	for _, name := range []string{"trace/7", "sno/9", "eightbyte/11/63"} {
		if last(t, l, name) == 0 {
			t.Errorf("there is no counter %s", name)
		}
	}
	_, err := generator.NewSno(nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	var unit *claims.UnitError
	wrong := must(generator.NewSno(nodes, nil))(t)
	if _, err := wrong.Next(ctx); !errors.As(err, &unit) {
		t.Errorf("nodes as partitions: %v", err)
	}
}

// A number is free once its counter lies a quiet time behind. Of those the longest unused ones are
// taken, before any that never was.
func TestChoice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		at := now(time.Second)
		for n, behind := range []int64{500, 61, 400, 60, 300, -5, 100_000, 1} {
			raise(t, l, fmt.Sprint("trace/", n), 0, at-behind, "somebody")
		}
		seen := map[int]bool{}
		for range 60 {
			s := must(claims.Nodes(l, nil))(t)
			w := must(s.NextWindow(ctx, at, time.Second))(t)
			seen[w.Number] = true
			if len(seen) == 1 && (w.Number == 1 || w.Number == 4) {
				t.Errorf("the first is %d", w.Number)
			}
		}
		for n := range 8 {
			if free := n != 3 && n != 5 && n != 7; seen[n] != free {
				t.Errorf("number %d is taken: %v", n, seen[n])
			}
		}
		for n := range seen {
			if n > 8+4*60 {
				t.Errorf("number %d is taken, far from the others", n)
			}
		}
	})
}

func TestAllLent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		part := &claims.Range{Min: 3, Max: 4}
		var h heard
		for range 2 {
			s := must(claims.Partitions(l, &claims.Options{Part: part}))(t)
			must(s.NextWindow(ctx, now(4*ms), 4*ms))(t)
		}
		failing := must(claims.Partitions(l, &claims.Options{
			Part: part, FailWhenLent: true, Notify: h.add,
		}))(t)
		_, err := failing.NextWindow(ctx, now(4*ms), 4*ms)
		var lent *claims.LentError
		if !errors.As(err, &lent) || lent.Numbers != 2 ||
			time.Until(lent.Until).Round(time.Second) != 65*time.Second {
			t.Errorf("all lent: %v", err)
		}
		h.want(t, claims.Lent)
		if st := failing.Stats(); st.Lent != 2 || st.Numbers != 2 || st.Number != "" {
			t.Errorf("stats %+v", st)
		}

		waiting := must(claims.Partitions(l, &claims.Options{Part: part}))(t)
		var later *generator.NotBeforeError
		_, err = waiting.NextWindow(ctx, now(4*ms), 4*ms)
		if !errors.As(err, &later) || !errors.As(err, &lent) || later.From <= now(4*ms) {
			t.Errorf("all lent, waiting: %v", err)
		}
		// A call waits for a number within its generator's MaxWait, and says what it waited for.
		short := must(generator.NewSno(waiting, &generator.Options{MaxWait: 20 * time.Second}))(t)
		if _, err := short.Next(ctx); !errors.As(err, &lent) ||
			!strings.Contains(err.Error(), "2 of 2 are lent") {
			t.Errorf("a short wait: %v", err)
		}
		long := must(generator.NewSno(waiting, &generator.Options{MaxWait: 5 * time.Minute}))(t)
		before := time.Now()
		if _, err := long.Next(ctx); err != nil {
			t.Errorf("a long wait: %v", err)
		}
		if d := time.Since(before); d > 90*time.Second {
			t.Errorf("it waited for %v", d)
		}
		// Nor does a call wait longer than its context.
		all := must(claims.Partitions(l, &claims.Options{Part: &claims.Range{Min: 4, Max: 4}}))(t)
		g := must(generator.NewSno(all, &generator.Options{MaxWait: time.Hour}))(t)
		raise(t, l, "sno/4", last(t, l, "sno/4"), now(4*ms)+1e6, "somebody")
		brief, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		if _, err := g.Next(brief); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a context: %v", err)
		}
	})
}

// A number that somebody else took is given up, and another one is taken.
func TestLost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		var h heard
		s := must(claims.Nodes(l, &claims.Options{Notify: h.add}))(t)
		g := must(generator.NewTrace(s, nil))(t)
		first := must(g.Next(ctx))(t)
		time.Sleep(2 * time.Minute)
		name := fmt.Sprint("trace/", first.Node())
		raise(t, l, name, last(t, l, name), now(time.Second)+100, "thief")
		second := must(g.Next(ctx))(t)
		if second.Node() == first.Node() {
			t.Errorf("%v and %v have one node", first, second)
		}
		h.want(t, claims.Taken, claims.Lost, claims.Taken)
		if st := s.Stats(); st.Lost != 1 || st.Taken != 2 ||
			st.Number != fmt.Sprint(second.Node()) {
			t.Errorf("stats %+v", st)
		}
	})
}

// After a restart the number that names this holder is taken again. While its counter is ahead,
// the start waits. Where that rises twice meanwhile, somebody else lives under this name.
func TestHolder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		start := func() *claims.Source[int] {
			return must(claims.Nodes(l, &claims.Options{Holder: "pod-1"}))(t)
		}
		for range 20 { // others
			s := must(claims.Nodes(l, nil))(t)
			must(s.NextWindow(ctx, now(time.Second), time.Second))(t)
		}
		live := start()
		w := must(live.NextWindow(ctx, now(time.Second), time.Second))(t)
		for range 5 {
			value := last(t, l, fmt.Sprint("trace/", w.Number))
			again := start()
			_, err := again.NextWindow(ctx, now(time.Second), time.Second)
			var later *generator.NotBeforeError
			if !errors.As(err, &later) || later.From != value+1 ||
				!strings.Contains(err.Error(), "pod-1") {
				t.Fatalf("at once: %v", err)
			}
			if got := last(t, l, fmt.Sprint("trace/", w.Number)); got != value {
				t.Errorf("the start pushed the counter to %d", got)
			}
			time.Sleep(time.Duration(later.From-now(time.Second)) * time.Second)
			next := must(again.NextWindow(ctx, now(time.Second), time.Second))(t)
			if next.Number != w.Number || next.From != later.From {
				t.Fatalf("after it: %+v", next)
			}
			live = again
		}
		// The name of a holder that lives.
		second := start()
		if _, err := second.NextWindow(ctx, now(time.Second), time.Second); err == nil {
			t.Fatal("a number that is in use was taken at once")
		}
		time.Sleep(4 * time.Second)
		must(live.NextWindow(ctx, now(time.Second), time.Second))(t)
		time.Sleep(time.Second)
		if _, err := second.NextWindow(ctx, now(time.Second), time.Second); err == nil {
			t.Fatal("one rise may be a late request, and is waited for")
		}
		time.Sleep(3 * time.Second)
		must(live.NextWindow(ctx, now(time.Second), time.Second))(t)
		time.Sleep(time.Second)
		if next := must(second.NextWindow(ctx, now(time.Second), time.Second))(t); next.Number ==
			w.Number {
			t.Errorf("the number that %d has was taken", next.Number)
		}
	})
}

func (clockless) Now(context.Context) (time.Time, error) { return time.Time{}, nil }

func TestClusters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		p := &claims.EightByte
		set := func(old, list []int) error { return p.SetClusters(ctx, l, old, list, "ann") }
		if got := must(p.Clusters(ctx, l))(t); !slices.Equal(got, []int{0}) {
			t.Errorf("clusters %v", got)
		}
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
		if got := must(p.Clusters(ctx, l))(t); !slices.Equal(got, []int{3, 15}) {
			t.Errorf("clusters %v", got)
		}
		if n := must(p.Size(ctx, l))(t); n != 4096 {
			t.Errorf("%d numbers", n)
		}
		for _, test := range []struct{ old, list []int }{
			{[]int{0}, []int{1}},
			{[]int{15, 3}, []int{1}},
			{[]int{3, 15}, nil},
			{[]int{3, 15}, []int{16}},
			{[]int{3, 15}, []int{-1}},
		} {
			var bad *claims.PoolError
			if err := set(test.old, test.list); !errors.As(err, &bad) {
				t.Errorf("%v after %v: %v", test.list, test.old, err)
			}
		}
		// Who has a pair of another cluster hears of it within the quiet time.
		if pair := next(); pair.Cluster != 0 {
			t.Errorf("at once: %+v", pair)
		}
		time.Sleep(time.Minute)
		pair := next()
		if pair.Cluster != 3 && pair.Cluster != 15 {
			t.Errorf("pair %+v", pair)
		}
		h.want(t, claims.Taken, claims.Freed, claims.Taken)
		seen := map[int]int{}
		for range 100 {
			s := must(claims.Pairs(l, &claims.Options{Part: &claims.FormerGenerators}))(t)
			w := must(s.NextWindow(ctx, now(ms), ms))(t)
			seen[w.Number.Cluster]++
			if w.Number.Generator > 63 {
				t.Errorf("%+v is no former pair", w.Number)
			}
		}
		if seen[3] != 64 && seen[3] != 63 || seen[15]+seen[3] != 100 {
			t.Errorf("pairs by cluster: %v", seen)
		}
		if got := must(claims.Trace.Clusters(ctx, l))(t); got != nil {
			t.Errorf("clusters of trace: %v", got)
		}
		var bad *claims.PoolError
		if err := claims.Trace.SetClusters(ctx, l, nil, []int{0}, ""); !errors.As(err, &bad) {
			t.Errorf("clusters of trace: %v", err)
		}
	})
}

// A number that a clock far ahead has locked is got back for the time that was passed over.
func TestFree(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, clockless{memory.New(nil)})
		part := &claims.Range{Min: 7, Max: 7}
		day := int64(86400 * 250)
		take := func(at int64) (generator.Window[int], error) {
			s := must(claims.Partitions(l, &claims.Options{Part: part, FailWhenLent: true}))(t)
			return s.NextWindow(ctx, at, 4*ms)
		}
		free := func(number string) (claims.Claim, error) {
			return claims.Sno.Free(ctx, l, number, time.Now(), "ann")
		}
		var bad *claims.PoolError
		for _, number := range []string{"7", "8", "07", "-1", "65536", "0/7", ""} {
			if _, err := free(number); !errors.As(err, &bad) {
				t.Errorf("free %q: %v", number, err)
			}
		}
		must(take(now(4 * ms)))(t)
		if _, err := free("7"); !errors.As(err, &bad) {
			t.Errorf("free a number that is lent: %v", err)
		}
		time.Sleep(2 * time.Minute)
		stood := last(t, l, "sno/7")
		locked := must(take(now(4*ms) + 400*day))(t)
		for range 3 {
			list := must(claims.Sno.List(ctx, l, time.Now()))(t)
			if len(list) != 1 || !list[0].Lent || list[0].Number != "7" ||
				list[0].Gap[1].UnixMilli() != locked.From*4 ||
				list[0].Gap[0].UnixMilli() != (stood+1)*4 {
				t.Errorf("list: %+v", list)
			}
			time.Sleep(time.Hour)
			if _, err := take(now(4 * ms)); err == nil {
				t.Fatal("a number that is locked was taken")
			}
		}
		c := must(free("7"))(t)
		if c.Before.UnixMilli() != locked.From*4 || c.Lent || c.Holder != "ann" {
			t.Errorf("freed: %+v", c)
		}
		if again := must(free("7"))(t); again != c {
			t.Errorf("freed again: %+v", again)
		}
		w := must(take(now(4 * ms)))(t)
		if w.Number != 7 || w.From != now(4*ms) {
			t.Errorf("after it was freed: %+v", w)
		}
		if _, err := take(now(4 * ms)); err == nil {
			t.Error("it was taken twice")
		}
		if list := must(claims.Sno.List(ctx, l, time.Now()))(t); len(list) != 2 ||
			list[1].Before != c.Before || !list[1].Lent {
			t.Errorf("list: %+v", list)
		}
		if got := last(t, l, "sno/7"); got != locked.To-1 {
			t.Errorf("the counter stands at %d", got)
		}
		// At its end the gap's counter lends no unit of the window that locked the number.
		end := must(take(locked.From - 3))(t)
		if end.From != locked.From-3 || end.To != locked.From {
			t.Errorf("at the end: %+v, locked from %d", end, locked.From)
		}
		if w, err := take(locked.From); err == nil {
			t.Errorf("beyond the end: %+v", w)
		}
		beyond := must(take(locked.To + 15000))(t)
		if beyond.From != locked.To+15000 {
			t.Errorf("when time has come there: %+v", beyond)
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
		{claims.Options{Length: -time.Second}, "Length"},
		{claims.Options{Length: 2 * time.Hour}, "Length"},
		{claims.Options{Quiet: -1}, "Quiet"},
		{claims.Options{MaxAhead: -1}, "MaxAhead"},
		{claims.Options{Holder: "a\n"}, "Holder"},
		{claims.Options{Holder: strings.Repeat("a", 256)}, "Holder"},
		{claims.Options{Part: &claims.Range{Min: -1}}, "Part"},
		{claims.Options{Part: &claims.Range{Max: 65536}}, "Part"},
		{claims.Options{Part: &claims.Range{Min: 2, Max: 1}}, "Part"},
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
	if p := must(claims.ByScheme(idtype.SchemeSno))(t); p != &claims.Sno {
		t.Errorf("sno's pool is %+v", p)
	}
}
