package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

func order(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	launch := start(t, l, "a")
	claim := must(l.Claim(ctx, launch.ID))(t)
	look := launchlog.Look{
		Ref: launchlog.Ref{Namespace: launch.Namespace, Launch: launch.ID}, Service: "shop",
	}
	// A node that answers late may have counted a look whose answer was lost.
	again := func(look launchlog.Look) (is, looks int64, err error) {
		for {
			is, looks, err = store.Order(ctx, look)
			if passing := (*launchlog.AttemptError)(nil); !errors.As(err, &passing) {
				return is, looks, err
			}
		}
	}
	looked := func(reached, value, looks int64) {
		t.Helper()
		look.Reached = reached
		is, n, err := again(look)
		wantError(t, err, nil)
		want(t, "the register", is, value)
		if n < looks || n > looks+3 {
			t.Errorf("%d looks are counted, want %d", n, looks)
		}
	}
	looked(0, 0, 1)
	looked(7, 7, 2)
	looked(3, 7, 3)
	look.Service = "a service/with \"signs\" of ümlaut"
	looked(1<<62, 1<<62, 1)
	look.Service = "shop"
	look.Generator, look.Token = claim.Generator, claim.Token
	looked(0, 7, 4)
	look.Namespace, look.Token = "other", ""
	looked(2, 2, 1)
	look.Namespace = launch.Namespace

	// The claim that a look names exists, or existed: its number counts as taken.
	for generator, token := range []string{"another", claim.Token} {
		look.Generator, look.Token = generator, token
		_, _, err := again(look)
		wantError(t, err, launchlog.ErrBehind)
	}

	// The register has the highest value reported, regardless of who was faster. A store may refuse
	// concurrent looks.
	look.Token = ""
	var wg sync.WaitGroup
	for worker := range int64(4) {
		wg.Go(func() {
			mine, last := look, int64(0)
			for n := range int64(20) {
				mine.Reached = 100 + 4*n + worker
				is, _, err := store.Order(ctx, mine)
				passing := (*launchlog.AttemptError)(nil)
				switch {
				case errors.As(err, &passing):
				case err != nil:
					t.Error(err)
				case is < mine.Reached || is < last:
					t.Errorf("the register is %d after %d and %d", is, last, mine.Reached)
				default:
					last = is
				}
			}
		})
	}
	wg.Wait()
	look.Reached = 1000
	is, looks, err := again(look)
	wantError(t, err, nil)
	want(t, "the register", is, 1000)
	if looks < 6 || looks > 100 {
		t.Errorf("%d looks are counted", looks)
	}
}
