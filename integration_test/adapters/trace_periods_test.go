package adapters_test

import (
	"slices"
	"testing"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/testclock"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/functions"
)

type (
	span   struct{}
	SpanID = idtype.Trace[span]
)

// What docs/use/trace.md says: a node mints the same IDs 388 days later. As the only key they are
// duplicates, and with the period beside them they are rows of their own, in the order of time.
func TestTracePeriods(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { testTracePeriods(t, sqlInMemory(t)) })
	for kind, dialect := range map[databases.Kind]sqlid.Dialect{
		databases.Postgres: sqlid.Postgres, databases.MariaDB: sqlid.MariaDB,
	} {
		t.Run(string(kind), func(t *testing.T) {
			testTracePeriods(t, sqlDatabase{dialect, dbtest.Open(t, dbtest.New(t, kind)), ""})
		})
	}
}

func testTracePeriods(t *testing.T, d sqlDatabase) {
	id := sqlid.Must(sqlid.Column[SpanID]{Name: "id"}.NotNull(d.Dialect))
	d.exec(t, "CREATE TABLE spans (period SMALLINT NOT NULL, "+id+
		", name VARCHAR(100) NOT NULL, PRIMARY KEY (period, id))"+d.End)
	key := sqlid.Must(sqlid.Column[SpanID]{Name: "id"}.PrimaryKey(d.Dialect))
	d.exec(t, "CREATE TABLE plain ("+key+")"+d.End)
	p := d.parameter
	insert := "INSERT INTO spans (period, id, name) VALUES (" + p(1) + ", " + p(2) + ", " + p(3) + ")"

	// The last second of a period, which the wall's clock may take for one before, and the first.
	end := time.Unix(54<<formats.TraceTimestampBits, 0)
	var stored []SpanID
	for _, start := range []time.Time{
		end.Add(-time.Second), end, end.Add(formats.TracePeriod - time.Second),
		end.Add(formats.TracePeriod),
	} {
		spans := tracesAt(start)
		now := start.Add(-3 * time.Hour)
		minted, period := storedSpan(t, spans, now)
		if want := int(start.Unix() >> 25); period != want {
			t.Errorf("period %d of %v, want %d", period, start, want)
		}
		_, err := d.DB.Exec(insert, period, minted, start.Format(time.DateOnly))
		try(t, err)
		_, err = d.DB.Exec("INSERT INTO plain (id) VALUES ("+p(1)+")", minted)
		if repeats := slices.Contains(stored, minted); (err != nil) != repeats {
			t.Errorf("as the only key, an ID that repeats: %t, error %v", repeats, err)
		}
		stored = append(stored, minted)
	}
	if stored[0] != stored[2] || stored[1] != stored[3] || stored[0] == stored[1] {
		t.Fatalf("minted %v: want the same after %v", stored, formats.TracePeriod)
	}
	rows, err := d.DB.Query("SELECT id FROM spans ORDER BY period, id")
	try(t, err)
	defer rows.Close()
	var read []SpanID
	for rows.Next() {
		var id SpanID
		try(t, rows.Scan(&id))
		read = append(read, id)
	}
	try(t, rows.Err())
	same(t, read, stored)

	if d.Dialect == sqlid.Postgres { // rows of one period that were stored without it
		try(t, functions.Install(t.Context(), d.DB, sqlid.Postgres))
		now := time.Now()
		_, err := d.DB.Exec("DELETE FROM spans")
		try(t, err)
		_, err = d.DB.Exec(insert, 0, must(tracesAt(now).Next(t.Context())), "old")
		try(t, err)
		d.exec(t, `UPDATE spans SET period = floor(
			extract(epoch FROM idmint_trace_time(id, now() + interval '1 day')) / 33554432)`)
		var period int64
		try(t, d.DB.QueryRow("SELECT period FROM spans").Scan(&period))
		if want := now.Unix() >> 25; period != want {
			t.Errorf("period %d by SQL, want %d", period, want)
		}
	}
}

// storedSpan mints an ID while the clock of the app says now.
func storedSpan(t *testing.T, spans *generator.Keys[SpanID], now time.Time) (SpanID, int) {
	t.Helper()
	ctx := t.Context()
	id, err := spans.Next(ctx)
	try(t, err)
	period := id.Period(now.Add(24 * time.Hour))
	return id, period
}

func tracesAt(start time.Time) *generator.Keys[SpanID] {
	clock := testclock.New(start.Add(-time.Second))
	g := must(generator.NewTrace(generator.Given(7), &generator.Options{Clock: clock}))
	clock.Set(start)
	return must(generator.For[SpanID](g))
}
