package main

import (
	"errors"
	"testing"
)

// What is inserted follows the statement's head. The rest says in which format.
func TestInsertionOf(t *testing.T) {
	for _, tt := range []struct{ head, rest, table, columns string }{
		{"INSERT INTO t ", "VALUES", "t", "*"},
		{"insert into t ", "values;", "t", "*"},
		{"INSERT INTO t", "", "t", "*"},
		{"INSERT INTO t (a, `b c`) ", "FORMAT Native", "t", "a, `b c`"},
		{"INSERT INTO `the db`.\"t\"(a) ", "VALUES -- none", "`the db`.\"t\"", "a"},
		{"INSERT INTO TABLE values (format) ", "VALUES", "values", "format"},
		{"/* x */ INSERT INTO t (a) SETTINGS max_threads = 1 ", "VALUES", "t", "a"},
		{"INSERT INTO t () ", "VALUES", "t", "*"},
		{"INSERT INTO {table:Identifier} (a) ", "VALUES", "{table:Identifier}", "a"},
		{"INSERT INTO FUNCTION null('a Int8') ", "VALUES", "null('a Int8')", "*"},
		{"INSERT INTO FUNCTION null('a Int8') (a) ", "FORMAT RowBinary", "null('a Int8')", "a"},
	} {
		got, is := insertionOf(tt.head + tt.rest)
		if want := (insertion{tt.head, tt.table, tt.columns}); !is || got != want {
			t.Errorf("%s: %v %+v, want %+v", tt.head+tt.rest, is, got, want)
		}
	}
	for _, sql := range []string{
		"INSERT INTO t VALUES (1, 'VALUES')",
		"INSERT INTO t FORMAT JSONEachRow {}",
		"INSERT INTO t SELECT 1",
		"INSERT INTO t (a) SELECT * FROM u FORMAT Native",
		"INSERT INTO t (SELECT 1)",
		"INSERT INTO t WITH x AS (SELECT 1) SELECT * FROM x",
		"SELECT 'INSERT INTO t VALUES'",
		"INSERT INTO",
		"",
	} {
		if got, is := insertionOf(sql); is {
			t.Errorf("%s: taken for %+v", sql, got)
		}
	}
	for _, cut := range []string{"FUNCTION f(", "{", "t ((((("} {
		insertionOf("INSERT INTO " + cut) // what is cut off may be either, and ends nothing
	}
}

func TestStatements(t *testing.T) {
	const neither, columns, several, both = 0, 1, 2, 3
	for _, tt := range []struct {
		sql, format string // the second is left out
		has         int
	}{
		{"SELECT 1", "", columns},
		{"select 1", " format JSON", columns},
		{"SELECT 1", " FORMAT JSON;", columns},
		{"SELECT f(a FORMAT b)", "", columns},
		{"((SELECT 1) UNION ALL (SELECT 2))", "", columns},
		{"-- x\n# y\n/* z */ WITH 1 AS x SELECT x;;", "", columns},
		{"SELECT ';' AS `;` /* ; */ -- ;", "", columns},
		{"SELECT 1; SELECT 2", "", both},
		{"SHOW TABLES", "", columns},
		{"DROP TABLE a; DROP TABLE b;", "", several},
		{"CREATE TABLE t (a Int8) ENGINE = File FORMAT CSV", "", neither},
		{"INSERT INTO t VALUES ('a;b'); ", "", neither},
		{"INSERT INTO t FORMAT CSV 1;2", "", neither},
		{"/* no end", "", neither},
		{"SELECT 'no end", "", columns},
		{"", "", neither},
		{";", "", neither},
	} {
		sql := tt.sql + tt.format
		err := severalStatements(sql)
		var x *exception
		if want := tt.has&several != 0; (err != nil) != want ||
			want && (!errors.As(err, &x) || x.code != 62) {
			t.Errorf("%s: several statements: %v", sql, err)
		}
		if got := hasColumns(sql); got != (tt.has&columns != 0) {
			t.Errorf("%s: columns: %v", sql, got)
		}
		if got := withoutFormat(sql); got != tt.sql {
			t.Errorf("%s: %q without format, want %q", sql, got, tt.sql)
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
	const none = "Code: 108. DB::Exception: "
	const huge = "Code: 99999999999999999999. DB::Exception: x"
	for text, want := range map[string]exception{
		"Code: 62. DB::Exception: Syntax error. (SYNTAX_ERROR)":        {62, "Syntax error."},
		"Code: 1. DB::Exception: x (Y) (version 1.2 (official build))": {1, "x"},
		"Code: 60. DB::Exception: No table (a)\nnor (b). (UNKNOWN_TABLE) (version 26.5.1.1)": {
			60, "No table (a)\nnor (b).",
		},
		none + none + "None. (NO_DATA) (version 1). (NO_DATA)": {108, "None."},
		"std::exception": {codeUnknownException, "std::exception"},
		huge:             {codeUnknownException, huge},
	} {
		if got := parseException(text); *got != want {
			t.Errorf("%s: %+v, want %+v", text, *got, want)
		}
	}
}
