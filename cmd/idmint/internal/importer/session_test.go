package importer

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// Whatever the defaults of a MariaDB server are, values arrive as they are, and rows are removed.
func TestHostileDefaults(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB)
	d, _, err := server.Create(ctx, fmt.Sprint("t_", rand.Uint64()))
	if err != nil {
		t.Fatal(err)
	}
	admin, err := sql.Open("mysql", server.DSN.Source())
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	var sane []string
	for name, value := range map[string]string{
		"autocommit": "0", "completion_type": "1", "unique_checks": "0",
		"sql_notes": "0", "max_error_count": "0",
		"sql_select_limit": "1", "sql_safe_updates": "1",
		"max_join_size": "1", "sql_mode": "'EMPTY_STRING_IS_NULL,ANSI_QUOTES,PIPES_AS_CONCAT'",
		"transaction_isolation": "'SERIALIZABLE'", "time_zone": "'-11:00'",
	} {
		var before string
		if err := admin.QueryRow("SELECT @@global." + name).Scan(&before); err != nil {
			t.Fatal(err)
		}
		if _, err := admin.Exec("SET GLOBAL " + name + " = " + value); err != nil {
			t.Fatal(err)
		}
		if name == "sql_mode" || strings.ContainsAny(before, "-_Y") {
			before = "%27" + before + "%27"
		}
		sane = append(sane, name+"="+before)
	}
	at := prepared{place: place{"MariaDB", databases.MariaDB, ""}, target: d}
	newFixture := func(t testing.TB) *fixture {
		f := newFixtureIn(t, at, t.TempDir()+"/app.db")
		db, err := sql.Open("mysql", d.Source()+"?"+strings.Join(sane, "&"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		f.db, f.records = db, db
		return f
	}
	testHardValues(t, newFixture)
	f := newFixture(t)
	f.exec("CREATE TABLE t (id BIGINT PRIMARY KEY, n DECIMAL(5,1), name TEXT)")
	_, err = f.run(ctx, strings.NewReader("n,name\n1.5,x\n1.25,y\n"), importing())
	if refused := (*RowError)(nil); !errors.As(err, &refused) || refused.Row != 2 {
		t.Errorf("a note that the server does not give: %v", err)
	}
	f = newFixture(t)
	f.stopAfter(10, numbered(25), importing())
	if result := f.mustRun(numbered(25), importing(restart)); result.Removed != 10 {
		t.Errorf("%d rows were removed", result.Removed)
	}
	f.checkNumbered(25, 1)
}
