package site_test

import (
	"strings"
	"testing"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// From bigserial: both versions of the app write beside each other.
func TestFromBigserial(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	r := newRunner(t, source, "tickets")
	launches := startLaunches(t, source)
	ids := must(generator.NewDecimal(launches.Generators(1)))
	ctx := t.Context()
	check(t, ids.Ready(ctx))
	var steps []string
	undo := ""
	for _, b := range readBlocks(t) {
		switch b.kind {
		case "sql bigserial":
			steps = append(steps, b.text)
		case "sql bigserial-undo":
			undo = b.text
		}
	}
	if len(steps) != 4 || undo == "" {
		t.Fatalf("%q, %q", steps, undo)
	}
	insert := func(text string, args ...any) error {
		_, err := r.conn.Exec(ctx, text, args...)
		return err
	}
	const byDefault = "INSERT INTO tickets (title) VALUES ('old')"
	minted := func() {
		t.Helper()
		key := must(ids.Next(ctx))
		check(t, insert("INSERT INTO tickets (id, title) VALUES ($1, 'new')", int64(key)))
	}
	r.run(t, steps[0])
	check(t, insert("INSERT INTO tickets (title) SELECT 'old' FROM generate_series(1, 100)"))
	r.run(t, steps[1])
	for range 100 {
		check(t, insert(byDefault))
		minted()
	}
	r.run(t, steps[2])
	minted()
	if err := insert(byDefault); err == nil || !strings.Contains(err.Error(), "23502") {
		t.Errorf("a forgotten key: %v", err)
	}
	r.run(t, undo)
	check(t, insert(byDefault))
	minted()
	check(t, insert("SELECT setval('tickets_id_seq', 9999999999)"))
	if err := insert(byDefault); err == nil || !strings.Contains(err.Error(), "2200H") {
		t.Errorf("the sequence went on: %v", err)
	}
	r.run(t, steps[2])
	r.run(t, steps[3])
	minted()
	var below, above int
	check(t, r.conn.QueryRow(ctx, `SELECT
		count(*) FILTER (WHERE id < 10000000000 AND title = 'old'),
		count(*) FILTER (WHERE id > 10000000000 AND title = 'new') FROM tickets`,
	).Scan(&below, &above))
	if below != 201 || above != 103 {
		t.Errorf("%d old tickets, %d new ones", below, above)
	}
}
