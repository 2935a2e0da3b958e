// Package sqlid holds what users of database/sql need around the ID types of package idtype: columns for CREATE TABLE, with
// checks that keep foreign values out, parameter lists, and a nullable ID whose JSON is null.
//
// The ID types themselves are parameters and scan destinations as they are:
//
//	db.Exec("INSERT INTO users (id, name) VALUES (?, ?)", id, name)
//	row.Scan(&user.ID, &user.Name)
package sqlid

import (
	"fmt"
	"strings"

	"github.com/idmint/idmint/idtype"
)

// Dialect is a kind of database.
type Dialect string

// SQLite stores 63-bit IDs as INTEGER, bytes as BLOB, and the text forms as TEXT. An integer primary key is INT, which stores the
// same: an INTEGER PRIMARY KEY is SQLite's row number, and a row that is inserted without one gets the largest plus one,
// which is an ID of the next launch.
const SQLite Dialect = "sqlite"

var columnTypes = map[Dialect]map[idtype.Storage]string{
	SQLite: {
		idtype.StorageBigint: "INTEGER", idtype.StorageBytes: "BLOB", idtype.StorageText: "TEXT", idtype.StorageUUID: "TEXT",
	},
}

// A DialectError is returned for a dialect that this package does not know.
type DialectError struct {
	Dialect Dialect
}

func (e *DialectError) Error() string { return fmt.Sprintf("sqlid: unknown dialect %q", e.Dialect) }

// Domain is the set of values that a column takes.
type Domain int

// The domains, from the narrowest to the widest.
const (
	// Production takes IDs that follow the scheme's layout and were not made by a test generator.
	Production Domain = iota
	// Layout takes IDs that follow the scheme's layout.
	Layout
	// Positive takes all of 1 ..= 2^63−1, or all bytes of the scheme's size but zero: for tables that hold rows older than the
	// scheme.
	Positive
)

// Column describes a column of IDs of type T.
type Column[T idtype.ID] struct {
	Name   string
	Domain Domain
}

// Type is the column's type, for example "INTEGER".
func (c Column[T]) Type(d Dialect) (string, error) {
	var zero T
	t, ok := columnTypes[d][zero.Storage()]
	if !ok {
		return "", &DialectError{d}
	}
	return t, nil
}

// Check is a condition that holds for the column's domain, and for NULL. In SQLite, whose columns take any type, it asks for
// the type as well.
//
//	id BETWEEN 10000000000 AND 9223372029999999999 AND id % 100000 <> 0
func (c Column[T]) Check(d Dialect) (string, error) {
	typ, err := c.Type(d)
	if err != nil {
		return "", err
	}
	name := Quote(c.Name)
	if c.Domain < Production || c.Domain > Positive {
		return "", fmt.Errorf("sqlid: column %s: unknown domain %d", name, c.Domain)
	}
	return fmt.Sprintf("typeof(%s) IN ('%s', 'null') AND %s", name, strings.ToLower(typ), c.condition(name)), nil
}

// condition holds for the values of the domain, in SQLite's terms.
func (c Column[T]) condition(name string) string {
	var zero T
	switch zero.Storage() {
	case idtype.StorageText:
		return fmt.Sprintf("length(%s) = 16 AND %[1]s NOT GLOB '*[^2-9a-x]*' AND %[1]s <> '%v'", name, zero)
	case idtype.StorageUUID:
		return fmt.Sprintf("%s GLOB '%s'", name, uuidPattern)
	case idtype.StorageBytes:
		return fmt.Sprintf("length(%s) = %d AND %[1]s <> zeroblob(%[2]d)", name, sizes[zero.Scheme()])
	}
	switch {
	case zero.Scheme() == idtype.SchemeEightByte: // the sign is a bit like any other
		return name + " <> 0"
	case c.Domain == Positive || zero.Scheme() == idtype.SchemeSequence:
		return name + " > 0"
	case zero.Scheme() == idtype.SchemeTrace:
		return fmt.Sprintf("%s > 0 AND %[1]s & %d <> 0", name, idtype.TraceMaxBottom)
	case zero.Scheme() == idtype.SchemeShort:
		return fmt.Sprintf("%s BETWEEN 1 AND %d", name, int64(1)<<60-1)
	}
	check := fmt.Sprintf("%s BETWEEN %d AND %d", name, idtype.MinDecimalID, idtype.MaxDecimalID)
	if c.Domain == Production {
		check += fmt.Sprintf(" AND %s %% %d <> 0", name, idtype.DecimalMaxLaunch+1)
	}
	return check
}

var sizes = map[idtype.Scheme]int{idtype.SchemeEightByte: 8, idtype.SchemeSno: 10}

// uuidPattern takes the lower-case text of UUIDs whose bytes are the characters 2 to 9 and a to x, with some others from the same
// rows of ASCII.
var uuidPattern = strings.ReplaceAll("xxxx-xx-xx-xx-xxxxxx", "x", "[367][0-9a-f]")

// PrimaryKey is the column's definition in CREATE TABLE as the primary key. A row that is inserted without one is an error. In
// SQLite, end the statement with WITHOUT ROWID: the table is then kept in the order of the key, without an index beside it.
func (c Column[T]) PrimaryKey(d Dialect) (string, error) {
	return c.definition(d, true, " NOT NULL PRIMARY KEY")
}

// NotNull is the column's definition in CREATE TABLE as one that always holds an ID, for example a foreign key.
func (c Column[T]) NotNull(d Dialect) (string, error) { return c.definition(d, false, " NOT NULL") }

// Nullable is the column's definition in CREATE TABLE as one that may hold NULL.
func (c Column[T]) Nullable(d Dialect) (string, error) { return c.definition(d, false, "") }

func (c Column[T]) definition(d Dialect, key bool, constraint string) (string, error) {
	typ, err := c.Type(d)
	if err != nil {
		return "", err
	}
	if key && d == SQLite && typ == "INTEGER" {
		typ = "INT" // see [SQLite]
	}
	check, err := c.Check(d)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s%s CHECK (%s)", Quote(c.Name), typ, constraint, check), nil
}

// Quote quotes a name as an SQL identifier.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// In makes the parameter list of an IN: "(?, ?, ?)" and the IDs as arguments. Without IDs it is "(NULL)", which is true of
// no row; neither is IN () accepted by every database, nor does it help to ask for all rows.
//
//	list, args := sqlid.In(ids)
//	db.Query("SELECT name FROM users WHERE id IN "+list, args...)
//
// For lists that vary in length, an [idtype.Slice] as one parameter keeps the statement's text the same.
func In[T idtype.ID](ids []T) (list string, args []any) {
	if len(ids) == 0 {
		return "(NULL)", nil
	}
	args = make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	return "(?" + strings.Repeat(", ?", len(ids)-1) + ")", args
}
