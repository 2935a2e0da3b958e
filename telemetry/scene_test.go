package telemetry_test

import (
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/telemetry"
)

// A scene is a launch log and generators, which a set tells of.
type scene struct {
	log    *launchlog.Log
	cut    *launchlog.Log // the same, but all that it asks is lost on the way there or back
	launch launchlog.Launch
	set    *telemetry.Set

	users    *generator.Decimal  // "users"
	orders   *generator.Sequence // "orders", by blocks of 100
	clicks   *generator.Sno      // "clicks", of the claim "clicks number"
	sessions *generator.Short    // "sessions", under a ceiling of a minute
}

// newScene makes a scene. The log gets opts, which may be nil. Nothing was minted.
func newScene(t testing.TB, opts *launchlog.Options) *scene {
	t.Helper()
	store := memory.New(nil)
	s := &scene{set: new(telemetry.Set)}
	s.log = must(launchlog.New(store, opts))(t)
	cutOff := launchlog.Options{Budget: 50 * time.Millisecond} // nothing will come back
	if opts != nil {
		cutOff.Observe, cutOff.Taken = opts.Observe, opts.Taken
	}
	s.cut = must(launchlog.New(storesuite.NewFaulty(store, 1, 1), &cutOff))(t)
	s.launch = must(s.log.Start(ctx, launchlog.Request{
		Key: "deploy-1", Service: "shop", Environment: "production", Initiator: "ann",
		Version: "1.2.3",
	}))(t)

	s.users = must(generator.NewDecimal(s.log.Generators(s.launch.ID)))(t)
	t.Cleanup(func() { ok(t, s.users.Close(ctx)) })
	s.orders = must(generator.NewSequence(must(s.log.Counter("orders"))(t), 100))(t)
	numbers := must(claims.Partitions(s.log, &claims.Options{Length: time.Minute}))(t)
	s.clicks = must(generator.NewSno(numbers, nil))(t)
	ceiling := generator.Ceiling(struct{}{}, must(s.log.Counter("sessions"))(t), time.Minute)
	s.sessions = must(generator.NewShort(ceiling, nil))(t)

	ok(t, telemetry.Add(s.set, "users", s.users))
	ok(t, telemetry.Add(s.set, "orders", s.orders))
	ok(t, telemetry.Add(s.set, "clicks", s.clicks))
	ok(t, telemetry.Add(s.set, "clicks number", numbers))
	ok(t, telemetry.Add(s.set, "sessions", s.sessions))
	readings := doctor.NewWatch(s.log, &doctor.WatchOptions{Timeout: time.Minute})
	ok(t, s.set.Watch(s.log, &telemetry.WatchOptions{Readings: readings}))
	return s
}

// mint mints 3 users, 5 orders, 7 clicks and 11 sessions.
func (s *scene) mint(t testing.TB) {
	t.Helper()
	must(s.users.Fill(ctx, make([]idtype.DecimalID, 3)))(t)
	must(s.orders.Fill(ctx, make([]idtype.SequenceID, 5)))(t)
	must(s.clicks.Fill(ctx, make([]idtype.SnoID, 7)))(t)
	must(s.sessions.Fill(ctx, make([]idtype.ShortID, 11)))(t)
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
