package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
)

func TestColumns(t *testing.T) {
	s := inside(t)
	for args, want := range map[string]string{
		"postgres decimal --primary-key": `"id" BIGINT NOT NULL PRIMARY KEY CHECK ` +
			`("id" BETWEEN 10000000000 AND 9223372029999999999 AND "id" % 100000 <> 0)`,
		"postgres decimal --domain layout": `"id" BIGINT NOT NULL CHECK ` +
			`("id" BETWEEN 10000000000 AND 9223372029999999999)`,
		"mysql sequence --nullable --name a": "`a` BIGINT CHECK (`a` > 0)",
		"mariadb eightbyte":                  "`id` BINARY(8) NOT NULL CHECK (`id` <> X'0000000000000000')",
		"mysql eightbyte --kind bigint":      "`id` BIGINT NOT NULL CHECK (`id` <> 0)",
		"sqlite trace --primary-key": `"id" INT NOT NULL PRIMARY KEY CHECK ` +
			`(typeof("id") IN ('integer', 'null') AND "id" > 0 AND "id" & 4194303 <> 0)`,
		"clickhouse short --primary-key": "`id` Int64 CODEC(Delta(8), T64('bit'), ZSTD(1)), " +
			"CONSTRAINT `id_is_id` CHECK `id` > 0",
		"clickhouse sno --kind text": "`id` FixedString(16) CODEC(ZSTD(1))",
		"clickhouse eightbyte --indexed --spread": "`id` FixedString(8) CODEC(ZSTD(1)), " +
			"INDEX `id_bloom_filter` `id` TYPE bloom_filter(0.01) GRANULARITY 1, " +
			"CONSTRAINT `id_is_id` CHECK `id` != toFixedString('', 8)",
		"clickhouse decimal --nullable": "`id` Nullable(Int64) CODEC(T64('bit'), ZSTD(1))",
	} {
		if got := s.must(strings.Fields("columns " + args)...); got != want+"\n" {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	var got struct{ Column string }
	line := s.must("columns", "postgres", "short", "--json")
	if err := json.Unmarshal([]byte(line), &got); err != nil || !strings.HasPrefix(got.Column, `"id" BIG`) {
		t.Errorf("%s: %v", line, err)
	}
	for args, want := range map[string]string{
		"oracle sno":                                `unknown dialect "oracle": want postgres, mysql, mariadb, sqlite, clickhouse`,
		"postgres uuid":                             `unknown scheme "uuid"`,
		"postgres decimal --kind text":              `--kind "text": decimal IDs are stored as bigint`,
		"postgres sno --kind bigint":                `--kind "bigint": sno IDs are stored as bytes, text, uuid`,
		"postgres sno --indexed":                    "are for clickhouse, not for postgres",
		"clickhouse decimal --domain layout":        "--domain is not for clickhouse",
		"postgres decimal --domain all":             `--domain "all": want production, layout, positive`,
		"postgres decimal --name=":                  "want a name",
		"postgres decimal --primary-key --nullable": "exclude each other",
		"postgres": "2 arg",
	} {
		got := s.run(strings.Fields("columns " + args)...)
		if got.status != statusUsage || !strings.Contains(got.stderr, want) || got.stdout != "" {
			t.Errorf("%s: %v, want %q", args, got, want)
		}
	}
	if got := s.run("columns", "mysql", "sno", "--kind", "uuid"); got.status != statusBadInput ||
		!strings.Contains(got.stderr, "no column of mysql holds IDs as uuid") {
		t.Errorf("a UUID of MySQL: %v", got)
	}
}

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
			for _, scheme := range schemes {
				for _, form := range (sqlid.AnyColumn{Scheme: scheme.Name()}).Storages() {
					for _, option := range []string{"--name=b", "--nullable", "--primary-key"} {
						column := strings.TrimSpace(s.must("columns", string(dialect), string(scheme.Name()),
							"--kind", string(form), option))
						end := ""
						if dialect == dsn.ClickHouse {
							end = " ENGINE = MergeTree ORDER BY tuple()"
						}
						dbtest.Exec(t, db, fmt.Sprintf("CREATE TABLE t%d (%s)%s", made, column, end))
						made++
					}
				}
			}
			if made != 27 {
				t.Errorf("%d tables", made)
			}
		})
	}
}

