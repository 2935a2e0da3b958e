package schemes

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/idmint/idmint/idtype"
)

// Facts describe a scheme once, and are the source of SQL functions, columns, schemas, help texts,
// and the JavaScript implementation.
type Facts struct {
	Scheme     idtype.Scheme
	Layout     string // the name of a layout, "" for the default one
	Bits       *idtype.SnowflakeLayout
	Place      int              // the position in lists of schemes
	Storages   []idtype.Storage // the forms in which IDs can be stored, the default first
	Size       int              // bytes of an ID that is bytes, 0 for integers of 63 bits
	Places     bool             // fields are decimal places rather than bits
	Fields     []Field          // from the highest digits to the lowest
	PartNames  []string         // names of the parts, in the order of JSON
	Names      []Name           // fields for the ID in JSON, before its parts
	Epoch      int64            // of the part unix_ms, in milliseconds
	Unit       time.Duration    // of the time that IDs carry, 0 for none
	Repeats    string           // the period after which IDs repeat, "" for never
	BoundsHelp string           // help for bounds
	Text       Texts
	Codecs     map[idtype.Storage]Codec // for ClickHouse; "" is the default for all forms

	// SQL has the functions that are not derived from fields: other parts, and texts. They follow a
	// line "-- postgres", "-- mysql" or "-- clickhouse". A line has the name without idmint_ and
	// the scheme, the arguments, the result, and after => the expression, which continues in
	// indented lines. With IF VALID the result is NULL if the ID does not follow the layout. {word}
	// is replaced by what package functions defines for a dialect.
	SQL string
}

// A Field is a group of consecutive digits of an ID. Fields with the same name form one part, with
// the highest digits first.
type Field struct {
	Letter byte // '0' for reserved digits, which are 0
	Width  int
	Name   string
	Min    int64
	Max    int64 // 0 for all that its digits can represent
	Test   bool  // 0 marks IDs that are not for production
}

// Texts describe an ID's text for other languages.
type Texts struct {
	Name              string // of the type
	Pattern           string // matches exactly the texts that Parse accepts
	Alphabet          string // the digits, beginning with the digit for 0
	Shortest, Longest int    // in characters
	Example           string
	About             string // describes the text
	Proto             string // the Protocol Buffers type whose JSON is the ID's
	Digits            bool   // the text is the number
}

// A Codec is the codec in ClickHouse for IDs in their own order, and why it was chosen: it took the
// fewest bytes.
type Codec struct{ Codec, Reason string }

var all []Scheme

// All lists the schemes in the order in which they are presented to users.
func All() []Scheme { return all }

// Of returns the facts of a scheme, or empty facts for an unknown one. A name of [idtype.LayoutOf]
// also includes a layout.
func Of(name idtype.Scheme) *Facts {
	if l, ok := LayoutOf(name); ok {
		return snowflakeFacts(l)
	}
	for _, s := range all {
		if s.Name() == name {
			return s.Known()
		}
	}
	return &Facts{}
}

func add[T idtype.ID](k *Kind[T]) *Kind[T] {
	k.setPartNames()
	all = append(all, k)
	slices.SortFunc(all, func(a, b Scheme) int { return a.Known().Place - b.Known().Place })
	return k
}

func (k *Kind[T]) setPartNames() {
	t := reflect.TypeOf(k.Values(*new(T)))
	k.PartNames = nil
	for i := range t.NumField() {
		k.PartNames = append(k.PartNames, t.Field(i).Tag.Get("json"))
	}
}

// Known returns the facts themselves.
func (f *Facts) Known() *Facts { return f }

// countDigits counts the digits of the fields that the function selects.
func countDigits(fields []Field, of func(Field) bool) (n int) {
	for _, field := range fields {
		if of(field) {
			n += field.Width
		}
	}
	return n
}

func named(part string) func(Field) bool {
	return func(f Field) bool { return f.Name == part && f.Letter != '0' }
}

// Base returns the base of the digits.
func (f *Facts) Base() int64 {
	if f.Places {
		return 10
	}
	return 2
}

// Power returns the value of a 1 that is followed by that many digits.
func (f *Facts) Power(digits int) int64 {
	power := int64(1)
	for range digits {
		power *= f.Base()
	}
	return power
}

