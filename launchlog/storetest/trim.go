package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// trim removes claims while others are made. None of their numbers is handed out again, not even if
// a claim whose answer was lost is repeated. If the tables refuse to delete young claims, age makes
// the claims of a launch two days older.
func trim(t *testing.T, store launchlog.Store, age []func(launchlog.Store, launchlog.Ref) error) {
	const before, kept, more = 80, 77, 10 // more than a commit of some stores removes
	l := newLog(t, store, nil)
	launch := start(t, l, "a")
	ref := launchlog.Ref{Namespace: launch.Namespace, Launch: launch.ID}
	settled := func(call func() error) error {
		for {
			err := call()
			if passing := (*launchlog.AttemptError)(nil); !errors.As(err, &passing) {
				return err
			}
		}
	}
	claim := func(token int) (c launchlog.Claim) {
		take := launchlog.Claim{
			Namespace: ref.Namespace, Launch: ref.Launch, Token: fmt.Sprint(token), Host: "h",
			PID: 1,
		}
		err := settled(func() (err error) { c, err = store.ClaimGenerator(ctx, take); return err })
		wantError(t, err, nil)
		return c
	}
	trim := func(below int) error {
		return settled(func() error { return store.TrimClaims(ctx, ref, below) })
	}
	for n := range before {
		want(t, "number", claim(n).Generator, n)
	}
	for _, makeOlder := range age {
		if trim(kept) == nil {
			t.Error("young claims were removed")
		}
		wantError(t, makeOlder(store, ref), nil)
		if trim(before) == nil {
			t.Error("the newest claim was removed")
		}
	}
	first := must(l.Claims(ctx, ref.Launch, 0, before))(t)
	want(t, "claims", len(first), before)

	var group sync.WaitGroup
	var taken [2 * before]bool
	for range 2 {
		group.Go(func() {
			for range more / 2 {
				c, err := l.Claim(ctx, ref.Launch)
				wantError(t, err, nil)
				taken[c.Generator] = true
			}
		})
		group.Go(func() {
			for below := 1; below <= kept; below += 19 {
				wantError(t, trim(below), nil)
			}
		})
	}
	group.Wait()
	want(t, "numbers taken meanwhile", [more]bool(taken[before:]),
		[more]bool{true, true, true, true, true, true, true, true, true, true})
	left := must(l.Claims(ctx, ref.Launch, 0, before+more))(t)
	want(t, "claims that are left", len(left), before-kept+more)
	want(t, "claims that are left", left[:before-kept], first[kept:])

	want(t, "a claim that is left, again", claim(kept), first[kept])
	for range 2 {
		want(t, "one that was trimmed, again", claim(3).Generator, before+more)
	}
	look := launchlog.Look{Ref: ref, Service: "shop", Generator: 4, Token: "4"}
	wantError(t, settled(func() error { _, _, err := store.Order(ctx, look); return err }), nil)
	launch.NextGenerator = before + more + 1
	want(t, "the launch", must(l.Show(ctx, ref.Launch))(t), launch)
}
