package storesuite

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
	Connections int // of the pool
	// begins a transaction, and waits for a connection
	Begin func() (rollback func(), _ error)
	// New makes a store that has not written yet.
	New func() (launchlog.Store, error)
	// Elsewhere is a store of the same database whose connections are its own.
	Elsewhere launchlog.Store
	// Lock holds up all steps that change the namespace "default", from a connection elsewhere.
	Lock func() (unlock func(), _ error)
}

// Held has transactions of an app hold all connections of its pool while they wait for a step.
// Where the store knows that, the step fails and says what to do. It fails soon in a store that has
// not written, and not within seconds in one that has. Where connections come back it does not.
func Held(t *testing.T, pool AppPool) {
	t.Helper()
	l := newLog(t, pool.Elsewhere, nil)
	launch := start(t, l, "a")
	reserve(t, newCounter(t, l, "c"), 0, 1, 1)
	type step struct {
		name string
		run  func(context.Context) error
	}
	// newSteps are those of a store that has not written.
	newSteps := func() []step {
		t.Helper()
		store, err := pool.New()
		if err != nil {
			t.Fatal(err)
		}
		l := newLog(t, store, nil)
		c := newCounter(t, l, "c")
		return []step{
			{"show", func(ctx context.Context) error {
				_, err := l.Show(ctx, launch.ID)
				return err
			}},
			{"claim", func(ctx context.Context) error {
				_, err := l.Claim(ctx, launch.ID)
				return err
			}},
			{"start", func(ctx context.Context) error {
				_, err := l.Start(ctx, Request("b"))
				return err
			}},
			{"reserve", func(ctx context.Context) error {
				_, err := c.Reserve(ctx, 0, 1)
				return err
			}},
		}
	}
	const show, claim = 0, 1 // their places
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
	atOnce := func(steps []step, check func(name string, err error)) {
		var group sync.WaitGroup
		for _, step := range steps {
			group.Go(func() { check(step.name, step.run(ctx)) })
		}
		group.Wait()
	}

	// All at once, in a store that has read and not written.
	steps := newSteps()
	if err := steps[show].run(ctx); err != nil {
		t.Fatal(err)
	}
	rollback := beginAll()
	began := time.Now()
	atOnce(steps, func(name string, err error) {
		if !errors.Is(err, launchlog.ErrHeld) || !strings.Contains(err.Error(), "of the pool") {
			t.Errorf("%s, in transactions that hold all connections: %v", name, err)
		}
	})
	if took := time.Since(began); took > 9*time.Second { // less than a store at work waits
		t.Errorf("the steps took %v", took)
	}
	rollback()
	for _, step := range steps {
		if err := step.run(ctx); err != nil {
			t.Errorf("%s, afterwards: %v", step.name, err)
		}
	}

	// The same steps, now that the store has written, outlast long queries of the app.
	rollback = beginAll()
	time.AfterFunc(3*time.Second, rollback)
	atOnce(steps, func(name string, err error) {
		if err != nil {
			t.Errorf("%s, in a store at work, where connections come back after 3 s: %v", name, err)
		}
	})

	// In a process that is busy with other transactions before.
	steps = newSteps()
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
	began = time.Now()
	go func() { ended <- steps[claim].run(ctx) }()
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
	var fresh [5][]step
	for i := range fresh {
		fresh[i] = newSteps()
	}
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
	for _, steps := range fresh {
		err := steps[claim].run(ctx)
		busy := time.Duration(longest.Load()) > 500*time.Millisecond // the machine is
		if err != nil && !(busy && errors.Is(err, launchlog.ErrHeld)) {
			t.Errorf("among short transactions: %v", err)
		}
	}
	close(stop)
	group.Wait()
	steps = newSteps()
	unlock, err := pool.Lock()
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(4*time.Second, unlock)
	for range 2 * pool.Connections {
		group.Go(func() {
			if err := steps[claim].run(ctx); err != nil {
				t.Errorf("behind other steps: %v", err)
			}
		})
	}
	group.Wait()
}
