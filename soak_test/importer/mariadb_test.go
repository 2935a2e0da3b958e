package importer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// A server may take tables T and t for the same one. So does whoever looks for an unfinished import.
// Whatever the defaults of its sessions are, values arrive as they are, and rows are removed.
func TestSettingsOfMariaDB(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB, "--lower-case-table-names=1")
	s := &shell{TB: t, dir: t.TempDir(), db: server.DSN.URL()}
	db := dbtest.Open(t, server.DSN)
	db.SetMaxOpenConns(1) // which keeps the defaults that it began with

	const rows = 50
	s.write(numbered(20) + "x\n")
	s.fails("20 rows are stored", "T", "--batch", "10")
	s.write(numbered(rows))
	s.fails("is unfinished", "t")
	s.imports("t", "--resume")
	if n := number(t, db, `SELECT count(DISTINCT n) FROM t`); n != rows {
		t.Errorf("%d rows", n)
	}
	dbtest.Exec(t, db, `DROP TABLE t`)

	for name, value := range map[string]string{
		"autocommit": "0", "completion_type": "1", "unique_checks": "0",
		"sql_notes": "0", "max_error_count": "0",
		"sql_select_limit": "1", "sql_safe_updates": "1",
		"max_join_size": "1", "sql_mode": "'EMPTY_STRING_IS_NULL,ANSI_QUOTES,PIPES_AS_CONCAT'",
		"transaction_isolation": "'SERIALIZABLE'", "time_zone": "'-11:00'",
	} {
		dbtest.Exec(t, db, "SET GLOBAL "+name+" = "+value)
	}
	hard := []string{
		`\`, `\N`, `\.`, "a\tb", "a\nb", "\r", `\n`, `'"`, "`", "ü 😀", " ", "",
		"\x01\x7f", `\\`, "a\\\tb", "$1 ? %s", strings.Repeat("é", 70_000),
	}
	file := "n,name\n"
	for i, v := range hard {
		file += fmt.Sprintf("%d,\"%s\"\n", i, strings.ReplaceAll(v, `"`, `""`))
	}
	s.write(file)
	s.imports("t")
	for i, want := range hard {
		var got string
		if err := db.QueryRow(`SELECT name FROM t WHERE n = ?`, i).Scan(&got); err != nil ||
			got != want {
			t.Errorf("%.40q is stored as %.40q, %v", want, got, err)
		}
	}

	// The server gives no note.
	dbtest.Exec(t, db, `CREATE TABLE u (id BIGINT PRIMARY KEY, n DECIMAL(5,1), name TEXT)`)
	s.write("n,name\n1.5,x\n1.25,y\n")
	s.fails("row 2", "u")

	dbtest.Exec(t, db, `DROP TABLE t`)
	s.write(numbered(10) + "x\n")
	s.fails("10 rows are stored", "t", "--batch", "10")
	s.write(numbered(25))
	s.imports("t", "--restart")
	if n := number(t, db, `SELECT count(*) FROM t`); n != 25 {
		t.Errorf("%d rows", n)
	}
}
