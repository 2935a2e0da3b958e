//go:build cgo

package main

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os/exec"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// An import is killed while it waits for its pipe with a batch that is not full, and then in the
// midst of storing one. It is resumed until it is finished: each row is there once.
func TestImportKilled(t *testing.T) {
	for name, kind := range map[string]databases.Kind{
		"SQLite": "", "PostgreSQL": databases.Postgres, "MariaDB": databases.MariaDB,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			var db *sql.DB
			flags := []string{"--db", "sqlite:app.db"}
			if kind == "" {
				s.must(append([]string{"migrate"}, flags...)...)
				db = s.open("app.db")
				defer db.Close()
			} else {
				d, named := target(t, kind)
				db, flags = dbtest.Open(t, d), named
			}
			testImportKilled(t, s, db, flags, obstacles[kind])
		})
	}
}

func testImportKilled(t *testing.T, s *shell, db *sql.DB, flags []string, stop obstacle) {
	const rows = 100
	file := numbered(rows)
	dbtest.Exec(t, db, `CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, n INT UNIQUE, name TEXT)`)
	// feed starts an import in batches of 10 rows, which reads text. Its pipe stays open.
	feed := func(text, resume string) (*exec.Cmd, io.Closer) {
		t.Helper()
		cmd := s.command(append([]string{
			"import", "-", "--format", "csv", "--table", "t", "--batch", "10", resume, "--wait", "5m",
		}, flags...)...)
		pipe, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			_, err = io.WriteString(pipe, text)
		}
		if err != nil {
			t.Fatal(err)
		}
		return cmd, pipe
	}
	stored := func() (n int) { return number(t, db, `SELECT count(*) FROM t`) }
	killed := func(cmd *exec.Cmd, want int) {
		t.Helper()
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		noted := number(t, db, `SELECT stored_rows FROM idmint_import`)
		if n := stored(); n != want || noted != want {
			t.Fatalf("%d rows are stored, and %d are noted, want %d", n, noted, want)
		}
	}

	// up to the midst of the 26th row
	cmd, _ := feed(file[:len(numbered(25))+3], "--resume=false")
	s.until("two batches are stored", func() bool { return stored() == 20 })
	killed(cmd, 20)

	release := stop.at45(t, db)
	cmd, _ = feed(file, "--resume")
	s.until("the import stands still in the fifth batch",
		func() bool { return stored() == 40 && stop.reached(t, db) })
	killed(cmd, 40)
	release()

	cmd, pipe := feed(file, "--resume")
	pipe.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	checkOnServer(t, db, rows)
	for query, want := range map[string]int{
		`SELECT count(*) FROM t WHERE name <> concat('name, ', n)`:       0,
		`SELECT count(*) FROM idmint_launch`:                             1,
		`SELECT count(*) FROM idmint_launch WHERE outcome = 'succeeded'`: 1,
		`SELECT count(*) FROM idmint_import WHERE state = 'finished'`:    1,
		`SELECT count(*) FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before_it FROM t) AS pairs ` +
			`WHERE id % 10000000000 = before_it % 10000000000 AND id < before_it`: 0,
	} {
		if n := number(t, db, query); n != want {
			t.Errorf("%s: %d, want %d", query, n, want)
		}
	}
}

// An obstacle keeps an import in the midst of a batch.
type obstacle struct {
	// at45 is in the way of the row whose n is 45, until it is released.
	at45 func(t *testing.T, db *sql.DB) (release func())
	// reached reports whether the import has come there.
	reached func(t *testing.T, db *sql.DB) bool
}

var obstacles = map[databases.Kind]obstacle{
	"": {
		func(t *testing.T, db *sql.DB) func() {
			t.Helper()
			dbtest.Exec(t, db, `CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL `+
				`SELECT x + 1 FROM c) SELECT x FROM c`,
				`CREATE TRIGGER stop BEFORE INSERT ON t WHEN NEW.n = 45 BEGIN `+
					`SELECT count(*) FROM endless; END`)
			return func() { dbtest.Exec(t, db, `DROP TRIGGER stop`) }
		},
		func(t *testing.T, db *sql.DB) bool { // it keeps the lock
			conn, err := db.Conn(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			exec := func(text string) error {
				_, err := conn.ExecContext(context.Background(), text)
				return err
			}
			err = exec(`PRAGMA busy_timeout = 200`)
			locked := exec(`BEGIN IMMEDIATE`) != nil
			if !locked {
				err = errors.Join(err, exec(`ROLLBACK`))
			}
			if err = errors.Join(err, exec(`PRAGMA busy_timeout = 5000`)); err != nil {
				t.Fatal(err)
			}
			return locked
		},
	},
	databases.Postgres: {
		func(t *testing.T, db *sql.DB) func() {
			t.Helper()
			tx, err := db.Begin()
			if err == nil { // a row that is unique
				_, err = tx.Exec(`INSERT INTO t (id, n) VALUES (1, 45)`)
			}
			if err != nil {
				t.Fatal(err)
			}
			return func() {
				if err := tx.Rollback(); err != nil {
					t.Error(err)
				}
			}
		},
		waits(`SELECT count(*) FROM pg_stat_activity ` +
			`WHERE datname = current_database() AND wait_event_type = 'Lock'`),
	},
	// Its list of processes does not show who waits for a row.
	databases.MariaDB: {
		func(t *testing.T, db *sql.DB) func() {
			t.Helper()
			dbtest.Exec(t, db, `CREATE TRIGGER stop BEFORE INSERT ON t FOR EACH ROW `+
				`SET @got = IF(NEW.n = 45, GET_LOCK(DATABASE(), 1000000), 0)`)
			conn, err := db.Conn(context.Background())
			if err == nil {
				_, err = conn.ExecContext(context.Background(), `DO GET_LOCK(DATABASE(), 0)`)
			}
			if err != nil {
				t.Fatal(err)
			}
			return func() {
				_, err := conn.ExecContext(context.Background(), `DO RELEASE_LOCK(DATABASE())`)
				if err = errors.Join(err, conn.Close()); err != nil {
					t.Error(err)
				}
			}
		},
		waits(`SELECT count(*) FROM information_schema.processlist ` +
			`WHERE db = DATABASE() AND state = 'User lock'`),
	},
}

func waits(query string) func(t *testing.T, db *sql.DB) bool {
	return func(t *testing.T, db *sql.DB) bool {
		t.Helper()
		return number(t, db, query) > 0
	}
}
