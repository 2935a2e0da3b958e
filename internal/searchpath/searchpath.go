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

// current_schemas leaves out what the role may not use.
const listed = `SELECT pg_catalog.current_schemas(false)::text`

// found looks by two lists of schemas at one moment: others may make and drop the tables. It looks
// past temporary ones, which the server looks for first.
const found = `
	WITH log AS (
		SELECT path.own, path.place, n.nspname::text AS schema FROM (
			SELECT true AS own, d.* FROM pg_catalog.unnest(pg_catalog.current_schemas(false))
				WITH ORDINALITY AS d (name, place)
			UNION ALL
			SELECT false, c.* FROM pg_catalog.unnest($1::text::name[])
				WITH ORDINALITY AS c (name, place)
		) path
		JOIN pg_catalog.pg_namespace n ON n.nspname = path.name
		JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid
		WHERE c.relname = 'idmint_schema' AND c.relpersistence <> 't')
	SELECT coalesce((SELECT schema FROM log WHERE own ORDER BY place LIMIT 1), ''),
		coalesce((SELECT schema FROM log WHERE NOT own ORDER BY place LIMIT 1), ''),
		coalesce(pg_catalog.current_schema()::text, '')`

// Find resets the search_path, and says where that leads to. Own says that the connection belongs
// to a pool of ours, in which nobody SETs it on purpose. Then Find returns no [*Error] where the
// connection led elsewhere before. See [Reset] for startup and own.
func Find(query Query, startup string, own bool) (Place, error) {
	var before, log, current, first string
	err := query(listed, nil, &before)
	if err == nil {
		err = Reset(query, startup, own)
	}
	if err == nil {
		err = query(found, []any{before}, &log, &current, &first)
	}
	if err == nil && !own && current != "" && current != log {
		err = &Error{Default: log, Current: current}
	}
	if log == "" {
		return Place{Schema: first}, err
	}
	return Place{Schema: log, Log: true}, err
}

// Reset sets the search_path to its default until the end of the transaction. Startup is that of
// the connection string, which a pooler may have ignored, or "". In a pool of our own it sets the
// role to its default as well. In another one the app may have SET it on purpose.
func Reset(query Query, startup string, own bool) error {
	if own {
		var role string // NULL is its default, which pg_settings does not list
		err := query(`SELECT pg_catalog.set_config('role', NULL, true)`, nil, &role)
		if err != nil {
			return err
		}
	}
	var path string
	return query(`
		SELECT pg_catalog.set_config('search_path', coalesce(nullif($1::text, ''), reset_val), true)
		FROM pg_catalog.pg_settings WHERE name = 'search_path'`, []any{startup}, &path)
}

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
