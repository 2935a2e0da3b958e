package orms

import (
	"bytes"
	"database/sql"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/internal/checkout"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/migrations"
)

// The examples run on both databases, and a second time.
func TestExamples(t *testing.T) {
	programs := t.TempDir()
	build := exec.Command("go", "build", "-ldflags=-w", "-o", programs,
		"github.com/idmint/idmint/examples/ent", "github.com/idmint/idmint/examples/bun")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"ent", "bun"} {
		program := filepath.Join(programs, name)
		t.Run(name+"/SQLite", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "launches.db")
			db := dbtest.OpenSource(t, "sqlite3", sqlite.DSN(path, sqlite.Create))
			migrate(t, db, migrations.SQLite)
			store, err := sqlite.Open(t.Context(), path)
			try(t, err)
			defer store.Close()
			startLaunch(t, store)
			runTwice(t, program, dir, "IDMINT_DB=")
		})
		t.Run(name+"/PostgreSQL", func(t *testing.T) {
			t.Parallel()
			d := dbtest.New(t, databases.Postgres)
			migrate(t, dbtest.Open(t, d), migrations.Postgres)
			store, err := postgres.Open(t.Context(), d.Source())
			try(t, err)
			defer store.Close()
			startLaunch(t, store)
			runTwice(t, program, t.TempDir(), "IDMINT_DB="+d.Source())
		})
	}
}

func migrate(t *testing.T, db *sql.DB, d migrations.Dialect) {
	t.Helper()
	if _, _, err := migrations.Up(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
}

func startLaunch(t *testing.T, store launchlog.Store) {
	t.Helper()
	launches, err := launchlog.New(store, nil)
	try(t, err)
	launch, err := launches.Start(t.Context(), launchlog.Request{
		Key: "deploy-1", Service: "shop", Environment: "dev", Initiator: "test",
	})
	if err != nil || launch.ID != 1 {
		t.Fatalf("launch %d, %v", launch.ID, err)
	}
}

func runTwice(t *testing.T, program, dir, env string) {
	t.Helper()
	for run, want := range []string{
		"Ann is 10000000001 and ordered 20000000001 and 30000000001\n",
		"Ann is 10000000001 and ordered 50000100001 and 60000100001\n",
	} {
		cmd := exec.Command(program)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "IDMINT_LAUNCH_ID=1", env)
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("run %d: %v, %q, want %q", run, err, out, want)
		}
	}
}

// What is committed is what ent generates of the schema.
func TestGenerated(t *testing.T) {
	t.Chdir("../..")
	dir, release, err := checkout.Hold()
	try(t, err)
	defer func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	}()
	cmd := exec.Command("go", "generate", "./...")
	cmd.Dir = filepath.Join(dir, "examples/ent")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-ldflags=-w")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	committed, generated := files(t, "examples/ent"), files(t, cmd.Dir)
	if len(committed) < 20 {
		t.Errorf("%d files", len(committed))
	}
	for name := range generated {
		if _, ok := committed[name]; !ok {
			t.Errorf("examples/ent/%s is new: run go generate ./... there", name)
		}
	}
	for name, content := range committed {
		if !bytes.Equal(content, generated[name]) {
			t.Errorf("examples/ent/%s differs: run go generate ./... there", name)
		}
	}
}

// files are those below a folder, by their paths.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[path], err = os.ReadFile(filepath.Join(dir, path))
		}
		return err
	})
	try(t, err)
	return all
}
