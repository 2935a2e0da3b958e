package importer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/cmd/idmint/internal/pool"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

// patience is the budget of a step that is to succeed, on a machine as busy as it may be.
const patience = 10 * time.Minute

// A fixture is a database with rows, beside a launch log. The checks have connections of their own.
type fixture struct {
	testing.TB
	place
	target   dsn.DSN // of the rows, unless they are in SQLite
	path     string  // of the launch log, a SQLite file
	db       *sql.DB // the rows'
	records  *sql.DB // with idmint_import
	launches *sql.DB
	log      *launchlog.Log
}

// A place is where the rows of an import are. Those of ClickHouse have their record in SQLite.
type place struct {
	name string
	kind databases.Kind // "" for SQLite
}

var (
	places = []place{
		{name: "SQLite"},
		{"PostgreSQL", databases.Postgres},
		{"MariaDB", databases.MariaDB},
		{"ClickHouse", databases.ClickHouse},
	}
	onServers = places[1:3] // where batches are transactions of a server
)

// everywhere runs a test in all places.
func everywhere(t *testing.T, test func(f *fixture)) {
	t.Helper()
	inPlaces(t, places, test)
}

// inPlaces runs a test in several places at once, beside other tests: most of their time they wait
// for servers.
func inPlaces(t *testing.T, places []place, test func(f *fixture)) {
	t.Helper()
	t.Parallel()
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			test(newFixtureIn(t, p))
		})
	}
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return newFixtureIn(t, places[0])
}

func newFixtureIn(t testing.TB, p place) *fixture {
	t.Helper()
	f := &fixture{TB: t, place: p}
	if p.kind != "" {
		f.target = dbtest.New(t, p.kind)
	}
	return f.fresh()
}

// fresh is another fixture in the same place, where nothing is any more.
func (f *fixture) fresh() *fixture {
	f.Helper()
	f = &fixture{TB: f.TB, place: f.place, target: f.target}
	f.path = filepath.Join(f.TempDir(), "app ü?#.db") // a name that a careless DSN trips over
	f.launches = f.open()
	if _, _, err := migrations.Up(ctx, f.launches, migrations.SQLite); err != nil {
		f.Fatal(err)
	}
	f.db, f.records = f.launches, f.launches
	if f.kind != "" {
		f.db = dbtest.Open(f, f.target)
		for _, table := range []string{"t", "u", "idmint_import"} {
			f.exec("DROP TABLE IF EXISTS " + table)
		}
	}
	if f.kind != databases.ClickHouse {
		f.records = f.db
	}
	f.log = f.newLog(func(s launchlog.Store) launchlog.Store { return s })
	return f
}

// open opens the launch log's file.
func (f *fixture) open() *sql.DB {
	f.Helper()
	db, err := sql.Open("sqlite3", sqlite.DSN(f.path, sqlite.Create)+"&_busy_timeout=100")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	return db
}

// database opens the database as another process does.
func (f *fixture) database(budget time.Duration) Database {
	f.Helper()
	log, target := dsn.DSN{Kind: dsn.SQLite, Path: f.path}, f.target
	if f.kind == "" {
		target = log
	}
	if f.kind != databases.ClickHouse { // where the rows go, the record is
		log = target
	}
	records, err := pool.Open(log, pool.Existing)
	if err != nil {
		f.Fatal(err)
	}
	db, err := Open(target, log, records, budget)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	return db
}

// newLog opens the log again, as another process does, maybe with a store that is not quite as it
// should be.
func (f *fixture) newLog(wrap func(launchlog.Store) launchlog.Store) *launchlog.Log {
	f.Helper()
	store, err := sqlite.Open(ctx, f.path)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { store.Close() })
	log, err := launchlog.New(wrap(store), &launchlog.Options{Budget: patience})
	if err != nil {
		f.Fatal(err)
	}
	return log
}

// importing is an import of CSV into table t, in batches of ten rows, changed by the given
// functions.
func importing(changes ...func(*Import)) Import {
	im := Import{Source: "/data/file.csv", Format: CSV, Table: "t", Batch: 10, Initiator: "ann"}
	for _, change := range changes {
		change(&im)
	}
	return im
}

func resume(im *Import)  { im.Resume = true }
func restart(im *Import) { im.Restart = true }

func launch(id int) func(*Import) { return func(im *Import) { im.Launch = id } }

func (f *fixture) run(ctx context.Context, r io.Reader, im Import) (Result, error) {
	f.Helper()
	return Run(ctx, f.database(patience), f.log, r, im)
}

// mustRun imports a file and expects it to succeed.
func (f *fixture) mustRun(file string, im Import) Result {
	f.Helper()
	result, err := f.run(ctx, strings.NewReader(file), im)
	if err != nil {
		f.Fatal(err)
	}
	return result
}

// stopAfter runs an import that ends when rows rows are stored, and expects that end.
func (f *fixture) stopAfter(rows int64, file string, im Import) Result {
	f.Helper()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	im.Progress = func(stored, _ int64) {
		if stored >= rows {
			cancel(errStop)
		}
	}
	result, err := f.run(ctx, strings.NewReader(file), im)
	var stopped *StoppedError
	if !errors.As(err, &stopped) || !errors.Is(err, errStop) || stopped.Rows != rows {
		f.Fatalf("got %v, want a StoppedError after %d rows", err, rows)
	}
	return result
}

