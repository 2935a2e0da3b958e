package claims_test

import (
	"context"
	"errors"
	"fmt"
	"math"
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
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

// A clock may say anything. No number is lent for a time that IDs do not have, and none is locked.
func TestWildClocks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, clockless{memory.New(nil)})
		for n, at := range []int64{math.MinInt64, -1, 0, 1, 2} {
			s := must(claims.Pairs(l, &claims.Options{Part: &claims.Range{Min: n, Max: n}}))(t)
			w, err := s.NextWindow(ctx, at, ms)
			if err != nil || w.From < 1 || w.To <= w.From {
				t.Errorf("at %d: %+v, %v", at, w, err)
			}
		}
		part := &claims.Range{Min: 5, Max: 6}
		for _, at := range []int64{1 << 42, 1 << 50, 1 << 62, math.MaxInt64 - 1, math.MaxInt64} {
			s := must(claims.Pairs(l, &claims.Options{Part: part}))(t)
			w, err := s.NextWindow(ctx, at, ms)
			var clock *claims.ClockError
			if !errors.As(err, &clock) || !strings.Contains(err.Error(), "beyond the last time") {
				t.Errorf("at %d: %+v, %v", at, w, err)
			}
		}
		for n := 5; n <= 6; n++ {
			if got := last(t, l, fmt.Sprintf("eightbyte/0/%d", n)); got > now(ms) {
				t.Errorf("number %d is locked until %d", n, got)
			}
		}
	})
}

// Whatever raised a counter beyond all times, its number is lent for good. It is in nobody's way.
func TestWildCounters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		for n, value := range []int64{math.MaxInt64, math.MaxInt64 - 1, 1 << 62, 1 << 33} {
			raise(t, l, fmt.Sprint("trace/", n), 0, value, "pod-1")
		}
		for range 30 {
			s := must(claims.Nodes(l, &claims.Options{
				Part: &claims.Range{Max: 40}, Holder: "pod-1", FailWhenLent: true,
			}))(t)
			w, err := s.NextWindow(ctx, now(time.Second), time.Second)
			if err != nil || w.Number < 4 {
				t.Fatalf("%+v, %v", w, err)
			}
			time.Sleep(6 * time.Second)
		}
		s := must(claims.Nodes(l, &claims.Options{Part: &claims.Range{Max: 3}}))(t)
		_, err := s.NextWindow(ctx, now(time.Second), time.Second)
		var lent *claims.LentError
		var later *generator.NotBeforeError
		if !errors.As(err, &lent) || !lent.Until.IsZero() || !errors.As(err, &later) ||
			later.From <= now(time.Second)+1 || later.From > now(time.Second)+60 {
			t.Errorf("all locked: %v", err)
		}
		for _, c := range must(claims.Trace.List(ctx, l, time.Now()))(t) {
			if locked := c.Number < "4" && len(c.Number) == 1; locked && !c.Lent {
				t.Errorf("%+v is not lent", c)
			}
		}
		// A quiet time beyond all is one after which nothing is free.
		quiet := claims.Options{Quiet: math.MaxInt64, Part: &claims.Range{Min: 50, Max: 50}}
		must(must(claims.Nodes(l, &quiet))(t).NextWindow(ctx, now(time.Second), time.Second))(t)
		if w, err := must(claims.Nodes(l, &quiet))(t).NextWindow(
			ctx, now(time.Second), time.Second,
		); !errors.As(err, &lent) {
			t.Errorf("within the quiet time: %+v, %v", w, err)
		}
	})
}

// A store that was restored has lost numbers. A holder goes on above those that it had, and says
// so. The step whose answer was lost before is not taken for done.
func TestStoreLostNumbers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		lose := &forgetful{Store: memory.New(nil)}
		l := newLog(t, lose)
		var h heard
		s := must(claims.Partitions(l, &claims.Options{Notify: h.add}))(t)
		next := func() (generator.Window[int], error) { return s.NextWindow(ctx, now(4*ms), 4*ms) }
		w := must(next())(t)
		for round := range 3 {
			time.Sleep(3 * time.Second)
			name := fmt.Sprint("sno/", w.Number)
			switch round {
			case 0: // to an older value
				lose.Store = memory.New(nil)
				raise(t, l, name, 0, w.To-1500, "pod-0")
			case 1: // to none
				lose.Store = memory.New(nil)
			case 2: // where somebody has raised it already
				lose.Store = memory.New(nil)
				raise(t, l, name, 0, w.To-2, "thief")
			}
			again := must(next())(t)
			if again.Number != w.Number || again.From != w.To {
				t.Fatalf("round %d: %+v after %+v", round, again, w)
			}
			if got := last(t, l, name); got != again.To-1 {
				t.Errorf("round %d: the counter stands at %d", round, got)
			}
			w = again
		}
		h.want(t, claims.Taken, claims.Behind, claims.Behind, claims.Behind)
	})
}

