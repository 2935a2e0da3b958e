// Package viewerload_test measures the pages of package viewer on full launch logs. A namespace has
// launches of all its 99,999 digits, and one of them has used its 100,000 generator numbers.
package viewerload_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/migrations"
	"github.com/idmint/idmint/viewer"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// launches are those of a lap: all digits are in use.
const launches = launchlog.Lap - 1

// A words is how a dialect makes rows.
type words struct {
	series func(n int) string // a table (n) of 1 to n
	ago    string             // a time, some minutes ago
}

var sqliteWords = words{
	func(n int) string {
		return fmt.Sprintf(`(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE
			n < %d) SELECT n FROM c)`, n)
	},
	`strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', 'now', '-' || (%s) || ' minutes')`,
}

var postgresWords = words{
	func(n int) string { return fmt.Sprintf(`(SELECT n FROM generate_series(1, %d) n) s`, n) },
	`clock_timestamp() - (%s) * interval '1 minute'`,
}

// fill makes the rows. All launches but every so-manieth have ended. Rows are what a store would
// have made, one step at a time.
func fill(w words, running int) []string {
	started, ended := fmt.Sprintf(w.ago, "200000 - 2 * n"), fmt.Sprintf(w.ago, "199999 - 2 * n")
	runs := fmt.Sprintf("n %% %d = 0", launches/running)
	return []string{
		`INSERT INTO idmint_namespace (namespace, last_launch_id) VALUES ('default', 99999)`,
		`INSERT INTO idmint_launch (namespace, launch_id, idempotency_key, request_hash, service,
			environment, initiator, version, ticket, reason, pipeline_url, host, started_at, ended_at,
			outcome, next_generator_id)
		SELECT 'default', n, 'run-' || n, 'hash', 'service-' || (n % 40),
			CASE n % 3 WHEN 0 THEN 'prod' ELSE 'staging' END, 'ann', 'v1.' || n, 'SHOP-' || n,
			'the release of the week, with a reason that has some length', 'https://ci.example/' || n,
			'runner-7', ` + started + `, CASE WHEN ` + runs + ` THEN NULL ELSE ` + ended + ` END,
			CASE WHEN ` + runs + ` THEN NULL ELSE 'succeeded' END,
			CASE n WHEN 99999 THEN 100000 ELSE 0 END FROM ` + w.series(launches),
		`INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid, claimed_at)
		SELECT 'default', 99999, n - 1, 'token-' || n, 'web-' || (n % 50), n, ` +
			fmt.Sprintf(w.ago, "0") + ` FROM ` + w.series(launchlog.MaxGenerators),
		`INSERT INTO idmint_launch_event (namespace, launch_id, kind, actor)
		SELECT 'default', n, 'started', 'ann' FROM ` + w.series(launches),
		`INSERT INTO idmint_counter (namespace, name, value)
		SELECT 'default', 'sno/' || n, 1 + n FROM ` + w.series(100),
	}
}

// stores are the databases that have to be quick.
var stores = []struct {
	name string
	open func(testing.TB, int) launchlog.Store
}{
	{"SQLite", func(t testing.TB, running int) launchlog.Store {
		path := filepath.Join(t.TempDir(), "app.db")
		db := dbtest.OpenSource(t, "sqlite3", sqlite.DSN(path, sqlite.Create))
		prepare(t, db, migrations.SQLite, fill(sqliteWords, running))
		return opened(t)(sqlite.Open(t.Context(), path))
	}},
	{"PostgreSQL", func(t testing.TB, running int) launchlog.Store {
		d := dbtest.New(t, databases.Postgres)
		prepare(t, dbtest.Open(t, d), dsn.Postgres, append(fill(postgresWords, running), "ANALYZE"))
		store, err := postgres.Open(t.Context(), d.Source())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		return store
	}},
}

func opened(t testing.TB) func(*sqlite.Store, error) launchlog.Store {
	return func(s *sqlite.Store, err error) launchlog.Store {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
}

func prepare(t testing.TB, db *sql.DB, dialect migrations.Dialect, statements []string) {
	t.Helper()
	if _, _, err := migrations.Up(t.Context(), db, dialect); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, statements...)
}

// views are the pages, with what they must show and must not. Launch 99999 has ended, and is of
// service-39.
var views = []struct {
	name, path   string
	status       int
	shows, hides string
}{
	{"launches", "/launches", 200, newest, "launches/99949\""},
	{"filtered", "/launches?service=service-7&environment=prod", 200, "launches/99927\"", newest},
	{"nothing", "/launches?service=nobody", 200, "No launch matches the filter", newest},
	{"running", "/launches?running=1", 200, "launches/99980\"", newest},
	{"last", "/launches?before=51", 200, "launches/1\"", newest},
	{"launch", "/launches/99999", 200, "100,000 of 100,000", "No launch"},
	{"claims", "/launches/99999?before=51", 200, "web-1", "No launch"},
	{"explain", "/?q=10510009999999999", 200, "Launch ", "No launch"},
	{"claimed", "/?q=14150009299999", 200, "web-43", "No launch"},
	{"health", "/health", 200, "99,999 of 99,999", "finding"}, // digits come again
	{"healthz", "/healthz", 200, `"used":"99999"`, `"status":"failing"`},
}

const newest = "launches/99999\""

// BenchmarkFirstView measures the first view of each page, in milliseconds. The log was opened
// before, and its connections are warm. Each round has a handler of its own, so each view of health
// makes a reading.
func BenchmarkFirstView(b *testing.B) {
	for _, of := range stores {
		for _, running := range []int{20, launches / 2} {
			b.Run(fmt.Sprintf("%s/running=%d", of.name, running), func(b *testing.B) {
				store := of.open(b, running)
				for _, v := range views {
					b.Run(v.name, func(b *testing.B) {
						for b.Loop() {
							view(b, store, v.path, v.status, v.shows, v.hides)
						}
						b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/view")
					})
				}
			})
		}
	}
}

// TestFullLog: each page shows what a full log has. How long it takes is what the benchmark says.
func TestFullLog(t *testing.T) {
	for _, of := range stores {
		t.Run(of.name, func(t *testing.T) {
			store := of.open(t, 20)
			for _, v := range views {
				view(t, store, v.path, v.status, v.shows, v.hides)
			}
		})
	}
}

// view asks new pages of a store for a path.
func view(t testing.TB, store launchlog.Store, path string, status int, shows, hides string) {
	t.Helper()
	log, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := viewer.New(log, &viewer.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(context.Background(), "GET", path, nil)
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, r)
	if body := w.Body.String(); w.Code != status || !strings.Contains(body, shows) ||
		strings.Contains(body, hides) {
		t.Fatalf("%s: %d, want %d with %q and without %q: %.9000s", path, w.Code, status, shows,
			hides, body)
	}
}
