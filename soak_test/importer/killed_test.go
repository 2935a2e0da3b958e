package importer_test

import (
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// Imports are killed at random moments, and resumed until they are finished: each row is there
// once. On servers a batch is one COPY or one LOAD DATA of 8 MiB.
func TestKilled(t *testing.T) {
	for name, test := range map[string]struct {
		kind  databases.Kind // "" for SQLite
		rows  int
		flags []string
	}{
		"SQLite":     {"", 60_000, []string{"--batch", "100"}},
		"PostgreSQL": {databases.Postgres, 300_000, nil},
		"MariaDB":    {databases.MariaDB, 300_000, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shell{TB: t, dir: t.TempDir(), db: "sqlite:app.db"}
			var db *sql.DB
			if test.kind == "" {
				db = dbtest.OpenSource(t, "sqlite3", "file:"+filepath.Join(s.dir, "app.db"))
			} else {
				d := dbtest.New(t, test.kind)
				s.db, db = d.URL(), dbtest.Open(t, d)
			}
			killedAtRandom(s, db, test.rows, test.flags)
		})
	}
}

func killedAtRandom(s *shell, db *sql.DB, rows int, flags []string) {
	seed := uint64(time.Now().UnixNano())
	s.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	s.write(numbered(rows))
	// kept is how many rows are there, of which as many are noted.
	kept := func() (n int) {
		var noted sql.NullInt64
		err := db.QueryRow(`SELECT (SELECT max(stored_rows) FROM idmint_import), `+
			`(SELECT count(*) FROM t)`).Scan(&noted, &n)
		if err == nil && noted.Int64 != int64(n) {
			s.Fatalf("%d rows are stored, and %d are noted", n, noted.Int64)
		}
		return n // 0 where it was killed before there was a table
	}
	const enough = 20 // kills of imports with a part stored
	killed, inBetween, imports := 0, 0, 0
	longest := time.Duration(0) // the first import is not killed: it says how long one takes
	for ; inBetween < enough; imports++ {
		dbtest.Exec(s, db, `DROP TABLE IF EXISTS t`, `DROP TABLE IF EXISTS idmint_import`,
			`CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, n INT, name TEXT)`)
		for resume := "--resume=false"; ; resume = "--resume" {
			cmd := s.command("t", append(flags, resume)...)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			began := time.Now()
			if err := cmd.Start(); err != nil {
				s.Fatal(err)
			}
			if longest > 0 && inBetween < enough {
				kill := time.AfterFunc(time.Duration(random.Int64N(int64(longest))),
					func() { _ = cmd.Process.Kill() })
				defer kill.Stop()
			}
			err := cmd.Wait()
			if err == nil {
				longest = max(longest, time.Since(began))
				break
			}
			if cmd.ProcessState.Exited() {
				s.Fatalf("it was not killed, but ended: %v, %s", err, stderr.String())
			}
			killed++
			if n := kept(); n > 0 && n < rows {
				inBetween++
			}
		}
		for _, query := range []string{
			`SELECT count(*) FROM t`, `SELECT count(DISTINCT id) FROM t`,
			`SELECT count(DISTINCT n) FROM t`,
		} {
			if n := number(s, db, query); n != rows {
				s.Fatalf("%s: %d, want %d", query, n, rows)
			}
		}
	}
	s.Logf("%d imports of %d rows, %d kills, %d of them with a part stored: 0 rows twice, 0 lost",
		imports, rows, killed, inBetween)
}
