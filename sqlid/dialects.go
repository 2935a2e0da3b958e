package sqlid

import (
	"fmt"
	"strings"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
)

// Dialect is a kind of database. It is the type of package migrations' dialects as well. Its method
// Quote quotes a name as an identifier of the dialect.
type Dialect = dialect.Dialect

const (
	// SQLite stores 63-bit IDs as INTEGER, bytes as BLOB, and the text forms as TEXT. An integer
	// primary key is INT, which stores the same. An INTEGER PRIMARY KEY would be SQLite's row
	// number. A row that is inserted without one gets the largest plus one. That is an ID of the
	// next launch.
	SQLite Dialect = dialect.SQLite

	// Postgres stores texts as TEXT COLLATE "C": another collation sorts them otherwise. CHAR(16)
	// is no exact match for a text parameter, which keeps some queries from its index.
	Postgres Dialect = dialect.Postgres

	// MySQL is version 8.0.16 or later, the first to heed CHECK. BINARY(n) fills up what is too
	// short with zero bytes, before a CHECK sees it. There is no type for UUIDs: keys that are
	// declared with [idtype.AsUUID] are refused with a [*StorageError].
	MySQL Dialect = dialect.MySQL

	// MariaDB is as MySQL, and has UUID. Before 10.9.8, 10.10.6, 10.11.5 and 11.0.3 it kept the
	// parts of each UUID in another order, and sorted them so. Rows of IDs made one after the other
	// lay all over the table. Prefer bytes or text there. Since then it does so only with UUIDs of
	// certain versions and variants. No ID is one of these.
	MariaDB Dialect = dialect.MariaDB
)

// A DialectError is returned for a dialect that this package has no columns of.
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
	return fmt.Sprintf("sqlid: no column of %s holds IDs as %s: declare the key with another form",
		e.Dialect, e.Storage)
}

// A SchemeError is returned for IDs of a scheme whose values no check of this package knows.
type SchemeError struct {
	Scheme idtype.Scheme
}

func (e *SchemeError) Error() string { return fmt.Sprintf("sqlid: unknown scheme %q", e.Scheme) }

// Quote quotes a name as an identifier of standard SQL, which SQLite and PostgreSQL take.
func Quote(name string) string { return Postgres.Quote(name) }

const (
	// uuidBytes are the bytes of the characters 2 to 9 and a to x, as hexadecimal digits.
	uuidBytes = "^(3[2-9]|6[1-9a-f]|7[0-8]){16}$"
	zeroUUID  = "32323232-3232-3232-3232-323232323232"
)

// uuidGlob takes the lower-case text of such UUIDs. SQLite's patterns have no choices, so it takes
// some others from the same rows of ASCII as well.
var uuidGlob = strings.ReplaceAll("xxxx-xx-xx-xx-xxxxxx", "x", "[367][0-9a-f]")

// checksOfUUID7 are those of IDs of 16 bytes. What stands between {7  and }
// asks for version 7, and is not for columns that take all.
var checksOfUUID7 = map[Dialect]map[idtype.Storage]string{
	SQLite: {
		idtype.StorageBytes: "typeof({name}) IN ('blob', 'null') AND length({name}) = 16" +
			" AND {name} <> zeroblob(16)<7> AND substr({name}, 7, 1) BETWEEN X'70' AND X'7F'" +
			" AND substr({name}, 9, 1) BETWEEN X'80' AND X'BF'</7>",
		idtype.StorageUUID: "typeof({name}) IN ('text', 'null') AND {name} GLOB '" + anyUUIDGlob +
			"' AND {name} <> '" + nilUUID + "'<7> AND {name} GLOB '??????????????7????[89ab]*'</7>",
	},
	Postgres: {
		idtype.StorageBytes: `octet_length({name}) = 16 AND {name} <> '\x{zeros}'` +
			"<7> AND get_byte({name}, 6) >> 4 = 7 AND get_byte({name}, 8) >> 6 = 2</7>",
		idtype.StorageUUID: "{name} <> '" + nilUUID + "'<7> AND {name}::text LIKE '______________7%'" +
			" AND substr({name}::text, 20, 1) IN ('8', '9', 'a', 'b')</7>",
	},
	MySQL: {
		idtype.StorageBytes: "{name} <> X'{zeros}'<7> AND HEX({name}) REGEXP '^.{12}7...[89AB]'</7>",
		idtype.StorageUUID: "{name} <> '" + nilUUID + // MariaDB's alone
			"'<7> AND LOWER({name}) REGEXP '^.{14}7.{4}[89ab]'</7>",
	},
}

const nilUUID = "00000000-0000-0000-0000-000000000000"

// anyUUIDGlob takes the text of a UUID in lower case.
var anyUUIDGlob = strings.ReplaceAll("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "x", "[0-9a-f]")

// checks are what a column that holds IDs asks of its values. In them stand
//
//	{name}                for the column's quoted name
//	{size}                for the number of the IDs' bytes
//	{zeros}               for so many zero bytes, in hexadecimal
//	{zero}, {zero uuid}   for the text of an ID of zero bytes
//	{numbers}             for what holds for integers
var checks = map[Dialect]map[idtype.Storage]string{
	SQLite: {
		idtype.StorageBigint: "typeof({name}) IN ('integer', 'null') AND {numbers}",
		idtype.StorageBytes: "typeof({name}) IN ('blob', 'null') AND length({name}) = {size}" +
			" AND {name} <> zeroblob({size})",
		idtype.StorageText: "typeof({name}) IN ('text', 'null') AND length({name}) = 16" +
			" AND {name} NOT GLOB '*[^2-9a-x]*' AND {name} <> '{zero}'",
		idtype.StorageUUID: "typeof({name}) IN ('text', 'null') AND {name} GLOB '" + uuidGlob +
			"' AND {name} <> '{zero uuid}'",
	},
	Postgres: {
		idtype.StorageBigint: "{numbers}",
		idtype.StorageBytes:  `octet_length({name}) = {size} AND {name} <> '\x{zeros}'`,
		idtype.StorageText:   "{name} ~ '^[2-9a-x]{16}$' AND {name} <> '{zero}'",
		idtype.StorageUUID: "replace({name}::text, '-', '') ~ '" + uuidBytes +
			"' AND {name} <> '{zero uuid}'",
	},
	MySQL: {
		idtype.StorageBigint: "{numbers}",
		idtype.StorageBytes:  "{name} <> X'{zeros}'",
		idtype.StorageText:   "{name} REGEXP '^[2-9a-x]{16}$' AND {name} <> '{zero}'",
		idtype.StorageUUID: "REPLACE({name}, '-', '') REGEXP '" + uuidBytes + // MariaDB's alone
			"' AND {name} <> '{zero uuid}'",
	},
}
