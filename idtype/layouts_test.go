package idtype_test

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

type composed[T any] interface {
	comparable
	ID() (T, error)
}

// A layout is how a scheme's parts lie in an ID, as a string of digits. It shares no arithmetic
// with the package.
type layout[P composed[T], T idtype.ID] struct {
	digits  func(raw []byte) string // of the whole ID: of base 2, or decimal
	write   func(P) string
	read    func(digits string) P
	compose func(part func(name string, least, most int) int) P // each part by its range
	raw     func(*rapid.T) []byte                               // of any ID
	parts   func(T) P
	single  func(T) P             // by a method for each part
	valid   func(id T, p P) bool  // nil where all IDs are
	with    func(t *rapid.T, p P) // what else is to be checked of parts
}

// TestLayoutsAgainstReference holds parts and IDs against the layouts of docs/design/formats.md.
func TestLayoutsAgainstReference(t *testing.T) {
	t.Run("decimal", layout[idtype.DecimalParts, idtype.DecimalID]{
		digits: func(raw []byte) string { return fmt.Sprintf("%019s", digits.write(raw)) },
		write: func(p idtype.DecimalParts) string {
			return fmt.Sprintf("%09d%05d%05d", p.Counter, p.Generator, p.Launch)
		},
		read: func(s string) idtype.DecimalParts {
			return idtype.DecimalParts{
				Counter: refDecimal(s[:9]), Generator: refDecimal(s[9:14]),
				Launch: refDecimal(s[14:]),
			}
		},
		compose: func(part func(string, int, int) int) idtype.DecimalParts {
			return idtype.DecimalParts{
				Counter:   part("counter", 1, 922_337_202),
				Generator: part("generator", 0, 99_999),
				Launch:    part("launch", 0, 99_999),
			}
		},
		raw:   func(t *rapid.T) []byte { return bigEndian(drawID(t)) },
		parts: idtype.DecimalID.Parts,
		single: func(id idtype.DecimalID) idtype.DecimalParts {
			if id.IsTest() != (id.Launch() == 0) {
				panic("a test ID is one of launch 0")
			}
			return idtype.DecimalParts{
				Counter: id.Counter(), Generator: id.Generator(), Launch: id.Launch(),
			}
		},
		valid: func(_ idtype.DecimalID, p idtype.DecimalParts) bool {
			return 1 <= p.Counter && p.Counter <= 922_337_202
		},
	}.test)

	t.Run("trace", layout[idtype.TraceParts, idtype.TraceID]{
		digits: refBits,
		write: func(p idtype.TraceParts) string {
			return fmt.Sprintf("0%025b%016b%022b", p.Timestamp, p.Node, p.Bottom)
		},
		read: func(bits string) idtype.TraceParts {
			return idtype.TraceParts{
				Timestamp: refNumber(bits[1:26]), Node: refNumber(bits[26:42]),
				Bottom: refNumber(bits[42:]),
			}
		},
		compose: func(part func(string, int, int) int) idtype.TraceParts {
			return idtype.TraceParts{
				Timestamp: part("timestamp", 0, 1<<25-1),
				Node:      part("node", 0, 1<<16-1),
				Bottom:    part("bottom", 1, 1<<22-1),
			}
		},
		raw: func(t *rapid.T) []byte {
			return bigEndian(rapid.OneOf(rapid.Custom(drawID), rapid.Int64()).Draw(t, "number"))
		},
		parts: idtype.TraceID.Parts,
		single: func(id idtype.TraceID) idtype.TraceParts {
			return idtype.TraceParts{
				Timestamp: id.Timestamp(), Node: id.Node(), Bottom: id.Chunk()<<10 + id.Counter(),
			}
		},
		valid: func(id idtype.TraceID, p idtype.TraceParts) bool { return id > 0 && p.Bottom > 0 },
	}.test)

	const shortEpoch = 1_519_862_400_000 // 2018-03-01T00:00:00Z
	t.Run("short", layout[idtype.ShortParts, idtype.ShortID]{
		digits: refBits,
		write: func(p idtype.ShortParts) string {
			return fmt.Sprintf("%046b%09b%09b", p.UnixMs-shortEpoch, p.Sequence, p.Random)
		},
		read: func(bits string) idtype.ShortParts {
			return idtype.ShortParts{
				UnixMs:   shortEpoch + int64(refNumber(bits[:46])),
				Sequence: refNumber(bits[46:55]), Random: refNumber(bits[55:]),
			}
		},
		compose: func(part func(string, int, int) int) idtype.ShortParts {
			return idtype.ShortParts{
				UnixMs:   int64(part("ms", shortEpoch, shortEpoch+1<<42-1)),
				Sequence: part("sequence", 0, 511), Random: part("random", 0, 511),
			}
		},
		raw:   func(t *rapid.T) []byte { return bigEndian(drawID(t)) },
		parts: idtype.ShortID.Parts,
		single: func(id idtype.ShortID) idtype.ShortParts {
			return idtype.ShortParts{
				UnixMs: msOf(id), Sequence: id.Sequence(), Random: id.Random(),
			}
		},
		valid: func(id idtype.ShortID, _ idtype.ShortParts) bool { return id < 1<<60 },
	}.test)

	t.Run("eightbyte", layout[idtype.EightByteParts, idtype.EightByteID]{
		digits: refBits,
		write: func(p idtype.EightByteParts) string {
			time, mode := fmt.Sprintf("%042b", p.UnixMs), "1"
			if p.Mode == spread {
				time, mode = reversed(time), "0"
			}
			generator := fmt.Sprintf("%011b", p.Generator)
			return fmt.Sprintf("%s%06b%s%s%s%04b", time, p.Sequence, generator[:3], mode,
				generator[3:], p.Cluster)
		},
		read: func(bits string) idtype.EightByteParts {
			time, mode := bits[:42], sequential
			if bits[51] == '0' {
				time, mode = reversed(time), spread
			}
			return idtype.EightByteParts{
				Mode: mode, UnixMs: int64(refNumber(time)), Sequence: refNumber(bits[42:48]),
				Generator: refNumber(bits[48:51] + bits[52:60]), Cluster: refNumber(bits[60:]),
			}
		},
		compose: composeEightByte,
		raw:     func(t *rapid.T) []byte { return kindNamed("EightByteID as bytes").draw(t, "id") },
		parts:   idtype.EightByteID.Parts,
		single: func(id idtype.EightByteID) idtype.EightByteParts {
			if idtype.EightByteFromUint64(id.Uint64()) != id {
				panic("the number of an ID is of another")
			}
			return idtype.EightByteParts{
				Mode: id.Mode(), UnixMs: msOf(id), Sequence: id.Sequence(),
				Generator: id.Generator(), Cluster: id.Cluster(),
			}
		},
		with: checkFormerLayouts,
	}.test)

	const snoEpoch = 1_262_304_000_000 // 2010-01-01T00:00:00Z
	t.Run("sno", layout[idtype.SnoParts, idtype.SnoID]{
		digits: refBits,
		write: func(p idtype.SnoParts) string { // of a unit of 4 ms only its start
			return fmt.Sprintf("%039b%b%08b%016b%016b", (p.UnixMs-snoEpoch)/4, p.TickTock, p.Meta,
				p.Partition, p.Sequence)
		},
		read: func(bits string) idtype.SnoParts {
			return idtype.SnoParts{
				UnixMs:   snoEpoch + 4*int64(refNumber(bits[:39])),
				TickTock: refNumber(bits[39:40]), Meta: refNumber(bits[40:48]),
				Partition: refNumber(bits[48:64]), Sequence: refNumber(bits[64:]),
			}
		},
		compose: func(part func(string, int, int) int) idtype.SnoParts {
			return idtype.SnoParts{
				UnixMs:   int64(part("ms", snoEpoch, 3461327255551)),
				TickTock: part("tick-tock", 0, 1), Meta: part("meta", 0, 255),
				Partition: part("partition", 0, 65535), Sequence: part("sequence", 0, 65535),
			}
		},
		raw:   func(t *rapid.T) []byte { return kindNamed("SnoID as bytes").draw(t, "id") },
		parts: idtype.SnoID.Parts,
		single: func(id idtype.SnoID) idtype.SnoParts {
			return idtype.SnoParts{
				UnixMs: msOf(id), TickTock: id.TickTock(), Meta: id.Meta(),
				Partition: id.Partition(), Sequence: id.Sequence(),
			}
		},
	}.test)
}

