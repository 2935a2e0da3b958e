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

// Facts describe a scheme once. SQL, columns, schemas, help, and what JavaScript knows are made of
// them.
type Facts struct {
	Scheme     idtype.Scheme
	Layout     string // the name of one of several, "" for the first
	Bits       *idtype.SnowflakeLayout
	Place      int              // in lists of schemes
	Storages   []idtype.Storage // in which IDs are stored, the default first
	Size       int              // bytes of an ID that is bytes, 0 for integers of 63 bits
	Places     bool             // fields are places of the decimal number, and not bits
	Fields     []Field          // from the highest digits to the lowest
	PartNames  []string         // names of parts, in the order of JSON
	Names      []Name           // what names an ID in JSON, before its parts
	Epoch      int64            // of the part unix_ms, in milliseconds
	Unit       time.Duration    // of the time that IDs carry, 0 for none
	Repeats    string           // after how long IDs are the same again, "" for never
	BoundsHelp string           // help for bounds
	Text       Texts
	Codecs     map[idtype.Storage]Codec // of ClickHouse, "" for other forms

	// SQL has the functions that are not made of fields: other parts, and texts, behind a line "--
	// postgres", "-- mysql" and "-- clickhouse". A line has the name without idmint_ and the scheme,
	// the arguments and the result, and behind => what it computes, which goes on in indented lines.
	// With IF VALID the result is NULL where the ID does not follow the layout. {word} is what
	// package functions has for a dialect.
	SQL string
}

// A Field is consecutive digits of an ID. Fields of one name are one part, the
// highest digits first.
type Field struct {
	Letter byte // '0' for reserved ones, which are 0
	Width  int
	Name   string
	Min    int64
	Max    int64 // 0 for all that its digits can say
	Test   bool  // 0 tells IDs that are not of production
}

// Texts are what other languages are told of an ID's text.
type Texts struct {
	Name              string // of the type
	Pattern           string // takes the texts that Parse takes, and no others
	Alphabet          string // the digits, the first one for 0
	Shortest, Longest int    // in characters
	Example           string
	About             string // what the text is
	Proto             string // the type in Protocol Buffers whose JSON is the ID's
	Digits            bool   // the text is the number
}

// A Codec is ClickHouse's for IDs in their own order, and why it was chosen: it took the fewest
// bytes.
type Codec struct{ Codec, Reason string }

var all []Scheme

// All lists the schemes, in the order in which people are shown them.
func All() []Scheme { return all }

// Of has the facts of a scheme. Behind a name of [idtype.LayoutOf] a layout follows. Of a scheme that
// is not known there are none.
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

// Known has the facts themselves.
func (f *Facts) Known() *Facts { return f }

// countDigits counts those of some fields that are those of a part, or of all.
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

// Base is that of the digits.
func (f *Facts) Base() int64 {
	if f.Places {
		return 10
	}
	return 2
}

// Power is the value of 1 before so many digits.
func (f *Facts) Power(digits int) int64 {
	power := int64(1)
	for range digits {
		power *= f.Base()
	}
	return power
}

// Part is the field of a part, and how many digits are below it. Of a part of several fields it is
// the lowest.
func (f *Facts) Part(name string) (field Field, below int) {
	for _, other := range slices.Backward(f.Fields) {
		if other.Name == name {
			return other, below
		}
		below += other.Width
	}
	return field, -1
}

// Range is the least and the greatest value of a part.
func (f *Facts) Range(name string) (least, most int64) {
	field, _ := f.Part(name)
	most = f.Power(countDigits(f.Fields, named(name))) - 1
	if name == "unix_ms" {
		return f.Epoch, f.Epoch + (most+1)*f.Unit.Milliseconds() - 1
	}
	return field.Min, cmp.Or(field.Max, most)
}

// Numbers is a condition for integers of the layout, or of production, that SQL calls name. That
// bits are not all zero is said by nonzero, of the name and a mask.
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

// NoTests is a condition that refuses test IDs, or "" where the scheme has none.
func (f *Facts) NoTests(name string) string {
	if last := f.Fields[len(f.Fields)-1]; last.Test {
		return fmt.Sprintf("%s %% %d <> 0", name, f.Power(last.Width))
	}
	return ""
}

// FunctionOf is the name of the SQL function of a part.
func FunctionOf(part string) string {
	if part == "unix_ms" {
		return "time"
	}
	return strings.TrimSuffix(strings.TrimSuffix(part, "_id"), "_no")
}

var integer = []idtype.Storage{idtype.StorageBigint}

// runs is the codec of IDs of which most are one more than the one before.
var runs = map[idtype.Storage]Codec{"": {
	"Delta(8), ZSTD(6)",
	"most IDs are one more than the one before: the differences are nearly all the same",
}}

// The patterns are of what all dialects of regular expressions have in common. They hold no
// lookahead, which Go has not, and no \d, which takes other digits elsewhere. In Python and Java a
// dollar also stands before a line's end.

// digitTexts are those of an ID whose text is its number.
func digitTexts(name, example, proto string) Texts {
	const largest = "9223372036854775807"
	return Texts{
		Name: name, Pattern: "^(?:[1-9][0-9]{0,17}|" + below(largest) + "|" + largest + ")$",
		Alphabet: "0123456789", Shortest: 1, Longest: len(largest), Example: example,
		About: "the digits of 1 to " + largest, Proto: proto, Digits: true,
	}
}

// below takes the numbers of as many digits that are smaller. They have its first digits, then a
// smaller one, then any.
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

// notZero takes 16 digits that are not all zero: so many zeros, another digit, and any.
func notZero(zero, other, any string) string {
	var all []string
	for i := range 16 {
		all = append(all, fmt.Sprintf("%s{%d}%s%s{%d}", zero, i, other, any, 15-i))
	}
	return "^(?:" + strings.Join(all, "|") + ")$"
}
