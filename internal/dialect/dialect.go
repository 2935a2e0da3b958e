// Package dialect knows what a SQL dialect is. It knows its name, how it quotes names and which
// columns hold IDs. It knows the settings that a session needs, which errors pass, and how to wait
// for a database. It imports no driver and nothing else of this module: all packages may ask it.
package dialect

import (
	"strconv"
	"strings"
)

// Dialect is a kind of database, by its name. Packages sqlid and migrations show the type to their
// users. So it has no methods but Quote, which users call. What else is known of a dialect is asked
// for by functions of this package.
type Dialect string

// The dialects. MariaDB speaks MySQL's, and has a type for UUIDs.
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
	driver  string            // the name by which its Go driver registers itself with database/sql
	quote   *strings.Replacer // what a quoted name escapes
	mark    string            // what stands around a quoted name
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
		// Another collation sorts texts otherwise. CHAR(16) is no exact match for a text parameter,
		// which keeps some queries from its index.
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

// Family returns the dialect itself, and MySQL for MariaDB. So what a family has in common is said
// once. Of a dialect that is not known it is "".
func Family(d Dialect) Dialect { return known[d].family }

// Driver returns the name by which the dialect's Go driver registers itself with database/sql.
func Driver(d Dialect) string { return known[d].driver }

// Quote quotes a name as an identifier. A dialect that is not known quotes as standard SQL does.
func (d Dialect) Quote(name string) string {
	k, ok := known[d]
	if !ok {
		k = known[Postgres]
	}
	return k.mark + k.quote.Replace(name) + k.mark
}

// Column returns the type of a dialect's column that holds IDs in a form of package idtype: bigint,
// bytes, text or uuid. Size is the length of the bytes or of the text. Of a form that the dialect
// has no column for it is "".
func Column(d Dialect, form string, size int) string {
	return strings.ReplaceAll(known[d].columns[form], "#", strconv.Itoa(size))
}