func (l layout[P, T]) test(t *testing.T) {
	t.Run("parts to ID", rapid.MakeCheck(func(t *rapid.T) {
		p := l.compose(func(name string, least, most int) int {
			return rapid.IntRange(least, most).Draw(t, name)
		})
		id, err := p.ID()
		want := l.write(p)
		if strings.Trim(want, "0") == "" {
			if !errors.Is(err, idtype.ErrZero) || !id.IsZero() {
				t.Fatalf("%+v = %v, %v, want ErrZero", p, id, err)
			}
			return
		}
		if err != nil || l.digits(rawOf(id)) != want || id.Validate() != nil {
			t.Fatalf("%+v = %s, %v, want %s", p, l.digits(rawOf(id)), err, want)
		}
		if got := l.parts(id); got != l.read(want) {
			t.Fatalf("%+v came back as %+v", p, got)
		}
		if l.with != nil {
			l.with(t, p)
		}
	}))
	t.Run("ID to parts", rapid.MakeCheck(func(t *rapid.T) {
		raw := l.raw(t)
		id := of[T](raw)
		want := l.read(l.digits(raw))
		if got, single := l.parts(id), l.single(id); got != want || single != want {
			t.Fatalf("%x is %+v, by the methods %+v, want %+v", raw, got, single, want)
		}
		if valid := l.valid == nil || l.valid(id, want); valid != (id.Validate() == nil) {
			t.Fatalf("Validate of %x: %v", raw, id.Validate())
		}
	}))
	t.Run("parts out of range", rapid.MakeCheck(func(t *rapid.T) {
		outside := false
		p := l.compose(func(name string, least, most int) int {
			v := rapid.OneOf(
				rapid.IntRange(least, most), rapid.IntRange(least-1, most+1), rapid.Int(),
			).Draw(t, name)
			outside = outside || v < least || v > most
			return v
		})
		id, err := p.ID()
		switch e := new(idtype.RangeError); {
		case outside && (!errors.As(err, &e) || !id.IsZero()):
			t.Fatalf("%+v gives %v, %v, want a *RangeError", p, id, err)
		case !outside && err != nil && !errors.Is(err, idtype.ErrZero):
			t.Fatalf("%+v: %v", p, err)
		}
	}))
}

