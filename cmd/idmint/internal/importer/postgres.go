package importer

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/sqlid"
)

var postgresDialect = &dialect{
	kind: dsn.Postgres, title: "PostgreSQL",
	begin: []string{
		"BEGIN ISOLATION LEVEL READ COMMITTED",
		"SELECT set_config('synchronous_commit', 'on', true) WHERE " +
			"current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')",
	},
	place:   toDefaultSchema,
	dollars: true,
	// CREATE TABLE IF NOT EXISTS fails if two run at once
	creating: `SELECT pg_advisory_xact_lock(7019267370423121220)`,
	key:      "BIGINT GENERATED ALWAYS AS IDENTITY", ignore: `ON CONFLICT DO NOTHING`,
	quote: sqlid.Quote, longestName: 63, mostColumns: 1600, text: "text",
	columns: `SELECT a.attname,
			CASE t.typtype WHEN 'e' THEN 'enum ' ELSE '' END || format_type(t.oid, a.atttypmod),
			coalesce(a.attnum = ANY (i.indkey), false), coalesce(i.indnkeyatts, 0)
		FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
			LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
		WHERE a.attrelid = to_regclass(quote_ident(?)) AND a.attnum > 0 AND NOT a.attisdropped`,
	noted:     "?",
	isInteger: func(typ string) bool { return typ == "bigint" }, integer: "bigint",
	insert: copyRows,
}

// toDefaultSchema makes the session's default search_path and role determine where tables are,
// independently of what another client of a pooler has SET. Temporary tables are ignored.
func toDefaultSchema(ctx context.Context, tx *session) error {
	var startup string
	err := tx.Raw(func(driver any) error {
		startup = driver.(*stdlib.Conn).Conn().Config().RuntimeParams["search_path"]
		return nil
	})
	for _, step := range [...][]any{
		{`SELECT pg_catalog.set_config('role', NULL, true)`}, // its default, which no catalog shows
		{`SELECT pg_catalog.set_config('search_path',
				coalesce(nullif($1::text, ''), reset_val), true)
			FROM pg_catalog.pg_settings WHERE name = 'search_path'`, startup},
		{`SELECT CASE WHEN s.name IS NULL THEN '' ELSE
			pg_catalog.set_config('search_path', concat_ws(', ', quote_ident(s.name),
				nullif(current_setting('search_path'), ''), 'pg_temp'), true) END
			FROM (SELECT pg_catalog.current_schema()::text) s (name)`},
	} {
		if err == nil {
			err = tx.queryRow(ctx, step[0].(string), step[1:]...).Scan(new(string))
		}
	}
	return err
}

// copyRows stores rows by COPY, as text that the server converts to the types of the columns.
func copyRows(ctx context.Context, s *session, r rows) error {
	text := newTextReader(r, s.progress)
	// If the connection was lost, the driver may leave a goroutine that still reads.
	defer text.close()
	var stored int64
	err := s.Raw(func(driver any) error {
		tag, err := driver.(*stdlib.Conn).Conn().PgConn().CopyFrom(ctx, text,
			r.into("COPY", sqlid.Quote)+" FROM STDIN")
		stored = tag.RowsAffected()
		return err
	})
	var answer *pgconn.PgError
	switch {
	case errors.As(err, &answer):
		if row, column := copyPlace(answer.Where, r.Table, r.columns); row >= 1 && row <= len(r.ids) {
			return r.at(row-1, column, err)
		}
		return err
	case err != nil:
		return err
	}
	return r.allStored(0, len(r.ids), stored)
}

// copyPlace finds the row and the column of a COPY that an error is about, in the server's
// description of the place: COPY t, line 3, column n: "x". Other lines may precede that one. The
// description may be in another language, most of which have the same order.
func copyPlace(where, table string, columns []string) (row int, column string) {
	place := regexp.MustCompile(`(?m)^COPY ` + regexp.QuoteMeta(table) +
		`, \S+ ([0-9]+)(?:, \S+ (.*))?`).FindStringSubmatch(where)
	if place == nil {
		return 0, ""
	}
	row, _ = strconv.Atoi(place[1])
	for _, c := range columns {
		behind, ok := strings.CutPrefix(place[2], c)
		if ok && len(c) > len(column) && strings.HasPrefix(strings.TrimLeft(behind, " \u00a0"), ":") {
			column = c
		}
	}
	return row, column
}
