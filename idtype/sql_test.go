package idtype_test

import (
	"bytes"
	"cmp"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// TestValue: what Value writes is what the reference says, and one of the drivers' own types, which
// are not asked to know ours. Scan reads it back in every form.
func TestValue(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, raw := range k.domain() {
			checkValue(t, k, raw)
		}
		t.Run("any", rapid.MakeCheck(func(t *rapid.T) { checkValue(t, k, k.draw(t, "id")) }))
		zero, err := k.orZero(k.zero()).Value()
		if err != nil || !driver.IsValue(zero) {
			t.Errorf("Value of OrZero of none = %#v, %v", zero, err)
		}
		for _, src := range forms(zero) {
			o := k.orZero(k.before())
			if err := o.Scan(src); err != nil || !o.IsZero() {
				t.Errorf("OrZero.Scan(%T %v) = %x, %v, want none", src, src, rawOf(o), err)
			}
		}
	})
	for _, k := range integers {
		for _, v := range []int64{-1, math.MinInt64} {
			for _, valuer := range []driver.Valuer{k.new(bigEndian(v)), k.orZero(bigEndian(v))} {
				got, err := valuer.Value()
				wantInputError(t, err, k.typ, strconv.FormatInt(v, 10), nil)
				if got != v { // nil would be NULL to whoever drops the error
					t.Errorf("Value of %d = %v beside its error", v, got)
				}
			}
		}
	}
}

func checkValue(t failing, k kind, raw []byte) {
	t.Helper()
	want, id := k.refColumn(raw), k.new(raw)
	for _, valuer := range []driver.Valuer{
		id,
		reflect.ValueOf(id).Elem().Interface().(driver.Valuer),
		k.orZero(raw),
		sql.Null[driver.Valuer]{V: id, Valid: true},
	} {
		got, err := valuer.Value()
		if err != nil || !reflect.DeepEqual(got, want) || !driver.IsValue(got) {
			t.Fatalf("Value of %T %x = %#v, %v, want %#v", valuer, raw, got, err, want)
		}
	}
	for _, src := range forms(want) {
		for _, dst := range []column{k.new(k.before()), k.orZero(k.before())} {
			if err := dst.Scan(src); err != nil || !bytes.Equal(rawOf(dst), raw) {
				t.Fatalf("%T.Scan(%T %v) = %x, %v, want %x", dst, src, src, rawOf(dst), err, raw)
			}
		}
	}
	value, err := k.slice(raw, k.before(), raw)
	if err != nil {
		t.Fatalf("Value of a slice: %v", err)
	}
	back, err := k.scanSlice(value, k.before())
	if err != nil || !slices.EqualFunc(back, [][]byte{raw, k.before(), raw}, bytes.Equal) {
		t.Fatalf("%v came back as %x, %v, want %x twice", value, back, err, raw)
	}
}

// TestReceivers: a method that encodes is on the value too, because GORM, pgx and clickhouse-go ask
// a value whether it is a Valuer. A method that decodes is on the pointer alone.
func TestReceivers(t *testing.T) {
	writes := []string{
		"UnmarshalText", "UnmarshalParam", "UnmarshalJSON", "UnmarshalBinary", "Scan",
	}
	types := []reflect.Type{
		reflect.TypeFor[*idtype.OrZero[UserID]](), reflect.TypeFor[*idtype.Slice[UserID]](),
	}
	decimal := reflect.TypeFor[*UserID]()
	for _, k := range kinds {
		typ := reflect.TypeOf(k.new(k.zero()))
		types = append(types, typ)
		for i := range decimal.NumMethod() { // all schemes have what is not about a layout
			switch name := decimal.Method(i).Name; name {
			case "IsTest", "Parts":
			default:
				if _, ok := typ.MethodByName(name); !ok {
					t.Errorf("%v has no method %s", typ, name)
				}
			}
		}
	}
	for _, typ := range types {
		for i := range typ.NumMethod() {
			name := typ.Method(i).Name
			_, onValue := typ.Elem().MethodByName(name)
			if onValue == slices.Contains(writes, name) {
				t.Errorf("%v.%s: on the value %v", typ, name, onValue)
			}
		}
	}
}

// TestScanOwnType: ORMs hand an ID that they were given to Scan, by value and by pointer.
func TestScanOwnType(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) { k.ownType(t) })
}

