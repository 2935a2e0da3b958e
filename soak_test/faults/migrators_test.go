package faults_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// migrate is a process that migrates a database as soon as its standard input ends. It says before
// that it is ready.
func migrate(args []string) error {
	db, err := sql.Open(args[0], args[1])
	if err == nil {
		err = db.Ping()
	}
	if err == nil {
		_, err = os.Stdout.Write([]byte{'.'})
	}
	if err == nil {
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	if err == nil {
		_, _, err = migrations.Up(context.Background(), db, migrations.Dialect(args[2]))
	}
	return err
}

// TestMigrators has many processes migrate at once, most of which are killed meanwhile: the others
// make the whole schema.
func TestMigrators(t *testing.T) {
	for kind, target := range targets {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			db := migrated(t, target, dbtest.New(t, kind))
			took := time.Since(began)
			want := schema(t, target, db)
			for died := 0; died == 0 && !t.Failed(); { // else all were faster than their ends
				died = migrators(t, target, took, want)
			}
		})
	}
}

// migrators migrates a database by many processes, some of which it kills within about the time
// that one migrator takes. It returns how many died of that.
func migrators(t *testing.T, target target, took time.Duration, want string) (died int) {
	t.Helper()
	const all, kills = 32, 16
	d := dbtest.New(t, target.kind)
	processes, release := readyMigrators(t, target, d, all)
	release()
	for _, cmd := range processes[:kills] {
		time.Sleep(rand.N(2 * took / kills))
		_ = cmd.Process.Kill()
	}
	for i, cmd := range processes {
		err := cmd.Wait()
		if err != nil && (i >= kills || cmd.ProcessState.Exited()) {
			t.Errorf("migrator %d: %v", i, err)
		}
		if err != nil && i < kills {
			died++
		}
	}
	db := dbtest.Open(t, d)
	version, err := migrations.Version(t.Context(), db, target.dialect)
	if err != nil || version != migrations.Latest(target.dialect) {
		t.Errorf("after %d migrators: version %d, %v", all, version, err)
	}
	if made := schema(t, target, db); made != want {
		t.Errorf("the schema after %d migrators is\n%s\nwant\n%s", all, made, want)
	}
	useOnce(t, target, d)
	t.Logf("%s: %d migrators at once; %d were killed meanwhile, "+
		"and the others made the whole schema", target.kind, all, died)
	return died
}

// readyMigrators starts processes that migrate when they are released.
func readyMigrators(
	t *testing.T, target target, d dsn.DSN, n int,
) (all []*exec.Cmd, release func()) {
	t.Helper()
	ready, says, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		cmd := subprocess.Command("migrate", d.Driver(), d.Source(), string(target.dialect))
		cmd.Stdin, cmd.Stdout = in, says
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	in.Close()
	says.Close()
	if _, err := io.ReadFull(ready, make([]byte, n)); err != nil {
		t.Fatalf("migrators are not ready: %v", err)
	}
	return all, func() { hold.Close() }
}

func migrated(t *testing.T, target target, d dsn.DSN) *sql.DB {
	t.Helper()
	db := dbtest.Open(t, d)
	_, to, err := migrations.Up(t.Context(), db, target.dialect)
	if err != nil || to != migrations.Latest(target.dialect) {
		t.Fatalf("migrated to %d, %v", to, err)
	}
	return db
}

// schema is the database's schema as text.
func schema(t *testing.T, target target, db *sql.DB) string {
	t.Helper()
	here := map[databases.Kind]string{
		databases.Postgres: "current_schema()",
		databases.MariaDB:  "database()",
	}[target.kind]
	var text strings.Builder
	for _, query := range []string{
		"SELECT 'version', version, '', '', '' FROM idmint_schema ORDER BY 2",
		`SELECT table_name, column_name, data_type, is_nullable, coalesce(column_default, '-')
			FROM information_schema.columns
			WHERE table_schema = %s ORDER BY 1, 2`,
		`SELECT event_object_table, trigger_name, event_manipulation, action_timing,
			action_statement FROM information_schema.triggers
			WHERE trigger_schema = %s ORDER BY 1, 2, 3`,
		`SELECT table_name, constraint_name, constraint_type, '', ''
			FROM information_schema.table_constraints
			WHERE constraint_schema = %s AND constraint_name NOT LIKE '%%not_null' ORDER BY 1, 2`,
		`SELECT routine_name, routine_type, '', '', coalesce(routine_definition, '-')
			FROM information_schema.routines
			WHERE routine_schema = %s ORDER BY 1, 2`,
	} {
		if strings.Contains(query, "%s") {
			query = fmt.Sprintf(query, here)
		}
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var columns [5]string
			err := rows.Scan(&columns[0], &columns[1], &columns[2], &columns[3], &columns[4])
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "%q\n", columns)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
	return text.String()
}

// useOnce uses a launch log.
func useOnce(t *testing.T, target target, d dsn.DSN) {
	t.Helper()
	store, err := target.open(t.Context(), d.Source())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	l, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := l.Start(t.Context(), storetest.Request("first"))
	if err != nil || launch.ID != 1 {
		t.Fatalf("launch %d, %v", launch.ID, err)
	}
	if c, err := l.Claim(t.Context(), 1); err != nil || c.Generator != 0 {
		t.Errorf("generator %d, %v", c.Generator, err)
	}
}
