package stores_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// dump is what the log's tables hold, a line for each row.
func dump(t *testing.T, db *sql.DB) string {
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
func TestNothingHalfDone(t *testing.T) { eachServer(t, nothingHalfDone) }

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
	storesuite.Fill(t, logOf(t, open(t, d)))
	return d
}

// changing are the statements that change what was acknowledged.
func (s server) changing() []string {
	return slices.Concat(storesuite.Refused(), s.refused, []string{
		"INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid) " +
			"VALUES ('default', 9, 0, 'x', 'h', 1)",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('nowhere', 'd', 1)",
		"TRUNCATE idmint_generator", "TRUNCATE idmint_launch_event", "TRUNCATE idmint_counter",
	})
}

// What was acknowledged is not deleted or changed, even by somebody with the SQL shell.
func TestRowsStay(t *testing.T) { eachServer(t, rowsStay) }

func rowsStay(t *testing.T, s server) {
	db := dbtest.Open(t, s.filled(t))
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
