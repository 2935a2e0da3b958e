package launchlog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

func newCounter(t *testing.T, store launchlog.Store, opts *launchlog.Options) *launchlog.Counter {
	t.Helper()
	c, err := newLog(t, store, opts).Counter("shop/orders")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func assertRequestError(t *testing.T, err error, field, value string) {
	t.Helper()
	var e *launchlog.RequestError
	if !errors.As(err, &e) || e.Field != field || e.Value != value {
		t.Errorf("got %v, want a RequestError about %s %q", err, field, value)
		return
	}
	start := fmt.Sprintf("%.20q", value)[:min(20, len(value)+1)]
	if len(err.Error()) > 300 || !strings.Contains(err.Error(), start) {
		t.Errorf("message: %v", err)
	}
}

func TestCounterNames(t *testing.T) {
	l := newLog(t, memory.New(nil), nil)
	for _, name := range []string{
		"", "A", "a b", "-a", "/a", ".a", "_a", "ä", "a\n", "a\x00", "a'", "\xff",
		strings.Repeat("a", 129), strings.Repeat("x ", 1<<20),
	} {
		_, err := l.Counter(name)
		assertRequestError(t, err, "counter", name)
	}
	for _, name := range []string{
		"0", "a", "shop/orders", "sno/65535", "a.b-c_d/e", strings.Repeat("a", 128),
	} {
		if c, err := l.Counter(name); err != nil || c.Name() != name {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, err := l.Counters(ctx, "", -1)
	assertRequestError(t, err, "limit", "-1")
}

func TestBadReservations(t *testing.T) {
	c := newCounter(t, memory.New(nil), nil)
	for _, test := range []struct {
		floor, n     int64
		field, value string
	}{
		{-1, 1, "floor", "-1"},
		{math.MinInt64, math.MaxInt64, "floor", "-9223372036854775808"},
		{0, 0, "n", "0"},
		{0, -1, "n", "-1"},
		{1, math.MinInt64, "n", "-9223372036854775808"},
		{math.MaxInt64, 2, "floor", "9223372036854775807"},
		{2, math.MaxInt64, "floor", "2"},
	} {
		_, err := c.Reserve(ctx, test.floor, test.n)
		assertRequestError(t, err, test.field, test.value)
	}
	for _, to := range []int64{0, -1, math.MinInt64} {
		_, err := c.Advance(ctx, to, "operator")
		assertRequestError(t, err, "to", fmt.Sprint(to))
	}
	_, err := c.Advance(ctx, 5, "ann\n")
	assertRequestError(t, err, "actor", "ann\n")
	if last, err := c.Last(ctx); last != 0 || err != nil {
		t.Errorf("bad requests left the counter at %d, %v", last, err)
	}
}

func TestBadRaises(t *testing.T) {
	c := newCounter(t, memory.New(nil), nil)
	note := launchlog.NewNote()
	for _, test := range []struct {
		r            launchlog.Raise
		field, value string
	}{
		{launchlog.Raise{From: -1, To: 1, Note: note}, "from", "-1"},
		{launchlog.Raise{From: 5, To: 5, Note: note}, "to", "5"},
		{launchlog.Raise{From: 5, To: 4, Note: note}, "to", "4"},
		{launchlog.Raise{To: math.MinInt64, Note: note}, "to", "-9223372036854775808"},
		{launchlog.Raise{To: 1}, "note", ""},
		{launchlog.Raise{To: 1, Note: note[1:]}, "note", note[1:]},
		{launchlog.Raise{To: 1, Note: note + " "}, "note", note + " "},
		{launchlog.Raise{To: 1, Note: note + "ä"}, "note", note + "ä"},
		{launchlog.Raise{To: 1, Note: strings.Repeat("a", 129)}, "note", strings.Repeat("a", 129)},
		{launchlog.Raise{To: 1, Note: note, Holder: "a\n"}, "holder", "a\n"},
	} {
		_, err := c.Raise(ctx, test.r)
		assertRequestError(t, err, test.field, test.value)
	}
	if last, err := c.Last(ctx); last != 0 || err != nil {
		t.Errorf("bad raises left the counter at %d, %v", last, err)
	}
	if other := launchlog.NewNote(); other == note || len(note) < 26 { // 26 letters of 32: 130 bits
		t.Errorf("notes %q and %q", note, other)
	}
}

// A raise whose answer was lost for good is known when it is run again.
func TestRaiseInDoubt(t *testing.T) {
	store := memory.New(nil)
	s := &mute{Store: store, lose: math.MaxInt}
	r := launchlog.Raise{To: 7, Note: launchlog.NewNote(), Holder: "a"}
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, s, nil)
		_, err := c.Raise(ctx, r)
		var unresolved *launchlog.UnresolvedError
		if !errors.As(err, &unresolved) || !unresolved.Uncertain || unresolved.Key != c.Name() {
			t.Errorf("without an answer: %v", err)
		}
		s.lose = 0
		if row, err := c.Raise(ctx, r); err != nil || !r.Done(row) {
			t.Errorf("run again: %+v, %v", row, err)
		}
	})
}

