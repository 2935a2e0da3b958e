package adapters_test

import (
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/functions"
)

// firstMinute is when the rows of the tests begin: one each minute of some days.
var firstMinute = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

const (
	days       = 5
	minuteRows = days * 24 * 60
)

// A table has the IDs of a scheme in one of its columns. In its bounds %s stands for a time.
type timeTable struct {
	name     string
	column   func(d sqlid.Dialect) (string, error)
	id       func(t time.Time) any
	min, max string
}

func tableOf[T idtype.ID](name, form string, of func(t time.Time) (T, error)) timeTable {
	scheme := T.Scheme(*new(T))
	bound := func(which string) string {
		return strings.Replace(form, "%s", fmt.Sprintf("idmint_%s_%s(%%s)", scheme, which), 1)
	}
	return timeTable{
		name, sqlid.Column[T]{Name: "id"}.PrimaryKey,
		func(t time.Time) any { return must(of(t)) }, bound("min"), bound("max"),
	}
}

type (
	eightByteNumber = idtype.EightByte[idtype.AsBigint[any]]
	snoText         = idtype.Sno[idtype.AsText[any]]
	snoUUID         = idtype.Sno[idtype.AsUUID[any]]
)

func snoAt(t time.Time) (idtype.SnoID, error) {
	return idtype.SnoParts{UnixMs: t.UnixMilli(), Partition: 7, Sequence: 9}.ID()
}

var timeTables = []timeTable{
	tableOf("trace", "%s", func(t time.Time) (idtype.TraceID, error) {
		return idtype.TraceParts{Timestamp: int(t.Unix() & (1<<25 - 1)), Node: 3, Bottom: 5}.ID()
	}),
	tableOf("short", "%s", func(t time.Time) (idtype.ShortID, error) {
		return idtype.ShortParts{UnixMs: t.UnixMilli(), Sequence: 3, Random: 5}.ID()
	}),
	tableOf("eightbyte", "%s", eightByteAt),
	tableOf("eightbyte_number", "idmint_eightbyte_number(%s)",
		func(t time.Time) (eightByteNumber, error) {
			id, err := eightByteAt(t)
			return eightByteNumber(id), err
		}),
	tableOf("sno", "%s", snoAt),
	tableOf("sno_text", "idmint_sno_text(%s)", func(t time.Time) (snoText, error) {
		id, err := snoAt(t)
		return snoText(id), err
	}),
	tableOf("sno_uuid", "idmint_sno_uuid(%s)", func(t time.Time) (snoUUID, error) {
		id, err := snoAt(t)
		return snoUUID(id), err
	}),
}

func eightByteAt(t time.Time) (idtype.EightByteID, error) {
	return idtype.EightByteParts{
		Mode: idtype.EightByteTimeSequential, UnixMs: t.UnixMilli(), Generator: 3,
	}.ID()
}

// between is the condition for a span of time.
func (t timeTable) between(from, to string) string {
	return fmt.Sprintf("id BETWEEN "+t.min+" AND "+t.max, from, to)
}

// fill inserts the rows.
func (t timeTable) fill(tb testing.TB, db *sql.DB, parameter func(int) string) {
	tb.Helper()
	for first := 0; first < minuteRows; first += minuteRows / days {
		var rows []string
		var args []any
		for i := range minuteRows / days {
			rows = append(rows, "("+parameter(i+1)+")")
			args = append(args, t.id(firstMinute.Add(time.Duration(first+i)*time.Minute)))
		}
		query := "INSERT INTO " + t.name + " VALUES " + strings.Join(rows, ", ")
		if _, err := db.Exec(query, args...); err != nil {
			tb.Fatal(err)
		}
	}
}

// lines are what a query answers, as text.
func linesOf(tb testing.TB, db *sql.DB, query string) string {
	tb.Helper()
	rows, err := db.Query(query)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	try(tb, err)
	var all strings.Builder
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		try(tb, rows.Scan(into...))
		for i, v := range values {
			fmt.Fprintf(&all, "%s=%s ", columns[i], v.String)
		}
		all.WriteString("\n")
	}
	try(tb, rows.Err())
	return all.String()
}

