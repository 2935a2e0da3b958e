// Package sqlid stores the IDs of package idtype with database/sql.
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
// The ID types work unchanged as parameters and scan destinations, with pgx's driver, go-sqlite3,
// and go-sql-driver/mysql. Package sqlid adds three things:
//
//   - definitions of columns for CREATE TABLE, and [NamedType]s, with checks that reject values
//     which are not IDs of the scheme;
//   - parameter lists ([In] and [InNumbered]), and [Array] for PostgreSQL;
//   - [Null], a nullable ID whose JSON is null.
//
// If you use pgx's own interface, see package pgxid.
//
// # Types
//
// The following columns hold IDs. With two exceptions they sort like the IDs:
//
//	idtype.Storage   SQLite         PostgreSQL         MySQL, MariaDB
//	bigint           INTEGER, INT   BIGINT             BIGINT
//	bytes            BLOB           BYTEA              BINARY(8), (10), (16)
//	text             TEXT           TEXT COLLATE "C"   CHAR(16) of ascii_bin
//	uuid             TEXT           UUID               in MySQL none; in MariaDB UUID
//
// An EightByte stored as bigint sorts as a signed number in every database. For the order of UUIDs
// in old versions of MariaDB see [MariaDB].
//
// # Zero and NULL
//
// A zero ID is an error as a parameter, and the checks of all columns reject it. Scanning NULL into
// a plain ID is an error. If a column may be NULL, scan it into a pointer, sql.Null, or [Null].
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

// A Domain is the set of values that a column accepts.
type Domain int

// The domains, from the narrowest to the widest, and one for JavaScript's numbers.
const (
	// Production accepts IDs that follow the scheme's layout and were not minted by a test
	// generator.
	Production Domain = iota
	// Layout accepts all IDs that follow the scheme's layout.
	Layout
	// Positive accepts all of 1 ..= 2^63−1, or any bytes of the scheme's size except zero. It is
	// for tables with rows that are older than the scheme.
	Positive
	// Number accepts 1 ..= 2^53−1, the integers that JavaScript's numbers hold, regardless of
	// layout. It is only for integers: for sequences and snowflakes that stay below that limit, and
	// for scramble.Int53.
	Number
)

// A Column describes a column of IDs of type T. Its Name is required in definitions.
type Column[T idtype.ID] struct {
	Name   string
	Domain Domain
}

// Type returns the type of the column, such as "BIGINT". The error is a [*DialectError], a
// [*StorageError], or a [*SchemeError].
func (c Column[T]) Type(d Dialect) (string, error) { return c.any().Type(d) }

// Check returns a condition that is true for the values of the column's domain, and for NULL. In
// SQLite a column accepts values of any type, so there the condition checks the type as well. Check
// returns the errors of Type, and an error if the domain is unknown or the column has no name.
//
//	id BETWEEN 10000000000 AND 9223372029999999999 AND id % 100000 <> 0
func (c Column[T]) Check(d Dialect) (string, error) { return c.any().Check(d) }

// PrimaryKey returns the definition of the column as the primary key in CREATE TABLE. Inserting a
// row without a key is an error, because no sequence, identity, or AUTO_INCREMENT fills it in.
// Trace IDs repeat: if rows are kept for more than 388 days, use NotNull and a key of (period, id).
// In SQLite, end the statement with WITHOUT ROWID, which stores the table in the order of the key
// and needs no separate index. The errors are the same as for Check.
func (c Column[T]) PrimaryKey(d Dialect) (string, error) { return c.any().PrimaryKey(d) }

// NotNull returns the definition of a column that always holds an ID, such as a foreign key. The
// errors are the same as for Check.
func (c Column[T]) NotNull(d Dialect) (string, error) { return c.any().NotNull(d) }

// Nullable returns the definition of a column that may hold NULL. The errors are the same as for
// Check.
func (c Column[T]) Nullable(d Dialect) (string, error) { return c.any().Nullable(d) }

