package stores_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// latest brings the tables to the latest version.
func (s server) latest(t *testing.T, db *sql.DB) {
	t.Helper()
	if _, _, err := migrations.Up(ctx, db, s.dialect); err != nil {
		t.Fatal(err)
	}
}

// TestOtherLog: a store takes no number once somebody has dropped its tables, also where another
// log was made in their place. The other log stays as it is.
func TestOtherLog(t *testing.T) {
	eachSQL(t, func(t *testing.T, s server) {
		d := s.database(t)
		db := dbtest.Open(t, d)
		drop := func() {
			for _, table := range []string{
				"order", "launch_kept", "counter_kept", "launch_event", "generator", "counter", "launch",
				"namespace", "schema",
			} {
				dbtest.Exec(t, db, "DROP TABLE IF EXISTS idmint_"+table)
			}
			if s.dialect == migrations.Postgres {
				dbtest.Exec(t, db, "DROP FUNCTION idmint_refuse()")
			}
		}
		migrate := func() error { _, _, err := migrations.Up(ctx, db, s.dialect); return err }
		storetest.OtherLog(t, func() launchlog.Store { return open(t, d) }, drop, migrate)
	})
}

// fill starts a launch, which must have the number, claims a number of it, and takes 10 of a
// counter.
func fill(t *testing.T, s launchlog.Store, number int) {
	t.Helper()
	l := logOf(t, s)
	launch, err := l.Start(ctx, storetest.Request(fmt.Sprint(number)))
	if err != nil || launch.ID != number {
		t.Fatalf("launch %d, %v; want %d", launch.ID, err, number)
	}
	if c, err := l.Claim(ctx, number); err != nil || c.Generator != 0 {
		t.Errorf("claim %d, %v", c.Generator, err)
	}
	first, err := s.ReserveNumbers(ctx, aCounter, 0, 10)
	if err != nil || first != int64(10*number-9) {
		t.Errorf("numbers from %d on, %v", first, err)
	}
}

// TestUpgrade: a log's tables go back to version 1 and on to the latest. A store that is opened
// after that goes on. One that was open before refuses, because the log has another word.
func TestUpgrade(t *testing.T) {
	eachSQL(t, func(t *testing.T, s server) {
		d := s.database(t)
		db := dbtest.Open(t, d)
		before := logOf(t, open(t, d))
		_, err := before.Start(ctx, storetest.Request("lost"))
		if err == nil {
			_, err = before.Advance(ctx, 1, "operator")
		}
		if err == nil {
			_, err = before.Start(ctx, storetest.Request("a"))
		}
		if err == nil {
			err = migrations.Down(ctx, db, s.dialect, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, down := before.Claim(ctx, 2)
		s.latest(t, db)
		_, up := before.Claim(ctx, 2)
		for _, err := range []error{down, up} {
			if !errors.Is(err, launchlog.ErrOtherLog) {
				t.Errorf("%v, want ErrOtherLog", err)
			}
		}
		after := open(t, d)
		if c, err := logOf(t, after).Claim(ctx, 2); err != nil || c.Generator != 0 {
			t.Errorf("at the latest version: %+v, %v", c, err)
		}
		// An earlier release did not say that an advance had ended it.
		if lost, err := logOf(t, after).Show(ctx, 1); err != nil || lost.Passes() {
			t.Errorf("its digits are taken over: %+v, %v", lost, err)
		}
		if first, err := after.ReserveNumbers(ctx, aCounter, 0, 1); err != nil || first != 1 {
			t.Errorf("numbers from %d on, %v", first, err)
		}
	})
}

// TestAhead: somebody writes rows whose numbers were not given out. A store says so, as doctor
// does, and its statement mends them.
func TestAhead(t *testing.T) {
	eachSQL(t, func(t *testing.T, s server) {
		d := s.database(t)
		db := dbtest.Open(t, d)
		findings := func() []string {
			results, err := doctor.SQL(ctx, db, s.dialect)
			if err != nil {
				t.Fatal(err)
			}
			var messages []string
			for _, r := range results {
				if r.Check == "rows" && r.Level == checks.Finding {
					messages = append(messages, r.Message)
				}
			}
			return messages
		}
		l := logOf(t, open(t, d))
		if _, err := l.Start(ctx, storetest.Request("a")); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Claim(ctx, 1); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			insert string
			ahead  launchlog.AheadError
			step   func() (int, error)
		}{
			{
				insertLaunch + "('default', 2, 'x', '', '', '', '', '')",
				launchlog.AheadError{Namespace: "default", Number: 2, Next: 2},
				func() (int, error) {
					launch, err := l.Start(ctx, storetest.Request("b"))
					return launch.ID, err
				},
			},
			{
				"INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, " +
					"pid) VALUES ('default', 1, 1, 'x', 'h', 1)",
				launchlog.AheadError{Namespace: "default", Launch: 1, Number: 1, Next: 1},
				func() (int, error) {
					claim, err := l.Claim(ctx, 1)
					return claim.Generator, err
				},
			},
		} {
			dbtest.Exec(t, db, test.insert)
			_, err := test.step()
			var ahead *launchlog.AheadError
			if !errors.As(err, &ahead) || *ahead != test.ahead ||
				errors.As(err, new(*launchlog.UnresolvedError)) {
				t.Fatalf("%v, want %v", err, &test.ahead)
			}
			text := strings.TrimPrefix(ahead.Error(), "launchlog: ")
			if found := findings(); len(found) != 1 || found[0] != text {
				t.Errorf("doctor finds %q, want %q", found, text)
			}
			dbtest.Exec(t, db, ahead.Mend())
			if number, err := test.step(); err != nil || number != ahead.Number+1 {
				t.Errorf("mended: number %d, %v", number, err)
			}
			if found := findings(); len(found) != 0 {
				t.Errorf("mended: doctor finds %q", found)
			}
		}
		if s.dialect != migrations.Postgres {
			return
		}
		// A logical replica has the events, and not the sequence that numbers them.
		dbtest.Exec(t, db,
			"SELECT setval(pg_get_serial_sequence('idmint_launch_event', 'event_id'), 1)")
		doctors := findings()
		_, err := l.End(ctx, 1, failed)
		_, mend, found := strings.Cut(fmt.Sprint(err), "Run: ")
		if !found || len(doctors) != 1 || !strings.HasSuffix(doctors[0], mend) {
			t.Fatalf("events ahead: %v, doctor finds %q", err, doctors)
		}
		dbtest.Exec(t, db, mend)
		if _, err := l.End(ctx, 1, failed); err != nil || len(findings()) != 0 {
			t.Errorf("mended: %v, doctor finds %q", err, findings())
		}
	})
}