func countRows(tb testing.TB, db *sql.DB, query string) (n int) {
	tb.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return n
}

// An hour of PostgreSQL's rows is read by the index of one partition. Its bounds were made by the
// functions as well. The others are left out while the query is planned, or where the time is
// now(), when it begins.
func TestFunctionsPostgresPlans(t *testing.T) {
	t.Parallel()
	db := newFunctions(t, functions.Postgres)
	for _, table := range timeTables {
		t.Run(table.name, func(t *testing.T) {
			dbtest.Exec(t, db, "CREATE TABLE "+table.name+" ("+must(table.column(sqlid.Postgres))+
				") PARTITION BY RANGE (id)")
			for day := range days {
				from := firstMinute.AddDate(0, 0, day).Format("'2006-01-02Z'")
				to := firstMinute.AddDate(0, 0, day+1).Format("'2006-01-02Z'")
				dbtest.Exec(t, db, fmt.Sprintf("CREATE TABLE %s_%02d PARTITION OF %s", table.name,
					day+1, table.name)+fmt.Sprintf(" FOR VALUES FROM ("+table.min+") TO ("+
					table.min+")", from, to))
			}
			table.fill(t, db, func(i int) string { return fmt.Sprintf("$%d", i) })
			dbtest.Exec(t, db, "ANALYZE "+table.name)
			condition := table.between("'2026-11-03 12:00Z'", "'2026-11-03 12:59:59.999Z'")
			query := "SELECT count(*) FROM " + table.name + " WHERE " + condition
			if n := countRows(t, db, query); n != 60 {
				t.Errorf("%d rows in an hour", n)
			}
			plan := linesOf(t, db, "EXPLAIN "+query)
			scans := regexp.MustCompile(`Scan.* on (\S+)`).FindAllStringSubmatch(plan, -1)
			if len(scans) != 1 || scans[0][1] != table.name+"_03" ||
				!strings.Contains(plan, "Index Cond") || strings.Contains(plan, "Filter") {
				t.Errorf("%s", plan)
			}
			query = "SELECT count(*) FROM " + table.name + " WHERE " +
				table.between("now() - interval '1 hour'", "now()")
			plan = linesOf(t, db, "EXPLAIN (ANALYZE, COSTS OFF) "+query)
			if !strings.Contains(plan, "Subplans Removed") {
				t.Errorf("%s", plan)
			}
		})
	}
}

// The planner puts a function of a number into the query, so a report over many rows calls none.
// An index may be of such a function.
func TestFunctionsPostgresInlines(t *testing.T) {
	t.Parallel()
	db := newFunctions(t, functions.Postgres)
	dbtest.Exec(t, db, "CREATE TABLE t (id bigint, b bytea)",
		"INSERT INTO t SELECT i * 10000000000 + i % 97 + 1, NULL FROM generate_series(1, 20000) i",
		"CREATE INDEX by_launch ON t (idmint_decimal_launch(id))", "ANALYZE t")
	inline := 0
	for name, arg := range map[string]string{
		"decimal_counter": "id", "decimal_generator": "id", "decimal_launch": "id",
		"trace_timestamp": "id", "trace_node": "id", "trace_bottom": "id",
		"short_time": "id", "short_sequence": "id", "short_random": "id", "short_text": "id",
		"eightbyte_mode": "b", "eightbyte_time": "b", "eightbyte_generator": "b",
		"sno_time": "b", "sno_tick_tock": "b", "sno_meta": "b", "sno_partition": "b",
		"sno_sequence": "b",
	} {
		plan := linesOf(t, db, fmt.Sprintf("EXPLAIN (VERBOSE) SELECT idmint_%s(%s) FROM t", name, arg))
		if strings.Contains(plan, "idmint_") {
			t.Errorf("%s is called: %s", name, plan)
		}
		inline++
	}
	plan := linesOf(t, db, "EXPLAIN SELECT * FROM t WHERE idmint_decimal_launch(id) = 65")
	if !strings.Contains(plan, "by_launch") {
		t.Errorf("%s", plan)
	}
	t.Logf("%d functions are put into the query", inline)
}

