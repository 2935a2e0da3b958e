//go:build cgo

package main

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// Imports by COPY and LOAD DATA, in batches of 8 MiB, are killed at random moments, and resumed
// until they are finished: each row is there once.
func TestImportKilledAtSpeed(t *testing.T) {
	const rows, kills = 300_000, 4
	var file strings.Builder
	file.WriteString("n,name\n")
	for i := range rows {
		fmt.Fprintf(&file, "%d,name %d %s\n", i, i, "of a row that makes the file a few batches long")
	}
	for _, kind := range []databases.Kind{databases.Postgres, databases.MariaDB} {
		t.Run(string(kind), func(t *testing.T) {
			s := newShell(t)
			s.write("f.csv", file.String())
			d, flags := target(t, kind)
			db := dbtest.Open(t, d)
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			// kept is how many rows are there, of which as many are noted.
			kept := func() (n int) {
				var noted sql.NullInt64
				err := db.QueryRow(`SELECT (SELECT max(stored_rows) FROM idmint_import
					WHERE state <> 'restarted'), (SELECT count(*) FROM t)`).Scan(&noted, &n)
				if err == nil && noted.Int64 != int64(n) {
					t.Fatalf("%d rows are stored, and %d are noted", n, noted.Int64)
				}
				return n
			}
			began := time.Now()
			killed, inBetween, imports := 0, 0, 0
			longest := time.Duration(0) // the first import is not killed: it says how long one takes
			for ; killed < kills || inBetween < 1 && killed < 10*kills; imports++ {
				for _, text := range []string{
					`DROP TABLE IF EXISTS t`, `DROP TABLE IF EXISTS idmint_import`,
					`CREATE TABLE t (id BIGINT NOT NULL PRIMARY KEY, n INT, name TEXT)`,
				} {
					if _, err := db.Exec(text); err != nil {
						t.Fatal(err)
					}
				}
				args := append([]string{"import", "f.csv", "--table", "t"}, flags...)
				for {
					cmd := s.command(args...)
					var stderr strings.Builder
					cmd.Stderr = &stderr
					start := time.Now()
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
					if longest > 0 && (killed < kills || inBetween < 1) {
						kill.Reset(time.Duration(random.Int64N(int64(longest))))
					}
					err := cmd.Wait()
					kill.Stop()
					if err == nil {
						longest = max(longest, time.Since(start))
						break
					}
					if cmd.ProcessState.Exited() {
						t.Fatalf("it was not killed, but ended: %v, %s", err, stderr.String())
					}
					killed++
					if n := kept(); n > 0 && n < rows {
						inBetween++
					}
					if len(args) == 4+len(flags) {
						args = append(args, "--resume")
					}
				}
				if n := kept(); n != rows {
					t.Fatalf("%d rows, want %d", n, rows)
				}
				checkOnServer(t, db, rows)
			}
			t.Logf("%d imports of %d rows, %d kills, %d of them with a part stored, in %v: 0 rows "+
				"twice, 0 lost", imports, rows, killed, inBetween,
				time.Since(began).Round(time.Millisecond))
			if inBetween < 1 {
				t.Error("no kill met an import with a part stored: the test shows too little")
			}
		})
	}
}
