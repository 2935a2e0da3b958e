package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// settled calls until the store does not ask to be called again.
func settled[T any](call func() (T, error)) (v T, err error) {
	for {
		v, err = call()
		if passing := (*launchlog.AttemptError)(nil); !errors.As(err, &passing) {
			return v, err
		}
	}
}

// trim: claims are removed beside others that are made, and none of their numbers comes again, also
// where the claim is run again whose answer was lost. Where tables keep young claims, age makes those
// of a launch two days older.
func trim(t *testing.T, store launchlog.Store, age []func(launchlog.Store, launchlog.Ref) error) {
	const before, kept, more = 80, 77, 10 // more than a commit of some stores removes
	l := newLog(t, store, nil)
	launch, other := start(t, l, "a"), start(t, l, "b")
	ref := launchlog.Ref{Namespace: launch.Namespace, Launch: launch.ID}
	token := func(n int) launchlog.Claim {
		return launchlog.Claim{
			Namespace: ref.Namespace, Launch: ref.Launch, Token: fmt.Sprint("t", n), Host: "h", PID: 1,
		}
	}
	claim := func(n int) (launchlog.Claim, error) {
		return settled(func() (launchlog.Claim, error) { return store.ClaimGenerator(ctx, token(n)) })
	}
	trim := func(ref launchlog.Ref, below int) error {
		_, err := settled(func() (any, error) { return nil, store.TrimClaims(ctx, ref, below) })
		return err
	}
	var first []launchlog.Claim
	for n := range before {
		first = append(first, must(claim(n))(t))
	}
	must(l.Claim(ctx, other.ID))(t)
	for _, makeOlder := range age {
		if trim(ref, kept) == nil {
			t.Error("young claims were removed")
		}
		wantError(t, makeOlder(store, ref), nil)
		if trim(ref, before) == nil {
			t.Error("the newest claim was removed")
		}
		first = must(l.Claims(ctx, ref.Launch, 0, before))(t)
		want(t, "claims", len(first), before)
	}

	var group sync.WaitGroup
	var mu sync.Mutex
	taken := map[int]bool{}
	for range 2 {
		group.Go(func() {
			for range more / 2 {
				c, err := l.Claim(ctx, ref.Launch)
				wantError(t, err, nil)
				mu.Lock()
				taken[c.Generator] = true
				mu.Unlock()
			}
		})
		group.Go(func() {
			for below := 1; below <= kept; below += 19 {
				wantError(t, trim(ref, below), nil)
			}
		})
	}
	group.Wait()
	wantError(t, trim(ref, kept), nil)
	for n := before; n < before+more; n++ {
		want(t, fmt.Sprint("number taken meanwhile: ", n), taken[n], true)
	}
	left := must(l.Claims(ctx, ref.Launch, 0, before+more))(t)
	want(t, "claims that are left", len(left), before-kept+more)
	want(t, "claims that are left", left[:before-kept], first[kept:])

	want(t, "a claim that is left, again", must(claim(kept))(t), first[kept])
	for range 2 {
		want(t, "one that was trimmed, again", must(claim(3))(t).Generator, before+more)
	}
	look := launchlog.Look{Ref: ref, Service: "shop", Generator: 4, Token: "t4"}
	_, err := settled(func() (any, error) { _, _, err := store.Order(ctx, look); return nil, err })
	wantError(t, err, nil)
	launch.NextGenerator = before + more + 1
	want(t, "the launch", must(l.Show(ctx, ref.Launch))(t), launch)
	want(t, "events", len(must(l.Events(ctx, ref.Launch))(t)), 1)
	want(t, "claims of the other launch", len(must(l.Claims(ctx, other.ID, 0, 9))(t)), 1)
	wantError(t, trim(launchlog.Ref{Namespace: ref.Namespace, Launch: 99}, 9), nil)
}