// An hour of MariaDB's rows is a range of the key.
func TestFunctionsMariaDBPlans(t *testing.T) {
	t.Parallel()
	db := newFunctions(t, functions.MariaDB)
	for _, table := range timeTables {
		t.Run(table.name, func(t *testing.T) {
			dbtest.Exec(t, db,
				"CREATE TABLE "+table.name+" ("+must(table.column(sqlid.MariaDB))+")")
			table.fill(t, db, func(int) string { return "?" })
			dbtest.Exec(t, db, "ANALYZE TABLE "+table.name)
			query := "SELECT count(*) FROM " + table.name + " WHERE " +
				table.between("'2026-11-03 12:00'", "'2026-11-03 12:59:59.999'")
			if n := countRows(t, db, query); n != 60 {
				t.Errorf("%d rows in an hour", n)
			}
			plan := linesOf(t, db, "EXPLAIN "+query)
			read := regexp.MustCompile(` type=range .*key=PRIMARY .*rows=(\d+) `).FindStringSubmatch(plan)
			if read == nil || len(read[1]) > 3 {
				t.Errorf("%s", plan)
			}
		})
	}
}

// An hour of ClickHouse's rows is in few granules of few parts. UUIDs are ordered by their second
// half there, so nothing bounds them.
func TestFunctionsClickHousePlans(t *testing.T) {
	t.Parallel()
	db := newFunctions(t, functions.ClickHouse)
	for _, table := range timeTables {
		if table.name == "sno_uuid" {
			continue
		}
		t.Run(table.name, func(t *testing.T) {
			typ := map[string]string{
				"eightbyte": "FixedString(8)", "sno": "FixedString(10)",
				"sno_text": "FixedString(16)",
			}[table.name]
			if typ == "" {
				typ = "Int64"
			}
			partition, parts := "", 1
			switch table.name {
			case "short", "eightbyte", "sno":
				partition = "PARTITION BY toDate(assumeNotNull(idmint_" + table.name + "_time(id)))"
				parts = days
			}
			dbtest.Exec(t, db, "CREATE TABLE "+table.name+" (id "+typ+") ENGINE = MergeTree "+
				partition+" ORDER BY id SETTINGS index_granularity = 128, add_minmax_index_for_numeric_columns = 0")
			// The parts of other days have other IDs, which their minmax index says.
			tx := must(db.Begin())
			insert := must(tx.Prepare("INSERT INTO " + table.name))
			for i := range minuteRows {
				id := table.id(firstMinute.Add(time.Duration(i) * time.Minute))
				switch of := id.(type) {
				case idtype.EightByteID:
					id = string(of[:])
				case idtype.SnoID:
					id = string(of[:])
				case snoText:
					id = of.String()
				}
				if _, err := insert.Exec(id); err != nil {
					t.Fatal(err)
				}
			}
			try(t, tx.Commit())
			query := "SELECT count() FROM " + table.name + " WHERE " +
				table.between("'2026-11-03 12:00:00'", "'2026-11-03 12:59:59.999'")
			if n := countRows(t, db, query); n != 60 {
				t.Errorf("%d rows in an hour", n)
			}
			plan := linesOf(t, db, "EXPLAIN indexes = 1 "+query)
			if !strings.Contains(plan, fmt.Sprintf("Parts: 1/%d ", parts)) {
				t.Errorf("want one of %d parts:\n%s", parts, plan)
			}
			read := regexp.MustCompile(`Granules: (\d+)/\d+`).FindAllStringSubmatch(plan, -1)
			if len(read) == 0 || len(read[len(read)-1][1]) > 1 || read[len(read)-1][1] > "2" {
				t.Errorf("want at most 2 granules:\n%s", plan)
			}
		})
	}
}
