package main

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// A key of each scheme, in each form of each database, is a finding while the log has not handed it
// out, and none from then on. In two tables it is one for ever.
func TestAudit(t *testing.T) {
	for dialect, kind := range audited {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			testAudit(t, newShell(t), dialect, kind)
		})
	}
}

var audited = map[dsn.Kind]databases.Kind{
	dsn.SQLite: "", dsn.Postgres: databases.Postgres, "mariadb": databases.MariaDB,
}

// audits gives the shell a launch log in a database of the kind, and opens it.
func (s *shell) audits(kind databases.Kind) *sql.DB {
	s.Helper()
	s.must("migrate", "--db", "sqlite:app.db") // SQLite's
	if kind == "" {
		return s.open("app.db")
	}
	d := dbtest.New(s, kind)
	s.db = d.URL()
	s.must("migrate", "--db", "sqlite:app.db")
	return dbtest.Open(s, d)
}

func testAudit(t *testing.T, s *shell, dialect dsn.Kind, kind databases.Kind) {
	bytes := "X'%s'"
	if dialect == dsn.Postgres {
		bytes = `'\x%s'`
	}
	tests := []struct{ scheme, kind, value, text, check string }{
		{"decimal", "bigint", "10000000001", "10000000001", "launch"},
		{"trace", "bigint", "4646428214845635103", "4646428214845635103", "number"},
		{"short", "bigint", "11093174944930914", "11093174944930914", "time"},
		{
			"eightbyte", "bytes", fmt.Sprintf(bytes, "5b9bda2989e1989b"), "5b9bda2989e1989b",
			"number",
		},
		{"eightbyte", "bigint", "6601109550783371419", "5b9bda2989e1989b", "number"},
		{"sno", "bytes", fmt.Sprintf(bytes, "335f48168d9e8808dc82"), "8fhmi7mfls62jp64", "number"},
		{"sno", "text", "'8fhmi7mfls62jp64'", "8fhmi7mfls62jp64", "number"},
		{"sno", "uuid", "'3866686d-6937-6d66-6c73-36326a703634'", "8fhmi7mfls62jp64", "number"},
		{"snowflake", "bigint", "1541815603606036480", "1541815603606036480", "number"},
	}
	db := s.audits(kind)
	for i, test := range tests {
		column := s.must("columns", string(dialect), test.scheme, "--kind", test.kind)
		for _, table := range []string{"t", "u"} {
			table = fmt.Sprint(table, i)
			dbtest.Exec(t, db, fmt.Sprintf("CREATE TABLE %s (%s)", table, column),
				fmt.Sprintf("INSERT INTO %s VALUES (%s)", table, test.value))
		}
	}
	audit := func(i int, tables string) answer {
		args := append([]string{"audit"}, strings.Fields(fmt.Sprintf(tables, i))...)
		return s.run(append(args, "--db", "sqlite:app.db", "--scheme", tests[i].scheme)...)
	}
	for i, test := range tests {
		want := fmt.Sprintf("finding: audit.%s: t%d.id: 1 key, %[3]s to %[3]s, ", test.check, i,
			test.text)
		if got := audit(i, "t%d.id"); got.status != 1 || !strings.HasPrefix(got.stdout, want) {
			t.Errorf("%v: %v, want %s", test, got, want)
		}
	}
	s.start("a")
	s.must("new", "decimal", "--launch", "1", "--db", "sqlite:app.db")
	for _, counter := range []string{"trace/24528", "short", "eightbyte/11/1161", "sno/34824", "snowflake/378"} {
		s.run("counter", "advance", counter, "--to", "1800000000000", "--db", "sqlite:app.db")
	}
	for i, test := range tests {
		if got := audit(i, "t%d.id"); got.String() !=
			(answer{stdout: "1 key: 0 notes, 0 findings\n"}).String() {
			t.Errorf("%v: %v", test, got)
		}
		want := fmt.Sprintf("finding: audit.twice: t%d.id, u%[1]d.id: 1 key, %[2]s to %[2]s, ", i,
			test.text)
		got := audit(i, "t%d.id u%[1]d.id")
		if got.status != 1 || !strings.HasPrefix(got.stdout, want) {
			t.Errorf("%v: %v, want %s", test, got, want)
		}
	}
	if got := s.run("audit", "t6.id", "--db", "sqlite:app.db"); got.status != 1 ||
		got.stdout == "" != (dialect != dsn.SQLite) {
		t.Errorf("texts as decimal keys: %v", got)
	}
}

// A table of a million keys, and two of them, which share none.
func BenchmarkAudit(b *testing.B) {
	for dialect, kind := range audited {
		s := newShell(b)
		db := s.audits(kind)
		s.start("a")
		for i, table := range []string{"t", "u"} {
			s.must("new", "decimal", "--launch", "1", "--db", "sqlite:app.db")
			column := s.must("columns", string(dialect), "decimal", "--primary-key")
			dbtest.Exec(b, db, fmt.Sprintf("CREATE TABLE %s (%s)", table, column),
				fmt.Sprintf("INSERT INTO %s VALUES (%d)", table, 10000000001+i*100000))
			for n := 1; n < 1<<20; n *= 2 {
				dbtest.Exec(b, db, fmt.Sprintf("INSERT INTO %s SELECT id + %d FROM %[1]s", table,
					n*10000000000))
			}
		}
		for _, columns := range [][]string{{"t.id"}, {"t.id", "u.id"}} {
			b.Run(fmt.Sprintf("%s/%d", dialect, len(columns)), func(b *testing.B) {
				for b.Loop() {
					s.must(append([]string{"audit", "--db", "sqlite:app.db"}, columns...)...)
				}
			})
		}
	}
}