type forgetful struct{ launchlog.Store }

// A step in doubt was carried out with a clock far ahead, which was set back since. Its window is
// not waited for: another number is taken.
func TestDoubtAndClockSetBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := &mute{Store: clockless{memory.New(nil)}}
		l := newLog(t, store)
		s := must(claims.Nodes(l, nil))(t)
		at := now(time.Second)
		store.mute = true
		if _, err := s.NextWindow(ctx, at+1e6, time.Second); err == nil {
			t.Fatal("an answer came")
		}
		store.mute = false
		w := must(s.NextWindow(ctx, at, time.Second))(t)
		if w.From > at || w.To <= at {
			t.Errorf("at %d: %+v", at, w)
		}
		if st := s.Stats(); st.Raised != 2 || st.Taken != 2 || st.Freed != 1 {
			t.Errorf("stats %+v", st)
		}
	})
}

// A step in doubt that was carried out, and whose number others have taken since, is not this
// source's window.
func TestDoubtOvertaken(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := &mute{Store: memory.New(nil), mute: true}
		l := newLog(t, store)
		s := must(claims.Nodes(l, nil))(t)
		if _, err := s.NextWindow(ctx, now(time.Second), time.Second); err == nil {
			t.Fatal("an answer came")
		}
		store.mute = false
		row := must(l.Counters(ctx, "", 0))(t)[0]
		raise(t, l, row.Name, row.Value, row.Value+5, "thief")
		w := must(s.NextWindow(ctx, now(time.Second), time.Second))(t)
		if fmt.Sprint("trace/", w.Number) == row.Name {
			t.Errorf("%+v is the thief's", w)
		}
		if got := last(t, l, row.Name); got != row.Value+5 {
			t.Errorf("the thief's counter stands at %d", got)
		}
	})
}

// A start that does not wait for its number is told until when that is lent. It takes no other one,
// however often it is tried.
func TestFailWhenMine(t *testing.T) {
	for _, length := range []time.Duration{5 * time.Second, time.Hour} {
		bubble(t, func(t *testing.T) {
			l := newLog(t, memory.New(nil))
			o := claims.Options{Holder: "pod-1", FailWhenLent: true, Length: length}
			w := must(must(claims.Partitions(l, &o))(t).NextWindow(ctx, now(4*ms), 4*ms))(t)
			for range 100 {
				_, err := must(claims.Partitions(l, &o))(t).NextWindow(ctx, now(4*ms), 4*ms)
				var lent *claims.LentError
				if !errors.As(err, &lent) || lent.Until.UnixMilli() != w.To*4 ||
					lent.Number != fmt.Sprint(w.Number) || !strings.Contains(err.Error(),
					`lent to "pod-1", this holder's name, until`) {
					t.Fatalf("%v, after %+v", err, w)
				}
			}
			time.Sleep(length)
			s := must(claims.Partitions(l, &o))(t)
			again := must(s.NextWindow(ctx, now(4*ms), 4*ms))(t)
			list := must(claims.Sno.List(ctx, l, time.Now()))(t)
			if again.Number != w.Number || len(list) != 1 {
				t.Errorf("%+v after %+v; %+v", again, w, list)
			}
		})
	}
}

// Generators under one name that mint now and then take a number each, and leave the others theirs.
func TestOneName(t *testing.T) {
	for _, n := range []int{2, 3, 6} {
		bubble(t, func(t *testing.T) {
			l := newLog(t, memory.New(nil))
			var group sync.WaitGroup
			for i := range n {
				s := must(claims.Partitions(l, &claims.Options{Holder: "host/1/1"}))(t)
				g := must(generator.NewSno(s, &generator.Options{MaxWait: time.Hour}))(t)
				group.Go(func() {
					time.Sleep(time.Duration(i) * 3 * time.Second)
					waited := time.Duration(0)
					for round := range 100 {
						began := time.Now()
						if _, err := g.Next(ctx); err != nil {
							t.Error(err)
						}
						if round >= 20 { // until then they find each other
							waited += time.Since(began)
						}
						time.Sleep(7 * time.Second)
					}
					if lost := s.Stats().Lost; waited != 0 || lost > uint64(n) {
						t.Errorf("%d: of %d: it lost %d numbers, and waited %v", i, n, lost, waited)
					}
				})
			}
			group.Wait()
		})
	}
}

