// Package sqlid stores the IDs of package idtype by database/sql.
//
//	type UserID = idtype.Decimal[User]
//
//	key, err := sqlid.Column[UserID]{Name: "id"}.PrimaryKey(sqlid.SQLite)
//	if err != nil {
//		return err
//	}
//	_, err = db.Exec("CREATE TABLE users (" + key + ", name TEXT NOT NULL) WITHOUT ROWID")
//	if err != nil {
//		return err
//	}
//	_, err = db.Exec("INSERT INTO users (id, name) VALUES (?, ?)", id, "Ann")
//	if err != nil {
//		return err
//	}
//	list, args := sqlid.In([]UserID{id})
//	rows, err := db.Query("SELECT id, name FROM users WHERE id IN "+list, args...)
//
// The ID types are parameters and scan destinations as they are. This holds for pgx's driver,
// go-sqlite3 and go-sql-driver/mysql. Package sqlid adds three things. Columns for CREATE TABLE
// have checks that keep foreign values out, and so have [NamedType]s. There are parameter lists, and
// [Array] for PostgreSQL. [Null] is a nullable ID whose JSON is null. Package pgxid has pgx's own
// interface.
//
// # Types
//
// These columns hold IDs. They sort as the IDs do, with two exceptions:
//
//	idtype.Storage   SQLite         PostgreSQL         MySQL, MariaDB
//	bigint           INTEGER, INT   BIGINT             BIGINT
//	bytes            BLOB           BYTEA              BINARY(8), BINARY(10)
//	text             TEXT           TEXT COLLATE "C"   CHAR(16) of ascii_bin
//	uuid             TEXT           UUID               in MySQL none; in MariaDB UUID
//
// An EightByte as bigint sorts as a signed number, in every database. For the order of UUIDs in old
// versions of MariaDB see [MariaDB].
//
// # Zero and NULL
//
// An ID that is zero is an error as a parameter, and no column takes it. NULL is an error for a
// plain ID as a destination. Scan a column that may be NULL into a pointer, sql.Null or [Null].
package sqlid

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/schemes"
)

// A Domain is the set of values that a column takes.
type Domain int

// The domains, from the narrowest to the widest, and one for numbers of JavaScript.
const (
	// Production takes IDs that follow the scheme's layout and were not made by a test generator.
	Production Domain = iota
	// Layout takes IDs that follow the scheme's layout.
	Layout
	// Positive takes all of 1 ..= 2^63−1, or all bytes of the scheme's size except zero. It is for
	// tables that hold rows older than the scheme.
	Positive
	// Number takes 1 ..= 2^53−1, the integers that JavaScript's numbers hold, of whatever layout. It
	// is for integers alone: of sequences and snowflakes that stay below, and of scramble.Int53.
	Number
)

// A Column describes a column of IDs of type T. Without a name its definitions are errors.
type Column[T idtype.ID] struct {
	Name   string
	Domain Domain
}

// Type returns the column's type, for example "BIGINT". The error is a [*DialectError], a
// [*StorageError] or a [*SchemeError].
func (c Column[T]) Type(d Dialect) (string, error) { return c.any().Type(d) }

// Check returns a condition that holds for the column's domain, and for NULL. A column of SQLite
// takes any type, so the condition asks for the type as well. The error is as of Type, or tells of
// an unknown domain or a column without a name.
//
//	id BETWEEN 10000000000 AND 9223372029999999999 AND id % 100000 <> 0
func (c Column[T]) Check(d Dialect) (string, error) { return c.any().Check(d) }

// PrimaryKey returns the column's definition in CREATE TABLE as the primary key. A row that is
// inserted without a key is an error: no sequence, identity or AUTO_INCREMENT makes one up. Trace IDs
// repeat: where rows stay for more than 388 days, take NotNull and a key of (period, id). In SQLite, end the statement with WITHOUT ROWID. The table is then kept in the order of the key,
// without an index beside it. Errors are those of Check.
func (c Column[T]) PrimaryKey(d Dialect) (string, error) { return c.any().PrimaryKey(d) }

// NotNull returns the definition of a column that always holds an ID, such as a foreign key. Errors
// are those of Check.
func (c Column[T]) NotNull(d Dialect) (string, error) { return c.any().NotNull(d) }

// Nullable returns the definition of a column that may hold NULL. Errors are those of Check.
func (c Column[T]) Nullable(d Dialect) (string, error) { return c.any().Nullable(d) }

func (c Column[T]) any() AnyColumn {
	var zero T
	return AnyColumn{idtype.LayoutOf(zero), zero.Storage(), c.Name, c.Domain}
}

// Must returns a definition, and panics where there is none. It is for definitions that a program
// has in its text: what can be wrong with them is wrong at each start.
//
//	var userKey = sqlid.Must(sqlid.Column[UserID]{Name: "id"}.PrimaryKey(sqlid.Postgres))
func Must(definition string, err error) string {
	if err != nil {
		panic(err)
	}
	return definition
}

// An AnyColumn is a [Column] for a program that learns the scheme when it runs. The scheme may be one
// of [idtype.LayoutOf]. A [*StorageError]
// is also returned for a form in which IDs of the scheme are not stored. [AnyColumn.Storages] are
// those in which they are.
type AnyColumn struct {
	Scheme  idtype.Scheme
	Storage idtype.Storage
	Name    string
	Domain  Domain
}

// Storages returns the forms in which IDs of the scheme are stored, the default one first. Of a
// scheme that is not known there are none.
func (c AnyColumn) Storages() []idtype.Storage {
	return slices.Clone(schemes.Of(c.Scheme).Storages)
}

