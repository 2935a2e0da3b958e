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
		want := map[idtype.Storage]driver.Value{
			asBigint: int64(0), asBytes: k.zero(), asText: "", asUUID: nilUUID,
		}[k.form]
		if err != nil || !reflect.DeepEqual(zero, want) {
			t.Errorf("Value of OrZero of none = %#v, %v, want %#v", zero, err, want)
		}
		column := map[idtype.Storage]string{asText: "char(16)"}[k.form]
		if got := k.new(k.zero()).GormDataType(); got != cmp.Or(column, string(k.form)) {
			t.Errorf("GormDataType = %q", got) // with "int" in front GORM would make it a serial
		}
		for _, src := range forms(zero) {
			if k.refusesRaw(src) {
				continue
			}
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

// refusesRaw: a string is never the bytes of a UUID.
func (k kind) refusesRaw(src any) bool {
	text, ok := src.(string)
	return ok && k.size == 16 && k.form == asUUID && len(text) == 16
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
		if k.refusesRaw(src) {
			continue
		}
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
		"UnmarshalBSONValue", "UnmarshalCBOR",
	}
	types := []reflect.Type{
		reflect.TypeFor[*idtype.OrZero[UserID]](), reflect.TypeFor[*idtype.Slice[UserID]](),
	}
	decimal := reflect.TypeFor[*UserID]()
	for _, k := range kinds {
		typ := reflect.TypeOf(k.new(k.zero()))
		types = append(types, typ)
		for i := range decimal.NumMethod() { // all schemes have what is not about a layout
			name := decimal.Method(i).Name
			if _, ok := typ.MethodByName(name); !ok && name != "IsTest" && name != "Parts" {
				t.Errorf("%v has no method %s", typ, name)
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
		if tt.want == nil {
			if err != nil || got != id {
				t.Errorf("Scan(%T %v) = %v, %v", tt.src, tt.src, got, err)
			}
			continue
		}
		wantInputError(t, err, typ, "", nil)
		if got != before || !errors.Is(err, tt.want) && tt.want != errors.ErrUnsupported {
			t.Errorf("Scan(%T): %v, receiver is %v after it", tt.src, err, got)
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
	inAnyForm := want{sno: snoText, text: snoText, uuid: snoText}
	const threes, twos = "2333333333333333", "2222222222222222"
	eightArray, snoArray := [8]byte(eightRaw), [10]byte(snoRaw)
	for _, tt := range []struct {
		src  any
		want want
	}{
		{eightRaw, want{eight: eightText}},
		{string(eightRaw), want{eight: eightText}},
		{eightArray, want{eight: eightText}},
		{"12345678", want{number: "12345678", eight: "3132333435363738", bigint: "0000000000bc614e"}},
		{[8]byte([]byte("12345678")), want{eight: "3132333435363738"}},
		{snoRaw, want{sno: snoText}},
		{string(snoRaw), want{sno: snoText}},
		{snoArray, want{sno: snoText}},
		{idtype.SnoID(snoArray), want{sno: snoText}},
		{eightText, want{eight: eightText}},
		{snoText, inAnyForm},
		{[]byte(snoText), inAnyForm},
		{threes, want{threes, threes, "00084a278079d555", threes, threes, threes}},
		{`\x` + eightText, want{eight: eightText}},
		{[]byte(`\x335f48168d9e8808dc82`), want{sno: snoText}},
		{`\x` + strings.Repeat("00", 8), want{eight: none}},
		{`\x` + strings.Repeat("00", 10), want{sno: none}},
		{snoUUID, want{uuid: snoText}},
		{[]byte(snoUUID), want{uuid: snoText}},
		{[16]byte([]byte(snoText)), inAnyForm},
		{foreignUUID([]byte(snoText)), inAnyForm},
		{int64(eightNum), want{number: eightDigits, bigint: eightText}},
		{uint64(eightNum), want{number: eightDigits, bigint: eightText}},
		{int64(-1), want{bigint: "ffffffffffffffff"}},
		{int64(math.MinInt64), want{bigint: "8000000000000000"}},
		{uint64(1 << 63), want{bigint: "8000000000000000"}},
		{"6601109550783371419", want{number: eightDigits, bigint: eightText}},
		{"-1", want{bigint: "ffffffffffffffff"}},
		{[]byte("18446744073709551615"), want{bigint: "ffffffffffffffff"}},
		{"-9223372036854775808", want{bigint: "8000000000000000"}},
		{int64(0), want{number: none, bigint: none}},
		{uint64(0), want{number: none, bigint: none}},
		{"0", want{number: none, bigint: none}},
		{[]byte("0"), want{number: none, bigint: none}},
		{"", want{text: none}},
		{[]byte{}, want{text: none}},
		{[]byte(nil), want{text: none}},
		{strings.Repeat(" ", 16), want{text: none}},
		{make([]byte, 16), want{text: none, uuid: none}},
		{make([]byte, 8), want{eight: none}},
		{[8]byte{}, want{eight: none}},
		{string(make([]byte, 8)), want{eight: none}},
		{make([]byte, 10), want{sno: none}},
		{string(make([]byte, 10)), want{sno: none}},
		{strings.Repeat("0", 16), want{eight: none}},
		{twos, want{twos, twos, "0007e5196e2ae38e", none, none, none}},
		{nilUUID, want{uuid: none}},
		{[16]byte{}, want{text: none, uuid: none}},
		{foreignUUID{}, want{text: none, uuid: none}},
	} {
		for _, k := range append(integers, ofChars...) {
			testScan(t, k, tt.src, tt.want.of(k))
		}
	}
	// Other cases, digits, prefixes and lengths, and what no driver hands over for such a column.
	for _, src := range []any{
		"xinaS8QBh", "(0)", strings.ToUpper(eightText), strings.ToUpper(snoText),
		"335f48168d9e8808dc82", `\x335f48168d9e8808dc`, `\x335F48168D9E8808DC82`,
		`\x335f48168d9e8808dcxy`, `0x335f48168d9e8808dc82`, strings.ToUpper(snoUUID),
		strings.ReplaceAll(snoUUID, "-", ""), strings.ReplaceAll(snoUUID, "-", "_"),
		"3866686-d6937-6d66-6c73-36326a703634", "{" + snoUUID + "}",
		"f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "3066686d-6937-6d66-6c73-36326a703634",
		"18446744073709551616", "-9223372036854775809", "+1", "01", "-01", "-0", "-", "--1", " 1",
		"1_0", "1.0", "0x1", nil, 1.5, float64(1000), math.NaN(), true, time.Unix(1, 0).UTC(),
		[10]int8{1},
		[10]namedByte{1},
		&eightArray,
		struct{ A string }{strings.Repeat("x", 1<<20)},
		strings.Repeat("1", 1<<20),
	} {
		for _, k := range append(integers, ofChars...) {
			testScan(t, k, src, "")
		}
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
			t.Errorf("%s of %.40v: %s, %v, want %s", k.name, src, got, err, want)
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
		if !strings.Contains(err.Error(), "into OrZero of this type") {
			t.Errorf("%s of %.40v: %v, which names no OrZero", k.name, src, err)
		}
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
	k := kindNamed("SnoID as uuid")
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
	eight, number := byteKinds[:1], byteKinds[1:2]
	sno, text, uuid := byteKinds[2:3], byteKinds[3:4], byteKinds[4:5]
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
		{integers, int64(-1), `"-1"`},
		// As an int64 it would be negative, which is not what is wrong with it.
		{integers, uint64(1 << 63), "above the largest ID, 9223372036854775807"},
		{integers, uint64(1 << 63), `"9223372036854775808"`},
		{kinds, 1.5, `float64 "1.5"`},
		{kinds, math.NaN(), `float64 "NaN"`},
		{kinds, time.Unix(1, 0).UTC(), `time.Time "1970-01-01 00:00:01`},
		{integers, []byte(nil), `""`},
		// A column may hold zeros that mean "none". The error names the type that reads them.
		{integers, int64(0), "OrZero"},
		{kinds[:1], idtype.DecimalID(0), "want int64"}, // it is of another entity
		{eight, make([]byte, 8), "OrZero"},
		{uuid, nilUUID, "OrZero"},
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

// TestStorageTags: the outermost tag says the form, if it is one of the scheme's. An entity may be
// anything.
func TestStorageTags(t *testing.T) {
	eight, sno := idtype.EightByteID(eightRaw), idtype.SnoID(snoRaw)
	for _, tt := range []struct {
		id   driver.Valuer
		want driver.Value
	}{
		{eight, eightRaw},
		{idtype.EightByte[idtype.AsText[Event]](eight), eightRaw},
		{idtype.EightByte[idtype.AsUUID[Event]](eight), eightRaw},
		{idtype.EightByte[idtype.AsBigint[error]](eight), int64(eightNum)},
		{sno, snoRaw},
		{idtype.Sno[idtype.AsBigint[Event]](sno), snoRaw},
		{idtype.Sno[idtype.AsText[idtype.AsUUID[Event]]](sno), snoText},
		{idtype.Sno[idtype.AsText[*Event]](sno), snoText},
		{idtype.Sno[error](sno), snoRaw},
		{idtype.Sno[idtype.AsUUID[error]](sno), snoUUID},
		{idtype.Decimal[idtype.AsUUID[Event]](57), int64(57)},
		{idtype.Decimal[idtype.AsText[Event]](57), int64(57)},
	} {
		if got, err := tt.id.Value(); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("Value of %T = %#v, %v, want %#v", tt.id, got, err, tt.want)
		}
	}
	a, _ := sno.Value()
	b, _ := sno.Value()
	if &a.([]byte)[0] == &b.([]byte)[0] {
		t.Error("two calls of Value share their bytes")
	}
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
