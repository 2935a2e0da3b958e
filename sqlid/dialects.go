package sqlid

import (
	"fmt"
	"strings"

	"github.com/idmint/idmint/idtype"
)

// Dialect is a kind of database.
type Dialect string

const (
	// SQLite stores 63-bit IDs as INTEGER, bytes as BLOB, and the text forms as TEXT. An integer primary key is INT, which stores the
	// same: an INTEGER PRIMARY KEY is SQLite's row number, and a row that is inserted without one gets the largest plus one,
	// which is an ID of the next launch.
	SQLite Dialect = "sqlite"

	// Postgres stores texts as TEXT COLLATE "C": another collation sorts them otherwise, and CHAR(16), to which a text parameter is
	// no exact match, keeps some queries from its index.
	Postgres Dialect = "postgres"

	// MySQL, from 8.0.16 on, which was the first to heed CHECK. BINARY(n) fills up what is too short with zero bytes, before a CHECK
	// sees it. There is no type for UUIDs: keys that are declared with [idtype.AsUUID] are refused with a [*StorageError].
	MySQL Dialect = "mysql"

	// MariaDB is as MySQL, and has UUID. Before 10.9.8, 10.10.6, 10.11.5 and 11.0.3 it kept the parts of each UUID in another order,
	// and sorted them so: rows of IDs made one after the other lay all over the table. Prefer bytes or text there. Since then it
	// does so with UUIDs of certain versions and variants, of which no ID is one.
	MariaDB Dialect = "mariadb"
)

// A DialectError is returned for a dialect that this package does not know.
type DialectError struct {
	Dialect Dialect
}

func (e *DialectError) Error() string { return fmt.Sprintf("sqlid: unknown dialect %q", e.Dialect) }

// A StorageError is returned for a form of IDs for which a dialect has no column.
type StorageError struct {
	Dialect Dialect
	Storage idtype.Storage
}

func (e *StorageError) Error() string {
	return fmt.Sprintf("sqlid: no column of %s holds IDs as %s: declare the key with another form", e.Dialect, e.Storage)
}

// Quote quotes a name as an identifier: in backticks for MySQL and MariaDB, and as standard SQL has it for all others.
func (d Dialect) Quote(name string) string {
	if d == MySQL || d == MariaDB {
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return Quote(name)
}

// Quote quotes a name as an identifier of standard SQL, which is that of SQLite and PostgreSQL.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// A form is a column that holds IDs. {name} stands for its quoted name, {size} for the IDs' bytes, {zeros} for these in hexadecimal
// when they are all zero, {zero} and {zero uuid} for the text of such an ID, and {numbers} for what holds for integers.
type form struct {
	column, key string // the type, and that of a primary key where it is another
	check       string
}

const (
	// uuidBytes are the bytes of the characters 2 to 9 and a to x, as hexadecimal digits.
	uuidBytes = "^(3[2-9]|6[1-9a-f]|7[0-8]){16}$"
	zeroUUID  = "32323232-3232-3232-3232-323232323232"
)

// uuidGlob takes the lower-case text of such UUIDs, with some others from the same rows of ASCII: SQLite's patterns have no choices.
var uuidGlob = strings.ReplaceAll("xxxx-xx-xx-xx-xxxxxx", "x", "[367][0-9a-f]")

var dialects = map[Dialect]map[idtype.Storage]form{
	SQLite: {
		idtype.StorageBigint: {column: "INTEGER", key: "INT", check: "typeof({name}) IN ('integer', 'null') AND {numbers}"},
		idtype.StorageBytes: {
			column: "BLOB", check: "typeof({name}) IN ('blob', 'null') AND length({name}) = {size} AND {name} <> zeroblob({size})",
		},
		idtype.StorageText: {
			column: "TEXT",
			check:  "typeof({name}) IN ('text', 'null') AND length({name}) = 16 AND {name} NOT GLOB '*[^2-9a-x]*' AND {name} <> '{zero}'",
		},
		idtype.StorageUUID: {
			column: "TEXT",
			check:  "typeof({name}) IN ('text', 'null') AND {name} GLOB '" + uuidGlob + "' AND {name} <> '{zero uuid}'",
		},
	},
	Postgres: {
		idtype.StorageBigint: {column: "BIGINT", check: "{numbers}"},
		idtype.StorageBytes:  {column: "BYTEA", check: `octet_length({name}) = {size} AND {name} <> '\x{zeros}'`},
		idtype.StorageText:   {column: `TEXT COLLATE "C"`, check: "{name} ~ '^[2-9a-x]{16}$' AND {name} <> '{zero}'"},
		idtype.StorageUUID:   {column: "UUID", check: "replace({name}::text, '-', '') ~ '" + uuidBytes + "' AND {name} <> '{zero uuid}'"},
	},
	MySQL: mysqlForms,
	MariaDB: with(mysqlForms, idtype.StorageUUID, form{
		column: "UUID", check: "REPLACE({name}, '-', '') REGEXP '" + uuidBytes + "' AND {name} <> '{zero uuid}'",
	}),
}

var mysqlForms = map[idtype.Storage]form{
	idtype.StorageBigint: {column: "BIGINT", check: "{numbers}"},
	idtype.StorageBytes:  {column: "BINARY({size})", check: "{name} <> X'{zeros}'"},
	idtype.StorageText: {
		column: "CHAR(16) CHARACTER SET ascii COLLATE ascii_bin", check: "{name} REGEXP '^[2-9a-x]{16}$' AND {name} <> '{zero}'",
	},
}

func with(forms map[idtype.Storage]form, s idtype.Storage, f form) map[idtype.Storage]form {
	all := map[idtype.Storage]form{s: f}
	for s, f := range forms {
		all[s] = f
	}
	return all
}
