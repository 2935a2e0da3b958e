package clickhouse

import (
	"fmt"
	"strings"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/schemes"
)

// A Column describes a column of IDs of type T, as sqlid.Column does for other databases.
type Column[T idtype.ID] struct {
	Name string
	// Spread is true for eightbyte IDs of mode SPREAD, which are not ordered by time.
	Spread bool
}

// Type returns the column's type without Nullable, for example "Int64".
func (c Column[T]) Type() string { return formOf[T]().columnType() }

// A Definition is a column's part in CREATE TABLE, with which [CheckTable] compares a table.
type Definition struct {
	Name        string
	Type        string // with Nullable
	Nullable    bool
	Codec       string // without CODEC and its parentheses
	Sorted      bool   // the table's sorting key begins with the column
	Index       string // the type of the column's data skipping index, "" for none
	IndexReason string // why this index
	Reason      string // why this codec
}

// PrimaryKey defines an ID that orders the rows of its table: ORDER BY begins with the column. IDs
// then take the least space. ClickHouse finds a row by its ID without reading others, and also the
// rows of a span of time if the IDs carry their time.
func (c Column[T]) PrimaryKey() Definition { return c.any().PrimaryKey() }

// Indexed defines an ID of rows that are in another order, with a data skipping index to find them
// by it.
func (c Column[T]) Indexed() Definition { return c.any().Indexed() }

// NotNull defines a column that always holds an ID, or zero for "none": see [idtype.OrZero]. It is
// for foreign keys, which do not determine the order of the rows.
func (c Column[T]) NotNull() Definition { return c.any().NotNull() }

// Nullable defines a foreign key that may be NULL, although a column that stores zero for "none"
// takes less space and time.
func (c Column[T]) Nullable() Definition { return c.any().Nullable() }

// Check returns a condition for a CONSTRAINT in CREATE TABLE. It holds only for IDs, so that an
// INSERT with any other value fails. Like Scan, it accepts the whole domain of the ID's type, but
// it is not for columns that are Nullable or store zero for "none".
//
//	CONSTRAINT ids CHECK `id` > 0
func (c Column[T]) Check() string { return c.any().Check() }

// CheckProduction is like Check, but also rejects test IDs and values that do not follow the
// layout. Columns of package sqlid have this domain by default.
//
//	CONSTRAINT ids CHECK `id` BETWEEN 10000000000 AND 9223372029999999999 AND `id` % 100000 <> 0
func (c Column[T]) CheckProduction() string { return c.any().CheckProduction() }

func (c Column[T]) any() AnyColumn {
	f := formOf[T]()
	return AnyColumn{f.scheme, f.storage, c.Name, c.Spread}
}

// An AnyColumn is a [Column] for programs that learn the scheme at run time. Storage must be a form
// in which IDs of the scheme can be stored.
type AnyColumn struct {
	Scheme  idtype.Scheme
	Storage idtype.Storage
	Name    string
	Spread  bool
}

func (c AnyColumn) form() form {
	return form{c.Scheme, c.Storage, schemes.Of(c.Scheme).Size}
}

// PrimaryKey is like [Column.PrimaryKey].
func (c AnyColumn) PrimaryKey() Definition {
	d := c.definition()
	d.Sorted = true
	d.Codec, d.Reason = sortedCodec(c.form(), c.Spread)
	return d
}

// Indexed is like [Column.Indexed].
func (c AnyColumn) Indexed() Definition {
	d := c.NotNull()
	d.Index = "minmax"
	d.IndexReason = "rows that arrive together have similar IDs, " +
		"so the minimum and maximum of a granule show whether to read it"
	if c.Spread || c.Storage == idtype.StorageUUID {
		d.IndexReason = "IDs are not ordered by time, so granules contain arbitrary ones: " +
			"a filter shows whether to read a granule, with 1 % of errors"
		d.Index = "bloom_filter(0.01)"
	}
	return d
}

// NotNull is like [Column.NotNull].
func (c AnyColumn) NotNull() Definition {
	d := c.definition()
	d.Codec = "ZSTD(1)"
	d.Reason = "for bytes in arbitrary order, ZSTD alone is smallest"
	if d.Type == "Int64" {
		d.Codec = "T64('bit'), ZSTD(1)"
		d.Reason = "integers in arbitrary order are smallest " +
			"without the bits that all values of a block have in common"
	}
	return d
}

// Nullable is like [Column.Nullable].
func (c AnyColumn) Nullable() Definition {
	d := c.NotNull()
	d.Nullable = true
	d.Type = "Nullable(" + d.Type + ")"
	return d
}

// Check is like [Column.Check].
func (c AnyColumn) Check() string {
	f, name := c.form(), quote(c.Name)
	switch {
	case f.size == 0:
		return name + " > 0"
	case f.storage == idtype.StorageBigint: // the sign is a bit like any other
		return name + " != 0"
	case f.storage == idtype.StorageText:
		return fmt.Sprintf("match(%s, '^[2-9a-x]{16}$') AND %[1]s != '%s'", name,
			strings.Repeat("2", textLen))
	case f.storage == idtype.StorageUUID && f.size == textLen:
		return name + " != toUUID('00000000-0000-0000-0000-000000000000')"
	case f.storage == idtype.StorageUUID:
		return fmt.Sprintf("match(toString(%s), '%s')", name, uuidPattern)
	}
	return fmt.Sprintf("%s != toFixedString('', %d)", name, f.size)
}

// CheckProduction is like [Column.CheckProduction].
func (c AnyColumn) CheckProduction() string {
	if f := schemes.Of(c.Scheme); f.Size == 0 && f.Fields != nil {
		return f.Numbers(quote(c.Name), "bitAnd(%s, %d) <> 0", true)
	}
	return c.Check()
}

// uuidPattern matches UUIDs whose bytes are the characters 2 to 9 and a to x. It also matches
// UUIDs with some other characters from the same rows of ASCII.
var uuidPattern = "^" + strings.ReplaceAll("xxxx-xx-xx-xx-xxxxxx", "x", "[367][0-9a-f]") + "$"

func (c AnyColumn) definition() Definition {
	return Definition{Name: c.Name, Type: c.form().columnType()}
}

// sortedCodec returns the codec for IDs in their own order, and why it was chosen: it took the
// fewest bytes, as the package's documentation shows. An unknown scheme gets ZSTD, which works for
// any column.
func sortedCodec(f form, isSpread bool) (codec, reason string) {
	codecs := schemes.Of(f.scheme).Codecs
	c, ok := codecs[f.storage]
	if !ok || isSpread {
		c, ok = codecs[""]
	}
	if ok {
		return c.Codec, c.Reason
	}
	return "ZSTD(1)", "no codec was measured for these IDs"
}

// String returns the definition as written in CREATE TABLE, with the index:
//
//	`id` Int64 CODEC(Delta(8), ZSTD(1))
func (d Definition) String() string {
	s := fmt.Sprintf("%s %s CODEC(%s)", quote(d.Name), d.Type, d.Codec)
	if d.Index != "" {
		s += fmt.Sprintf(", INDEX %s %s TYPE %s GRANULARITY 1",
			quote(d.Name+"_"+indexKind(d.Index)), quote(d.Name), d.Index)
	}
	return s
}

// indexKind returns the type of an index without its arguments.
func indexKind(index string) string {
	kind, _, _ := strings.Cut(index, "(")
	return kind
}

// quote quotes a name as an SQL identifier.
func quote(name string) string { return dialect.ClickHouse.Quote(name) }
