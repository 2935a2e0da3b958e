package storetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// An AppPool is a pool of an app, in which a store has no connections of its own.
type AppPool struct {
	Connections int                               // of the pool
	Begin       func() (rollback func(), _ error) // begins a transaction, and waits for a connection
	// Lock holds up all steps that change the namespace "default", from a connection elsewhere.
	Lock func() (unlock func(), _ error)
}

// Held has transactions of an app hold all connections of its pool while they wait for a step.
// Where that is known the step fails soon, and says what to do. Where connections come back it does
// not.
func Held(t *testing.T, store launchlog.Store, pool AppPool) {
	t.Helper()
	l := newLog(t, store, nil)
	c := newCounter(t, l, "c")
	launch := start(t, l, "a")
	reserve(t, c, 0, 1, 1)
	steps := map[string]func(context.Context) error{
		"start":   func(ctx context.Context) error { _, err := l.Start(ctx, Request("b")); return err },
		"claim":   func(ctx context.Context) error { _, err := l.Claim(ctx, launch.ID); return err },
		"reserve": func(ctx context.Context) error { _, err := c.Reserve(ctx, 0, 1); return err },
		"show":    func(ctx context.Context) error { _, err := l.Show(ctx, launch.ID); return err },
	}
	beginAll := func() (rollback func()) {
		t.Helper()
		var all []func()
		for range pool.Connections {
			one, err := pool.Begin()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
		return func() {
			for _, one := range all {
				one()
			}
		}
	}
	atOnce := func() {
		t.Helper()
		began := time.Now()
		var group sync.WaitGroup
		for name, step := range steps {
			group.Go(func() {
				err := step(ctx)
				if !errors.Is(err, launchlog.ErrHeld) || !strings.Contains(err.Error(), "of the pool") {
					t.Errorf("%s, in transactions that hold all connections: %v", name, err)
				}
			})
		}
		group.Wait()
		if took := time.Since(began); took > 15*time.Second { // of a budget of 30 s
			t.Errorf("the steps took %v", took)
		}
	}

	// All at once, and in a process that is busy with other transactions before.
	rollback := beginAll()
	atOnce()
	rollback()
	for name, step := range steps {
		if err := step(ctx); err != nil {
			t.Errorf("%s, afterwards: %v", name, err)
		}
	}
	rollback = beginAll()
	waiting, ended := make(chan func(), pool.Connections), make(chan error, 1)
	for range pool.Connections { // others wait for these connections already, and hold them next
		go func() {
			next, err := pool.Begin()
			if err != nil {
				t.Error(err)
				next = func() {}
			}
			waiting <- next
		}()
	}
	began := time.Now()
	go func() { ended <- steps["claim"](ctx) }()
	time.AfterFunc(500*time.Millisecond, rollback)
	err := <-ended
	if err != nil && !errors.Is(err, launchlog.ErrHeld) { // it may have come before others
		t.Errorf("behind other transactions: %v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("behind other transactions it took %v", took)
	}
	for range pool.Connections {
		(<-waiting)()
	}

	// Connections that come back in time, those of other steps too.
	stop := make(chan struct{})
	var longest atomic.Int64 // that a connection was held
	var group sync.WaitGroup
	for range 2 * pool.Connections {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				rollback, err := pool.Begin()
				if err != nil {
					t.Error(err)
					return
				}
				began := time.Now()
				time.Sleep(100 * time.Millisecond) // the app's work
				rollback()
				if held := int64(time.Since(began)); held > longest.Load() {
					longest.Store(held)
				}
			}
		})
	}
	for range 5 {
		err := steps["claim"](ctx)
		busy := time.Duration(longest.Load()) > 500*time.Millisecond // the machine is
		if err != nil && !(busy && errors.Is(err, launchlog.ErrHeld)) {
			t.Errorf("among short transactions: %v", err)
		}
	}
	close(stop)
	group.Wait()
	unlock, err := pool.Lock()
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(4*time.Second, unlock)
	for range 2 * pool.Connections {
		group.Go(func() {
			if err := steps["claim"](ctx); err != nil {
				t.Errorf("behind other steps: %v", err)
			}
		})
	}
	group.Wait()
}
