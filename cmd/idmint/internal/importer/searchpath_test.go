package importer

import (
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/pgbouncer"
)

// What another client of a pooler has left behind, a search_path, a role and temporary tables,
// leads no row elsewhere.
func TestLeakedSearchPath(t *testing.T) {
	t.Parallel()
	at := prepared{place: place{"PgBouncer", databases.Postgres, ""}}
	d := dbtest.New(t, databases.Postgres)
	at.target = pgbouncer.New(t, d)
	f := newFixtureIn(t, at, t.TempDir()+"/app.db")
	direct := dbtest.Open(f, d)
	const columns = " (id bigint PRIMARY KEY, n text, name text)"
	if _, err := direct.Exec("CREATE SCHEMA other; CREATE TABLE other.t" + columns); err != nil {
		t.Fatal(err)
	}
	pgbouncer.Leak(t, at.target, "SET search_path = other")
	pgbouncer.Leak(t, at.target, "SET ROLE pg_monitor") // which may not write
	pgbouncer.Leak(t, at.target, "CREATE TEMP TABLE t"+columns)
	f.db, f.records = direct, direct
	f.mustRun(numbered(25), importing())
	f.checkNumbered(25, 1) // in the schema public, by a connection past the pooler
	const others = "pg_tables WHERE schemaname = 'other' AND tablename <> 't'"
	for _, table := range []string{"other.t", others} {
		if n := f.count("SELECT count(*) FROM " + table); n != 0 {
			t.Errorf("%s: %d", table, n)
		}
	}
}