func testScanOwnType[T idtype.ID](t *testing.T, typ string, id, before T) {
	var zero T
	type another struct{ T T }
	for _, tt := range []struct {
		src  any
		want error
	}{
		{id, nil},
		{&id, nil},
		{zero, idtype.ErrZero},
		{new(T), idtype.ErrZero},
		{(*T)(nil), idtype.ErrNull},
		{another{id}, errors.ErrUnsupported}, // any other error
	} {
		got := before
		err := any(&got).(sql.Scanner).Scan(tt.src)
		switch {
		case tt.want == nil:
			if err != nil || got != id {
				t.Errorf("Scan(%T %v) = %v, %v", tt.src, tt.src, got, err)
			}
		case tt.want == errors.ErrUnsupported:
			wantInputError(t, err, typ, "", nil)
		default:
			wantInputError(t, err, typ, "", tt.want)
		}
		if tt.want != nil && got != before {
			t.Errorf("Scan(%T): receiver is %v after an error", tt.src, got)
		}
	}

	want := idtype.OrZero[T]{ID: id}
	for _, src := range []any{want, &want, id, &id} {
		got := idtype.OrZero[T]{ID: before}
		if err := got.Scan(src); err != nil || got != want {
			t.Errorf("OrZero.Scan(%T) = %v, %v", src, got, err)
		}
	}
	got := want
	if err := got.Scan(idtype.OrZero[T]{}); err != nil || !got.IsZero() {
		t.Errorf("OrZero.Scan of none = %v, %v", got, err)
	}
}

// A foreignUUID is what the UUID packages have. Drivers hand them over: clickhouse-go for a UUID,
// pgx for some targets.
type foreignUUID [16]byte

func (foreignUUID) String() string { return "not of interest" }

// forms are the Go types in which drivers hand over a value.
func forms(v driver.Value) (all []any) {
	switch v := v.(type) {
	case int64:
		digits, unsigned := strconv.FormatInt(v, 10), strconv.FormatUint(uint64(v), 10)
		all = append(all, v, uint64(v), digits, []byte(digits), unsigned, []byte(unsigned))
	case string:
		all = append(all, v, []byte(v))
		if len(v) == 16 {
			all = append(all, [16]byte([]byte(v)))
		}
		if len(v) == 36 {
			raw, err := hex.DecodeString(strings.ReplaceAll(v, "-", ""))
			if err != nil {
				panic(err)
			}
			all = append(all, raw, string(raw), [16]byte(raw), foreignUUID(raw))
		}
	case []byte:
		bytea := `\x` + hex.EncodeToString(v)
		all = append(all, v, string(v), bytea, []byte(bytea))
		array := reflect.New(reflect.ArrayOf(len(v), reflect.TypeFor[byte]())).Elem()
		reflect.Copy(array, reflect.ValueOf(v))
		all = append(all, array.Interface())
	}
	return all
}

const none = "none" // zero, which an OrZero takes

// want is the ID that Scan reads, as its text, by kind. Of integers it is the number. "" is an
// error.
type want struct{ number, eight, bigint, sno, text, uuid string }

func (w want) of(k kind) string {
	switch {
	case k.isInteger():
		return w.number
	case k.form == asBigint:
		return w.bigint
	case k.form == asText:
		return w.text
	case k.form == asUUID:
		return w.uuid
	case k.size == 8:
		return w.eight
	}
	return w.sno
}

