package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

// A look remembers, and the next one tells what is lower.
func TestLook(t *testing.T) {
	store, of := logAt(t, begin), map[string]string{"server": "a", "timeline": "1"}
	launch := start(t, store, "a")
	claim := func(n int) {
		t.Helper()
		for range n {
			if _, err := store.Claim(ctx, launch); err != nil {
				t.Fatal(err)
			}
		}
	}
	claim(3)
	raise(t, store, "orders", 500)
	first, results, err := doctor.Look(ctx, store, of, nil)
	if err != nil || len(results) != 2 {
		t.Fatalf("%v, %v", results, err)
	}
	check(t, "the first look", results, nil)
	if first.LastLaunch != 1 || first.Launches[1].Generators != 3 ||
		first.Counters["orders"].Value != 500 {
		t.Errorf("%+v", first)
	}
	compare := func(when string, identity, wanted map[string]string) doctor.State {
		t.Helper()
		now, results, err := doctor.Look(ctx, store, identity, &first)
		if err != nil {
			t.Fatal(err)
		}
		check(t, when, results, wanted)
		return now
	}
	compare("nothing happened", of, nil)
	start(t, store, "b")
	claim(2)
	raise(t, store, "orders", 600)
	raise(t, store, "others", 1)
	second := compare("more was used", of, nil)
	if second.LastLaunch != 2 || second.Launches[1].Generators != 5 ||
		second.Counters["others"].Value != 1 {
		t.Errorf("%+v", second)
	}
	if _, err := store.End(ctx, launch, launchlog.Ending{Outcome: launchlog.Failed}); err != nil {
		t.Fatal(err)
	}
	compare("a launch has ended", of, nil)
	compare("a failover", map[string]string{"server": "a", "timeline": "2"}, map[string]string{
		"identity": "finding: timeline of the store is 2, and was 1. ",
	})
	compare("another server", map[string]string{"server": "b", "timeline": "1"}, map[string]string{
		"identity": "finding: server of the store is b, and was a. ",
	})
	compare("a hidden part, and a new one", map[string]string{"server": "a", "new": "1"}, nil)

	// The log goes back to a backup of before everything, and then to later ones.
	first = second
	store = logAt(t, begin)
	compare("an empty log", of, map[string]string{
		"lost": "finding: the last launch is 0, and was 2. " +
			"finding: launch 1 is not there any more. " +
			"finding: launch 2 is not there any more. finding: counter orders is 0, and was 600. " +
			"finding: counter others is 0, and was 1. ",
	})
	start(t, store, "a")
	claim(4)
	raise(t, store, "orders", 599)
	raise(t, store, "others", 1)
	compare("an earlier log", of, map[string]string{
		"lost": "finding: the last launch is 1, and was 2. " +
			"finding: launch 1 has used 4 generator numbers, and had used 5. " +
			"finding: launch 2 is not there any more. " +
			"finding: counter orders is 599, and was 600. ",
	})
	// It is advanced: the launch that ran gives out no number any more.
	if _, err := store.Advance(ctx, 10, "me"); err != nil {
		t.Fatal(err)
	}
	raise(t, store, "orders", 1000)
	compare("an advanced log", of, nil)
}

// What a look could not read of the identity is kept from the one before. So one failed read does
// not hide that the log is another one.
func TestLookKeepsIdentity(t *testing.T) {
	log := logAt(t, begin)
	var before *doctor.State
	look := func(identity, wanted map[string]string) {
		t.Helper()
		now, results, err := doctor.Look(ctx, log, identity, before)
		if err != nil {
			t.Fatal(err)
		}
		check(t, fmt.Sprint(identity), results, wanted)
		before = reload(t, now)
	}
	nothing := map[string]string{"identity": "unknown: the store does not say which it is"}
	look(map[string]string{"log": "one", "cluster": "a"}, nil)
	partial := map[string]string{"cluster": "a", "new": "1"}
	look(partial, nil)
	if len(partial) != 2 {
		t.Errorf("the caller's identity is %v now", partial)
	}
	look(nil, nothing)
	look(map[string]string{"log": "two", "new": "2"}, map[string]string{
		"identity": "finding: log of the store is two, and was one. " +
			"finding: new of the store is 2, and was 1. ",
	})
	look(map[string]string{"log": "two", "cluster": "a"}, nil)
	before = nil
	look(nil, nil)
	look(nil, nothing)
	look(map[string]string{"log": "two"}, nil)
}

// The error of a store that does not answer is not taken for a loss.
func TestLookErrors(t *testing.T) {
	for name, store := range map[string]launchlog.Store{
		"counters": away{memory.New(nil)}, "launches": ending{hidden{memory.New(nil)}},
		"one launch": showless{memory.New(nil)},
	} {
		before := doctor.State{LastLaunch: 1, Launches: map[int]doctor.LaunchMark{1: {}}}
		_, results, err := doctor.Look(ctx, newLog(t, store), nil, &before)
		if !errors.Is(err, errAway) || !strings.HasPrefix(err.Error(), "doctor: ") {
			t.Errorf("%s: %v, %v", name, results, err)
		}
	}
}

// showless is a store that lists launches, and does not show one.
type showless struct{ *memory.Store }

func (showless) Launch(context.Context, launchlog.Ref) (launchlog.Launch, error) {
	return launchlog.Launch{}, errAway
}

// raiseless is a store that raises no counter.
type raiseless struct{ *memory.Store }

func (raiseless) RaiseCounter(
	context.Context, launchlog.CounterRef, launchlog.Raise,
) (launchlog.CounterState, error) {
	return launchlog.CounterState{}, errAway
}