// refDecimal is the number of decimal digits.
func refDecimal(digits string) int {
	v, err := strconv.Atoi(digits)
	if err != nil {
		panic(err)
	}
	return v
}

// msOf is the time of an ID.
func msOf(id interface {
	UnixMs() int64
	Time() time.Time
},
) int64 {
	if t := id.Time(); t.UnixMilli() != id.UnixMs() || t.Location() != time.UTC {
		panic(fmt.Sprintf("%v is of %d and of %v", id, id.UnixMs(), t))
	}
	return id.UnixMs()
}

func composeEightByte(part func(string, int, int) int) idtype.EightByteParts {
	return idtype.EightByteParts{
		Mode: idtype.EightByteMode(part("mode", 0, 1)), UnixMs: int64(part("ms", 0, 1<<42-1)),
		Sequence:  part("sequence", 0, 63),
		Generator: part("generator", 0, 2047), Cluster: part("cluster", 0, 15),
	}
}

func drawEightByteParts(t *rapid.T) idtype.EightByteParts {
	return composeEightByte(func(name string, least, most int) int {
		return rapid.IntRange(least, most).Draw(t, name)
	})
}

func reversed(s string) (r string) {
	for _, c := range s {
		r = string(c) + r
	}
	return r
}

// checkFormerLayouts: an eightbyte ID is the same in each layout that has its parts.
func checkFormerLayouts(t *rapid.T, p idtype.EightByteParts) {
	id, _ := p.ID()
	for i, has := range []bool{
		p.Mode == spread && p.Generator <= 63,
		p.Mode == spread && p.Generator <= 255,
		p.Generator <= 255,
	} {
		l := formerLayouts[i]
		got, err := l.compose(p)
		want := idtype.EightByteID{}
		if has {
			want = id
		}
		if (err == nil) != has || got != want || (l.validate(id) == nil) != has {
			t.Fatalf("%+v by layout %d = %v, %v, validated %v", p, i+1, got, err, l.validate(id))
		}
	}
}