// TestScan has what each form takes beside its own Value, and what it does not.
func TestScan(t *testing.T) {
	const threes, twos = "2333333333333333", "2222222222222222"
	eightArray, snoArray := [8]byte(eightRaw), [10]byte(snoRaw)
	for _, tt := range []struct {
		name string
		src  any
		want want
	}{
		{"8 raw bytes", eightRaw, want{eight: eightText}},
		{"8 raw bytes as string", string(eightRaw), want{eight: eightText}},
		{"8 raw bytes as array", eightArray, want{eight: eightText}},
		{
			"8 digits are raw bytes, or a number", "12345678",
			want{number: "12345678", eight: "3132333435363738", bigint: "0000000000bc614e"},
		},
		{
			"8 digits as array are no number", [8]byte([]byte("12345678")),
			want{eight: "3132333435363738"},
		},
		{"10 raw bytes", snoRaw, want{sno: snoText}},
		{"10 raw bytes as string", string(snoRaw), want{sno: snoText}},
		{"10 raw bytes as array", snoArray, want{sno: snoText}},
		{"an ID", idtype.SnoID(snoArray), want{sno: snoText}},
		{"hexadecimal text", eightText, want{eight: eightText}},
		{"base 32 text", snoText, want{sno: snoText, text: snoText, uuid: snoText}},
		{
			"base 32 text as bytes", []byte(snoText),
			want{sno: snoText, text: snoText, uuid: snoText},
		},
		{
			"16 digits are hexadecimal, or a number, or base 32", threes,
			want{threes, threes, "00084a278079d555", threes, threes, threes},
		},
		{"text of a short ID", "xinaS8QBh", want{}},
		{"zero as a short ID's text", "(0)", want{}},
		{"hexadecimal text in upper case", strings.ToUpper(eightText), want{}},
		{"base 32 text in upper case", strings.ToUpper(snoText), want{}},
		{"10 bytes as hexadecimal digits", "335f48168d9e8808dc82", want{}},
		{"PostgreSQL's bytea of 8", `\x` + eightText, want{eight: eightText}},
		{"PostgreSQL's bytea of 10", []byte(`\x335f48168d9e8808dc82`), want{sno: snoText}},
		{"PostgreSQL's bytea of 9", `\x335f48168d9e8808dc`, want{}},
		{"PostgreSQL's bytea in upper case", `\x335F48168D9E8808DC82`, want{}},
		{"PostgreSQL's bytea of other digits", `\x335f48168d9e8808dcxy`, want{}},
		{"PostgreSQL's bytea of another prefix", `0x335f48168d9e8808dc82`, want{}},
		{"PostgreSQL's bytea of zeros", `\x` + strings.Repeat("00", 8), want{eight: none}},
		{"PostgreSQL's bytea of 10 zeros", `\x` + strings.Repeat("00", 10), want{sno: none}},
		{"UUID", snoUUID, want{uuid: snoText}},
		{"UUID as bytes", []byte(snoUUID), want{uuid: snoText}},
		{"UUID in upper case", strings.ToUpper(snoUUID), want{}},
		{"UUID without dashes", strings.ReplaceAll(snoUUID, "-", ""), want{}},
		{"UUID with other dashes", strings.ReplaceAll(snoUUID, "-", "_"), want{}},
		{"UUID with a dash moved", "3866686-d6937-6d66-6c73-36326a703634", want{}},
		{"UUID in braces", "{" + snoUUID + "}", want{}},
		{"UUID of others", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", want{}},
		{"UUID of another alphabet", "3066686d-6937-6d66-6c73-36326a703634", want{}},
		{
			"UUID of 16 bytes", [16]byte([]byte(snoText)),
			want{sno: snoText, text: snoText, uuid: snoText},
		},
		{
			"UUID of another package", foreignUUID([]byte(snoText)),
			want{sno: snoText, text: snoText, uuid: snoText},
		},
		{"integer", int64(eightNum), want{number: eightDigits, bigint: eightText}},
		{"unsigned integer", uint64(eightNum), want{number: eightDigits, bigint: eightText}},
		{"negative", int64(-1), want{bigint: "ffffffffffffffff"}},
		{"smallest", int64(math.MinInt64), want{bigint: "8000000000000000"}},
		{"unsigned above int64", uint64(1 << 63), want{bigint: "8000000000000000"}},
		{"digits", "6601109550783371419", want{number: eightDigits, bigint: eightText}},
		{"digits of -1", "-1", want{bigint: "ffffffffffffffff"}},
		{"digits of 2^64-1", []byte("18446744073709551615"), want{bigint: "ffffffffffffffff"}},
		{"digits of -2^63", "-9223372036854775808", want{bigint: "8000000000000000"}},
		{"digits of 2^64", "18446744073709551616", want{}},
		{"digits of -2^63-1", "-9223372036854775809", want{}},
		{"plus", "+1", want{}},
		{"leading zero", "01", want{}},
		{"leading zero, negative", "-01", want{}},
		{"minus zero", "-0", want{}},
		{"minus alone", "-", want{}},
		{"minus twice", "--1", want{}},
		{"space", " 1", want{}},
		{"underscore", "1_0", want{}},
		{"fraction", "1.0", want{}},
		{"hexadecimal number", "0x1", want{}},
		{"zero", int64(0), want{number: none, bigint: none}},
		{"unsigned zero", uint64(0), want{number: none, bigint: none}},
		{"digit zero", "0", want{number: none, bigint: none}},
		{"digit zero as bytes", []byte("0"), want{number: none, bigint: none}},
		{"empty", "", want{text: none}},
		{"empty bytes", []byte{}, want{text: none}},
		{"no bytes", []byte(nil), want{text: none}},
		{"an empty CHAR(16)", strings.Repeat(" ", 16), want{text: none}},
		{"an empty FixedString(16)", make([]byte, 16), want{text: none, uuid: none}},
		{"8 zero bytes", make([]byte, 8), want{eight: none}},
		{"8 zero bytes as array", [8]byte{}, want{eight: none}},
		{"8 zero bytes as string", string(make([]byte, 8)), want{eight: none}},
		{"10 zero bytes", make([]byte, 10), want{sno: none}},
		{"10 zero bytes as string", string(make([]byte, 10)), want{sno: none}},
		{"the text of zero", strings.Repeat("0", 16), want{eight: none}},
		{
			"the text of zero in base 32", twos,
			want{twos, twos, "0007e5196e2ae38e", none, none, none},
		},
		{"nil UUID", nilUUID, want{uuid: none}},
		{"nil UUID as array", [16]byte{}, want{text: none, uuid: none}},
		{"nil UUID of another package", foreignUUID{}, want{text: none, uuid: none}},
		{"NULL", nil, want{}},
		{"float", 1.5, want{}},
		{"whole float", float64(1000), want{}},
		{"NaN", math.NaN(), want{}},
		{"bool", true, want{}},
		{"time", time.Unix(1, 0).UTC(), want{}},
		{"array of others", [10]int8{1}, want{}},
		{"array of named bytes", [10]namedByte{1}, want{}},
		{"pointer", &eightArray, want{}},
		{"struct", struct{ A string }{strings.Repeat("x", 1<<20)}, want{}},
		{"megabyte", strings.Repeat("1", 1<<20), want{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, k := range kinds {
				testScan(t, k, tt.src, tt.want.of(k))
			}
		})
	}
}

func testScan(t *testing.T, k kind, src any, want string) {
	t.Helper()
	id, o := k.new(k.before()), k.orZero(k.before())
	err, orZeroErr := id.Scan(src), o.Scan(src)
	if want != "" && want != none {
		got := id.String()
		if k.isInteger() {
			got = digits.write(rawOf(id))
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", k.name, got, err, want)
		}
		if orZeroErr != nil || !bytes.Equal(rawOf(o), rawOf(id)) {
			t.Errorf("OrZero of %s = %x, %v, want %x", k.name, rawOf(o), orZeroErr, rawOf(id))
		}
		return
	}
	reason, input := error(nil), ""
	switch src := src.(type) {
	case nil:
		reason = idtype.ErrNull
	case string:
		input = src
	case []byte:
		input = string(src)
	}
	k.wantUntouched(t, id)
	if want == none {
		wantInputError(t, err, k.typ, input, idtype.ErrZero)
		if orZeroErr != nil || !o.IsZero() {
			t.Errorf("OrZero of %s = %x, %v, want none", k.name, rawOf(o), orZeroErr)
		}
		return
	}
	wantInputError(t, err, k.typ, input, reason)
	if errors.Is(err, idtype.ErrZero) {
		t.Errorf("%s: error is %v: it is not zero", k.name, err)
	}
	wantInputError(t, orZeroErr, k.typ, "", reason)
	k.wantUntouched(t, o)
}

type namedByte byte

var plainUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// TestStorageUUIDAgainstReference damages UUIDs in one place: see TestParseAgainstReference.
func TestStorageUUIDAgainstReference(t *testing.T) {
	k := kinds[8]
	for _, start := range []string{
		snoUUID, refUUID("2222222222222223"), refUUID("xxxxxxxxxxxxxxxx"),
	} {
		for place := range len(start) {
			for b := range 256 {
				text := []byte(start)
				text[place] = byte(b)
				var want []byte
				if plainUUID.Match(text) {
					chars, err := hex.DecodeString(strings.ReplaceAll(string(text), "-", ""))
					if err != nil {
						t.Fatal(err)
					}
					want = k.read(string(chars))
				}
				id := k.new(k.before())
				if err := id.Scan(text); (err == nil) != (want != nil) ||
					err == nil && !bytes.Equal(rawOf(id), want) {
					t.Fatalf("Scan(%q) = %v, %v, want %x", text, id, err, want)
				}
			}
		}
	}
}

// TestScanReasons: the message is what a person who declared the wrong form reads.
func TestScanReasons(t *testing.T) {
	eight, number, sno, text, uuid := kinds[4:5], kinds[5:6], kinds[6:7], kinds[7:8], kinds[8:9]
	for _, tt := range []struct {
		kinds []kind
		src   any
		shows string
	}{
		{eight, int64(1), "AsBigint"},
		{eight, "123", "3 bytes, want 8, or the text of 16 characters"},
		{sno, "123", "3 bytes, want 10, or the text of 16 characters"},
		{text, snoUUID, "36 bytes, want the text of 16 characters"},
		{uuid, "123", "3 bytes, want a UUID, as 36 characters or 16 bytes"},
		{uuid, strings.ToUpper(snoUUID), "lower-case hexadecimal"},
		{uuid, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "at index 0"},
		{number, eightText, "digits"},
		{number, 1.5, "int64"},
		{kinds, nil, "NULL as "},
		{kinds, nil, "sql.Null"},
		{integers, int64(0), `"0"`},
		{integers, uint64(0), `"0"`},
		{integers, int64(-1), `"-1"`},
		{integers, int64(math.MinInt64), `"-9223372036854775808"`},
		// As an int64 it would be negative, which is not what is wrong with it.
		{integers, uint64(1 << 63), "above the largest ID, 9223372036854775807"},
		{integers, uint64(1 << 63), `"9223372036854775808"`},
		{integers, uint64(math.MaxUint64), `"18446744073709551615"`},
		{kinds, 1.5, `float64 "1.5"`},
		{kinds, float64(1000), `float64 "1000"`},
		{kinds, math.NaN(), `float64 "NaN"`},
		{kinds, true, `bool "true"`},
		{kinds, time.Unix(1, 0).UTC(), `time.Time "1970-01-01 00:00:01`},
		{integers, []byte(nil), `""`},
		{kinds, struct{ A string }{strings.Repeat("x", 1<<20)}, "bytes)"},
	} {
		for _, k := range tt.kinds {
			err := k.new(k.before()).Scan(tt.src)
			if err == nil || !strings.Contains(err.Error(), tt.shows) {
				t.Errorf("%s: Scan(%v): error is %v, want %q in it", k.name, tt.src, err, tt.shows)
			}
		}
	}
}

// A column may hold zeros that mean "none". The error of Scan names the type that reads them.
func TestScanOfZeroNamesOrZero(t *testing.T) {
	for _, test := range []struct {
		dst interface{ Scan(src any) error }
		src []any
	}{
		{new(idtype.DecimalID), []any{int64(0), uint64(0), "0", []byte("0"), idtype.DecimalID(0)}},
		{new(idtype.ShortID), []any{int64(0), []byte("0")}},
		{new(idtype.EightByteID), []any{make([]byte, 8)}},
		{new(idtype.Sno[idtype.AsUUID[any]]), []any{nilUUID}},
	} {
		for _, src := range test.src {
			err := test.dst.Scan(src)
			if !errors.Is(err, idtype.ErrZero) || !strings.Contains(err.Error(), "OrZero") {
				t.Errorf("%T of %T: error %v", test.dst, src, err)
			}
		}
	}
}

func TestStorageValue(t *testing.T) {
	const lateText = "8000000000001000" // TIME_SEQUENTIAL, 2039-09-07T15:47:35.552Z
	eight, late := idtype.MustParse[idtype.EightByteID](eightText), idtype.MustParse[idtype.EightByteID](lateText)
	sno := idtype.MustParse[idtype.SnoID](snoText)
	zero8, zero10 := make([]byte, 8), make([]byte, 10)
	for _, tt := range []struct {
		name   string
		id     driver.Valuer
		want   driver.Value
		none   driver.Valuer
		zero   driver.Value // of none
		column string       // GormDataType
	}{
		{"EightByteID", eight, eightRaw, idtype.OrZero[idtype.EightByteID]{}, zero8, "bytes"},
		{"EightByte", EventEightID(eight), eightRaw, idtype.OrZero[EventEightID]{}, zero8, "bytes"},
		{
			"EightByte as bigint", EventBigintID(eight), int64(eightNum),
			idtype.OrZero[EventBigintID]{},
			int64(0), "bigint",
		},
		{
			"EightByte as bigint, late", EventBigintID(late), int64(math.MinInt64 + 0x1000),
			idtype.OrZero[EventBigintID]{},
			int64(0), "bigint",
		},
		{"SnoID", sno, snoRaw, idtype.OrZero[idtype.SnoID]{}, zero10, "bytes"},
		{"Sno", EventSnoID(sno), snoRaw, idtype.OrZero[EventSnoID]{}, zero10, "bytes"},
		{"Sno as text", EventTextID(sno), snoText, idtype.OrZero[EventTextID]{}, "", "char(16)"},
		{"Sno as UUID", EventUUIDID(sno), snoUUID, idtype.OrZero[EventUUIDID]{}, nilUUID, "uuid"},
		// Tags of other schemes' forms say nothing.
		{
			"Sno as bigint", idtype.Sno[idtype.AsBigint[Event]](sno), snoRaw,
			idtype.OrZero[EventSnoID]{},
			zero10, "bytes",
		},
		{
			"EightByte as text", idtype.EightByte[idtype.AsText[Event]](eight), eightRaw,
			idtype.OrZero[EventEightID]{},
			zero8, "bytes",
		},
		{
			"EightByte as UUID", idtype.EightByte[idtype.AsUUID[Event]](eight), eightRaw,
			idtype.OrZero[EventEightID]{},
			zero8, "bytes",
		},
		{
			"Decimal as UUID", idtype.Decimal[idtype.AsUUID[Event]](57), int64(57),
			idtype.OrZero[UserID]{},
			int64(0), "bigint",
		},
		{
			"Decimal as text", idtype.Decimal[idtype.AsText[Event]](57), int64(57),
			idtype.OrZero[UserID]{},
			int64(0), "bigint",
		},
		// The outer tag counts.
		{
			"Sno as text as UUID", idtype.Sno[idtype.AsText[idtype.AsUUID[Event]]](sno), snoText,
			idtype.OrZero[EventTextID]{},
			"", "char(16)",
		},
		// An entity may be anything, a nil interface and a pointer included.
		{
			"of a pointer", idtype.Sno[idtype.AsText[*Event]](sno), snoText,
			idtype.OrZero[idtype.Sno[*Event]]{},
			zero10, "bytes",
		},
		{
			"of an interface", idtype.Sno[idtype.AsText[error]](sno), snoText,
			idtype.OrZero[idtype.Sno[error]]{},
			zero10, "bytes",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := tt.id.Value(); err != nil || !reflect.DeepEqual(got, tt.want) ||
				!driver.IsValue(got) {
				t.Errorf("Value = %#v, %v, want %#v", got, err, tt.want)
			}
			if got, err := tt.none.Value(); err != nil || !reflect.DeepEqual(got, tt.zero) ||
				!driver.IsValue(got) {
				t.Errorf("Value of none = %#v, %v, want %#v", got, err, tt.zero)
			}
			got := tt.none.(interface{ GormDataType() string }).GormDataType()
			if got != tt.column {
				t.Errorf("GormDataType = %q, want %q", got, tt.column)
			}
		})
	}
	if got, _ := sno.Value(); &got.([]byte)[0] == &mustValue(t, sno)[0] {
		t.Error("two calls of Value share their bytes")
	}
}

