package sqlid

import (
	"fmt"
	"strings"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
)

// Dialect is a kind of database. Package migrations uses the same type. The method Quote quotes a
// name as an identifier of the dialect.
type Dialect = dialect.Dialect

const (
	// SQLite stores 63-bit IDs as INTEGER, bytes as BLOB, and text forms as TEXT. An integer
	// primary key is declared as INT, which is stored in the same way. An INTEGER PRIMARY KEY would
	// be an alias of SQLite's row number, and a row inserted without a key would get the largest
	// number plus one, which is an ID of the next launch.
	SQLite Dialect = dialect.SQLite

	// Postgres stores texts as TEXT COLLATE "C", because other collations sort them differently.
	// CHAR(16) would not match a text parameter exactly, which keeps some queries from using its
	// index.
	Postgres Dialect = dialect.Postgres

	// MySQL is version 8.0.16 or later, the first version that enforces CHECK. BINARY(n) pads short
	// values with zero bytes before a CHECK sees them. MySQL has no type for UUIDs: keys declared
	// with [idtype.AsUUID] are rejected with a [*StorageError].
	MySQL Dialect = dialect.MySQL

	// MariaDB is like MySQL, but has UUID. Before 10.9.8, 10.10.6, 10.11.5, and 11.0.3 it stored
	// the parts of every UUID in a different order and sorted by that, so that rows minted one
	// after the other were scattered over the table. With such versions prefer bytes or text. Since
	// then it does so only for UUIDs of certain versions and variants, and no ID is one of these.
	MariaDB Dialect = dialect.MariaDB
)

// A DialectError is returned for a dialect that this package does not support.
type DialectError struct {
	Dialect Dialect
}

func (e *DialectError) Error() string { return fmt.Sprintf("sqlid: unknown dialect %q", e.Dialect) }

// A StorageError is returned for a form of IDs for which a dialect has no column type.
type StorageError struct {
	Dialect Dialect
	Storage idtype.Storage
}

func (e *StorageError) Error() string {
	return fmt.Sprintf("sqlid: %s has no column type for IDs as %s: "+
		"declare the key with another form",
		e.Dialect, e.Storage)
}

// A SchemeError is returned for IDs of a scheme that this package cannot check.
type SchemeError struct {
	Scheme idtype.Scheme
}

func (e *SchemeError) Error() string { return fmt.Sprintf("sqlid: unknown scheme %q", e.Scheme) }

// Quote quotes a name as an identifier of standard SQL, as SQLite and PostgreSQL accept it.
func Quote(name string) string { return Postgres.Quote(name) }

const (
	// uuidBytes are the bytes of the characters 2 to 9 and a to x, as hexadecimal digits.
	uuidBytes = "^(3[2-9]|6[1-9a-f]|7[0-8]){16}$"
	zeroUUID  = "32323232-3232-3232-3232-323232323232"
)

// uuidGlob matches the lower-case text of such UUIDs. SQLite's patterns have no alternatives, so it
// also matches some other characters from the same rows of ASCII.
var uuidGlob = strings.ReplaceAll("xxxx-xx-xx-xx-xxxxxx", "x", "[367][0-9a-f]")

// checksOfUUID7 are the checks for IDs of 16 bytes. The part between <7> and </7> checks for
// version 7, and is omitted for columns that accept all UUIDs.
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
		idtype.StorageUUID: "{name} <> '" + nilUUID + "'" +
			"<7> AND {name}::text LIKE '______________7%'" +
			" AND substr({name}::text, 20, 1) IN ('8', '9', 'a', 'b')</7>",
	},
	MySQL: {
		idtype.StorageBytes: "{name} <> X'{zeros}'" +
			"<7> AND HEX({name}) REGEXP '^.{12}7...[89AB]'</7>",
		idtype.StorageUUID: "{name} <> '" + nilUUID + // only MariaDB
			"'<7> AND LOWER({name}) REGEXP '^.{14}7.{4}[89ab]'</7>",
	},
}

const nilUUID = "00000000-0000-0000-0000-000000000000"

// anyUUIDGlob matches the text of a UUID in lower case.
var anyUUIDGlob = strings.ReplaceAll("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "x", "[0-9a-f]")

// checks are the conditions on the values of a column that holds IDs. They contain these
// placeholders:
//
//	{name}                the column's quoted name
//	{size}                the number of bytes of an ID
//	{zeros}               as many zero bytes, in hexadecimal
//	{zero}, {zero uuid}   the text of an ID whose bytes are all zero
//	{numbers}             the condition for integers
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
		idtype.StorageUUID: "REPLACE({name}, '-', '') REGEXP '" + uuidBytes + // only MariaDB
			"' AND {name} <> '{zero uuid}'",
	},
}
