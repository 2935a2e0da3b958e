package storetest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

func newCounter(t *testing.T, l *launchlog.Log, name string) *launchlog.Counter {
	t.Helper()
	c := must(l.Counter(name))(t)
	return c
}

func wantLast(t *testing.T, c *launchlog.Counter, value int64) {
	t.Helper()
	last := must(c.Last(ctx))(t)
	want(t, "last number of "+c.Name(), last, value)
}

func reserve(t *testing.T, c *launchlog.Counter, floor, n, first int64) {
	t.Helper()
	got := must(c.Reserve(ctx, floor, n))(t)
	want(t, fmt.Sprintf("first of %d numbers from %d on", n, floor), got, first)
}

func counter(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	c := newCounter(t, l, "shop/orders")
	wantLast(t, c, 0)
	for _, step := range []struct{ floor, n, first, last int64 }{
		{0, 1, 1, 1},
		{1, 1, 2, 2},
		{0, 10, 3, 12},
		{12, 1, 13, 13}, // below the next number
		{14, 1, 14, 14}, // the next number
		{16, 1, 16, 16}, // above it: 15 is skipped
		{10, 5, 17, 21}, // far below
		{100, 5, 100, 104},
		{0, math.MaxInt32 * 3, 105, 104 + math.MaxInt32*3},
		{1 << 60, 1 << 61, 1 << 60, 1<<60 + 1<<61 - 1},
		{5, 1, 1<<60 + 1<<61, 1<<60 + 1<<61},
	} {
		reserve(t, c, step.floor, step.n, step.first)
		wantLast(t, c, step.last)
	}
	again := newCounter(t, newLog(t, store, &launchlog.Options{Host: "another", PID: 1}),
		"shop/orders")
	reserve(t, again, 0, 1, 1<<60+1<<61+1)
	found := must(l.Counters(ctx, "", 0))(t)
	if len(found) != 1 {
		t.Fatalf("counters: %+v", found)
	}
	if d := time.Since(found[0].UpdatedAt).Abs(); d > near {
		t.Errorf("updated %v from now", d)
	}
	found[0].UpdatedAt = time.Time{}
	want(t, "state", found[0], launchlog.CounterState{
		Namespace: "default", Name: "shop/orders", Value: 1<<60 + 1<<61 + 1,
	})
}

func counterExhausted(t *testing.T, store launchlog.Store) {
	var warnings []launchlog.Usage
	l := newLog(t, store, &launchlog.Options{Warn: func(u launchlog.Usage) {
		warnings = append(warnings, u)
	}})
	c := newCounter(t, l, "c")
	exhausted := func(floor, n, last int64) {
		t.Helper()
		fails(c.Reserve(ctx, floor, n))(t, launchlog.ErrCounterExhausted)
		wantLast(t, c, last)
	}
	reserve(t, c, 0, 5, 1)
	exhausted(0, math.MaxInt64, 5)
	exhausted(0, math.MaxInt64-4, 5)
	want(t, "warnings", len(warnings), 0)
	reserve(t, c, math.MaxInt64-12, 10, math.MaxInt64-12)
	exhausted(0, 4, math.MaxInt64-3)
	exhausted(math.MaxInt64-9, 4, math.MaxInt64-3)
	reserve(t, c, 0, 1, math.MaxInt64-2) // the remaining numbers can still be taken
	reserve(t, c, math.MaxInt64, 1, math.MaxInt64)
	exhausted(0, 1, math.MaxInt64)
	exhausted(math.MaxInt64, 1, math.MaxInt64)
	usage := func(used int64) launchlog.Usage {
		return launchlog.Usage{Namespace: "default", Counter: "c", Used: used, Max: math.MaxInt64}
	}
	want(t, "warnings", warnings, []launchlog.Usage{
		usage(math.MaxInt64 - 3),
	})
	want(t, "level", warnings[0].Level(), 95)

	reserve(t, newCounter(t, l, "whole"), 0, math.MaxInt64, 1)
	// A store itself checks that no sum overflows, even if it creates the log counter.
	_, err := store.ReserveNumbers(ctx, launchlog.CounterRef{Namespace: "default", Name: "new"}, 2,
		math.MaxInt64)
	wantError(t, err, launchlog.ErrCounterExhausted)
	found := must(l.Counters(ctx, "c", 0))(t)
	want(t, "counters", names(found), []string{"whole"})
}

func names(states []launchlog.CounterState) (list []string) {
	for _, s := range states {
		list = append(list, s.Name)
	}
	return list
}

// counters tests that log counters with similar names are different.
func counters(t *testing.T, store launchlog.Store) {
	a, b := newLog(t, store, &launchlog.Options{Namespace: "a"}),
		newLog(t, store, &launchlog.Options{Namespace: "b"})
	// In byte order.
	all := []string{"a", "a-", "a.b", "a/b", "a0", "a_b", "aa", "b", strings.Repeat("z", 128)}
	for i, name := range all {
		reserve(t, newCounter(t, a, name), 0, int64(i+1), 1)
	}
	for i, name := range all {
		wantLast(t, newCounter(t, a, name), int64(i+1))
		wantLast(t, newCounter(t, b, name), 0)
	}
	reserve(t, newCounter(t, b, "a"), 0, 7, 1)
	wantLast(t, newCounter(t, a, "a"), 1)
	for _, test := range []struct {
		after string
		limit int
		want  []string
	}{
		{"", 0, all},
		{"", 2, all[:2]},
		{"a-", 3, all[2:5]},
		{"a1", 0, all[5:]}, // not the name of a counter
		{"a Z", 0, all[1:]},
		{"a.~", 0, all[3:]},
		{"A", 0, all},
		{all[len(all)-1], 0, nil},
	} {
		found := must(a.Counters(ctx, test.after, test.limit))(t)
		want(t, fmt.Sprintf("up to %d counters behind %q", test.limit, test.after), names(found),
			test.want)
	}
	want(t, "a namespace has its own launches all the same", start(t, b, "k").ID, 1)
}

func counterAdvance(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, &launchlog.Options{Host: "build-7"})
	c := newCounter(t, l, "c")
	advance := func(to int64, actor string, now int64) {
		t.Helper()
		got := must(c.Advance(ctx, to, actor))(t)
		want(t, fmt.Sprintf("value, advanced to %d", to), got, now)
		wantLast(t, c, now)
	}
	reserve(t, c, 0, 5, 1)
	advance(100, "operator", 100)
	advance(100, "operator", 100)
	advance(99, "operator", 100)
	reserve(t, c, 0, 5, 101)
	other := newCounter(t, l, "new")
	if now, err := other.Advance(ctx, math.MaxInt64-1, ""); err != nil || now != math.MaxInt64-1 {
		t.Errorf("a counter that was not used: %d, %v", now, err)
	}
	reserve(t, other, 0, 1, math.MaxInt64)
	fails(other.Reserve(ctx, 0, 1))(t, launchlog.ErrCounterExhausted)
	found := must(l.Events(ctx, 0))(t)
	var lines []string
	for _, e := range found {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", e.Namespace, e.Kind, e.Actor, e.Detail))
	}
	want(t, "events", lines, []string{
		`default counter-advanced operator {"counter":"c","from":"5","to":"100"}`,
		`default counter-advanced build-7 {"counter":"new","from":"0","to":"9223372036854775806"}`,
	})
}
