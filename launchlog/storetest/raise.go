package storetest

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// newRaise returns a new operation, with a note that no other has.
func newRaise(from, to int64, holder string) launchlog.Raise {
	return launchlog.Raise{From: from, To: to, Note: launchlog.NewNote(), Holder: holder}
}

// raise runs an operation, and compares the resulting row.
func raise(t *testing.T, c *launchlog.Counter, r, row launchlog.Raise) {
	t.Helper()
	got := must(c.Raise(ctx, r))(t)
	wantRow(t, fmt.Sprintf("row after a raise from %d to %d", r.From, r.To), got, row)
	want(t, "done", r.Done(got), r == row)
}

func wantRow(t *testing.T, what string, got launchlog.CounterState, row launchlog.Raise) {
	t.Helper()
	want(t, what, launchlog.Raise{To: got.Value, Note: got.Note, Holder: got.Holder},
		launchlog.Raise{To: row.To, Note: row.Note, Holder: row.Holder})
}

// raises tests one log counter with one writer at a time.
func raises(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	c := newCounter(t, l, "trace/7")
	none := launchlog.Raise{}
	state := must(c.Raise(ctx, newRaise(5, 6, "a")))(t)
	want(t, "row where there is no counter", state, launchlog.CounterState{})
	found := must(l.Counters(ctx, "", 0))(t)
	want(t, "counters", len(found), 0)

	first := newRaise(0, 10, "pod-1 Ärger 😀")
	raise(t, c, first, first)
	raise(t, c, newRaise(0, 11, "b"), first) // the counter exists
	raise(t, c, newRaise(9, 12, "b"), first) // another value
	raise(t, c, newRaise(11, 12, "b"), first)
	wantLast(t, c, 10)
	second := newRaise(10, 2000, "")
	raise(t, c, second, second)
	second.Note, second.Holder = second.Note+"/10-1900", strings.Repeat("h", 255)
	second.From, second.To = 2000, math.MaxInt64-1
	second.Note += strings.Repeat("~", 128-len(second.Note))
	raise(t, c, second, second)

	found = must(l.Counters(ctx, "", 0))(t)
	want(t, "counters", len(found), 1)
	wantRow(t, "listed", found[0], second)
	want(t, "name", found[0].Name, "trace/7")
	if d := time.Since(found[0].UpdatedAt).Abs(); d > near {
		t.Errorf("raised %v from now", d)
	}
	elsewhere := newCounter(t, newLog(t, store, &launchlog.Options{Namespace: "b"}), "trace/7")
	other := newRaise(0, 1, "b")
	raise(t, elsewhere, other, other)

	// Other operations that raise the log counter leave no note of an earlier one.
	reserve(t, c, 0, 1, math.MaxInt64)
	raise(t, c, newRaise(math.MaxInt64-2, math.MaxInt64, "b"), launchlog.Raise{To: math.MaxInt64})
	reserved, advanced := newCounter(t, l, "reserved"), newCounter(t, l, "advanced")
	for _, c := range []*launchlog.Counter{reserved, advanced} {
		r := newRaise(0, 7, "x")
		raise(t, c, r, r)
	}
	reserve(t, reserved, 0, 3, 8)
	now := must(advanced.Advance(ctx, 10, "operator"))(t)
	want(t, "advanced to", now, 10)
	for _, c := range []*launchlog.Counter{reserved, advanced} {
		raise(t, c, newRaise(7, 8, "x"), launchlog.Raise{To: 10})
		after := newRaise(10, 11, "y")
		raise(t, c, after, after)
	}
	_, err := c.Raise(ctx, none)
	if bad := (*launchlog.RequestError)(nil); !errors.As(err, &bad) {
		t.Errorf("a raise to nothing: %v", err)
	}
}

// raisesAgain repeats operations, as after a lost answer.
func raisesAgain(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	c := newCounter(t, l, "c")
	first := newRaise(0, 10, "a")
	raise(t, c, first, first)
	raise(t, c, first, first)
	second := newRaise(10, 20, "a")
	raise(t, c, second, second)
	raise(t, c, first, second) // overtaken: nothing may change
	raise(t, c, second, second)
	never := newRaise(10, 30, "b") // too late
	raise(t, c, never, second)
	third := newRaise(20, 30, "c") // to the value that the late one wanted
	raise(t, c, third, third)
	raise(t, c, never, third)
	wantLast(t, c, 30)
	found := must(l.Counters(ctx, "", 0))(t)
	wantRow(t, "listed", found[0], third)
}

// clock tests that the store's clock agrees with this machine's.
func clock(t *testing.T, store launchlog.Store) {
	now := must(newLog(t, store, nil).Now(ctx))(t)
	if d := time.Since(now).Abs(); !now.IsZero() && d > near {
		t.Errorf("the store's clock is %v from ours", d)
	}
}