// A start takes the one of its numbers that rested longest, and waits for none.
func TestMineThatRests(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		at := now(time.Second)
		raise(t, l, "trace/2", 0, at+4, "pod-1")
		raise(t, l, "trace/7", 0, at-4, "pod-1")
		s := must(claims.Nodes(l, &claims.Options{Holder: "pod-1"}))(t)
		if w := must(s.NextWindow(ctx, at, time.Second))(t); w.Number != 7 {
			t.Errorf("%+v", w)
		}
	})
}

// Who waits for a number looks again soon after one is free, however long windows are.
func TestWaitsForTheFirst(t *testing.T) {
	for _, length := range []time.Duration{5 * time.Second, 30 * time.Second, time.Hour} {
		bubble(t, func(t *testing.T) {
			for range 50 {
				l := newLog(t, memory.New(nil))
				o := claims.Options{Part: &claims.Range{Min: 7, Max: 7}, Quiet: time.Second}
				must(must(claims.Partitions(l, &o))(t).NextWindow(ctx, now(4*ms), 4*ms))(t)
				o.Length = length
				s := must(claims.Partitions(l, &o))(t)
				g := must(generator.NewSno(s, &generator.Options{MaxWait: time.Hour}))(t)
				began := time.Now()
				must(g.Next(ctx))(t)
				if waited := time.Since(began); waited > 15*time.Second {
					t.Fatalf("%v: a number that was free after 6 s was taken after %v", length,
						waited)
				}
			}
		})
	}
}

// What List calls locked is given back by Free, also where the clock ran on for long.
func TestListedIsFreed(t *testing.T) {
	const day = 24 * 3600
	for ahead, days := range map[int64]int{100: 16, 300: 60, 360: 30} {
		bubble(t, func(t *testing.T) {
			l := newLog(t, clockless{memory.New(nil)})
			o := claims.Options{Part: &claims.Range{Min: 7, Max: 7}, FailWhenLent: true}
			at, listed := now(time.Second), 0
			wrong := must(claims.Nodes(l, &o))(t)
			for i := range int64(days) {
				must(wrong.NextWindow(ctx, at+(ahead+i)*day, time.Second))(t)
			}
			for _, c := range must(claims.Trace.List(ctx, l, time.Now()))(t) {
				if c.Gap[0].IsZero() {
					continue
				}
				listed++
				if _, err := claims.Trace.Free(ctx, l, c.Number, time.Now(), "ann"); err != nil {
					t.Errorf("%d days ahead, for %d: %+v: %v", ahead, days, c, err)
				}
			}
			_, err := claims.Trace.Free(ctx, l, "7", time.Now(), "ann")
			if free := ahead+int64(days)-1 < 374; (listed == 1) != free || (err == nil) != free {
				t.Errorf("%d days ahead, for %d: listed %d, %v", ahead, days, listed, err)
			}
		})
	}
}

// A number that was waited for once is this holder's again later.
func TestMineAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		o := claims.Options{Holder: "pod-1"}
		w := must(must(claims.Nodes(l, &o))(t).NextWindow(ctx, now(time.Second), time.Second))(t)
		s := must(claims.Nodes(l, &o))(t)
		if _, err := s.NextWindow(ctx, now(time.Second), time.Second); err == nil {
			t.Fatal("taken at once")
		}
		time.Sleep(6 * time.Second)
		at := now(time.Second)
		if again := must(s.NextWindow(ctx, at, time.Second))(t); again.Number != w.Number {
			t.Fatalf("%+v after %+v", again, w)
		}
		must(s.NextWindow(ctx, at-100, time.Second))(t) // the clock was set back: another number
		raise(t, l, fmt.Sprint("trace/", s.Stats().Number), s.Stats().Until.Unix()-1, at+500, "x")
		again := must(s.NextWindow(ctx, at+5, time.Second))(t)
		if again.Number != w.Number {
			t.Errorf("%+v after %+v", again, w)
		}
	})
}

