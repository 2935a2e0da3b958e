package kvtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// A Place is where [OtherLog] makes a launch log, and makes it anew.
type Place struct {
	Migrate func() (from, to int, err error)
	Drop    func() error
	// Open opens the log by connections of its own.
	Open func() (launchlog.Store, kv.Engine, error)
}

// OtherLog shows that a store hands out nothing once its log was deleted, also where another log
// was made in its place. The other log has the same rows in the same versions. It stays as it is.
func OtherLog(t *testing.T, p Place) {
	t.Helper()
	refused, stop := p.deleted(t)
	p.migrate(t)
	refused("made anew")
	fresh, _ := p.open(t)
	refused("made anew and opened")
	fill(t, fresh)
	refused("filled anew")
	stop()
	launch, err := fresh.StartLaunch(ctx, start(namespace, "b"))
	must(t, err)
	want(t, "the next launch", launch.ID, 2)
	first, err := fresh.ReserveNumbers(ctx, counter("c"), 0, 1)
	must(t, err)
	want(t, "the next number", first, int64(11))
	counters, err := fresh.Counters(ctx, namespace, "", 99)
	must(t, err)
	if len(counters) != 1 {
		t.Errorf("%d counters, want one: the first of them is %+v", len(counters), counters[0])
	}
}

// Deleted shows that a store hands out nothing once its log was deleted. Nobody may make or open
// it again in that place.
func Deleted(t *testing.T, p Place) {
	t.Helper()
	refused, stop := p.deleted(t)
	stop()
	for range 2 {
		_, _, migrating := p.Migrate()
		_, _, opening := p.Open()
		for _, err := range []error{migrating, opening} {
			if !errors.Is(err, launchlog.ErrOtherLog) {
				t.Errorf("a log that was deleted is made or opened: %v", err)
			}
		}
		refused("deleted, and to be made anew")
	}
}

const namespace = "default"

var one = launchlog.Ref{Namespace: namespace, Launch: 1}

func counter(name string) launchlog.CounterRef {
	return launchlog.CounterRef{Namespace: namespace, Name: name}
}

func (p Place) migrate(t *testing.T) {
	t.Helper()
	_, _, err := p.Migrate()
	must(t, err)
}

func (p Place) open(t *testing.T) (launchlog.Store, kv.Engine) {
	t.Helper()
	s, e, err := p.Open()
	must(t, err)
	return s, e
}

// fill fills a new log.
func fill(t *testing.T, s launchlog.Store) {
	t.Helper()
	launch, err := s.StartLaunch(ctx, start(namespace, "a"))
	must(t, err)
	want(t, "launch", launch.ID, 1)
	claim, err := s.ClaimGenerator(ctx, launchlog.Take{Ref: one, Token: "a"})
	must(t, err)
	want(t, "generator", claim.Generator, 0)
	first, err := s.ReserveNumbers(ctx, counter("c"), 0, 10)
	must(t, err)
	want(t, "first", first, int64(1))
}

// deleted makes a log, and deletes it under stores that work. Refused shows that all steps of one
// of them are refused. Stop ends the others.
func (p Place) deleted(t *testing.T) (refused func(when string), stop func()) {
	t.Helper()
	p.migrate(t)
	old, engine := p.open(t)
	busy, _ := p.open(t)
	fill(t, old)
	// What a step has read before, and writes after.
	state := namespace + "/launches"
	was, err := engine.Read(ctx, state, "state")
	must(t, err)
	late := []kv.Change{
		put("state", was[0].Version), put("launch-00002", 0), put("key-late", 0),
	}
	refused = func(when string) {
		t.Helper()
		steps := storesuite.Writes(old)
		maps.Copy(steps, map[string]func() error{
			"Launch": func() error { _, err := old.Launch(ctx, one); return err },
			"Claims": func() error { _, err := old.Claims(ctx, one, 0, 10); return err },
			"Launches": func() error {
				_, err := old.Launches(ctx, namespace, launchlog.Filter{Limit: 9})
				return err
			},
			"Events":     func() error { _, err := old.Events(ctx, one); return err },
			"LastNumber": func() error { _, err := old.LastNumber(ctx, counter("c")); return err },
			"Counters":   func() error { _, err := old.Counters(ctx, namespace, "", 9); return err },
			"a step that had read before": func() error {
				done, err := engine.Commit(ctx, state, late...)
				if done {
					return errors.New("it is done")
				}
				if err == nil { // a race: the step reads again
					_, err = engine.Read(ctx, state, "state")
				}
				return err
			},
			"Each": func() error {
				_, err := engine.Each(ctx, []string{state, namespace + "/launch/00001"}, "state")
				return err
			},
		})
		for name, step := range steps {
			if err := step(); !errors.Is(err, launchlog.ErrOtherLog) {
				t.Errorf("%s, %s: %v, want ErrOtherLog", when, name, err)
			}
		}
	}
	// Others work meanwhile, each on a counter that is not there yet. While the log is being
	// deleted they come to an end, since some engines delete one row after another.
	dropped := make(chan struct{})
	working, end := context.WithCancel(ctx)
	t.Cleanup(end)
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for n := 0; ; n++ {
				if n == 50 {
					<-dropped
				}
				if working.Err() != nil {
					return
				}
				_, _ = busy.ReserveNumbers(ctx, counter(fmt.Sprintf("busy/%d/%d", w, n)), 0, 1)
			}
		})
	}
	err = p.Drop()
	close(dropped)
	must(t, err)
	refused("deleted")
	return refused, func() {
		end()
		workers.Wait()
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(namespace, key string) launchlog.Start {
	r := storesuite.Request(key)
	return launchlog.Start{Namespace: namespace, Request: r, RequestHash: "h"}
}

// Apart shows that logs whose places lie within each other's keep apart. The first place is the
// topmost. Namespaces are named like the places below, so that paths of rows are alike.
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
			}
		}
	}
}
