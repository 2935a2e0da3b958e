package claims_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

var (
	ctx                = context.Background()
	trace, sno, paired = claims.Pools()[0], claims.Pools()[1], claims.Pools()[2]
	snowflake          = claims.Pools()[3]
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
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		nodes := must(claims.Nodes(l, &claims.Options{Part: only(7)}))(t)
		node := must(must(generator.NewTrace(nodes, nil))(t).Next(ctx))(t)
		partitions := must(claims.Partitions(l, &claims.Options{Part: only(9)}))(t)
		partition := must(must(generator.NewSno(partitions, nil))(t).Next(ctx))(t)
		flakes := must(claims.Snowflakes[idtype.Twitter](l, &claims.Options{Part: only(5)}))(t)
		flake := must(must(generator.NewSnowflake(flakes, nil))(t).Next(ctx))(t)
		if err := paired.SetClusters(ctx, l, []int{0}, []int{11}, "ann"); err != nil {
			t.Fatal(err)
		}
		pairs := must(claims.Pairs(l, &claims.Options{Part: only(63)}))(t)
		g := must(generator.NewEightByte(idtype.EightByteSpread, pairs, nil))(t)
		pair := must(g.Next(ctx))(t).Parts()
		if node.Parts().Node != 7 || partition.Parts().Partition != 9 || pair.Generator != 63 ||
			pair.Cluster != 11 || flake.Node() != 5 {
			t.Errorf("%+v, %+v, %+v, %+v", node.Parts(), partition.Parts(), pair, flake.Parts())
		}
		for _, name := range []string{"trace/7", "sno/9", "eightbyte/11/63", "snowflake/5"} {
			if last(t, l, name) == 0 {
				t.Errorf("there is no counter %s", name)
			}
		}
		var wrong *claims.OptionError
		of := must(generator.NewSno(nodes, nil))(t)
		if _, err := of.Next(ctx); !errors.As(err, &wrong) || wrong.Option != "generator" {
			t.Errorf("nodes as partitions: %v", err)
		}
	})
}

// Windows of a longer unit lie within those of the counter, without a gap between them. In a unit
// that another layout's generator has begun there is none.
func TestLongUnits(t *testing.T) {
	o := claims.Options{Holder: "pod-1", Part: only(7)}
	inBubble(t, memory.New(nil), o, func(l *lender) {
		sony := must(claims.Snowflakes[idtype.SonyflakeV2](l.log, &l.opts))(l.T)
		unit := 10 * ms
		w := must(sony.NextWindow(ctx, now(unit), unit))(l.T)
		if w.From != now(unit) || w.To != w.From+500 || last(l.T, l.log, "snowflake/7") != w.To*10-1 {
			l.Errorf("at %d: %+v", now(unit), w)
		}
		time.Sleep(3333 * ms)
		next := must(sony.NextWindow(ctx, now(unit), unit))(l.T)
		if next.From != w.To || next.To != now(unit)+500 {
			l.Errorf("after %+v: %+v", w, next)
		}
		time.Sleep(5555 * ms)
		twitter := must(claims.Snowflakes[idtype.Twitter](l.log, &l.opts))(l.T)
		other := must(twitter.NextWindow(ctx, now(ms), ms))(l.T)
		time.Sleep(time.Until(time.UnixMilli(other.To).Add(time.Microsecond)))
		again := must(claims.Snowflakes[idtype.SonyflakeV2](l.log, &l.opts))(l.T)
		var later *generator.NotBeforeError
		_, err := again.NextWindow(ctx, now(unit), unit)
		if !errors.As(err, &later) || later.From*10 < other.To || later.From*10 >= other.To+10 ||
			later.Unit != unit || other.To%10 == 0 {
			l.Errorf("after %+v: %v", other, err)
		}
		// All nodes are the layout's, and a failure names them.
		l.opts.Part, l.opts.FailWhenLent = nil, true
		for n := range 9 {
			l.opts.Holder = fmt.Sprint("pod-", n+2)
			few := must(claims.Snowflakes[eight](l.log, &l.opts))(l.T)
			_, err := few.NextWindow(ctx, now(ms), ms)
			var lent *claims.LentError
			if n < 7 && err != nil || n > 7 && !errors.As(err, &lent) {
				l.Errorf("%d of 8: %v", n+1, err)
			}
			if lent != nil && (lent.Numbers != 8 || lent.Quiet != time.Minute ||
				!strings.Contains(err.Error(), "all 8 are lent")) {
				l.Errorf("all lent: %v", err)
			}
		}
		_, err = sony.NextWindow(ctx, now(ms), ms)
		var wrong *claims.OptionError
		if !errors.As(err, &wrong) {
			l.Errorf("a generator of another unit: %v", err)
		}
	})
}

type eight struct{}

var eightNodes = idtype.MustSnowflakeLayout(idtype.SnowflakeBits{Node: 3, Step: 8})

func (eight) Layout() *idtype.SnowflakeLayout { return eightNodes }

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
			!strings.Contains(err.Error(), "all 2 are lent") {
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

// Where each number that was free is taken by others, a source gives up after 64 of them and says
// when to ask again.
func TestTaken(t *testing.T) {
	store := &faster{Store: memory.New(nil)}
	inBubble(t, store, claims.Options{}, func(l *lender) {
		at := now(time.Second)
		_, err := l.nodes().NextWindow(ctx, at, time.Second)
		var later *generator.NotBeforeError
		if !errors.As(err, &later) || later.From != at+1 ||
			!strings.Contains(err.Error(), "others took the numbers") {
			l.Errorf("%v, want an error until %d", err, at+1)
		}
		if store.raises != 64 {
			l.Errorf("%d numbers were tried", store.raises)
		}
	})
}

// A faster holder raises each counter before its caller does.
type faster struct {
	launchlog.Store
	raises int
}

func (f *faster) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (launchlog.CounterState, error) {
	f.raises++
	theirs := r
	theirs.Note = launchlog.NewNote()
	if _, err := f.Store.RaiseCounter(ctx, ref, theirs); err != nil {
		return launchlog.CounterState{}, err
	}
	return f.Store.RaiseCounter(ctx, ref, r)
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
		random := rand.New(rand.NewPCG(1, 1))
		for range 100 { // of the older layout
			s := must(claims.Pairs(l, &claims.Options{Part: &generator.Pool{Max: 63}}))(t)
			s.SetRandom(random) // by chance, some of the first pairs would be left
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
}
