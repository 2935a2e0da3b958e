package claims_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

// A clock that is ahead of the store's takes nothing.
func TestClockAhead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var h heard
		l := newLog(t, memory.New(nil))
		s := must(claims.Partitions(l, &claims.Options{Notify: h.add}))(t)
		ahead := now(4*ms) + 31*250
		_, err := s.NextWindow(ctx, ahead, 4*ms)
		var clock *claims.ClockError
		if !errors.As(err, &clock) || clock.Now.Sub(clock.Store).Round(time.Second) !=
			31*time.Second {
			t.Errorf("31 s ahead: %v", err)
		}
		h.want(t, claims.Refused)
		w := must(s.NextWindow(ctx, ahead-2*250, 4*ms))(t)
		h.want(t, claims.Taken)
		// Nor is the number that one has raised that far.
		_, err = s.NextWindow(ctx, ahead+3600*250, 4*ms)
		if !errors.As(err, &clock) {
			t.Errorf("an hour ahead: %v", err)
		}
		if got := last(t, l, fmt.Sprint("sno/", w.Number)); got != w.To-1 {
			t.Errorf("the counter stands at %d, after %+v", got, w)
		}
		// Nor in steps that are small.
		creeping := must(claims.Partitions(l, nil))(t)
		at := now(4 * ms)
		for steps := 1; ; steps++ {
			if _, err = creeping.NextWindow(ctx, at, 4*ms); err != nil {
				break
			}
			if steps == 4 {
				t.Fatal("a clock gained 60 s in four steps")
			}
			time.Sleep(3 * time.Second)
			at += (3 + 20) * 250
		}
		if !errors.As(err, &clock) {
			t.Errorf("a clock that gains: %v", err)
		}
		// A store without a clock cannot tell.
		l = newLog(t, clockless{memory.New(nil)})
		s = must(claims.Partitions(l, nil))(t)
		must(s.NextWindow(ctx, ahead+3600*250, 4*ms))(t)
	})
}

type clockless struct{ launchlog.Store }

// A clock that was set back by more than the length takes another number.
func TestClockSetBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		l := newLog(t, memory.New(nil))
		var h heard
		s := must(claims.Nodes(l, &claims.Options{Notify: h.add}))(t)
		at := now(time.Second)
		w := must(s.NextWindow(ctx, at, time.Second))(t)
		same := must(s.NextWindow(ctx, at-1, time.Second))(t)
		if same.Number != w.Number || same.From != w.To || same.To != w.To+1 {
			t.Errorf("a second back: %+v after %+v", same, w)
		}
		other := must(s.NextWindow(ctx, at-60, time.Second))(t)
		if other.Number == w.Number || other.From != at-60 {
			t.Errorf("a minute back: %+v after %+v", other, w)
		}
		h.want(t, claims.Taken, claims.Freed, claims.Taken)
	})
}

// A step in doubt is run again, the same step, before any other.
func TestDoubt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := &mute{Store: memory.New(nil)}
		l := newLog(t, store)
		s := must(claims.Nodes(l, nil))(t)
		next := func() (generator.Window[int], error) {
			return s.NextWindow(ctx, now(time.Second), time.Second)
		}
		store.mute = true
		_, err := next()
		var unresolved *launchlog.UnresolvedError
		if !errors.As(err, &unresolved) || !unresolved.Uncertain {
			t.Fatalf("without an answer: %v", err)
		}
		if n := len(must(l.Counters(ctx, "", 0))(t)); n != 1 {
			t.Fatalf("%d counters", n)
		}
		_, err = next()
		if n := len(must(l.Counters(ctx, "", 0))(t)); n != 1 || err == nil {
			t.Errorf("in doubt another number was taken: %d counters, %v", n, err)
		}
		store.mute = false
		w := must(next())(t)
		if rows := must(l.Counters(ctx, "", 0))(t); len(rows) != 1 ||
			rows[0].Name != fmt.Sprint("trace/", w.Number) || rows[0].Value != w.To-1 {
			t.Errorf("%+v after %+v", rows, w)
		}
		// So is a renewal. Where its window is not over it is used.
		time.Sleep(3 * time.Second)
		store.mute = true
		if _, err = next(); err == nil {
			t.Fatal("an answer came")
		}
		store.mute = false
		at := now(time.Second)
		renewed := must(next())(t)
		if renewed.Number != w.Number || renewed.From < w.To || renewed.To <= at {
			t.Errorf("%+v after %+v, at %d", renewed, w, at)
		}
		if st := s.Stats(); st.Doubts != 2 || st.Taken != 1 {
			t.Errorf("stats %+v", st)
		}
		// Where somebody else was faster it is lost.
		store.drop = true
		time.Sleep(3 * time.Second)
		if _, err = next(); err == nil {
			t.Fatal("an answer came")
		}
		store.drop = false
		name := fmt.Sprint("trace/", w.Number)
		raise(t, l, name, last(t, l, name), now(time.Second)+500, "thief")
		if other := must(next())(t); other.Number == w.Number {
			t.Errorf("%+v is the thief's", other)
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