// A partBound is parts at the edge of a layout.
type partBound[P composed[T], T idtype.ID] struct {
	name  string
	parts P
	want  string // the ID as a number, or its bytes, or the part that is out of range
}

// testPartBounds states a layout's bounds as numbers, so that a changed constant is seen.
func testPartBounds[P composed[T], T idtype.ID](t *testing.T, typ string, all []partBound[P, T]) {
	t.Helper()
	for _, tt := range all {
		t.Run(tt.name, func(t *testing.T) {
			id, err := tt.parts.ID()
			if strings.ContainsAny(tt.want, "ghijklmnopqrstuvwxyz") {
				wantRangeError(t, err, typ, tt.want)
				if !id.IsZero() {
					t.Errorf("%v beside an error", id)
				}
				return
			}
			if got := storedText(id); err != nil || got != tt.want {
				t.Errorf("%+v = %s, %v, want %s", tt.parts, got, err, tt.want)
			}
		})
	}
}

// TestValidate has IDs that the layouts do not have, of which a column may hold some all the same.
func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		kind kind
		part string // that is out of range, or none
		ids  []int64
	}{
		{kinds[0], "", []int64{10_000_000_000, published, 9_223_372_029_999_999_999}},
		{kinds[0], "counter", []int64{
			1, 57, 9_999_999_999, 9_223_372_030_000_000_000, math.MaxInt64,
		}},
		{kinds[1], "", []int64{1, 57, 4_194_303, 4_194_305, publishedTrace, math.MaxInt64}},
		{kinds[1], "bottom", []int64{4_194_304, 1 << 38, 1 << 62}},
		{kinds[2], "", []int64{1, 57, publishedShort, 1<<60 - 1}},
		{kinds[2], "unix_ms", []int64{1 << 60, 1 << 62, math.MaxInt64}},
		{kinds[3], "", domain()},
	} {
		for _, v := range tt.ids {
			err := tt.kind.new(bigEndian(v)).Validate()
			if tt.part != "" {
				wantRangeError(t, err, tt.kind.typ, tt.part)
			} else if err != nil {
				t.Errorf("%s %d: %v", tt.kind.name, v, err)
			}
		}
	}
	if idtype.DecimalID(0).IsTest() {
		t.Error("zero is a test ID")
	}
	for _, k := range integers {
		for _, v := range []int64{-1, -published, math.MinInt64} {
			wantInputError(t, k.new(bigEndian(v)).Validate(), k.typ, strconv.FormatInt(v, 10), nil)
		}
	}
}

// A timeBound is the smallest and the largest ID of a time, or zero where it has none.
type timeBound[T idtype.ID] struct {
	name     string
	at       time.Time
	min, max T
}

