// Package telemetrysuite has what the tests of telemetry, otelid and promid look at. That is a
// launch log in a SQLite file, and generators of each kind.
package telemetrysuite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
	"github.com/idmint/idmint/telemetry"
)

// A Scene is a launch log and generators, which a set tells of.
type Scene struct {
	Log    *launchlog.Log
	Cut    *launchlog.Log // the same, but all that it asks is lost on the way there or back
	Launch launchlog.Launch
	Set    *telemetry.Set

	Users    *generator.Decimal  // "users"
	Orders   *generator.Sequence // "orders", by blocks of 100
	Clicks   *generator.Sno      // "clicks", of the claim "clicks number"
	Sessions *generator.Short    // "sessions", under a ceiling of a minute
}

// New makes a scene in a file of its own. The log gets opts, which may be nil. Nothing was minted.
func New(t testing.TB, opts *launchlog.Options) *Scene {
	t.Helper()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "log.db")
	db := must(sql.Open("sqlite3", sqlite.DSN(path, sqlite.Create)))(t)
	_, _, err := migrations.Up(ctx, db, migrations.SQLite)
	check(t, err)
	check(t, db.Close())
	store := must(sqlite.Open(ctx, path))(t)
	s := &Scene{Set: new(telemetry.Set)}
	s.Log = must(launchlog.New(store, opts))(t)
	cut := launchlog.Options{Budget: 50 * time.Millisecond} // nothing will come back
	if opts != nil {
		cut.Observe, cut.Taken = opts.Observe, opts.Taken
	}
	s.Cut = must(launchlog.New(storetest.NewFaulty(store, 1, 1), &cut))(t)
	s.Launch = must(s.Log.Start(ctx, launchlog.Request{
		Key: "deploy-1", Service: "shop", Environment: "production", Initiator: "ann",
		Version: "1.2.3",
	}))(t)

	s.Users = must(generator.NewDecimal(s.Log.Generators(s.Launch.ID)))(t)
	t.Cleanup(func() {
		check(t, s.Users.Close(ctx))
		check(t, store.Close())
	})
	s.Orders = must(generator.NewSequence(must(s.Log.Counter("orders"))(t), 100))(t)
	numbers := must(claims.Partitions(s.Log, &claims.Options{Length: time.Minute}))(t)
	s.Clicks = must(generator.NewSno(numbers, nil))(t)
	ceiling := generator.Ceiling(struct{}{}, must(s.Log.Counter("sessions"))(t), time.Minute)
	s.Sessions = must(generator.NewShort(ceiling, nil))(t)

	check(t, telemetry.Add(s.Set, "users", s.Users))
	check(t, telemetry.Add(s.Set, "orders", s.Orders))
	check(t, telemetry.Add(s.Set, "clicks", s.Clicks))
	check(t, telemetry.Add(s.Set, "clicks number", numbers))
	check(t, telemetry.Add(s.Set, "sessions", s.Sessions))
	// On a machine that is busy the reading takes what it takes.
	readings := doctor.NewWatch(s.Log, &doctor.WatchOptions{Timeout: time.Minute})
	check(t, s.Set.Watch(s.Log, &telemetry.WatchOptions{Readings: readings}))
	return s
}

// Mint mints 3 users, 5 orders, 7 clicks and 11 sessions.
func (s *Scene) Mint(t testing.TB) {
	t.Helper()
	ctx := context.Background()
	must(s.Users.Fill(ctx, make([]idtype.DecimalID, 3)))(t)
	must(s.Orders.Fill(ctx, make([]idtype.SequenceID, 5)))(t)
	must(s.Clicks.Fill(ctx, make([]idtype.SnoID, 7)))(t)
	must(s.Sessions.Fill(ctx, make([]idtype.ShortID, 11)))(t)
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		check(t, err)
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
