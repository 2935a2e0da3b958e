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

	"go.uber.org/goleak"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

// A fixture is a database file with a launch log. The checks have a connection of their own.
type fixture struct {
	testing.TB
	path string
	db   *sql.DB
	log  *launchlog.Log
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return newFixtureAt(t, filepath.Join(t.TempDir(), "app ü?#.db")) // a name that a careless DSN trips over
}

func newFixtureAt(t testing.TB, path string) *fixture {
	t.Helper()
	// The last thing that is done: no import leaves a goroutine behind. A test may have more fixtures, whose databases are open.
	t.Cleanup(func() { goleak.VerifyNone(t, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener")) })
	f := &fixture{TB: t, path: path}
	f.db = f.open()
	if _, _, err := migrations.Up(ctx, f.db, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	f.log = f.newLog(func(s launchlog.Store) launchlog.Store { return s })
	return f
}

func (f *fixture) open() *sql.DB {
	f.Helper()
	db, err := sql.Open("sqlite3", sqlite.DSN(f.path, sqlite.Create)+"&_busy_timeout=100")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	return db
}

// newLog opens the log again, as another process does, maybe with a store that is not quite as it should be.
func (f *fixture) newLog(wrap func(launchlog.Store) launchlog.Store) *launchlog.Log {
	f.Helper()
	store, err := sqlite.Open(ctx, f.path)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { store.Close() })
	log, err := launchlog.New(wrap(store), &launchlog.Options{Budget: 5 * time.Second})
	if err != nil {
		f.Fatal(err)
	}
	return log
}

// importing is an import of CSV into table t, in batches of ten rows, changed by the given functions.
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
	return Run(ctx, NewDatabase(f.open(), 5*time.Second), f.log, r, im)
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

// stopAfter runs an import that ends when rows rows are stored, and expects just that.
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

// checkNumbered checks that the rows of numbered(n) are in table t times each, and that for each generator the order of its IDs
// is that of the file. Tables may hold other rows, whose n is NULL.
func (f *fixture) checkNumbered(n, times int) {
	f.Helper()
	for query, want := range map[string]int{
		`SELECT count(*) FROM t WHERE n IS NOT NULL`:                                                                                                                       n * times,
		`SELECT count(DISTINCT n) FROM t WHERE n IS NOT NULL`:                                                                                                              n,
		`SELECT count(*) FROM (SELECT n FROM t WHERE n IS NOT NULL GROUP BY n HAVING count(*) <> ` + fmt.Sprint(times) + `)`:                                               0,
		`SELECT count(*) FROM t WHERE n IS NOT NULL AND (name <> 'name ' || n OR CAST(n AS INTEGER) NOT BETWEEN 0 AND ` + fmt.Sprint(n-1) + `)`:                            0,
		`SELECT count(*) FROM (SELECT n, lag(n) OVER (PARTITION BY id % 10000000000 ORDER BY id) before FROM t WHERE n IS NOT NULL) WHERE n + 0 <= before + 0`:             0,
		`SELECT count(*) FROM t WHERE n IS NOT NULL AND NOT EXISTS (SELECT 1 FROM idmint_generator WHERE launch_id = id % 100000 AND generator_id = id / 100000 % 100000)`: 0,
	} {
		if got := f.count(query); got != want {
			f.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

func (f *fixture) count(query string, args ...any) (n int) {
	f.Helper()
	if err := f.db.QueryRow(query, args...).Scan(&n); err != nil {
		f.Fatalf("%s: %v", query, err)
	}
	return n
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
	l, err := f.log.Start(ctx, launchlog.Request{Key: key, Service: "shop", Environment: "test", Initiator: "ann"})
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
