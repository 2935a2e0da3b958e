package importer

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// A TypeError is returned where a table's column would change the values of a Parquet file's
// column. It comes before anything is made.
type TypeError struct {
	Column, Type string // of the file: STRING, BYTE_ARRAY, BOOLEAN …
	Table, Into  string // its column's type
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("table %q is there, and its column %s is %s, which does not read the "+
		"text of Parquet's %s as the same value: want a text type", e.Table, quoted(e.Column),
		orNone(e.Into), e.Type)
}

func orNone(typ string) string {
	if typ == "" {
		return "of no type"
	}
	return typ
}

// A family is what the text of a Parquet value says.
type family int

const (
	ofNothing family = iota // NULLs alone
	ofText
	ofBytes
	ofBoolean
	ofInteger
	ofDecimal
	ofFloat
	ofDate
	ofTime
	ofLocal   // a timestamp without a zone
	ofInstant // a timestamp in UTC
	ofUUID
)

// A parquetType is the type of a file's column.
type parquetType struct {
	name             string
	family           family
	bits             int // of an integer, as a signed one, or of a float
	precision, scale int // of a decimal
	// fits refuses a value that the table's column would change. It is nil where there is none.
	fits valueCheck
}

type valueCheck func(text []byte) error

// parquetTypeOf is for types that [appenderOf] knows.
func parquetTypeOf(typ parquet.Type) *parquetType {
	t := &parquetType{name: typ.String(), family: ofBytes}
	logical := typ.LogicalType()
	if logical == nil {
		switch typ.Kind() {
		case parquet.Boolean:
			t.family = ofBoolean
		case parquet.Int32:
			t.family, t.bits = ofInteger, 32
		case parquet.Int64:
			t.family, t.bits = ofInteger, 64
		case parquet.Int96:
			t.family = ofLocal
		case parquet.Float:
			t.family, t.bits = ofFloat, 32
		case parquet.Double:
			t.family, t.bits = ofFloat, 64
		}
		return t
	}
	switch l := logical.Value.(type) {
	case *format.NullType:
		t.family = ofNothing
	case *format.StringType, *format.EnumType, *format.JsonType:
		t.family = ofText
	case *format.UUIDType:
		t.family = ofUUID
	case *format.DateType:
		t.family = ofDate
	case *format.IntType:
		// The physical type may hold more than the logical one says.
		t.family, t.bits = ofInteger, 32
		if typ.Kind() == parquet.Int64 {
			t.bits = 64
		}
		if !l.IsSigned {
			t.bits++
		}
	case *format.DecimalType:
		t.family, t.precision, t.scale = ofDecimal, int(l.Precision), int(l.Scale)
	case *format.TimeType:
		t.family = ofTime
	case *format.TimestampType:
		t.family = ofLocal
		if l.IsAdjustedToUTC {
			t.family = ofInstant
		}
	}
	return t
}

// A columnType is the type of a table's column, as numeric(10,2).
type columnType struct {
	base string // in lower case, without what stands in parentheses
	args []int
}

func columnTypeOf(typ string) columnType {
	typ, _, _ = strings.Cut(strings.ToLower(typ), "/*") // as MariaDB's COMPRESSED
	begin, end := strings.IndexByte(typ, '('), strings.LastIndexByte(typ, ')')
	if begin < 0 || end < begin {
		return columnType{base: strings.TrimSpace(typ)}
	}
	c := columnType{base: strings.TrimSpace(
		strings.TrimSpace(typ[:begin]) + " " + strings.TrimSpace(typ[end+1:]))}
	for _, arg := range strings.Split(typ[begin+1:end], ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(arg)); err == nil {
			c.args = append(c.args, n)
		}
	}
	return c
}

func (c columnType) is(names ...string) bool { return slices.Contains(names, c.base) }

// arg is an argument, or else what the type means without it.
func (c columnType) arg(i, otherwise int) int {
	if i < len(c.args) {
		return c.args[i]
	}
	return otherwise
}

// checkType sees that a table's column reads the text of a file's as the same value.
func (d *dialect) checkType(im Import, column, into string, of *parquetType) error {
	if of.family == ofNothing {
		return nil
	}
	ok, fits := d.reads(columnTypeOf(into), of)
	if !ok {
		return &TypeError{column, of.name, im.Table, into}
	}
	of.fits = fits
	return nil
}