// A trace number that was never used before can be freed as well. It cannot where the clock was so
// far ahead that its IDs are those of the time that would be lent.
func TestFreeTrace(t *testing.T) {
	const day = 86400
	for _, test := range []struct {
		ahead, renewals int64 // days
		ok              bool
	}{{2, 0, true}, {365, 0, true}, {365, 10, true}, {365, 40, false}, {380, 0, false}} {
		bubble(t, func(t *testing.T) {
			l := newLog(t, clockless{memory.New(nil)})
			o := claims.Options{Part: &claims.Range{Min: 7, Max: 7}, FailWhenLent: true}
			at := now(time.Second)
			bad := must(claims.Nodes(l, &o))(t)
			locked := must(bad.NextWindow(ctx, at+test.ahead*day, time.Second))(t)
			for i := range test.renewals {
				locked = must(bad.NextWindow(ctx, at+(test.ahead+i+1)*day, time.Second))(t)
			}
			c, err := claims.Trace.Free(ctx, l, "7", time.Now(), "ann")
			if (err == nil) != test.ok {
				t.Fatalf("%+v: %+v, %v", test, c, err)
			}
			if !test.ok {
				return
			}
			w := must(must(claims.Nodes(l, &o))(t).NextWindow(ctx, at, time.Second))(t)
			if w.From != at || locked.To-w.From >= 1<<25 {
				t.Errorf("%+v: %+v, locked until %d", test, w, locked.To)
			}
		})
	}
}

// A clock far ahead goes on after its number was freed, for more than a year. An operator frees
// what it locks, every day, and another generator uses that. Trace IDs of a number are the same
// again where their seconds are, modulo their period. None is.
func TestFreedBesideAWrongClock(t *testing.T) {
	const day = 24 * time.Hour
	for _, short := range []time.Duration{15 * day, 30 * day, 200 * day, 380 * day} {
		bubble(t, func(t *testing.T) {
			l := newLog(t, clockless{memory.New(nil)})
			o := claims.Options{Part: &claims.Range{Min: 7, Max: 7}, FailWhenLent: true}
			bad, good := must(claims.Nodes(l, &o))(t), must(claims.Nodes(l, &o))(t)
			ids := map[int][]storesuite.Range{} // by node, modulo the period
			mint := func(s *claims.Source[int], clock time.Time) bool {
				w, err := s.NextWindow(ctx, clock.Unix(), time.Second)
				var lent *claims.LentError
				if err != nil && !errors.As(err, &lent) {
					t.Fatal(err)
				}
				if err == nil {
					period := int64(formats.TracePeriod / time.Second)
					ids[w.Number] = append(ids[w.Number], storesuite.Range{
						First: w.From % period, N: w.To - w.From,
					})
				}
				return err == nil
			}
			freed, minted := 0, 0
			for range 420 {
				mint(bad, time.Now().Add(formats.TracePeriod-short))
				for _, c := range must(claims.Trace.List(ctx, l, time.Now()))(t) {
					if c.Gap[1].IsZero() {
						continue
					}
					if _, err := claims.Trace.Free(ctx, l, c.Number, time.Now(), "ann"); err == nil {
						freed++
					}
				}
				if mint(good, time.Now()) {
					minted++
				}
				time.Sleep(day)
			}
			for number, list := range ids {
				if n := storesuite.Repeats(list); n != 0 {
					t.Errorf("%v short of the period: node %d: %d of %d windows repeat", short, number,
						n, len(list))
				}
			}
			if freed == 0 || minted < 8 {
				t.Errorf("%v: freed %d times, %d windows: the test shows too little", short, freed,
					minted)
			}
			t.Logf("%v: freed %d times, %d windows", short, freed, minted)
		})
	}
}

// Free of a trace node may be cut off after its first step, and run again. It lends the same gap
// once, however late, and never a second one that overlaps with it.
func TestFreeTraceAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := &cutOff{Store: clockless{memory.New(nil)}}
		l := newLog(t, store)
		o := claims.Options{Part: &claims.Range{Min: 7, Max: 7}, FailWhenLent: true}
		bad := must(claims.Nodes(l, &o))(t)
		must(bad.NextWindow(ctx, now(time.Second)+100*86400, time.Second))(t)
		free := func() (claims.Claim, error) {
			return claims.Trace.Free(ctx, l, "7", time.Now(), "ann")
		}
		store.cut = true
		if c, err := free(); !errors.Is(err, errCut) {
			t.Fatalf("%+v, %v", c, err)
		}
		store.cut = false
		for range 3 {
			time.Sleep(24 * time.Hour)
			must(free())(t)
		}
		must(must(claims.Nodes(l, &o))(t).NextWindow(ctx, now(time.Second), time.Second))(t)
		if all := must(l.Counters(ctx, "trace/", 0))(t); len(all) != 2 {
			t.Errorf("%d counters: %+v", len(all), all)
		}
	})
}

var errCut = errors.New("cut off")

// cutOff makes no second counter of a number.
type cutOff struct {
	launchlog.Store
	cut bool
}

