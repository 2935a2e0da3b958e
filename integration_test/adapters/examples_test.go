package adapters_test

import (
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/migrations"
)

// examplesDir has the programs that tests run, once buildExamples has built them side by side.
var examplesDir string

var buildExamples = sync.OnceValue(func() (err error) {
	if examplesDir, err = os.MkdirTemp("", "idmint-examples-"); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-ldflags=-w", "-o", examplesDir)
	for _, name := range []string{
		"bun", "ceiling", "clickhouse", "ent", "gorm", "http", "pipeline", "postgres", "sqlc", "sqlx",
	} {
		cmd.Args = append(cmd.Args, "github.com/idmint/idmint/examples/"+name)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

// example is a program of examples.
func example(t *testing.T, name string) (path string) {
	t.Helper()
	try(t, buildExamples())
	return filepath.Join(examplesDir, name)
}

// A shop is a database with launch 1 in its log, and what an example calls it.
type shop struct{ dir, db string }

func newShop(t *testing.T, dialect migrations.Dialect) shop {
	t.Helper()
	dir, ctx := t.TempDir(), t.Context()
	s := shop{dir, "sqlite:shop.db"}
	var db *sql.DB
	var open func() (launchlog.Store, error)
	switch dialect {
	case migrations.Postgres:
		d := dbtest.New(t, databases.Postgres)
		s.db, db = d.Source(), dbtest.Open(t, d)
		open = func() (launchlog.Store, error) { return postgres.Open(ctx, s.db) }
	case migrations.MySQL:
		d := dbtest.New(t, databases.MariaDB)
		s.db, db = d.Source(), dbtest.Open(t, d)
		open = func() (launchlog.Store, error) { return mysql.Open(ctx, s.db) }
	default:
		path := filepath.Join(dir, "launches.db")
		db = dbtest.OpenSource(t, "sqlite3", sqlite.DSN(path, sqlite.Create))
		open = func() (launchlog.Store, error) { return sqlite.Open(ctx, path) }
	}
	_, _, err := migrations.Up(ctx, db, dialect)
	try(t, err)
	store, err := open()
	try(t, err)
	launch, err := must(launchlog.New(store, nil)).Start(ctx,
		launchlog.Request{Key: "deploy-1", Service: "shop", Environment: "dev", Initiator: "test"})
	if err != nil || launch.ID != 1 {
		t.Fatalf("launch %d, %v", launch.ID, err)
	}
	try(t, store.(io.Closer).Close())
	return s
}

// run runs a program of examples as part of launch 1.
func (s shop) run(t *testing.T, name string, env ...string) string {
	t.Helper()
	cmd := exec.Command(example(t, name))
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), "IDMINT_LAUNCH_ID=1", "IDMINT_DB="+s.db), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, strings.TrimSpace(string(out)))
	}
	return string(out)
}

// GORM writes statements that took more than 200 ms to standard output, in colours.
var slowStatement = regexp.MustCompile("(?m)^.*[\r\x1b].*\n")

// The examples do what the README, docs/sqlc.md and docs/sql-drivers.md say.
func TestExamples(t *testing.T) {
	t.Parallel()
	const sqlcRows = "Ann is 10000000001\nBob is 20000000001\n" +
		"10000000001 has an order: true\n20000000001 has an order: false\n" +
		"10000000001 has 1 order, the newest is 30000000001\n"
	const sqlxRows = "Ann is 10000000001 and was invited: false\n" +
		"Cem is 30000000001 and was invited: true\n"
	orders := []string{
		"Ann is 10000000001 and ordered 20000000001 and 30000000001\n",
		"Ann is 10000000001 and ordered 50000100001 and 60000100001\n",
	}
	for _, c := range []struct {
		example string
		dialect migrations.Dialect
		want    []string // of one run after another
	}{
		{
			"postgres", migrations.Postgres, []string{
				"Ann is 10000000001\nCem is 30000000001\n",
				"Ann is 40000100001\nCem is 60000100001\n", // above the first run's
			},
		},
		{"bun", migrations.Postgres, orders},
		{"bun", migrations.SQLite, orders},
		{"ent", migrations.Postgres, orders},
		{"ent", migrations.SQLite, orders},
		{
			"gorm", migrations.Postgres, []string{
				"Ann ordered tea by 20000000001 as 10000000001\n" +
					"Ann ordered milk by 30000000001 as 10000000001\n",
			},
		},
		{
			"sqlc", migrations.Postgres, []string{
				"Ann is 10000000001\nBob is 20000000001\n" +
					"20000000001 has no order, and was invited by 10000000001\n" +
					"10000000001 pays 1200 for [30000000001 40000000001] and 2 events\n" +
					"both events are of [30000000001 40000000001]\n",
			},
		},
		{"sqlc", migrations.MySQL, []string{sqlcRows}},
		{"sqlc", migrations.SQLite, []string{sqlcRows}},
		{"sqlx", migrations.Postgres, []string{sqlxRows + "1 by = ANY($1)\n"}},
		{"sqlx", migrations.SQLite, []string{sqlxRows}},
		{
			"pipeline", migrations.Postgres,
			[]string{"minted: 1 round trips\nRETURNING: 4 round trips\n"},
		},
	} {
		t.Run(c.example+"/"+string(c.dialect), func(t *testing.T) {
			t.Parallel()
			s := newShop(t, c.dialect)
			if c.dialect == migrations.SQLite && (c.example == "bun" || c.example == "ent") {
				s.db = "" // which is SQLite to them
			}
			for run, want := range c.want {
				got := slowStatement.ReplaceAllString(s.run(t, c.example), "")
				if got != want {
					t.Errorf("run %d says %q, want %q", run, got, want)
				}
			}
		})
	}
	// A program that fails tells the log how far its IDs have come all the same.
	t.Run("failing", func(t *testing.T) {
		t.Parallel()
		s := newShop(t, migrations.SQLite)
		path := filepath.Join(s.dir, "shop.db")
		db := dbtest.OpenSource(t, "sqlite3", sqlite.DSN(path, sqlite.Create))
		dbtest.Exec(t, db, "CREATE TABLE users (id INTEGER PRIMARY KEY)")
		cmd := exec.Command(example(t, "sqlx"))
		cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "IDMINT_LAUNCH_ID=1", "IDMINT_DB="+s.db)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "no column named name") {
			t.Fatalf("%v: %s", err, out)
		}
		dbtest.Exec(t, db, "DROP TABLE users")
		const want = "Ann is 40000100001 "
		if got := s.run(t, "sqlx"); !strings.HasPrefix(got, want) {
			t.Errorf("the next run says %q, want %q", got, want)
		}
	})
	t.Run("ceiling", func(t *testing.T) {
		t.Parallel()
		s := newShop(t, migrations.SQLite)
		event := regexp.MustCompile(`^Event ([2-9a-x]{16}) at 20.* UTC\n$`)
		var last string
		for range 2 {
			got := event.FindStringSubmatch(s.run(t, "ceiling"))
			if got == nil || got[1] <= last {
				t.Fatalf("it says %q after %s", got, last)
			}
			last = got[1]
		}
	})
	t.Run("clickhouse", func(t *testing.T) {
		t.Parallel()
		out := newShop(t, migrations.SQLite).run(t, "clickhouse", "CLICKHOUSE_DSN="+
			dbtest.New(t, databases.ClickHouse).Source())
		var bytes float64
		if _, err := fmt.Sscanf(out, "%f bytes per ID", &bytes); err != nil || bytes <= 0 ||
			bytes > 0.02 {
			t.Errorf("it says %q: %v", out, err)
		}
	})
}
