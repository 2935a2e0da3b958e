package kvtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/storetest"
)

// A Place is where [OtherLog] creates a launch log, and later another one.
type Place struct {
	Migrate func() (from, to int, err error)
	Drop    func() error
	// Open opens the log with separate connections.
	Open func() (launchlog.Store, kv.Engine, error)
}

// OtherLog tests that a store hands out nothing once its log was deleted, even if another log was
// created in its place. The other log has the same rows with the same versions, and stays
// unchanged.
func OtherLog(t *testing.T, p Place) {
	t.Helper()
	migrate := func() error { _, _, err := p.Migrate(); return err }
	must(t, migrate())
	open := func() launchlog.Store { s, _ := p.open(t); return s }
	storetest.OtherLog(t, open, func() { p.drop(t) }, migrate)
}

// Deleted tests that a store hands out nothing once its log was deleted, and that nobody may create
// or open a log in that place again.
func Deleted(t *testing.T, p Place) {
	t.Helper()
	_, _, err := p.Migrate()
	must(t, err)
	old, _ := p.open(t)
	_, err = old.StartLaunch(ctx, start(one.Namespace, "a"))
	must(t, err)
	p.drop(t)
	for range 2 {
		steps := storetest.Writes(old)
		steps["migrate"] = func() error { _, _, err := p.Migrate(); return err }
		steps["open"] = func() error { _, _, err := p.Open(); return err }
		allRefused(t, steps)
	}
}

var one = launchlog.Ref{Namespace: launchlog.DefaultNamespace, Launch: 1}

func (p Place) open(t *testing.T) (launchlog.Store, kv.Engine) {
	t.Helper()
	s, e, err := p.Open()
	must(t, err)
	return s, e
}

// drop deletes a log that has a launch, while others use it. A step that had read before writes
// nothing afterwards, and nothing is read as if from an empty log.
func (p Place) drop(t *testing.T) {
	t.Helper()
	s, e := p.open(t)
	busy, _ := p.open(t)
	part := one.Namespace + "/launches"
	was, err := e.Read(ctx, part, "state")
	must(t, err)
	late := []kv.Change{
		put("state", was[0].Version), put("launch-00009", 0), put("key-late", 0),
	}
	counter := launchlog.CounterRef{Namespace: one.Namespace, Name: "c"}
	// Each worker uses log counters that do not exist yet. The work is limited, because some
	// engines delete one row after another.
	var workers sync.WaitGroup
	working, end := context.WithCancel(ctx)
	for w := range 4 {
		workers.Go(func() {
			for n := 0; n < 50 && working.Err() == nil; n++ {
				ref := launchlog.CounterRef{
					Namespace: one.Namespace, Name: fmt.Sprintf("busy/%d/%d", w, n),
				}
				_, _ = busy.ReserveNumbers(ctx, ref, 0, 1)
			}
		})
	}
	err = p.Drop()
	end()
	workers.Wait()
	must(t, err)
	allRefused(t, map[string]func() error{
		"Launch":     func() error { _, err := s.Launch(ctx, one); return err },
		"Claims":     func() error { _, err := s.Claims(ctx, one, 0, 10); return err },
		"Events":     func() error { _, err := s.Events(ctx, one); return err },
		"LastNumber": func() error { _, err := s.LastNumber(ctx, counter); return err },
		"Counters":   func() error { _, err := s.Counters(ctx, one.Namespace, "", 9); return err },
		"Launches": func() error {
			_, err := s.Launches(ctx, one.Namespace, launchlog.Filter{Limit: 9})
			return err
		},
		"Each": func() error { _, err := e.Each(ctx, []string{part, "x/y"}, "state"); return err },
		"a step that had read before": func() error {
			done, err := e.Commit(ctx, part, late...)
			if done {
				return errors.New("it is done")
			}
			if err == nil { // a race: the step reads again
				_, err = e.Read(ctx, part, "state")
			}
			return err
		},
	})
}

func allRefused(t *testing.T, steps map[string]func() error) {
	t.Helper()
	for name, step := range steps {
		if err := step(); !errors.Is(err, launchlog.ErrOtherLog) {
			t.Errorf("the log was deleted, %s: %v, want ErrOtherLog", name, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(namespace, key string) launchlog.Launch {
	r := storetest.Request(key)
	return launchlog.Launch{Namespace: namespace, Request: r, RequestHash: "h"}
}

// Apart tests that logs whose places are within each other stay separate. The first place is the
// topmost. Namespaces have the same names as places below, so that the paths of rows are similar.
func Apart(t *testing.T, open func(below string) launchlog.Store, places ...string) {
	t.Helper()
	stores := make([]launchlog.Store, len(places))
	for round := 1; round <= 2; round++ {
		for n, place := range places {
			if stores[n] == nil {
				stores[n] = open(place)
			}
			for _, namespace := range []string{"default", "b", "counters", "launches"} {
				launch, err := stores[n].StartLaunch(ctx, start(namespace, fmt.Sprint(round)))
				must(t, err)
				want(t, place+": launch of "+namespace, launch.ID, round)
				for _, name := range []string{"launches", "b/launches", "state"} {
					ref := launchlog.CounterRef{Namespace: namespace, Name: name}
					first, err := stores[n].ReserveNumbers(ctx, ref, 0, 1)
					must(t, err)
					want(t, place+": number of "+name, first, int64(round))
				}
				counters, err := stores[n].Counters(ctx, namespace, "", 99)
				must(t, err)
				want(t, place+": counters of "+namespace, len(counters), 3)
			}
		}
	}
}
