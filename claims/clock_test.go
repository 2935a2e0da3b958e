package claims_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

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