func testTimeBounds[T idtype.ID](
	t *testing.T, typ string, low, high func(time.Time) (T, error), all []timeBound[T],
) {
	ms := func(n int64) time.Time { return time.Unix(n/1000, 0) }
	var none T
	all = append(all, []timeBound[T]{
		{"zero time", time.Time{}, none, none},
		// In milliseconds these do not fit an int64, and wrap around to valid times.
		{"wraps around from above", time.Unix(math.MaxUint64/1000+1573827159, 0), none, none},
		{"wraps around from below", time.Unix(-math.MaxUint64/1000+1573827159, 0), none, none},
		{"largest", ms(math.MaxInt64), none, none},
		{"smallest", ms(math.MinInt64), none, none},
		{"largest of all", time.Unix(math.MaxInt64, 999_999_999), none, none},
		{"smallest of all", time.Unix(math.MinInt64, 0), none, none},
	}...)
	for _, tt := range all {
		t.Run(tt.name, func(t *testing.T) {
			for _, end := range []struct {
				of   func(time.Time) (T, error)
				want T
			}{{low, tt.min}, {high, tt.max}} {
				got, err := end.of(tt.at)
				if any(got) != any(end.want) {
					t.Errorf("%v, want %v", got, end.want)
				}
				if end.want.IsZero() {
					wantRangeError(t, err, typ, "unix_ms")
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestTimeBounds: the IDs of a time are those between its bounds, and no other.
func TestTimeBounds(t *testing.T) {
	ms := func(n int64) time.Time { return time.UnixMilli(n) }
	abroad := time.FixedZone("", 3600)
	const nearly = time.Millisecond - 1

	const epoch, end = 1_519_862_400_000, 1_519_862_400_000 + 1<<42 - 1
	const published = publishedShort - 270<<9 - 98
	t.Run("short", func(t *testing.T) {
		testTimeBounds(t, "ShortID", idtype.MinShortID, idtype.MaxShortID,
			[]timeBound[idtype.ShortID]{
				{"first", ms(epoch), 1, 1<<18 - 1}, // zero is none
				{"first, its last nanosecond", ms(epoch).Add(nearly), 1, 1<<18 - 1},
				{"second", ms(epoch + 1), 1 << 18, 1<<19 - 1},
				{"last", ms(end), 1<<60 - 1<<18, 1<<60 - 1},
				{"last, its last nanosecond", ms(end).Add(nearly), 1<<60 - 1<<18, 1<<60 - 1},
				{"published", ms(1562179504129), published, published + 1<<18 - 1},
				{"elsewhere", ms(epoch).In(abroad), 1, 1<<18 - 1},
				{"a nanosecond early", ms(epoch).Add(-1), 0, 0},
				{"a millisecond late", ms(end + 1), 0, 0},
				{"1970", ms(0), 0, 0},
			})
	})

	bounds := func(name string, at time.Time, low, high string) timeBound[idtype.EightByteID] {
		b := timeBound[idtype.EightByteID]{name: name, at: at}
		if low != "" {
			b.min, b.max = idtype.MustParseEightByteID(low), idtype.MustParseEightByteID(high)
		}
		return b
	}
	const low, high = "5b9bda2989c01000", "5b9bda2989ffffff"
	t.Run("eightbyte", func(t *testing.T) {
		testTimeBounds(t, "EightByteID", idtype.MinEightByteID, idtype.MaxEightByteID,
			[]timeBound[idtype.EightByteID]{
				bounds("a time", ms(1573827159591), low, high),
				bounds("within its millisecond", ms(1573827159591).Add(nearly), low, high),
				bounds("in another zone", ms(1573827159591).In(abroad), low, high),
				bounds("first", ms(0), "0000000000001000", "00000000003fffff"),
				bounds("last", ms(1<<42-1).Add(nearly), "ffffffffffc01000", "ffffffffffffffff"),
				bounds("after the last", ms(1<<42), "", ""),
				bounds("a nanosecond before the first", ms(0).Add(-1), "", ""),
			})
	})
	// What the doc warns of: a SPREAD ID of 2094 lies among those of 2019.
	other, err := idtype.EightByteParts{Mode: spread, UnixMs: 3923794188762, Sequence: 1}.ID()
	if err != nil || other.String() <= low || other.String() >= high ||
		other.Time().Year() != 2094 {
		t.Errorf("%v, %v of %v is not between %s and %s", other, err, other.Time(), low, high)
	}

	of := func(name string, at time.Time, low, high string) timeBound[idtype.SnoID] {
		b := timeBound[idtype.SnoID]{name: name, at: at}
		if low != "" {
			b.min, b.max = idtype.MustParseSnoID(low), idtype.MustParseSnoID(high)
		}
		return b
	}
	const first, last = 1262304000000, 3461327255551
	t.Run("sno", func(t *testing.T) {
		testTimeBounds(t, "SnoID", idtype.MinSnoID, idtype.MaxSnoID, []timeBound[idtype.SnoID]{
			of("a time", ms(1703587783960), "8fhmi7me22222222", "8fhmi7mfxxxxxxxx"),
			of(
				"the end of its unit", ms(1703587783963).Add(nearly),
				"8fhmi7me22222222", "8fhmi7mfxxxxxxxx",
			),
			of("the unit before", ms(1703587783959), "8fhmi7mc22222222", "8fhmi7mdxxxxxxxx"),
			of("first", ms(first), "2222222222222223", "22222223xxxxxxxx"), // zero is none
			of("last", ms(last).Add(nearly), "xxxxxxxw22222222", "xxxxxxxxxxxxxxxx"),
			of("the start of the last unit", ms(last-3), "xxxxxxxw22222222", "xxxxxxxxxxxxxxxx"),
			of("after the last", ms(last+1), "", ""),
			of("a nanosecond before the first", ms(first).Add(-1), "", ""),
			of("1970", ms(0), "", ""),
		})
	})
}
