package claims_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog/memory"
)

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

// A generator that had a number far ahead does not get what was freed of it. It would take the
// window for a repeat, until the time has come there.
func TestFreedForOthers(t *testing.T) {
	inBubble(t, clockless{memory.New(nil)}, claims.Options{Part: only(7)}, func(l *lender) {
		s, at := l.partitions(), now(4*ms)
		must(s.NextWindow(ctx, at+1e9, 4*ms))(l.T)
		must(sno.Free(ctx, l.log, "7", time.Now(), "ann"))(l.T)
		_, err := s.NextWindow(ctx, at, 4*ms)
		if !errors.As(err, new(*claims.LentError)) {
			l.Errorf("the generator that locked the number: %v", err)
		}
		if w := must(l.partitions().NextWindow(ctx, at, 4*ms))(l.T); w.From != at {
			l.Errorf("another one: %+v", w)
		}
	})
}

// A trace node is not freed, nor listed as one that can be: its IDs repeat.
func TestTraceIsNotFreed(t *testing.T) {
	o := claims.Options{Part: only(7), FailWhenLent: true}
	inBubble(t, clockless{memory.New(nil)}, o, func(l *lender) {
		l.now(l.nodes())
		time.Sleep(2 * time.Minute)
		w := l.at(l.nodes(), now(time.Second)+100*86400)
		var bad *claims.OptionError
		_, err := trace.Free(ctx, l.log, "7", time.Now(), "ann")
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), "repeat after 388 days") {
			l.Errorf("freed: %v", err)
		}
		list := must(trace.List(ctx, l.log, time.Now()))(l.T)
		if len(list) != 1 || !list[0].Lent || !list[0].Gap[1].IsZero() {
			l.Errorf("list: %+v", list)
		}
		if last := last(l.T, l.log, "trace/7"); last != w.To-1 {
			l.Errorf("its counter was raised to %d, after %+v", last, w)
		}
	})
}