var errStop = errors.New("stopped by the test")

// numbered is a file of n rows whose first column counts from 0.
func numbered(n int) string {
	var b strings.Builder
	b.WriteString("n,name\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,name %d\n", i, i)
	}
	return b.String()
}

// checkNumbered checks that the rows of numbered(n) are in table t times each. For each generator
// the order of its IDs is that of the file. Tables may hold other rows, whose n is NULL, or empty
// in ClickHouse.
func (f *fixture) checkNumbered(n, times int) {
	f.Helper()
	f.checkRows("t", n, times)
}

func (f *fixture) checkRows(table string, n, times int) {
	f.Helper()
	others := `n IS NULL`
	if f.kind == databases.ClickHouse {
		others = `coalesce(n, '') = ''`
	}
	rows, err := f.db.Query(`SELECT id, n, name FROM ` + table + ` WHERE NOT (` + others +
		`) ORDER BY id`)
	if err != nil {
		f.Fatal(err)
	}
	defer rows.Close()
	seen := make([]int, n)
	total, last := 0, map[int64]int{}
	for ; rows.Next(); total++ {
		var id int64
		var number int
		var name string
		if err := rows.Scan(&id, &number, &name); err != nil {
			f.Fatal(err)
		}
		if number < 0 || number >= n || name != fmt.Sprintf("name %d", number) {
			f.Fatalf("a row %d, %d, %q", id, number, name)
		}
		seen[number]++
		if before, ok := last[id%formats.DecimalStep]; ok && before >= number {
			f.Errorf("row %d precedes row %d of the same generator", before, number)
		}
		last[id%formats.DecimalStep] = number
	}
	if err := rows.Err(); err != nil {
		f.Fatal(err)
	}
	wrong := 0
	for number, got := range seen {
		if got != times {
			if wrong++; wrong < 5 {
				f.Errorf("row %d is there %d times, want %d", number, got, times)
			}
		}
	}
	if total != n*times || wrong > 0 {
		f.Errorf("%d rows, want %d times %d", total, times, n)
	}
	for number := range last {
		if f.count(`SELECT count(*) FROM idmint_generator WHERE launch_id = ? AND generator_id = ?`,
			number%100000, number/100000) != 1 {
			f.Errorf("generator %d of launch %d was not taken", number/100000, number%100000)
		}
	}
}

// count asks for a number: the database that has the table.
func (f *fixture) count(query string, args ...any) (n int) {
	f.Helper()
	db := f.db
	switch {
	case strings.Contains(query, "idmint_launch"), strings.Contains(query, "idmint_generator"):
		db = f.launches
	case strings.Contains(query, "idmint_import"):
		db = f.records
	}
	if err := db.QueryRow(query, args...).Scan(&n); err != nil {
		f.Fatalf("%s: %v", query, err)
	}
	return n
}

// exists reports whether there is a table.
func (f *fixture) exists(table string) bool {
	db := f.db
	if table == "idmint_import" {
		db = f.records
	}
	var n int
	return db.QueryRow("SELECT count(*) FROM "+table).Scan(&n) == nil
}

// create makes table t, with columns that imports find.
func (f *fixture) create() {
	f.Helper()
	if f.kind == databases.ClickHouse {
		f.exec(`CREATE TABLE t (id Int64, n Nullable(String), name Nullable(String)) ENGINE = ` +
			`MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 100`)
		return
	}
	f.exec(`CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, n TEXT, name TEXT)`)
}

func (f *fixture) exec(query string, args ...any) {
	f.Helper()
	if _, err := f.db.Exec(query, args...); err != nil {
		f.Fatalf("%s: %v", query, err)
	}
}

// table reads a table in the order of its IDs: the IDs, and the other columns as text.
func (f *fixture) table(query string) (ids []idtype.DecimalID, values [][]string) {
	f.Helper()
	rows, err := f.db.Query(query)
	if err != nil {
		f.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		f.Fatal(err)
	}
	for rows.Next() {
		var id idtype.DecimalID
		texts := make([]sql.NullString, len(columns)-1)
		into := []any{&id}
		for i := range texts {
			into = append(into, &texts[i])
		}
		if err := rows.Scan(into...); err != nil {
			f.Fatal(err)
		}
		row := make([]string, len(texts))
		for i, text := range texts {
			if row[i] = text.String; !text.Valid {
				row[i] = "NULL"
			}
		}
		ids, values = append(ids, id), append(values, row)
	}
	if err := rows.Err(); err != nil {
		f.Fatal(err)
	}
	return ids, values
}

// start makes a launch, as a deployment does.
func (f *fixture) start(key string) int {
	f.Helper()
	l, err := f.log.Start(ctx,
		launchlog.Request{Key: key, Service: "shop", Environment: "test", Initiator: "ann"})
	if err != nil {
		f.Fatal(err)
	}
	return l.ID
}

func (f *fixture) end(id int, outcome launchlog.Outcome) {
	f.Helper()
	if _, err := f.log.End(ctx, id, launchlog.Ending{Outcome: outcome, Actor: "ann"}); err != nil {
		f.Fatal(err)
	}
}

// outcome is how a launch has ended, "" where it runs.
func (f *fixture) outcome(id int) launchlog.Outcome {
	f.Helper()
	l, err := f.log.Show(ctx, id)
	if err != nil {
		f.Fatal(err)
	}
	return l.Outcome
}
