// Package functions has SQL functions that take IDs apart, and bound queries by time. They are for
// people at a console, and for tools that show reports. Programs have the methods of the IDs.
//
//	SELECT idmint_decimal_launch(id), count(*) FROM users GROUP BY 1;
//	SELECT * FROM events WHERE id BETWEEN idmint_sno_min('2026-11-01') AND idmint_sno_max(now());
//
// [Install] creates them in PostgreSQL, MySQL, MariaDB and ClickHouse, and [Statements] returns
// their SQL. SQLite keeps no functions: [Register] adds them to each connection. `idmint functions`
// writes the SQL for a console. All databases have the same names, and docs/reference/sql.md lists them.
//
// # What they take
//
// Functions of decimal, trace, short and snowflake IDs take the number. Those of snowflake IDs read
// Twitter's layout. [Snowflakes] has those of another, such as idmint_tsid_time. Those of eightbyte and sno IDs take
// the bytes. Others turn the forms of a column into bytes and back, as idmint_sno_from_text and
// idmint_sno_uuid do. A sequence ID has no parts, and no functions.
//
// # What they promise
//
// NULL gives NULL. What is no ID gives NULL as well: zero, bytes of another length, a text that
// Parse refuses. A part of a value that does not follow the scheme's layout is NULL, because rows
// may be older than the scheme. So a report goes on where a row is odd.
//
// The functions depend on their arguments alone. They are IMMUTABLE in PostgreSQL, and
// DETERMINISTIC and NO SQL in MySQL and MariaDB. In PostgreSQL they may stand in an index.
//
// # Time
//
// In PostgreSQL a time is a TIMESTAMPTZ. In MySQL and MariaDB it is a DATETIME of UTC: a TIMESTAMP
// column is converted by the session's time_zone first. In ClickHouse it is a DateTime64 of UTC,
// and a text is read as UTC. In SQLite it is a text of UTC.
//
// The bound of a time is the smallest or largest ID of its unit, as idtype.Bounds has it.
// A time before the first one that IDs carry counts as the first, and one after the last as the
// last. So a report that begins in 1970 finds all rows. In Go such a time is an error.
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

// Dialect is a kind of database. It is the type of package sqlid's dialects as well.
type Dialect = dialect.Dialect

// The dialects that keep functions.
const (
	// Postgres is PostgreSQL 14 or later. The functions go into the first schema of search_path.
	// Their operators are found by that path, once: let it have no schema in which somebody may
	// create objects whom you do not trust. The search_path of a caller does not matter.
	Postgres Dialect = dialect.Postgres
	// MySQL is version 8.0 or later. Its statements are tested on MariaDB. To create a function
	// takes the right CREATE ROUTINE. On a server that writes a binary log it takes
	// log_bin_trust_function_creators or the right SUPER, too: without them the server's error is
	// 1419, which names that setting.
	MySQL Dialect = dialect.MySQL
	// MariaDB is version 10.6 or later. What MySQL says of rights holds here.
	MariaDB Dialect = dialect.MariaDB
	// ClickHouse is tested in version 26.5. Its functions are the whole server's, and not those of a
	// database. On a cluster, add ON CLUSTER to the statements.
	ClickHouse Dialect = dialect.ClickHouse
)

// A DialectError is returned for a dialect that keeps no functions. Of SQLite see [Register].
type DialectError struct {
	Dialect Dialect
}

func (e *DialectError) Error() string {
	return fmt.Sprintf("functions: no functions can be kept in %q: want %q, %q, %q or %q",
		e.Dialect, Postgres, MySQL, MariaDB, ClickHouse)
}

// An InstallError is returned for a statement that a database refused.
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

// eachCharacter is an expression for each character of a sno ID's text. In it %[1]d stands for its
// place from 1 on, %[2]d for that of its half's bytes, and %[3]d for the bits behind it there.
func eachCharacter(from, to int, separator, expression string) string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf(expression, i+1, 1+i/8*5, 35-i%8*5))
	}
	return strings.Join(all, separator)
}

// eachHalf is an expression for each half of a text, of those for its characters.
func eachHalf(separator, begin, or, expression, end string) string {
	return begin + eachCharacter(0, 8, or, expression) + end + separator +
		begin + eachCharacter(8, 16, or, expression) + end
}

// A syntax is how a dialect creates functions. {head} and {body} are the function's.
type syntax struct {
	create    string
	fragments *strings.Replacer
	words
}

// A body of one expression needs no other delimiter.
const mysqlBody = "FUNCTION idmint_{head} DETERMINISTIC NO SQL RETURN {body}"

var syntaxes = map[Dialect]syntax{
	// The operators of a RETURN are found when the function is made, and not by the search_path of
	// whoever calls it: somebody who may create objects there could have his own ones run.
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

// A Layout is a layout of snowflake IDs whose functions are wanted as well. [Snowflakes] makes it.
type Layout struct {
	name   string
	scheme schemes.Scheme
}

// Snowflakes is the layout L, by the name that its functions have: of "items" they are
// idmint_items_time, idmint_items_node, idmint_items_step, idmint_items_min and idmint_items_max.
func Snowflakes[L idtype.Snowflakes](name string) Layout {
	return Layout{name, schemes.SnowflakeIn[L](name)}
}

// A NameError is returned for a layout whose functions would have the names of others.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("functions: a layout named %q: want a letter, and letters, digits and _, "+
		"in lower case, and no scheme's name", e.Name)
}

var layoutName = regexp.MustCompile("^[a-z][a-z0-9_]*$")

// wanted are the schemes by the names of their functions, those of numbers first, and layouts.
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

// Statements returns the statements that create the functions of a dialect, or replace them, for
// all schemes and those layouts. Each is run by itself, in this order. None ends in a semicolon.
// MySQL cannot replace a function: there each is dropped first. The error is a [*DialectError] or a
// [*NameError].
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
			for range 3 { // fragments hold others
				text = s.fragments.Replace(text)
			}
			all = append(all, text)
		}
	}
	return all, nil
}

// migrators is the lock of PostgreSQL that package migrations holds as well. Two that replace a
// function at the same time would be in each other's way.
const migrators = "SELECT pg_advisory_xact_lock(115880053272180)"

// Install creates the functions of a dialect, or replaces them. In PostgreSQL it is one
// transaction. Elsewhere an Install that was cut off is completed by the next one. MySQL is told
// from MariaDB by asking the server, so either dialect will do. The error is a [*DialectError], a
// [*NameError] or an [*InstallError].
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