// Part returns the field of a part, the lowest one if there are several, and how many digits are
// below it.
func (f *Facts) Part(name string) (field Field, below int) {
	for _, other := range slices.Backward(f.Fields) {
		if other.Name == name {
			return other, below
		}
		below += other.Width
	}
	return field, -1
}

// Range returns the least and the greatest value of a part.
func (f *Facts) Range(name string) (least, most int64) {
	field, _ := f.Part(name)
	most = f.Power(countDigits(f.Fields, named(name))) - 1
	if name == "unix_ms" {
		return f.Epoch, f.Epoch + (most+1)*f.Unit.Milliseconds() - 1
	}
	return field.Min, cmp.Or(field.Max, most)
}

// Numbers returns a condition for integers of the layout, or of production, where SQL calls the
// integer name. Nonzero is a format for the condition that not all bits of a mask are zero.
func (f *Facts) Numbers(name, nonzero string, production bool) string {
	least, most, below, check := int64(1), int64(0), 0, ""
	for i, field := range slices.Backward(f.Fields) {
		power, all := f.Power(below), f.Power(field.Width)
		below += field.Width
		switch isHighest := i == 0 || f.Fields[i-1].Letter == '0'; {
		case field.Letter == '0':
			continue
		case isHighest:
			least = max(1, field.Min*power)
		case field.Min > 0:
			check += " AND " + fmt.Sprintf(nonzero, name, all-1)
		case field.Test && production:
			check += " AND " + f.NoTests(name)
		}
		most += cmp.Or(field.Max, all-1) * power
	}
	if most == math.MaxInt64 {
		return name + " > 0" + check
	}
	return fmt.Sprintf("%s BETWEEN %d AND %d", name, least, most) + check
}

// NoTests returns a condition that rejects test IDs, or "" if the scheme has none.
func (f *Facts) NoTests(name string) string {
	if last := f.Fields[len(f.Fields)-1]; last.Test {
		return fmt.Sprintf("%s %% %d <> 0", name, f.Power(last.Width))
	}
	return ""
}

// FunctionOf returns the name of the SQL function for a part.
func FunctionOf(part string) string {
	if part == "unix_ms" {
		return "time"
	}
	return strings.TrimSuffix(strings.TrimSuffix(part, "_id"), "_no")
}

var integer = []idtype.Storage{idtype.StorageBigint}

// runs is the codec for IDs most of which are one more than the previous one.
var runs = map[idtype.Storage]Codec{"": {
	"Delta(8), ZSTD(6)",
	"most IDs are one more than the previous one, so nearly all differences are equal",
}}

// The patterns use only what all dialects of regular expressions have in common. They contain no
// lookahead, which Go lacks, and no \d, which matches other digits in some languages. In Python and
// Java a dollar also matches before a final line break.

// digitTexts returns the Texts of an ID whose text is its number.
func digitTexts(name, example, proto string) Texts {
	const largest = "9223372036854775807"
	return Texts{
		Name: name, Pattern: "^(?:[1-9][0-9]{0,17}|" + below(largest) + "|" + largest + ")$",
		Alphabet: "0123456789", Shortest: 1, Longest: len(largest), Example: example,
		About: "the digits of 1 to " + largest, Proto: proto, Digits: true,
	}
}

// below matches the numbers with equally many digits that are smaller. They share its first digits,
// and continue with a smaller digit and then any digits.
func below(largest string) string {
	var all []string
	for i := range len(largest) {
		switch d := largest[i]; {
		case i == 0:
			all = append(all, fmt.Sprintf("[1-%c][0-9]{%d}", d-1, len(largest)-1))
		case d > '0':
			all = append(all, fmt.Sprintf("%s[0-%c][0-9]{%d}", largest[:i], d-1, len(largest)-1-i))
		}
	}
	return strings.Join(all, "|")
}

// notZero matches 16 digits that are not all zero: some zeros, another digit, and any digits.
func notZero(zero, other, any string) string {
	var all []string
	for i := range 16 {
		all = append(all, fmt.Sprintf("%s{%d}%s%s{%d}", zero, i, other, any, 15-i))
	}
	return "^(?:" + strings.Join(all, "|") + ")$"
}
