// Package functions provides SQL functions that return the parts of IDs, and the bounds of IDs for
// queries by time. They are for people at a console and for reporting tools, because these cannot
// call the methods of the ID types as a Go program can.
//
//	SELECT idmint_decimal_launch(id), count(*) FROM users GROUP BY 1;
//	SELECT * FROM events WHERE id BETWEEN idmint_sno_min('2026-11-01') AND idmint_sno_max(now());
//
// [Install] creates the functions in PostgreSQL, MySQL, MariaDB, and ClickHouse, and [Statements]
// returns their SQL. SQLite does not store functions, so [Register] adds them to each connection.
// The command `idmint functions` prints the SQL for a console. The names are the same in all
// databases, and are listed in docs/reference/sql.md.
//
// # Arguments
//
// Functions for decimal, trace, short, and snowflake IDs accept the number, and functions for
// eightbyte and sno IDs accept the bytes. Snowflake functions assume Twitter's layout; [Snowflakes]
// adds functions for another layout, such as idmint_tsid_time. Other functions convert the forms of
// a column to bytes and back, such as idmint_sno_from_text and idmint_sno_uuid. A sequence ID has
// no parts, and therefore no functions.
//
// # Results
//
// The result is NULL if the argument is NULL or not an ID: zero, bytes of another length, or a text
// that Parse rejects. A part is also NULL if the value does not follow the scheme's layout, because
// rows may be older than the scheme. Such a row therefore does not stop a report.
//
// The functions depend only on their arguments. They are IMMUTABLE in PostgreSQL, so that an index
// may use them, and DETERMINISTIC and NO SQL in MySQL and MariaDB.
//
// # Time
//
// In PostgreSQL a time is a TIMESTAMPTZ. In MySQL and MariaDB it is a DATETIME in UTC, and a
// TIMESTAMP column is first converted by the session's time_zone. In ClickHouse it is a DateTime64
// in UTC, and texts are read as UTC. In SQLite it is a text in UTC.
//
// The bound of a time is the smallest or the largest ID of its unit of time, as in idtype.Bounds.
// Times before the first or after the last one that IDs can carry are replaced by that first or
// last time. A report that begins in 1970 therefore finds all rows, whereas in Go such a time is an
// error.
package functions

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/schemes"
)

// Dialect is a kind of database. Package sqlid uses the same type.
type Dialect = dialect.Dialect

// The dialects that store functions.
const (
	// Postgres is PostgreSQL 14 or later. The functions are created in the first schema of
	// search_path. Their operators are looked up by that path once, at creation, so it should
	// contain no schema in which people you do not trust may create objects. The search_path of a
	// caller has no effect.
	Postgres Dialect = dialect.Postgres
	// MySQL is version 8.0 or later. Its statements are tested on MariaDB. Creating a function
	// requires the privilege CREATE ROUTINE. On a server that writes a binary log it also requires
	// the setting log_bin_trust_function_creators or the privilege SUPER; otherwise the server
	// returns error 1419, which names that setting.
	MySQL Dialect = dialect.MySQL
	// MariaDB is version 10.6 or later. The privileges are the same as for MySQL.
	MariaDB Dialect = dialect.MariaDB
	// ClickHouse is tested with version 26.5. Its functions belong to the whole server rather than
	// to one database. On a cluster, add ON CLUSTER to the statements.
	ClickHouse Dialect = dialect.ClickHouse
)

// A DialectError is returned for a dialect that does not store functions. For SQLite see
// [Register].
type DialectError struct {
	Dialect Dialect
}

func (e *DialectError) Error() string {
	return fmt.Sprintf("functions: cannot store functions in %q: want %q, %q, %q, or %q",
		e.Dialect, Postgres, MySQL, MariaDB, ClickHouse)
}

// An InstallError is returned for a statement that a database rejected.
type InstallError struct {
	Statement string
	Err       error
}

func (e *InstallError) Error() string {
	head, _, _ := strings.Cut(e.Statement, "(")
	return fmt.Sprintf("functions: %s: %v", strings.TrimSuffix(head, " AS "), e.Err)
}

func (e *InstallError) Unwrap() error { return e.Err }

const base32 = "'23456789abcdefghijklmnopqrstuvwx'"

// eachCharacter returns an expression for each character of a sno ID's text. In the expression,
// %[1]d is the position of the character counted from 1, %[2]d is the position of the first byte of
// its half, and %[3]d is the number of bits after it in that half.
func eachCharacter(from, to int, separator, expression string) string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf(expression, i+1, 1+i/8*5, 35-i%8*5))
	}
	return strings.Join(all, separator)
}

// eachHalf returns an expression for each half of a text, made of the expressions for its
// characters.
func eachHalf(separator, begin, or, expression, end string) string {
	return begin + eachCharacter(0, 8, or, expression) + end + separator +
		begin + eachCharacter(8, 16, or, expression) + end
}

// A syntax describes how a dialect creates functions, with {head} and {body} as placeholders.
type syntax struct {
	create    string
	fragments *strings.Replacer
	words
}

