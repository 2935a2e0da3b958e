package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
)

// Every column that the command writes stands in a CREATE TABLE.
func TestColumnsInDatabases(t *testing.T) {
	s := inside(t)
	for dialect, kind := range map[dsn.Kind]databases.Kind{
		dsn.Postgres: databases.Postgres, "mariadb": databases.MariaDB,
		dsn.ClickHouse: databases.ClickHouse,
	} {
		t.Run(string(dialect), func(t *testing.T) {
			db := dbtest.Open(t, dbtest.New(t, kind))
			made := 0
			for _, scheme := range kinds {
				for _, form := range (sqlid.AnyColumn{Scheme: scheme.Name()}).Storages() {
					for _, option := range []string{"--name=b", "--nullable", "--primary-key"} {
						column := strings.TrimSpace(s.run("columns", string(dialect), string(scheme.Name()),
							"--kind", string(form), option).stdout)
						end := ""
						if dialect == dsn.ClickHouse {
							end = " ENGINE = MergeTree ORDER BY tuple()"
						}
						dbtest.Exec(t, db, fmt.Sprintf("CREATE TABLE t%d (%s)%s", made, column, end))
						made++
					}
				}
			}
			if made != 36 {
				t.Errorf("%d tables", made)
			}
		})
	}
}

// What the command writes a console takes.
func TestFunctions(t *testing.T) {
	s := newShell(t)
	for _, d := range functionDialects {
		text := s.must("functions", string(d))
		if n := strings.Count(text, "CREATE "); n != 43 || !strings.HasSuffix(text, ";\n") {
			t.Errorf("%s: %d functions, %.80s", d, n, text)
		}
		if n := strings.Count(s.must("functions", string(d), "--json"), `{"sql":"`); n < 43 {
			t.Errorf("%s: %d lines of JSON", d, n)
		}
	}
	db := dbtest.Open(t, dbtest.New(t, databases.Postgres))
	for range 2 { // which replaces them
		dbtest.Exec(t, db, s.must("functions", "postgres"))
	}
	if n := number(t, db, "SELECT idmint_short_from_text('xinaS8QBh')"); n != 11093174944930914 {
		t.Errorf("short %d", n)
	}
	for _, args := range []string{"functions sqlite", "functions oracle", "functions"} {
		got := s.run(strings.Fields(args)...)
		if got.status != statusUsage || got.stdout != "" {
			t.Errorf("%s: %v", args, got)
		}
	}
}
