package claims_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

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

// A step that was carried out, but whose pool's floor could not be read, is in doubt as well: the
// next call goes on with its number.
func TestDoubtOfFloor(t *testing.T) {
	store := &unread{Store: memory.New(nil)}
	inBubble(t, store, claims.Options{}, func(l *lender) {
		s := l.nodes()
		store.broken = true
		if _, err := s.NextWindow(ctx, now(time.Second), time.Second); !errors.Is(err, errMute) {
			l.Fatalf("without the floor: %v", err)
		}
		store.broken = false
		w := l.now(s)
		if rows := must(l.log.Counters(ctx, "", 0))(l.T); len(rows) != 1 ||
			rows[0].Name != fmt.Sprint("trace/", w.Number) {
			l.Errorf("%+v after %+v", rows, w)
		}
		if st := s.Stats(); st.Raised != 1 || st.Taken != 1 {
			l.Errorf("stats %+v", st)
		}
	})
}

// unread does not read counters one by one while it is broken.
type unread struct {
	launchlog.Store
	broken bool
}

func (s *unread) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	if s.broken {
		return 0, errMute
	}
	return s.Store.LastNumber(ctx, ref)
}

// A step in doubt that turns out to be lost is over. The one that follows may be in doubt itself.
func TestDoubtAfterDoubt(t *testing.T) {
	store := &before{Store: memory.New(nil)}
	inBubble(t, store, claims.Options{}, func(l *lender) {
		s := l.nodes()
		fails := func(answered string) (doubt string) {
			l.Helper()
			store.raise = func(name string) error {
				if name == answered {
					return nil
				}
				doubt = name
				return &launchlog.AttemptError{Ambiguous: true, Err: errMute}
			}
			if _, err := s.NextWindow(ctx, now(time.Second), time.Second); err == nil {
				l.Fatal("an answer came")
			}
			store.raise = nil
			return doubt
		}
		first := fails("")
		raise(l.T, l.log, first, 0, now(time.Second)+500, "thief")
		second := fails(first)
		w := l.now(s)
		if st := s.Stats(); fmt.Sprint("trace/", w.Number) != second || st.Doubts != 2 {
			l.Errorf("%+v after steps of %s and %s, stats %+v", w, first, second, st)
		}
	})
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
