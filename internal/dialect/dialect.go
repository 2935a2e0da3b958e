// Package dialect describes the SQL dialects: their names, how they quote names, which columns
// store IDs, the settings that a session needs, which errors are temporary, and how to wait for a
// database. It imports no driver and no other package of this module, so that all packages can use
// it.
package dialect

import (
	"strconv"
	"strings"
)

// Dialect is a kind of database, identified by its name. Packages sqlid and migrations export the
// type to their users, so its only method is Quote, which users call. Functions of this package
// return everything else about a dialect.
type Dialect string

// The dialects. MariaDB uses MySQL's dialect, but has a type for UUIDs.
const (
	SQLite     Dialect = "sqlite"
	Postgres   Dialect = "postgres"
	MySQL      Dialect = "mysql"
	MariaDB    Dialect = "mariadb"
	ClickHouse Dialect = "clickhouse"
)

// knowledge is what differs between dialects.
type knowledge struct {
	family  Dialect
	driver  string            // the name under which its Go driver registers with database/sql
	quote   *strings.Replacer // escapes a quoted name
	mark    string            // surrounds a quoted name
	columns map[string]string // by the form of an ID, with # for the size
	codes   func(code string) Cause
}

var (
	doubled   = strings.NewReplacer(`"`, `""`)
	backticks = strings.NewReplacer("`", "``")
)

var mysqlColumns = map[string]string{
	"bigint": "BIGINT", "bytes": "BINARY(#)",
	"text": "CHAR(#) CHARACTER SET ascii COLLATE ascii_bin",
}

var known = map[Dialect]knowledge{
	SQLite: {
		family: SQLite, driver: "sqlite3",
		quote: doubled, mark: `"`, codes: sqliteCause,
		columns: map[string]string{
			"bigint": "INTEGER", "bytes": "BLOB", "text": "TEXT", "uuid": "TEXT",
		},
	},
	Postgres: {
		family: Postgres, driver: "pgx",
		quote: doubled, mark: `"`, codes: postgresCause,
		// Another collation would sort texts differently, and CHAR(16) does not exactly match a
		// text parameter, which prevents some queries from using its index.
		columns: map[string]string{
			"bigint": "BIGINT", "bytes": "BYTEA", "text": `TEXT COLLATE "C"`, "uuid": "UUID",
		},
	},
	MySQL: {
		family: MySQL, driver: "mysql",
		quote: backticks, mark: "`", codes: mysqlCause, columns: mysqlColumns,
	},
	MariaDB: {
		family: MySQL, driver: "mysql",
		quote: backticks, mark: "`", codes: mysqlCause,
		columns: map[string]string{
			"bigint": mysqlColumns["bigint"], "bytes": mysqlColumns["bytes"],
			"text": mysqlColumns["text"], "uuid": "UUID",
		},
	},
	ClickHouse: {
		family: ClickHouse, driver: "clickhouse", mark: "`",
		quote: strings.NewReplacer("`", "\\`", `\`, `\\`),
		columns: map[string]string{
			"bigint": "Int64", "bytes": "FixedString(#)", "text": "FixedString(#)", "uuid": "UUID",
		},
	},
}

// Family returns the dialect itself, but MySQL for MariaDB, so that what a family has in common is
// described only once. It returns "" for an unknown dialect.
func Family(d Dialect) Dialect { return known[d].family }

// Driver returns the name under which the dialect's Go driver registers with database/sql.
func Driver(d Dialect) string { return known[d].driver }

// Quote quotes a name as an identifier, as in standard SQL if the dialect is unknown.
func (d Dialect) Quote(name string) string {
	k, ok := known[d]
	if !ok {
		k = known[Postgres]
	}
	return k.mark + k.quote.Replace(name) + k.mark
}

// Column returns the type of a dialect's column that stores IDs in a form of package idtype:
// bigint, bytes, text or uuid. Size is the length of the bytes or of the text. Column returns "" if
// the dialect has no column for the form.
func Column(d Dialect, form string, size int) string {
	return strings.ReplaceAll(known[d].columns[form], "#", strconv.Itoa(size))
}