// mute loses the answers of raises.
type mute struct {
	launchlog.Store
	lose int
}

func (s *mute) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, r launchlog.Raise,
) (launchlog.CounterState, error) {
	row, err := s.Store.RaiseCounter(ctx, ref, r)
	if s.lose > 0 && err == nil {
		s.lose--
		return row, &launchlog.AttemptError{Ambiguous: true, Err: errSick}
	}
	return row, err
}

// patchy loses the answers of its first reservations, and answers the next one with then, or as a
// sound store.
type patchy struct {
	launchlog.Store
	lose  int
	then  error
	calls int
}

func (s *patchy) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	s.calls++
	if s.calls > s.lose && s.then != nil {
		return 0, s.then
	}
	first, err := s.Store.ReserveNumbers(ctx, ref, floor, n)
	if err == nil && s.calls <= s.lose {
		return 0, &launchlog.AttemptError{Ambiguous: true, Err: errSick}
	}
	return first, err
}

// A counter leaves the numbers of a lost answer unused: the next answer counts.
func TestReserveAfterLostAnswer(t *testing.T) {
	s := &patchy{Store: memory.New(nil), lose: 2}
	c := newCounter(t, s, nil)
	if first, err := c.Reserve(ctx, 0, 10); first != 21 || err != nil {
		t.Errorf("after two lost answers: %d, %v, want 21", first, err)
	}

	// A final error is what it is, as there is nothing to be looked for.
	s = &patchy{Store: memory.New(nil), lose: 1, then: errSick}
	var unresolved *launchlog.UnresolvedError
	_, err := newCounter(t, s, nil).Reserve(ctx, 0, 10)
	if !errors.Is(err, errSick) || errors.As(err, &unresolved) {
		t.Errorf("a final error after a lost answer: %v", err)
	}
	s = &patchy{Store: memory.New(nil), lose: 1}
	_, err = newCounter(t, s, nil).Reserve(ctx, 0, math.MaxInt64)
	if !errors.Is(err, launchlog.ErrCounterExhausted) || errors.As(err, &unresolved) {
		t.Errorf("exhausted by the lost answer itself: %v", err)
	}

	// Without a final answer it is uncertain whether the counter moved, and known that nobody has
	// the numbers.
	synctest.Test(t, func(t *testing.T) {
		s = &patchy{Store: memory.New(nil), lose: 1, then: &launchlog.AttemptError{Err: errSick}}
		soon := &launchlog.Options{Budget: 100 * time.Millisecond}
		_, err := newCounter(t, s, soon).Reserve(ctx, 0, 10)
		if !errors.As(err, &unresolved) || !unresolved.Uncertain ||
			unresolved.Key != "shop/orders" || !strings.Contains(err.Error(), "budget") {
			t.Errorf("out of budget: %v", err)
		}
	})
}

// A counter's value goes to JSON as a string: readers in ECMAScript would round it.
func TestCounterStateJSON(t *testing.T) {
	b, err := json.Marshal(launchlog.CounterState{
		Namespace: "default", Name: "c", Value: math.MaxInt64, UpdatedAt: time.Unix(0, 0).UTC(),
	})
	const want = `{"namespace":"default","name":"c","value":"9223372036854775807",` +
		`"updated_at":"1970-01-01T00:00:00Z"}`
	if err != nil || string(b) != want {
		t.Errorf("got %s, %v, want %s", b, err, want)
	}
}

func ExampleCounter() {
	log, err := launchlog.New(memory.New(nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	orders, err := log.Counter("orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 { // two processes take a block each
		first, err := orders.Reserve(ctx, 0, 1000)
		fmt.Println(first, err)
	}
	first, err := orders.Reserve(ctx, 5001, 1000) // 5000 is known to be used
	fmt.Println(first, err)
	last, err := orders.Last(ctx)
	fmt.Println(last, err)
	// Output:
	// 1 <nil>
	// 1001 <nil>
	// 5001 <nil>
	// 6000 <nil>
}
