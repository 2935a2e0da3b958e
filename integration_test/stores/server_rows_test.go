package stores_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// dump is what the log's tables hold, a line for each row.
func dump(t *testing.T, db *sql.DB) string {
	t.Helper()
	var lines []string
	for _, table := range []string{
		"namespace", "launch", "launch_event", "generator", "counter", "order",
	} {
		rows, err := db.Query("SELECT * FROM idmint_" + table)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fmt.Sprintf("%s %v", table, values))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A step that fails after its first write changes nothing: the number is not burnt, the event is
// not there.
func TestNothingHalfDone(t *testing.T) { eachSQL(t, nothingHalfDone) }

func nothingHalfDone(t *testing.T, s server) {
	d := s.database(t)
	db := dbtest.Open(t, d)
	l := logOf(t, open(t, d))
	c, err := l.Counter("c")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Start(ctx, storetest.Request("good")); err != nil {
		t.Fatal(err)
	}
	start := func() error { _, err := l.Start(ctx, storetest.Request("bad")); return err }
	advance := func() error { _, err := c.Advance(ctx, 9, "operator"); return err }
	for _, test := range []struct {
		table string
		run   func() error
	}{
		{"idmint_launch", start},
		{"idmint_launch_event", start},
		{"idmint_launch_event", func() error { _, err := l.End(ctx, 1, failed); return err }},
		{
			"idmint_launch_event",
			func() error { _, err := l.Advance(ctx, 9, "operator"); return err },
		},
		{"idmint_generator", func() error { _, err := l.Claim(ctx, 1); return err }},
		{"idmint_counter", func() error { _, err := c.Reserve(ctx, 0, 1); return err }},
		{"idmint_counter", advance},
		{"idmint_launch_event", advance},
	} {
		before := dump(t, db)
		create, drop := s.trip(test.table)
		dbtest.Exec(t, db, create)
		if err := test.run(); err == nil || !strings.Contains(err.Error(), "tripped") {
			t.Errorf("%s: got %v", test.table, err)
		}
		if after := dump(t, db); after != before {
			t.Errorf("%s: before\n%s\nafter\n%s", test.table, before, after)
		}
		dbtest.Exec(t, db, drop)
	}
	if claim, err := l.Claim(ctx, 1); err != nil || claim.Generator != 0 {
		t.Errorf("after a claim that failed: %+v, %v", claim, err)
	}
}

// filled makes a database whose launch log has what the statements of server.changing change.
func (s server) filled(t *testing.T) dsn.DSN {
	t.Helper()
	d := s.database(t)
	st := open(t, d)
	fill(t, st, 1)
	if err := start(ctx, st, "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := st.EndLaunch(ctx, firstLaunch, failed); err != nil {
		t.Fatal(err)
	}
	return d
}

const launchRow = " INTO idmint_launch (namespace, launch_id, idempotency_key, request_hash, " +
	"service, environment, initiator, host) VALUES "

const insertLaunch, replaceLaunch = "INSERT" + launchRow, "REPLACE" + launchRow

// changing are the statements that change what was acknowledged.
func (s server) changing() []string {
	texts := slices.Concat(s.refused, []string{
		"DELETE FROM idmint_launch",
		"DELETE FROM idmint_namespace",
		"DELETE FROM idmint_generator",
		"DELETE FROM idmint_launch_event",
		"UPDATE idmint_launch SET launch_id = 77 WHERE launch_id = 2",
		"UPDATE idmint_launch SET namespace = 'other'",
		"UPDATE idmint_launch SET service = 'other'",
		"UPDATE idmint_launch SET idempotency_key = 'A' WHERE launch_id = 1",
		"UPDATE idmint_launch SET request_hash = 'x'",
		"UPDATE idmint_launch SET data = '{}'",
		"UPDATE idmint_launch SET rolls_back = 1",
		"UPDATE idmint_launch SET next_generator_id = 0 WHERE launch_id = 1",
		"UPDATE idmint_launch SET next_generator_id = 100001",
		"UPDATE idmint_launch SET next_generator_id = NULL",
		"UPDATE idmint_launch SET ended_at = NULL, outcome = NULL WHERE launch_id = 1",
		"UPDATE idmint_launch SET outcome = 'succeeded' WHERE launch_id = 1",
		"UPDATE idmint_launch SET outcome = 'succeeded' WHERE launch_id = 2", // without a time
		"UPDATE idmint_namespace SET last_launch_id = 1",
		"UPDATE idmint_namespace SET last_launch_id = -1",
		"UPDATE idmint_namespace SET last_launch_id = NULL",
		"UPDATE idmint_namespace SET namespace = 'other'",
		"UPDATE idmint_generator SET generator_id = 9",
		"UPDATE idmint_launch_event SET kind = 'x'",
		insertLaunch + "('default', 2, 'c', '', '', '', '', '')",
		insertLaunch + "('default', 3, '1', '', '', '', '', '')",
		insertLaunch + "('default', 100000, 'c', '', '', '', '', '')",
		"INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid) " +
			"VALUES ('default', 1, 0, 'x', 'h', 1)",
		"INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid) " +
			"SELECT 'default', 1, 7, token, 'h', 1 FROM idmint_generator",
		"DELETE FROM idmint_counter",
		"UPDATE idmint_counter SET value = value - 1",
		"UPDATE idmint_counter SET value = -1",
		"UPDATE idmint_counter SET value = 9223372036854775807 + 1",
		"UPDATE idmint_counter SET value = NULL",
		"UPDATE idmint_counter SET name = 'd'",
		"UPDATE idmint_counter SET namespace = 'other'",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'c', 0)",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'd', -1)",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'd', 'x')",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', '', 1)",
	})
	if s.dialect == migrations.SQLite {
		return texts
	}
	return append(texts,
		"INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid) "+
			"VALUES ('default', 9, 0, 'x', 'h', 1)",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('nowhere', 'd', 1)",
		"TRUNCATE idmint_generator", "TRUNCATE idmint_launch_event", "TRUNCATE idmint_counter")
}