// Type is as [Column.Type].
func (c AnyColumn) Type(d Dialect) (string, error) {
	f := schemes.Of(c.Scheme)
	size, stored := f.Size, f.Storages
	if c.Storage == idtype.StorageText {
		size = len(zeroText)
	}
	column := dialect.Column(d, string(c.Storage), size)
	switch {
	case checks[dialect.Family(d)] == nil:
		return "", &DialectError{d}
	case column == "" || stored != nil && !slices.Contains(stored, c.Storage):
		return "", &StorageError{d, c.Storage}
	case stored == nil && c.Storage != idtype.StorageBigint:
		return "", &SchemeError{c.Scheme}
	}
	return column, nil
}

// zeroText is the text of a sno ID of zero bytes.
const zeroText = "2222222222222222"

// Check is as [Column.Check].
func (c AnyColumn) Check(d Dialect) (string, error) {
	return c.check(d, "column", d.Quote(c.Name))
}

// check is the condition for the value of a column or a type, which SQL calls name there.
func (c AnyColumn) check(d Dialect, of, name string) (string, error) {
	_, err := c.Type(d)
	switch {
	case err != nil:
		return "", err
	case c.Name == "":
		return "", fmt.Errorf("sqlid: the %s has no name: set its field Name", of)
	case c.Domain < Production || c.Domain > Number:
		return "", fmt.Errorf("sqlid: %s %s: unknown domain %d: "+
			"want Production, Layout, Positive or Number", of, d.Quote(c.Name), c.Domain)
	}
	size := schemes.Of(c.Scheme).Size
	if c.Domain == Number && size > 0 {
		return "", fmt.Errorf("sqlid: %s %s: %s IDs are bytes, and Number is for integers: "+
			"want Production, Layout or Positive", of, d.Quote(c.Name), c.Scheme)
	}
	numbers := ""
	if c.Storage == idtype.StorageBigint {
		if numbers, err = c.numbers(name); err != nil {
			return "", err
		}
	}
	fill := strings.NewReplacer("{name}", name, "{size}", strconv.Itoa(size),
		"{zeros}", strings.Repeat("00", size), "{zero}", zeroText, "{zero uuid}", zeroUUID,
		"{numbers}", numbers)
	if size == len(zeroText) {
		version := "$1"
		if c.Domain == Positive {
			version = ""
		}
		check := checksOfUUID7[dialect.Family(d)][c.Storage]
		return fill.Replace(version7.ReplaceAllString(check, version)), nil
	}
	return fill.Replace(checks[dialect.Family(d)][c.Storage]), nil
}

// version7 is what a check asks of the version of UUIDs.
var version7 = regexp.MustCompile("<7>(.*)</7>")

// numbers is the condition for integers of the domain, in every dialect.
func (c AnyColumn) numbers(name string) (string, error) {
	switch f := schemes.Of(c.Scheme); {
	case f.Fields == nil:
		return "", &SchemeError{c.Scheme}
	case f.Size > 0: // the sign is a bit like any other
		return name + " <> 0", nil
	case c.Domain == Positive:
		return name + " > 0", nil
	case c.Domain == Number:
		return fmt.Sprintf("%s BETWEEN 1 AND %d", name, 1<<53-1), nil
	default:
		return f.Numbers(name, "%s & %d <> 0", c.Domain == Production), nil
	}
}

// PrimaryKey is as [Column.PrimaryKey].
func (c AnyColumn) PrimaryKey(d Dialect) (string, error) {
	return c.definition(d, true, " NOT NULL PRIMARY KEY")
}

// NotNull is as [Column.NotNull].
func (c AnyColumn) NotNull(d Dialect) (string, error) { return c.definition(d, false, " NOT NULL") }

// Nullable is as [Column.Nullable].
func (c AnyColumn) Nullable(d Dialect) (string, error) { return c.definition(d, false, "") }

func (c AnyColumn) definition(d Dialect, key bool, constraint string) (string, error) {
	column, err := c.Type(d)
	if err != nil {
		return "", err
	}
	if key && d == SQLite && column == "INTEGER" { // see [SQLite]
		column = "INT"
	}
	check, err := c.Check(d)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s%s CHECK (%s)", d.Quote(c.Name), column, constraint, check), nil
}

// In returns the parameter list of an IN, "(?, ?, ?)", and the IDs as arguments. Without IDs the
// list is "(NULL)", which is true of no row. Not every database accepts IN (), and to ask for all
// rows would be wrong. For PostgreSQL see [InNumbered].
//
//	list, args := sqlid.In(ids)
//	db.Query("SELECT name FROM users WHERE id IN "+list, args...)
//
// For lists that vary in length, an [idtype.Slice] as one parameter keeps the statement's text the
// same.
func In[T idtype.ID](ids []T) (list string, args []any) {
	return parameters(ids, func(int) string { return "?" })
}

// InNumbered is [In] with PostgreSQL's parameters, "($3, $4, $5)". The argument first is the number
// of the first one, from 1 on. For lists that vary in length, = ANY($3) keeps the statement's text
// the same. It takes an [Array]; with package pgxid it takes the slice as it is.
//
//	list, args := sqlid.InNumbered(2, ids)
//	query := "SELECT name FROM users WHERE team = $1 AND id IN " + list
//	db.Query(query, append([]any{team}, args...)...)
func InNumbered[T idtype.ID](first int, ids []T) (list string, args []any) {
	return parameters(ids, func(i int) string { return "$" + strconv.Itoa(first+i) })
}

func parameters[T idtype.ID](ids []T, parameter func(i int) string) (list string, args []any) {
	if len(ids) == 0 {
		return "(NULL)", nil
	}
	var names []string
	for i, id := range ids {
		names, args = append(names, parameter(i)), append(args, id)
	}
	return "(" + strings.Join(names, ", ") + ")", args
}