// The functions are installed, and installed again, without a launch log.
func TestMigrateFunctions(t *testing.T) {
	for _, kind := range []databases.Kind{
		databases.Postgres, databases.MariaDB, databases.ClickHouse,
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newShell(t)
			d := dbtest.New(t, kind)
			for range 2 {
				got := s.must("migrate", "--functions", "--db", d.URL())
				if !strings.HasPrefix(got, "installed the SQL functions in ") {
					t.Errorf("%q", got)
				}
			}
			if got := s.must("migrate", "--functions", "--json", "--db",
				d.URL()); got != `{"functions":true}`+"\n" {
				t.Errorf("%q", got)
			}
			db := dbtest.Open(t, d)
			if n := number(t, db, "SELECT idmint_decimal_launch(14150009200065)"); n != 65 {
				t.Errorf("launch %d", n)
			}
			tables := number(t, db, "SELECT count(*) FROM information_schema.tables"+
				" WHERE table_name LIKE 'idmint%' AND table_schema = '"+d.Database()+"'")
			if tables != 0 {
				t.Errorf("%d tables of a launch log", tables)
			}
		})
	}
	s := newShell(t)
	for _, db := range []string{"sqlite:app.db", "etcd://localhost/x"} {
		got := s.run("migrate", "--functions", "--db", db)
		if got.status != statusUsage || !strings.Contains(got.stderr, "keeps no functions") {
			t.Errorf("%s: %v", db, got)
		}
	}
	if s.exists("idmint_launch") {
		t.Error("a launch log was made")
	}
}

// What the command writes a console takes.
func TestFunctions(t *testing.T) {
	s := newShell(t)
	for _, d := range functionDialects {
		text := s.must("functions", string(d))
		if n := strings.Count(text, "CREATE "); n != 38 || !strings.HasSuffix(text, ";\n") {
			t.Errorf("%s: %d functions, %.80s", d, n, text)
		}
		if n := strings.Count(s.must("functions", string(d), "--json"), `{"sql":"`); n < 38 {
			t.Errorf("%s: %d lines of JSON", d, n)
		}
	}
	db := dbtest.Open(t, dbtest.New(t, databases.Postgres))
	dbtest.Exec(t, db, s.must("functions", "postgres"))
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

func TestSchema(t *testing.T) {
	s := inside(t)
	var document struct {
		Components struct {
			Schemas map[string]struct{ Example string }
		}
	}
	text := s.must("schema", "openapi")
	if err := json.Unmarshal([]byte(text), &document); err != nil ||
		len(document.Components.Schemas) != 6 ||
		document.Components.Schemas["SnoID"].Example != "8fhmi7mfls62jp64" {
		t.Errorf("%v: %s", err, text)
	}
	for args, want := range map[string][2]string{
		"openapi sno short":  {`"ShortID"`, `"DecimalID"`},
		"typescript sno":     {"\nexport function isSnoID<", "DecimalID"},
		"protobuf eightbyte": {"\n  string eightbyte_id = 1;\n", "decimal_id"},
	} {
		got := s.must(strings.Fields("schema " + args)...)
		if !strings.Contains(got, want[0]) || strings.Contains(got, want[1]) {
			t.Errorf("%s: %s, want %s and no %s", args, got, want[0], want[1])
		}
	}
	for args, want := range map[string]string{
		"schema":                 "arg",
		"schema rust":            `unknown language "rust": want openapi, typescript or protobuf`,
		"schema typescript uuid": `unknown scheme "uuid"`,
	} {
		got := s.run(strings.Fields(args)...)
		if got.status != statusUsage || !strings.Contains(got.stderr, want) || got.stdout != "" {
			t.Errorf("%s: %v, want %q", args, got, want)
		}
	}
}
