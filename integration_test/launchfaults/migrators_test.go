package launchfaults_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/databases"
	"github.com/idmint/idmint/internal/databases/dbtest"
	"github.com/idmint/idmint/internal/dsn"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// migrate is a process that migrates a database at first boot, from a moment on that all processes know.
func migrate(args []string) error {
	at, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	db, err := sql.Open(args[0], args[1])
	if err != nil {
		return err
	}
	time.Sleep(time.Duration(at) - now())
	_, _, err = migrations.Up(context.Background(), db, migrations.Dialect(args[3]))
	return err
}

// TestMigrators has many processes migrate at once, some of which are killed: the others, or who comes after them, make the whole
// schema.
func TestMigrators(t *testing.T) {
	const migrators, kills, rounds = 32, 12, 2
	for kind, target := range targets {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			quiet := schema(t, target, migrated(t, target, dbtest.New(t, kind)))
			died, before := 0, map[int]int{}
			for range rounds {
				d := dbtest.New(t, kind)
				at := now() + 1500*time.Millisecond
				all := make([]*exec.Cmd, migrators)
				for i := range all {
					all[i] = subprocess.Command("migrate", d.Driver(), d.Source(), strconv.FormatInt(int64(at), 10), string(target.dialect))
					if err := all[i].Start(); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(at - now())
				for i := range kills {
					time.Sleep(rand.N(20 * time.Millisecond))
					_ = all[i].Process.Kill()
				}
				for i, cmd := range all {
					err := cmd.Wait()
					if err != nil && (i >= kills || cmd.ProcessState.Exited()) {
						t.Errorf("migrator %d: %v", i, err)
					}
					if err != nil && i < kills {
						died++
					}
				}
				db := open(t, d)
				version, err := migrations.Version(t.Context(), db, target.dialect)
				if err != nil {
					t.Fatal(err)
				}
				before[version]++
				if made := schema(t, target, migrated(t, target, d)); made != quiet {
					t.Errorf("the schema after %d migrators is\n%s\nwant\n%s", migrators, made, quiet)
				}
				useOnce(t, target, d)
			}
			t.Logf("%s: %d migrators at once, %d times: %d killed, versions after them %v", kind, migrators, rounds, died, before)
			if died == 0 {
				t.Error("no migrator was killed: the test shows too little")
			}
		})
	}
}

func open(t *testing.T, d dsn.DSN) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.Driver(), d.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func migrated(t *testing.T, target target, d dsn.DSN) *sql.DB {
	t.Helper()
	db := open(t, d)
	_, to, err := migrations.Up(t.Context(), db, target.dialect)
	if err != nil || to != migrations.Latest(target.dialect) {
		t.Fatalf("migrated to %d, %v", to, err)
	}
	return db
}

// schema is the database's schema as text.
func schema(t *testing.T, target target, db *sql.DB) string {
	t.Helper()
	here := map[databases.Kind]string{databases.Postgres: "current_schema()", databases.MariaDB: "database()"}[target.kind]
	var text strings.Builder
	for _, query := range []string{
		"SELECT 'version', version, '', '', '' FROM idmint_schema ORDER BY 2",
		`SELECT table_name, column_name, data_type, is_nullable, coalesce(column_default, '-') FROM information_schema.columns
			WHERE table_schema = %s ORDER BY 1, 2`,
		`SELECT event_object_table, trigger_name, event_manipulation, action_timing, action_statement FROM information_schema.triggers
			WHERE trigger_schema = %s ORDER BY 1, 2, 3`,
		`SELECT table_name, constraint_name, constraint_type, '', '' FROM information_schema.table_constraints
			WHERE constraint_schema = %s AND constraint_name NOT LIKE '%%not_null' ORDER BY 1, 2`,
		`SELECT routine_name, routine_type, '', '', coalesce(routine_definition, '-') FROM information_schema.routines
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
			if err := rows.Scan(&columns[0], &columns[1], &columns[2], &columns[3], &columns[4]); err != nil {
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
