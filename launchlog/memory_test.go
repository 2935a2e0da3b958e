package launchlog_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

// A swapped is a store that an older copy is put in the place of. It counts its steps.
type swapped struct {
	launchlog.Store
	steps int
}

// TestOlderCopy: a log whose store comes to a number that it has given before takes no number of any
// kind any more, however far the store comes, and does not ask it.
func TestOlderCopy(t *testing.T) {
	counterOf := func(l *launchlog.Log) *launchlog.Counter {
		c, err := l.Counter("c")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	steps := map[string]func(l *launchlog.Log, n int) error{
		"Start": func(l *launchlog.Log, n int) error {
			_, err := l.Start(ctx, storetest.Request(fmt.Sprintf("%p %d", l, n)))
			return err
		},
		"Claim": func(l *launchlog.Log, _ int) error { _, err := l.Claim(ctx, 1); return err },
		"Join": func(l *launchlog.Log, _ int) error {
			_, err := l.Join(ctx, launchlog.App{Service: "shop", Environment: "test", Launch: 1})
			return err
		},
		"Reserve": func(l *launchlog.Log, _ int) error {
			_, err := counterOf(l).Reserve(ctx, 0, 10)
			return err
		},
		"Raise": func(l *launchlog.Log, n int) error {
			r := launchlog.Raise{From: int64(n), To: int64(n + 1), Note: launchlog.NewNote()}
			row, err := counterOf(l).Raise(ctx, r)
			if err == nil && !r.Done(row) {
				err = fmt.Errorf("the row is %+v", row)
			}
			return err
		},
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			older, store := memory.New(nil), &swapped{Store: memory.New(nil)}
			for _, s := range []launchlog.Store{older, store.Store} {
				first := newLog(t, s, nil)
				if _, err := first.Start(ctx, storetest.Request("a")); err != nil {
					t.Fatal(err)
				}
				if err := step(first, 0); err != nil {
					t.Fatal(err)
				}
			}
			l := newLog(t, store, &launchlog.Options{
				Observe: func(context.Context, launchlog.Step) { store.steps++ },
			})
			for n := 1; n <= 3; n++ {
				if err := step(l, n); err != nil {
					t.Fatal(err)
				}
			}
			store.Store = older
			if err := step(l, 4); !errors.Is(err, launchlog.ErrBehind) {
				t.Errorf("on the older copy: %v", err)
			}
			for other, step := range steps {
				asked := store.steps
				if err := step(l, 5); !errors.Is(err, launchlog.ErrBehind) ||
					store.steps != asked && other != "Join" { // which reads first
					t.Errorf("%s after that, with %d steps: %v", other, store.steps-asked, err)
				}
			}
			if err := step(newLog(t, store, nil), 1); errors.Is(err, launchlog.ErrBehind) {
				t.Errorf("a log that was given nothing: %v", err)
			}
		})
	}
}
