package main

import (
	"errors"
	"testing"
)

func TestInsertionOf(t *testing.T) {
	for _, tt := range []struct {
		sql            string
		is             bool
		table, columns string
		head           string
	}{
		{"INSERT INTO t VALUES", true, "t", "*", "INSERT INTO t "},
		{"insert into t values;", true, "t", "*", "insert into t "},
		{"INSERT INTO t", true, "t", "*", "INSERT INTO t"},
		{
			"INSERT INTO t (a, `b c`) FORMAT Native", true, "t", "a, `b c`",
			"INSERT INTO t (a, `b c`) ",
		},
		{
			"INSERT INTO `the db`.\"t\"(a) VALUES -- none", true, "`the db`.\"t\"", "a",
			"INSERT INTO `the db`.\"t\"(a) ",
		},
		{
			"INSERT INTO TABLE values (format) VALUES", true, "values", "format",
			"INSERT INTO TABLE values (format) ",
		},
		{
			"/* x */ INSERT INTO t (a) SETTINGS max_threads = 1 VALUES", true, "t", "a",
			"/* x */ INSERT INTO t (a) SETTINGS max_threads = 1 ",
		},
		{"INSERT INTO t () VALUES", true, "t", "*", "INSERT INTO t () "},
		{
			"INSERT INTO {table:Identifier} (a) VALUES", true, "{table:Identifier}", "a",
			"INSERT INTO {table:Identifier} (a) ",
		},
		{
			"INSERT INTO FUNCTION null('a Int8') VALUES", true, "null('a Int8')", "*",
			"INSERT INTO FUNCTION null('a Int8') ",
		},
		{
			"INSERT INTO FUNCTION null('a Int8') (a) FORMAT RowBinary", true, "null('a Int8')", "a",
			"INSERT INTO FUNCTION null('a Int8') (a) ",
		},
		{sql: "INSERT INTO t VALUES (1, 'VALUES')"},
		{sql: "INSERT INTO t FORMAT JSONEachRow {}"},
		{sql: "INSERT INTO t SELECT 1"},
		{sql: "INSERT INTO t (a) SELECT * FROM u FORMAT Native"},
		{sql: "INSERT INTO t (SELECT 1)"},
		{sql: "INSERT INTO t WITH x AS (SELECT 1) SELECT * FROM x"},
		{sql: "SELECT 'INSERT INTO t VALUES'"},
		{sql: "INSERT INTO"},
		{sql: "INSERT INTO FUNCTION f("},
		{sql: "INSERT INTO {"},
		{sql: "INSERT INTO t ((((("},
		{sql: ""},
	} {
		ins, is := insertionOf(tt.sql)
		if tt.head == "" && !is {
			continue
		}
		if tt.head == "" && tt.sql != "INSERT INTO t (((((" && tt.sql != "INSERT INTO {" &&
			tt.sql != "INSERT INTO FUNCTION f(" {
			t.Errorf("%s: taken for %+v", tt.sql, ins)
		}
		if want := (insertion{tt.head, tt.table, tt.columns}); tt.is && (!is || ins != want) {
			t.Errorf("%s: %v %+v, want %+v", tt.sql, is, ins, want)
		}
	}
}

func TestStatements(t *testing.T) {
	for _, tt := range []struct {
		sql, withoutFormat string
		columns, several   bool
	}{
		{"SELECT 1", "SELECT 1", true, false},
		{"select 1 format JSON", "select 1", true, false},
		{"SELECT 1 FORMAT JSON;", "SELECT 1", true, false},
		{"SELECT f(a FORMAT b)", "SELECT f(a FORMAT b)", true, false},
		{"((SELECT 1) UNION ALL (SELECT 2))", "((SELECT 1) UNION ALL (SELECT 2))", true, false},
		{
			"-- x\n# y\n/* z */ WITH 1 AS x SELECT x;;",
			"-- x\n# y\n/* z */ WITH 1 AS x SELECT x;;",
			true, false,
		},
		{"SELECT ';' AS `;` /* ; */ -- ;", "SELECT ';' AS `;` /* ; */ -- ;", true, false},
		{"SELECT 1; SELECT 2", "SELECT 1; SELECT 2", true, true},
		{"SHOW TABLES", "SHOW TABLES", true, false},
		{"DROP TABLE a; DROP TABLE b;", "DROP TABLE a; DROP TABLE b;", false, true},
		{
			"CREATE TABLE t (a Int8) ENGINE = File FORMAT CSV",
			"CREATE TABLE t (a Int8) ENGINE = File FORMAT CSV", false, false,
		},
		{"INSERT INTO t VALUES ('a;b'); ", "INSERT INTO t VALUES ('a;b'); ", false, false},
		{"INSERT INTO t FORMAT CSV 1;2", "INSERT INTO t FORMAT CSV 1;2", false, false},
		{"/* no end", "/* no end", false, false},
		{"SELECT 'no end", "SELECT 'no end", true, false},
		{"", "", false, false},
		{";", ";", false, false},
	} {
		err := severalStatements(tt.sql)
		var x *exception
		if (err != nil) != tt.several || tt.several && (!errors.As(err, &x) || x.code != 62) {
			t.Errorf("%s: several statements: %v", tt.sql, err)
		}
		if got := hasColumns(tt.sql); got != tt.columns {
			t.Errorf("%s: columns: %v", tt.sql, got)
		}
		if got := withoutFormat(tt.sql); got != tt.withoutFormat {
			t.Errorf("%s: %q without format, want %q", tt.sql, got, tt.withoutFormat)
		}
	}
}

func TestQuotes(t *testing.T) {
	for text, want := range map[string]string{
		"'a'": "a", "''": "", "a": "a", `'it\'s'`: "it's", `'it''s'`: "it's",
		`'\t\n\\\0'`: "\t\n\\\x00", `'\N'`: "N", "'é'": "é",
	} {
		if got, err := unquote(text); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"'", "'a", `'a\'`, "'a'b", "'a'b'"} {
		if got, err := unquote(text); !errors.Is(err, errQuote) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "'", `\`, `\'`, "`", "a'b\\c`d", "\n"} {
		if got, err := unquote(quote(text)); err != nil || got != text {
			t.Errorf("%q comes back as %q, %v", text, got, err)
		}
	}
}

func TestParseException(t *testing.T) {
	for text, want := range map[string]exception{
		"Code: 62. DB::Exception: Syntax error. (SYNTAX_ERROR)":                                      {62, "Syntax error."},
		"Code: 60. DB::Exception: No table (a)\nnor (b). (UNKNOWN_TABLE) (version 26.5.1.1)":         {60, "No table (a)\nnor (b)."},
		"Code: 1. DB::Exception: x (Y) (version 1.2 (official build))":                               {1, "x"},
		"Code: 108. DB::Exception: Code: 108. DB::Exception: None. (NO_DATA) (version 1). (NO_DATA)": {108, "None."},
		"std::exception": {codeUnknownException, "std::exception"},
		"Code: 99999999999999999999. DB::Exception: x": {
			codeUnknownException,
			"Code: 99999999999999999999. DB::Exception: x",
		},
	} {
		if got := parseException(text); *got != want {
			t.Errorf("%s: %+v, want %+v", text, *got, want)
		}
	}
}