// A body of a single expression needs no other delimiter.
const mysqlBody = "FUNCTION idmint_{head} DETERMINISTIC NO SQL RETURN {body}"

var syntaxes = map[Dialect]syntax{
	// The operators of a RETURN are looked up when the function is created, and not by the
	// search_path of a caller. Otherwise, anybody who may create objects in that path could make
	// the caller run them.
	Postgres: {
		"CREATE OR REPLACE FUNCTION idmint_{head} LANGUAGE sql IMMUTABLE PARALLEL SAFE" +
			" RETURN {body}", postgresFragments, postgres,
	},
	MySQL:   {"CREATE " + mysqlBody, mysqlFragments, mysql},
	MariaDB: {"CREATE OR REPLACE " + mysqlBody, mysqlFragments, mysql},
	ClickHouse: {
		"CREATE OR REPLACE FUNCTION idmint_{head} -> {body}", clickhouseFragments, clickhouse,
	},
}

// A Layout is a layout of snowflake IDs that also gets functions. [Snowflakes] creates one.
type Layout struct {
	name   string
	scheme schemes.Scheme
}

// Snowflakes returns the layout L with the name for its functions. For "items" these are
// idmint_items_time, idmint_items_node, idmint_items_step, idmint_items_min, and idmint_items_max.
func Snowflakes[L idtype.Snowflakes](name string) Layout {
	return Layout{name, schemes.SnowflakeIn[L](name)}
}

// A NameError is returned for a layout whose functions would have the same names as others.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("functions: layout name %q must consist of lower-case letters, digits, "+
		"and _, begin with a letter, and differ from other layouts and schemes", e.Name)
}

var layoutName = regexp.MustCompile("^[a-z][a-z0-9_]*$")

// wanted returns the schemes and layouts by the names of their functions, with those of numbers
// first.
func wanted(layouts []Layout) ([]Layout, error) {
	var all []Layout
	for _, s := range schemes.All() {
		all = append(all, Layout{string(s.Name()), s})
	}
	slices.SortStableFunc(all, func(a, b Layout) int {
		return a.scheme.Known().Size - b.scheme.Known().Size
	})
	for _, l := range layouts {
		isTaken := slices.ContainsFunc(all, func(other Layout) bool { return other.name == l.name })
		if isTaken || !layoutName.MatchString(l.name) {
			return nil, &NameError{l.name}
		}
		all = append(all, l)
	}
	return all, nil
}

// Statements returns the statements that create or replace the functions of a dialect, for all
// schemes and the given layouts. Run them one at a time, in this order. They do not end in a
// semicolon. MySQL cannot replace a function, so for MySQL each one is dropped first. The error is
// a [*DialectError] or a [*NameError].
func Statements(d Dialect, layouts ...Layout) ([]string, error) {
	s, ok := syntaxes[d]
	if !ok {
		return nil, &DialectError{d}
	}
	known, err := wanted(layouts)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, k := range known {
		facts := k.scheme.Known()
		fragments := s.ofScheme(facts)
		for _, f := range s.functions(facts, functionsOf(facts.SQL, dialect.Family(d))) {
			head, body := k.name+"_"+f.head, f.body
			if d == MySQL {
				all = append(all, "DROP FUNCTION IF EXISTS idmint_"+nameOf(head))
			}
			if f.valid {
				body = fmt.Sprintf(s.guard, body)
			}
			text := strings.NewReplacer("{head}", head, "{body}", body).Replace(s.create)
			text = fragments.Replace(text)
			for range 3 { // fragments contain other fragments
				text = s.fragments.Replace(text)
			}
			all = append(all, text)
		}
	}
	return all, nil
}

// migrators takes the PostgreSQL lock that package migrations also holds. Without it, two sessions
// that replace a function at the same time would interfere.
const migrators = "SELECT pg_advisory_xact_lock(115880053272180)"

// Install creates or replaces the functions of a dialect. In PostgreSQL it runs in one transaction;
// in other databases, running Install again completes one that was interrupted. Install asks the
// server whether it is MySQL or MariaDB, so either dialect works for both. The error is a
// [*DialectError], a [*NameError], or an [*InstallError].
func Install(ctx context.Context, db *sql.DB, d Dialect, layouts ...Layout) error {
	var version string
	if dialect.Family(d) == MySQL {
		if err := db.QueryRowContext(ctx, "SELECT version()").Scan(&version); err != nil {
			return &InstallError{"SELECT version()", err}
		}
		d = MySQL
		if strings.Contains(version, "MariaDB") {
			d = MariaDB
		}
	}
	statements, err := Statements(d, layouts...)
	if err != nil {
		return err
	}
	if d != Postgres {
		return execute(ctx, db, statements)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return &InstallError{"BEGIN", err}
	}
	defer tx.Rollback()
	if err := execute(ctx, tx, append([]string{migrators}, statements...)); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return &InstallError{"COMMIT", err}
	}
	return nil
}

func execute(ctx context.Context, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, statements []string,
) error {
	for _, text := range statements {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return &InstallError{text, err}
		}
	}
	return nil
}