// What was acknowledged is not deleted or changed, even by somebody with the SQL shell. In MySQL
// grants see to that: see TestGrants.
func TestRowsStay(t *testing.T) { each(t, rowsStay, sqliteFiles, postgresServer) }

func rowsStay(t *testing.T, s server) {
	db := dbtest.Open(t, s.filled(t))
	if s.dialect == migrations.SQLite { // as in its shell
		db.SetMaxOpenConns(1)
		dbtest.Exec(t, db, "PRAGMA foreign_keys = off")
	}
	before := dump(t, db)
	if lines := strings.Count(before, "\n"); lines < 7 {
		t.Fatalf("there is little to change:\n%s", before)
	}
	for _, text := range s.changing() {
		if _, err := db.Exec(text); !s.refuses(err) {
			t.Errorf("%s: got %v, want it refused", text, err)
		}
		if after := dump(t, db); after != before {
			t.Fatalf("%s: before\n%s\nafter\n%s", text, before, after)
		}
	}
}

// jump sets the next generator number of a launch.
func jump(db *sql.DB, ref launchlog.Ref, next int) error {
	_, err := db.Exec(fmt.Sprintf("UPDATE idmint_launch SET next_generator_id = %d "+
		"WHERE namespace = '%s' AND launch_id = %d", next, ref.Namespace, ref.Launch))
	return err
}

// age makes the claims of a launch older, where the tables keep young ones.
func (s server) age(db func(launchlog.Store) *sql.DB) (
	makes []func(launchlog.Store, launchlog.Ref) error,
) {
	if s.dialect != migrations.Postgres {
		return nil
	}
	return append(makes, func(log launchlog.Store, ref launchlog.Ref) error {
		_, err := db(log).Exec(fmt.Sprintf(`ALTER TABLE idmint_generator DISABLE TRIGGER USER;
			UPDATE idmint_generator SET claimed_at = claimed_at - interval '2 days' WHERE launch_id = %d;
			ALTER TABLE idmint_generator ENABLE TRIGGER USER`, ref.Launch))
		return err
	})
}
