package keys

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/idmint/idmint/internal/dialect"
)

// primary has the queries for the columns of a table's primary key. For each column they return the
// value that the database would assign, in words.
var primary = map[dialect.Dialect]string{
	dialect.Postgres: `SELECT a.attname, CASE WHEN a.attidentity <> '' THEN 'an identity' ELSE
		coalesce('the default ' || pg_get_expr(d.adbin, d.adrelid), '') END
		FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
		LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE i.indisprimary AND i.indrelid = to_regclass($1)`,
	// A single INTEGER key is the rowid, unless the table is WITHOUT ROWID.
	dialect.SQLite: `SELECT c.name, CASE
		WHEN upper(c.type) = 'INTEGER' AND NOT t.wr AND (SELECT count(*) FROM
			pragma_table_info(t.name) WHERE pk > 0) = 1 THEN 'the number of the row'
		WHEN c.dflt_value IS NOT NULL THEN 'the default ' || c.dflt_value
		WHEN NOT c."notnull" AND NOT t.wr THEN 'NULL' ELSE '' END
		FROM pragma_table_list t JOIN pragma_table_info(t.name) c
		WHERE t.schema = 'main' AND '"' || replace(t.name, '"', '""') || '"' = $1 AND c.pk > 0`,
}

// CheckTable checks whether a database would assign a key to a row that is inserted without one.
// The table's name must be quoted.
func CheckTable(ctx context.Context, db *sql.DB, d dialect.Dialect, table string) error {
	rows, err := db.QueryContext(ctx, primary[d], table)
	if err != nil {
		return err
	}
	defer rows.Close()
	var errs []error
	found := false
	for rows.Next() {
		var column, gives string
		if err := rows.Scan(&column, &gives); err != nil {
			return err
		}
		if found = true; gives != "" {
			errs = append(errs, fmt.Errorf("its key %s is %s if a row is inserted without one: %s",
				column, gives, advice(d, gives)))
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if !found {
		return errors.New("it does not exist, or has no primary key")
	}
	return errors.Join(errs...)
}

func advice(d dialect.Dialect, gives string) string {
	switch {
	case d == dialect.SQLite:
		return "create a new table with an INT NOT NULL key"
	case strings.HasPrefix(gives, "the default"):
		return "ALTER COLUMN … DROP DEFAULT"
	}
	return "ALTER COLUMN … DROP IDENTITY"
}
