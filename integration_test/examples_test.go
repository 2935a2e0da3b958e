package integration_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/migrations"
)

// The examples that need a server do what the README says of them.
func TestExamples(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		d := dbtest.New(t, databases.Postgres).Source()
		startLaunch(t, "pgx", d, migrations.Postgres,
			func(ctx context.Context) (launchlog.Store, error) {
				return postgres.Open(ctx, d)
			})
		for run, want := range []string{
			"Ann is 10000000001\nCem is 30000000001\n",
			"Ann is 40000100001\nCem is 60000100001\n", // above the first run's
		} {
			if got := runExample(t, "postgres", t.TempDir(), "IDMINT_DB="+d); got != want {
				t.Errorf("run %d: %q, want %q", run, got, want)
			}
		}
	})
	t.Run("gorm", func(t *testing.T) {
		d := dbtest.New(t, databases.Postgres).Source()
		startLaunch(t, "pgx", d, migrations.Postgres,
			func(ctx context.Context) (launchlog.Store, error) {
				return postgres.Open(ctx, d)
			})
		got := runExample(t, "gorm", t.TempDir(), "IDMINT_DB="+d)
		want := "Ann ordered tea by 20000000001 as 10000000001\n" +
			"Ann ordered milk by 30000000001 as 10000000001\n"
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
	t.Run("ceiling", func(t *testing.T) {
		dir := shopDB(t)
		event := regexp.MustCompile(`^Event ([2-9a-x]{16}) at 20.* UTC\n$`)
		var last string
		for range 2 {
			got := event.FindStringSubmatch(runExample(t, "ceiling", dir, ""))
			if got == nil || got[1] <= last {
				t.Fatalf("it says %q after %s", got, last)
			}
			last = got[1]
		}
	})
	t.Run("clickhouse", func(t *testing.T) {
		dir := shopDB(t)
		out := runExample(t, "clickhouse", dir, "CLICKHOUSE_DSN="+
			dbtest.New(t, databases.ClickHouse).Source())
		var bytes float64
		if _, err := fmt.Sscanf(out, "%f bytes per ID", &bytes); err != nil || bytes <= 0 ||
			bytes > 0.02 {
			t.Errorf("it says %q: %v", out, err)
		}
	})
}

// shopDB is a folder with launch 1 in shop.db.
func shopDB(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "shop.db")
	startLaunch(t, "sqlite3", sqlite.DSN(path, sqlite.Create), migrations.SQLite,
		func(ctx context.Context) (launchlog.Store, error) { return sqlite.Open(ctx, path) })
	return dir
}

// startLaunch makes a launch log with launch 1.
func startLaunch(
	t *testing.T, driver, source string, dialect migrations.Dialect,
	open func(context.Context) (launchlog.Store, error),
) {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, _, err := migrations.Up(t.Context(), db, dialect); err != nil {
		t.Fatal(err)
	}
	store, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer store.(interface{ Close() error }).Close()
	launches, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := launches.Start(t.Context(),
		launchlog.Request{Key: "deploy-1", Service: "shop", Environment: "dev", Initiator: "test"})
	if err != nil || launch.ID != 1 {
		t.Fatalf("launch %d, %v", launch.ID, err)
	}
}

// runExample runs a program of examples in dir, as part of launch 1.
func runExample(t *testing.T, name, dir, env string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("go", "build", "-o", program, "../examples/"+
		name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "IDMINT_LAUNCH_ID=1", env)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, strings.TrimSpace(string(out)))
	}
	return string(out)
}
