package storetest

import (
	"errors"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// Writes returns, by name, operations of a store that change rows of a log or take its numbers. The
// log must have launch 1 with key a, and a log counter c whose value is 10.
func Writes(s launchlog.Store) map[string]func() error {
	const namespace = launchlog.DefaultNamespace
	one := launchlog.Ref{Namespace: namespace, Launch: 1}
	start := func(namespace, key string) func() error {
		return func() error {
			_, err := s.StartLaunch(ctx, launchlog.Launch{
				Namespace: namespace, Request: Request(key), RequestHash: "h",
			})
			return err
		}
	}
	claim := func(launch int) func() error {
		take := launchlog.Claim{Namespace: namespace, Launch: launch, Token: "b"}
		return func() error { _, err := s.ClaimGenerator(ctx, take); return err }
	}
	counter := func(name string) launchlog.CounterRef {
		return launchlog.CounterRef{Namespace: namespace, Name: name}
	}
	reserve := func(name string) func() error {
		return func() error { _, err := s.ReserveNumbers(ctx, counter(name), 0, 1); return err }
	}
	return map[string]func() error{
		"StartLaunch":                      start(namespace, "b"),
		"StartLaunch, a key that is there": start(namespace, "a"),
		"StartLaunch, another namespace":   start("other", "b"),
		"EndLaunch": func() error {
			_, err := s.EndLaunch(ctx, one, launchlog.Ending{Outcome: "succeeded"})
			return err
		},
		"AdvanceLaunches": func() error {
			_, _, err := s.AdvanceLaunches(ctx, namespace, 9, launchlog.Ending{Outcome: "failed"})
			return err
		},
		"ClaimGenerator":                 claim(1),
		"ClaimGenerator, another launch": claim(2),
		"ReserveNumbers":                 reserve("c"),
		"ReserveNumbers, a new counter":  reserve("d"),
		"TrimClaims":                     func() error { return s.TrimClaims(ctx, one, 0) },
		"AdvanceCounter": func() error {
			_, err := s.AdvanceCounter(ctx, counter("c"), 1000, "me")
			return err
		},
		"Order": func() error {
			_, _, err := s.Order(ctx, launchlog.Look{Ref: one, Service: "shop", Reached: 7})
			return err
		},
		"RaiseCounter": func() error {
			_, err := s.RaiseCounter(ctx, counter("c"), launchlog.Raise{
				From: 10, To: 20, Note: launchlog.NewNote(),
			})
			return err
		},
	}
}

// OtherLog tests that a store takes no number once its log was dropped, even if another log was
// created in its place. The other log stays unchanged.
func OtherLog(t *testing.T, open func() launchlog.Store, drop func(), migrate func() error) {
	t.Helper()
	refused := func(s launchlog.Store, when string) {
		t.Helper()
		for name, step := range Writes(s) {
			if err := step(); !errors.Is(err, launchlog.ErrOtherLog) {
				t.Errorf("%s, %s: %v, want ErrOtherLog", when, name, err)
			}
		}
	}
	fill := func(s launchlog.Store) {
		l := newLog(t, s, nil)
		want(t, "launch", start(t, l, "a").ID, 1)
		c := must(l.Claim(ctx, 1))(t)
		want(t, "generator", c.Generator, 0)
		reserve(t, newCounter(t, l, "c"), 0, 10, 1)
	}
	old := open()
	fill(old)
	for _, replaced := range []string{"replaced", "replaced again"} {
		drop()
		refused(old, "dropped")
		wantError(t, migrate(), nil)
		refused(old, replaced)
		fresh := open()
		fill(fresh)
		refused(old, replaced+" and filled")
		l := newLog(t, fresh, nil)
		want(t, "the next launch", start(t, l, "b").ID, 2)
		reserve(t, newCounter(t, l, "c"), 0, 1, 11)
		found, err := l.Counters(ctx, "", 99)
		if err != nil || len(found) != 1 {
			t.Errorf("counters %+v, %v", found, err)
		}
		old = fresh
	}
}