func (c Column[T]) any() AnyColumn {
	var zero T
	return AnyColumn{idtype.LayoutOf(zero), zero.Storage(), c.Name, c.Domain}
}

// Must returns a definition, or panics if there is an error. It is for definitions that are
// constant in a program, so that any mistake shows up at the first start.
//
//	var userKey = sqlid.Must(sqlid.Column[UserID]{Name: "id"}.PrimaryKey(sqlid.Postgres))
func Must(definition string, err error) string {
	if err != nil {
		panic(err)
	}
	return definition
}

// An AnyColumn is a [Column] for programs that learn the scheme at run time. The scheme may also be
// a result of [idtype.LayoutOf]. Its methods also return a [*StorageError] for a form in which IDs
// of the scheme are not stored; [AnyColumn.Storages] lists the forms in which they are.
type AnyColumn struct {
	Scheme  idtype.Scheme
	Storage idtype.Storage
	Name    string
	Domain  Domain
}

// Storages returns the forms in which IDs of the scheme are stored, with the default one first. For
// an unknown scheme it returns none.
func (c AnyColumn) Storages() []idtype.Storage {
	return slices.Clone(schemes.Of(c.Scheme).Storages)
}

// Type is like [Column.Type].
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

// zeroText is the text of a sno ID whose bytes are all zero.
const zeroText = "2222222222222222"

// Check is like [Column.Check].
func (c AnyColumn) Check(d Dialect) (string, error) {
	return c.check(d, "column", d.Quote(c.Name))
}

// check returns the condition for the value of a column or a type, which SQL refers to by name.
func (c AnyColumn) check(d Dialect, of, name string) (string, error) {
	_, err := c.Type(d)
	switch {
	case err != nil:
		return "", err
	case c.Name == "":
		return "", fmt.Errorf("sqlid: the %s has no name: set the field Name", of)
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

// version7 matches the part of a check that tests the version of a UUID.
var version7 = regexp.MustCompile("<7>(.*)</7>")

// numbers returns the condition for integers of the domain, which is the same in every dialect.
func (c AnyColumn) numbers(name string) (string, error) {
	switch f := schemes.Of(c.Scheme); {
	case f.Fields == nil:
		return "", &SchemeError{c.Scheme}
	case f.Size > 0: // the sign is just another bit
		return name + " <> 0", nil
	case c.Domain == Positive:
		return name + " > 0", nil
	case c.Domain == Number:
		return fmt.Sprintf("%s BETWEEN 1 AND %d", name, 1<<53-1), nil
	default:
		return f.Numbers(name, "%s & %d <> 0", c.Domain == Production), nil
	}
}

// PrimaryKey is like [Column.PrimaryKey].
func (c AnyColumn) PrimaryKey(d Dialect) (string, error) {
	return c.definition(d, true, " NOT NULL PRIMARY KEY")
}

// NotNull is like [Column.NotNull].
func (c AnyColumn) NotNull(d Dialect) (string, error) { return c.definition(d, false, " NOT NULL") }

// Nullable is like [Column.Nullable].
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

// In returns the parameter list of an IN, such as "(?, ?, ?)", and the IDs as arguments. Without
// IDs the list is "(NULL)", which matches no row: not every database accepts IN (), and matching
// all rows would be wrong. For PostgreSQL see [InNumbered].
//
//	list, args := sqlid.In(ids)
//	db.Query("SELECT name FROM users WHERE id IN "+list, args...)
//
// If the length of the list varies, pass an [idtype.Slice] as one parameter instead, so that the
// statement's text stays the same.
func In[T idtype.ID](ids []T) (list string, args []any) {
	return parameters(ids, func(int) string { return "?" })
}

// InNumbered is like [In] but with PostgreSQL's parameters, such as "($3, $4, $5)". The argument
// first is the number of the first parameter, which counts from 1. If the length of the list
// varies, use = ANY($3) instead, which keeps the statement's text the same. Its argument is an
// [Array], or a plain slice if you use package pgxid.
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
