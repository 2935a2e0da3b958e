// Package searchpath finds the schema of a launch log in PostgreSQL by the session's default
// search_path, and not by what somebody has SET. A pooler such as PgBouncer in transaction mode
// hands connections from client to client, with the settings that one has made. A SET search_path
// of another client would otherwise lead to another log, whose numbers were given out before. So
// would its SET ROLE, because "$user" in a search_path is the current role's schema.
//
// The default is what the connection string says, and else the role's, the database's or the
// server's setting. What is found and set here counts until the end of a transaction. A pooler lets
// a client keep its connection no longer than that.
package searchpath

import "fmt"

// A Query runs a query in a transaction, and scans the columns of its one row.
type Query func(text string, args []any, columns ...any) error

// A Place is where a search_path leads to.
type Place struct {
	Schema string // of the log; where there is none, the one in which tables are made, "" for none
	Log    bool   // the log is there
}

// Find returns an Error where a connection's search_path leads to another launch log than its
// default does, or the default to none. One of the two is not meant.
type Error struct {
	Default string // the schema of the log by the session's default, "" where it leads to none
	Current string // the schema of the log by the search_path that was SET
}

func (e *Error) Error() string {
	by := "its default to none"
	if e.Default != "" {
		by = fmt.Sprintf("its default to that in schema %q", e.Default)
	}
	return fmt.Sprintf("the connection's search_path leads to the launch log in schema %q, "+
		"and %s: put search_path into the connection string, which makes it the default, "+
		"rather than SET it; through PgBouncer, another client may have left it behind",
		e.Current, by)
}

// A Step is a query that answers with one row of texts.
type Step struct {
	Text string
	Args []string
}

// values are the step's arguments.
func (s Step) values() (values []any) {
	for _, arg := range s.Args {
		values = append(values, arg)
	}
	return values
}

// note keeps what the search_path lists, and a place, until the end of the transaction. So no step
// needs the answer of another. current_schemas leaves out what the role may not use.
const note = `SELECT pg_catalog.set_config('idmint.listed',
	pg_catalog.current_schemas(false)::text, true)`

// found looks by two lists of schemas at one moment: others may make and drop the tables. It looks
// past temporary ones, which the server looks for first.
const found = `
	WITH log AS (
		SELECT path.own, path.place, n.nspname::text AS schema FROM (
			SELECT true AS own, d.* FROM pg_catalog.unnest(pg_catalog.current_schemas(false))
				WITH ORDINALITY AS d (name, place)
			UNION ALL
			SELECT false, c.* FROM
				pg_catalog.unnest(pg_catalog.current_setting('idmint.listed')::name[])
				WITH ORDINALITY AS c (name, place)
		) path
		JOIN pg_catalog.pg_namespace n ON n.nspname = path.name
		JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid
		WHERE c.relname = 'idmint_schema' AND c.relpersistence <> 't')
	SELECT pg_catalog.set_config('idmint.log',
			coalesce((SELECT schema FROM log WHERE own ORDER BY place LIMIT 1), ''), true),
		coalesce((SELECT schema FROM log WHERE NOT own ORDER BY place LIMIT 1), ''),
		coalesce(pg_catalog.current_schema()::text, '')`

// Steps are what [Find] asks, in one transaction. None needs the answer of another, so they can be
// sent in one flight. [Found] reads the three columns of the last one. See [Reset] for startup and
// own.
func Steps(startup string, own bool) []Step {
	return append(append([]Step{{Text: note}}, reset(startup, own)...), Step{Text: found})
}

// Found is what the answer of the last of [Steps] says. With own it is never an [*Error].
func Found(log, current, first string, own bool) (Place, error) {
	var err error
	if !own && current != "" && current != log {
		err = &Error{Default: log, Current: current}
	}
	if log == "" {
		return Place{Schema: first}, err
	}
	return Place{Schema: log, Log: true}, err
}

// Find resets the search_path, and says where that leads to. Own says that the connection belongs
// to a pool of ours, in which nobody SETs it on purpose. Then Find returns no [*Error] where the
// connection led elsewhere before. See [Reset] for startup and own.
func Find(query Query, startup string, own bool) (Place, error) {
	var answer [3]string
	steps := Steps(startup, own)
	last := len(steps) - 1
	if err := run(query, steps[:last]); err != nil {
		return Place{}, err
	}
	err := query(steps[last].Text, steps[last].values(), &answer[0], &answer[1], &answer[2])
	if err != nil {
		return Place{}, err
	}
	return Found(answer[0], answer[1], answer[2], own)
}

// run asks steps one by one, whose answers say nothing.
func run(query Query, steps []Step) error {
	for _, step := range steps {
		var nothing string
		if err := query(step.Text, step.values(), &nothing); err != nil {
			return err
		}
	}
	return nil
}

// Reset sets the search_path to its default until the end of the transaction. Startup is that of
// the connection string, which a pooler may have ignored, or "". In a pool of our own it sets the
// role to its default as well. In another one the app may have SET it on purpose.
func Reset(query Query, startup string, own bool) error { return run(query, reset(startup, own)) }

func reset(startup string, own bool) (steps []Step) {
	if own { // NULL is the role's default, which pg_settings does not list
		steps = append(steps, Step{Text: `SELECT pg_catalog.set_config('role', NULL, true)`})
	}
	return append(steps, Step{Text: `
		SELECT pg_catalog.set_config('search_path', coalesce(nullif($1::text, ''), reset_val), true)
		FROM pg_catalog.pg_settings WHERE name = 'search_path'`, Args: []string{startup}})
}

// Inside goes behind [Steps]: what follows finds the log's tables, where there is a log.
var Inside = Step{Text: `SELECT pg_catalog.set_config('search_path',
	pg_catalog.quote_ident(pg_catalog.current_setting('idmint.log')) || ', pg_temp', true)`}

// Enter puts a schema first in the search_path until the end of the transaction, and temporary
// tables last. A schema of "" is the one that comes first already. Where there is none the
// search_path stays as it is, and no table can be made.
func Enter(query Query, schema string) error {
	var path string
	return query(`
		SELECT CASE WHEN s.name IS NULL THEN '' ELSE
			pg_catalog.set_config('search_path', concat_ws(', ', quote_ident(s.name),
				nullif(current_setting('search_path'), ''), 'pg_temp'), true) END
		FROM (SELECT coalesce(nullif($1::text, ''), pg_catalog.current_schema()::text)) s (name)`,
		[]any{schema}, &path)
}