// readByPostgres reports whether PostgreSQL's type reads the text as the same value. Numbers that
// are out of range are its errors, but it rounds digits away without a word. It cuts spaces off that
// have no place, and adds others to "character".
func readByPostgres(c columnType, of *parquetType) (bool, valueCheck) {
	switch {
	case c.is("text", "citext"):
		return true, nil
	case c.is("character varying"):
		return true, charactersOf(c)
	}
	integer := c.is("smallint", "integer", "bigint")
	// without arguments a numeric keeps all digits
	numeric := c.is("numeric") && (len(c.args) == 0 || c.arg(1, 0) >= of.scale)
	switch of.family {
	case ofText:
		return c.is("json", "jsonb", "xml", "uuid") || strings.HasPrefix(c.base, "enum "), nil
	case ofBytes:
		return c.is("bytea"), nil
	case ofBoolean:
		return c.is("boolean"), nil
	case ofInteger:
		return integer || numeric || c.is("double precision") && of.bits <= doubleBits, nil
	case ofDecimal:
		return numeric || integer && of.scale == 0, nil
	case ofFloat:
		return c.is("double precision") || c.is("real") && of.bits == 32 ||
			c.is("numeric") && len(c.args) == 0, nil
	case ofDate:
		return c.is("date"), nil
	case ofTime:
		return c.is("time without time zone"), fractionOf(c.arg(0, 6))
	case ofLocal:
		return c.is("timestamp without time zone"), fractionOf(c.arg(0, 6))
	case ofInstant:
		return c.is("timestamp with time zone"), fractionOf(c.arg(0, 6))
	case ofUUID:
		return c.is("uuid"), nil
	}
	return false, nil
}

// readByMySQL does so for MySQL and MariaDB. Neither has a type for instants that reads them in
// any session. Both take spaces from the end of CHAR. JSON is a text in MariaDB alone, which calls
// it longtext: MySQL's loses digits.
func readByMySQL(c columnType, of *parquetType) (bool, valueCheck) {
	switch {
	case c.is("tinytext", "text", "mediumtext", "longtext"):
		return true, nil
	case c.is("varchar"):
		return true, charactersOf(c)
	}
	base, _, _ := strings.Cut(c.base, " unsigned") // which "zerofill" may follow
	plain := columnType{base: base}
	integer := plain.is("tinyint", "smallint", "mediumint", "int", "bigint")
	decimal := plain.is("decimal") && c.arg(1, 0) >= of.scale
	float := len(c.args) == 0 // which it does not round to some digits
	switch of.family {
	case ofText: // bytes are those of the text
		return c.is("uuid", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), nil
	case ofInteger:
		return integer || decimal || plain.is("double") && float && of.bits <= doubleBits, nil
	case ofDecimal:
		return decimal || integer && of.scale == 0, nil
	case ofFloat:
		return float && (plain.is("double") || plain.is("float") && of.bits == 32), finite
	case ofDate:
		return c.is("date"), nil
	case ofTime:
		return c.is("time"), fractionOf(c.arg(0, 0))
	case ofLocal:
		return c.is("datetime"), fractionOf(c.arg(0, 0))
	case ofUUID:
		return c.is("uuid"), nil
	}
	return false, nil
}

// readBySQLite does so by SQLite's rules for a column's affinity. A column that is not of text
// makes numbers of texts that look like some, and of 15 digits at least.
func readBySQLite(c columnType, of *parquetType) (bool, valueCheck) {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(c.base, p) })
	}
	const sureDigits = 15
	var integer, real, numeric bool // the affinity
	switch {
	case has("int"):
		integer = true
	case has("char", "clob", "text"):
		return true, nil
	case has("blob"):
		return false, nil
	case c.is("", "any"): // which stores the text as it is; see sqliteDialect.columns
		return of.family == ofText, nil
	case has("real", "floa", "doub"):
		real = true
	default:
		numeric = true
	}
	switch of.family {
	case ofInteger:
		return (integer || numeric) && of.bits <= 64 || of.bits <= doubleBits, nil
	case ofDecimal:
		return of.precision <= sureDigits && (!integer || of.scale == 0), digitsOf(sureDigits)
	case ofFloat:
		return real || numeric, finite
	case ofDate, ofTime, ofLocal, ofInstant: // which look like no number
		return numeric && has("date", "time"), nil
	case ofUUID:
		return numeric && has("uuid"), nil
	}
	return false, nil
}

// doubleBits is how many bits a signed integer may have to be exact in a float of 64 bits.
const doubleBits = 54

// finite refuses what is no number: MySQL has no such values, and SQLite stores the words.
func finite(text []byte) error {
	if last := text[len(text)-1]; last > '9' {
		return fmt.Errorf("%s: the table's column takes numbers alone", text)
	}
	return nil
}

// charactersOf refuses texts with more characters than the column takes: spaces at their end would
// be cut off.
func charactersOf(c columnType) valueCheck {
	if len(c.args) == 0 {
		return nil
	}
	most := c.args[0]
	return func(text []byte) error {
		if len(text) > most && utf8.RuneCount(text) > most {
			return fmt.Errorf("a text of %d characters: the table's column takes %d",
				utf8.RuneCount(text), most)
		}
		return nil
	}
}

// digitsOf refuses numbers with more digits. Those of a file may have more than its type says.
func digitsOf(most int) valueCheck {
	return func(text []byte) error {
		digits := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("-")), "0.")
		if len(digits)-bytes.Count(digits, []byte(".")) > most {
			return fmt.Errorf("%s: the table's column keeps %d digits", text, most)
		}
		return nil
	}
}

// fractionOf refuses times with more digits of a second than the column keeps.
func fractionOf(most int) valueCheck {
	return func(text []byte) error {
		_, fraction, _ := strings.Cut(strings.TrimSuffix(string(text), "Z"), ".")
		if len(fraction) > most {
			return fmt.Errorf("%s: the table's column keeps %d digits of a second", text, most)
		}
		return nil
	}
}