func (c *cutOff) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (launchlog.CounterState, error) {
	if c.cut && strings.Contains(ref.Name, "-") {
		return launchlog.CounterState{}, errCut
	}
	return c.Store.RaiseCounter(ctx, ref, r)
}

// Pauses after a jump of the clock do not push the gap out by which the number can be freed.
func TestFreeAfterPauses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, clockless{memory.New(nil)})
		o := claims.Options{Part: &claims.Range{Min: 7, Max: 7}, FailWhenLent: true}
		must(must(claims.Partitions(l, &o))(t).NextWindow(ctx, now(4*ms), 4*ms))(t)
		time.Sleep(time.Hour)
		bad := must(claims.Partitions(l, &o))(t)
		at := now(4*ms) + 365*86400*250
		for range 20 {
			must(bad.NextWindow(ctx, at, 4*ms))(t)
			at += 600 * 250
		}
		must(claims.Sno.Free(ctx, l, "7", time.Now(), "ann"))(t)
		if w := must(must(claims.Partitions(l, &o))(t).NextWindow(ctx, now(4*ms), 4*ms))(t); w.
			Number != 7 {
			t.Errorf("%+v", w)
		}
	})
}

// A generator that had a number far ahead does not get what was freed of it. It would take the
// window for a repeat, until the time has come there.
func TestFreedForOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, clockless{memory.New(nil)})
		o := claims.Options{Part: &claims.Range{Min: 7, Max: 7}, Holder: "pod-1"}
		s := must(claims.Partitions(l, &o))(t)
		clock := generator.NewTestClock(time.Now().Add(10000 * time.Hour))
		g := must(generator.NewSno(s, &generator.Options{Clock: clock}))(t)
		must(g.Next(ctx))(t)
		must(claims.Sno.Free(ctx, l, "7", time.Now(), "ann"))(t)
		_, err := s.NextWindow(ctx, now(4*ms), 4*ms)
		var lent *claims.LentError
		if !errors.As(err, &lent) {
			t.Errorf("the generator that locked the number: %v", err)
		}
		o.Holder = "pod-2"
		other := must(claims.Partitions(l, &o))(t)
		if w := must(other.NextWindow(ctx, now(4*ms), 4*ms))(t); w.From != now(4*ms) {
			t.Errorf("another one: %+v", w)
		}
	})
}

// Calls go on by turns. One whose context ends while another has the turn, ends then.
func TestTurns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := &stuck{Store: memory.New(nil), gate: make(chan struct{})}
		s := must(claims.Nodes(newLog(t, store), nil))(t)
		var group sync.WaitGroup
		var mu sync.Mutex
		var windows []generator.Window[int]
		for range 8 {
			group.Go(func() {
				w := must(s.NextWindow(ctx, now(time.Second), time.Second))(t)
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
			t.Errorf("after %v: %v", time.Since(before), err)
		}
		close(store.gate)
		group.Wait()
		at := int64(0)
		slices.SortFunc(windows, func(a, b generator.Window[int]) int {
			return int(a.From - b.From)
		})
		for _, w := range windows {
			if w.Number != windows[0].Number || w.From < at {
				t.Errorf("%+v", windows)
			}
			at = max(at, w.To)
		}
	})
}

// stuck answers when its gate is open.
type stuck struct {
	launchlog.Store
	gate chan struct{}
}

func (s *stuck) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (launchlog.CounterState, error) {
	<-s.gate
	return s.Store.RaiseCounter(ctx, ref, r)
}

// A claim that blocks gets a window. If that has passed by the time of the answer, nothing is
// stamped in it.
func TestClaimThatBlocks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := &stuck{Store: memory.New(nil), gate: make(chan struct{})}
		l := newLog(t, store)
		g := must(generator.NewTrace(must(claims.Nodes(l, nil))(t), nil))(t)
		var id idtype.TraceID
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			id, err = g.Next(ctx)
		}()
		synctest.Wait()
		time.Sleep(20 * time.Second) // four windows long
		answered := time.Now()
		close(store.gate)
		<-done
		if err != nil {
			t.Fatal(err)
		}
		if at, _ := id.Times(time.Now().Add(time.Hour)); at.Before(answered.Truncate(time.Second)) {
			t.Errorf("%v is stamped with %v, and the number was had at %v", id, at, answered)
		}
		if last := last(t, l, fmt.Sprint("trace/", id.Parts().Node)); last < answered.Unix() {
			t.Errorf("the counter stands at %d, at %v", last, answered)
		}
	})
}