func mustValue(t *testing.T, v driver.Valuer) []byte {
	t.Helper()
	got, err := v.Value()
	if err != nil {
		t.Fatal(err)
	}
	return got.([]byte)
}

// TestStorageBigintOrder has the facts of AsBigint's doc: where the numbers' order is that of the
// IDs, and where it is not.
func TestStorageBigintOrder(t *testing.T) {
	const turn = 1 << 41 // ms
	if at := time.UnixMilli(turn).UTC(); at != time.Date(2039, 9, 7, 15, 47, 35, 552e6, time.UTC) {
		t.Errorf("the numbers turn negative at %v", at)
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (idtype.EightByteParts, idtype.EightByteID, int64) {
			p := idtype.EightByteParts{
				Mode:   sequential,
				UnixMs: rapid.OneOf(rapid.Int64Range(0, 2*turn-1), rapid.Int64Range(turn-1, turn)).Draw(t, name),
			}
			id, err := p.ID()
			v, err2 := EventBigintID(id).Value()
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			return p, id, v.(int64)
		}
		a, idA, numberA := draw("a")
		b, idB, numberB := draw("b")
		if (numberA < 0) != (a.UnixMs >= turn) {
			t.Fatalf("the number of %+v is %d", a, numberA)
		}
		got, ids := cmp.Compare(numberA, numberB), idtype.Compare(idA, idB)
		if sameSide := a.UnixMs < turn == (b.UnixMs < turn); sameSide != (got == ids) && got != 0 {
			t.Fatalf("numbers of %+v and %+v compare as %d, the IDs as %d", a, b, got, ids)
		}
	})
}
