package serversuite

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog/storetest"
)

// Dump is what the log's tables hold, a line for each row.
func Dump(t *testing.T, db *sql.DB) string {
	t.Helper()
	var lines []string
	for _, table := range []string{"namespace", "launch", "launch_event", "generator", "counter"} {
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
func (s Server[S]) nothingHalfDone(t *testing.T) {
	d := s.Database(t)
	db := dbtest.Open(t, d)
	l := Log(t, s.Store(t, d), 0)
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
		before := Dump(t, db)
		create, drop := s.Trip(test.table)
		dbtest.Exec(t, db, create)
		if err := test.run(); err == nil || !strings.Contains(err.Error(), "tripped") {
			t.Errorf("%s: got %v", test.table, err)
		}
		if after := Dump(t, db); after != before {
			t.Errorf("%s: before\n%s\nafter\n%s", test.table, before, after)
		}
		dbtest.Exec(t, db, drop)
	}
	if claim, err := l.Claim(ctx, 1); err != nil || claim.Generator != 0 {
		t.Errorf("after a claim that failed: %+v, %v", claim, err)
	}
}

// Filled makes a database whose launch log has what the statements of [Server.Changing] change.
func (s Server[S]) Filled(t *testing.T) dsn.DSN {
	t.Helper()
	d := s.Database(t)
	storesuite.Fill(t, Log(t, s.Store(t, d), 0))
	return d
}

// Changing are the statements that change what was acknowledged.
func (s Server[S]) Changing() []string {
	return slices.Concat(storesuite.Refused(), s.Refused, []string{
		"INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid) " +
			"VALUES ('default', 9, 0, 'x', 'h', 1)",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('nowhere', 'd', 1)",
		"TRUNCATE idmint_generator", "TRUNCATE idmint_launch_event", "TRUNCATE idmint_counter",
	})
}

// What was acknowledged is not deleted or changed, even by somebody with the SQL shell.
func (s Server[S]) rowsStay(t *testing.T) {
	db := dbtest.Open(t, s.Filled(t))
	before := Dump(t, db)
	if lines := strings.Count(before, "\n"); lines < 7 {
		t.Fatalf("there is little to change:\n%s", before)
	}
	for _, text := range s.Changing() {
		if _, err := db.Exec(text); !s.Refuses(err) {
			t.Errorf("%s: got %v, want it refused", text, err)
		}
		if after := Dump(t, db); after != before {
			t.Fatalf("%s: before\n%s\nafter\n%s", text, before, after)
		}
	}
}
