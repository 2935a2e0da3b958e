package idtype_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// A foreignUUID is what the UUID packages have, which drivers hand over: clickhouse-go for a UUID, pgx for some targets.
type foreignUUID [16]byte

func (foreignUUID) String() string { return "not of interest" }

const (
	eightText = "5b9bda2989e1989b" // TIME_SEQUENTIAL, 2019
	eightNum  = 0x5b9bda2989e1989b
	lateText  = "8000000000001000" // TIME_SEQUENTIAL, 2039-09-07T15:47:35.552Z
	snoText   = "8fhmi7mfls62jp64"
	snoUUID   = "3866686d-6937-6d66-6c73-36326a703634" // "8fhm" is 38 66 68 6d
	nilUUID   = "00000000-0000-0000-0000-000000000000"
)

var (
	eightRaw = []byte("\x5b\x9b\xda\x29\x89\xe1\x98\x9b")
	snoRaw   = []byte("\x33\x5f\x48\x16\x8d\x9e\x88\x08\xdc\x82")
)

func TestStorageValue(t *testing.T) {
	eight, late, sno := idtype.MustParseEightByteID(eightText), idtype.MustParseEightByteID(lateText), idtype.MustParseSnoID(snoText)
	for _, tt := range []struct {
		name   string
		id     driver.Valuer
		want   driver.Value
		none   driver.Valuer
		zero   driver.Value // of none
		column string       // GormDataType
	}{
		{"EightByteID", eight, eightRaw, idtype.OrZero[idtype.EightByteID]{}, make([]byte, 8), "bytes"},
		{"EightByte", EventEightID(eight), eightRaw, idtype.OrZero[EventEightID]{}, make([]byte, 8), "bytes"},
		{"EightByte as bigint", EventBigintID(eight), int64(eightNum), idtype.OrZero[EventBigintID]{}, int64(0), "bigint"},
		{"EightByte as bigint, late", EventBigintID(late), int64(math.MinInt64 + 0x1000), idtype.OrZero[EventBigintID]{}, int64(0), "bigint"},
		{"SnoID", sno, snoRaw, idtype.OrZero[idtype.SnoID]{}, make([]byte, 10), "bytes"},
		{"Sno", EventSnoID(sno), snoRaw, idtype.OrZero[EventSnoID]{}, make([]byte, 10), "bytes"},
		{"Sno as text", EventTextID(sno), snoText, idtype.OrZero[EventTextID]{}, "", "char(16)"},
		{"Sno as UUID", EventUUIDID(sno), snoUUID, idtype.OrZero[EventUUIDID]{}, nilUUID, "uuid"},
		// Tags of other schemes' forms say nothing.
		{"Sno as bigint", idtype.Sno[idtype.AsBigint[Event]](sno), snoRaw, idtype.OrZero[EventSnoID]{}, make([]byte, 10), "bytes"},
		{"EightByte as text", idtype.EightByte[idtype.AsText[Event]](eight), eightRaw, idtype.OrZero[EventEightID]{}, make([]byte, 8), "bytes"},
		{"EightByte as UUID", idtype.EightByte[idtype.AsUUID[Event]](eight), eightRaw, idtype.OrZero[EventEightID]{}, make([]byte, 8), "bytes"},
		{"Decimal as UUID", idtype.Decimal[idtype.AsUUID[Event]](57), int64(57), idtype.OrZero[UserID]{}, int64(0), "bigint"},
		{"Decimal as text", idtype.Decimal[idtype.AsText[Event]](57), int64(57), idtype.OrZero[UserID]{}, int64(0), "bigint"},
		// The outer tag counts.
		{"Sno as text as UUID", idtype.Sno[idtype.AsText[idtype.AsUUID[Event]]](sno), snoText, idtype.OrZero[EventTextID]{}, "", "char(16)"},
		// An entity may be anything, a nil interface and a pointer included.
		{"of a pointer", idtype.Sno[idtype.AsText[*Event]](sno), snoText, idtype.OrZero[idtype.Sno[*Event]]{}, make([]byte, 10), "bytes"},
		{"of an interface", idtype.Sno[idtype.AsText[error]](sno), snoText, idtype.OrZero[idtype.Sno[error]]{}, make([]byte, 10), "bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := tt.id.Value(); err != nil || !reflect.DeepEqual(got, tt.want) || !driver.IsValue(got) {
				t.Errorf("Value = %#v, %v, want %#v", got, err, tt.want)
			}
			if got, err := tt.none.Value(); err != nil || !reflect.DeepEqual(got, tt.zero) || !driver.IsValue(got) {
				t.Errorf("Value of none = %#v, %v, want %#v", got, err, tt.zero)
			}
			if got := tt.none.(interface{ GormDataType() string }).GormDataType(); got != tt.column {
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

// TestStorageNames: column helpers go by them.
func TestStorageNames(t *testing.T) {
	for storage, name := range map[idtype.Storage]string{
		idtype.StorageBigint: "bigint", idtype.StorageBytes: "bytes", idtype.StorageText: "text", idtype.StorageUUID: "uuid",
	} {
		if string(storage) != name {
			t.Errorf("storage %q, want %q", storage, name)
		}
	}
	for _, got := range []idtype.Storage{
		UserID(0).Storage(), UserTraceID(0).Storage(), UserShortID(0).Storage(), UserSequenceID(0).Storage(),
	} {
		if got != idtype.StorageBigint {
			t.Errorf("storage of an int64 ID is %q", got)
		}
	}
}

// TestStorageRoundTrip: what Value writes is what the reference says, and Scan, OrZero, sql.Null and Slice read it back.
func TestStorageRoundTrip(t *testing.T) {
	eachByteKind(t, func(t *testing.T, k byteKind) {
		check := func(t fataler, raw []byte) {
			want := k.refColumn(raw)
			id := k.new(raw)
			got, err := id.Value()
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("Value of %x = %#v, %v, want %#v", raw, got, err, want)
			}
			if got, err := k.orZero(raw).Value(); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("Value of OrZero of %x = %#v, %v, want %#v", raw, got, err, want)
			}
			for _, src := range forms(want) {
				back, orZero := k.new(k.before()), k.orZero(k.before())
				if err := back.Scan(src); err != nil || !bytes.Equal(rawOf(back), raw) {
					t.Fatalf("Scan(%T %v) = %x, %v, want %x", src, src, rawOf(back), err, raw)
				}
				if err := orZero.Scan(src); err != nil || !bytes.Equal(rawOf(orZero), raw) {
					t.Fatalf("OrZero.Scan(%T %v) = %x, %v, want %x", src, src, rawOf(orZero), err, raw)
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
		for _, raw := range k.domain() {
			check(t, raw)
		}
		t.Run("any", rapid.MakeCheck(func(t *rapid.T) { check(t, k.draw(t, "id")) }))
	})
}

// forms are the Go types in which drivers hand over a value.
func forms(v any) (all []any) {
	switch v := v.(type) {
	case int64:
		digits := decimalOf(v)
		all = append(all, v, uint64(v), digits, []byte(digits), unsignedOf(v), []byte(unsignedOf(v)))
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
		all = append(all, v, string(v))
		array := reflect.New(reflect.ArrayOf(len(v), reflect.TypeFor[byte]())).Elem()
		reflect.Copy(array, reflect.ValueOf(v))
		all = append(all, array.Interface())
	}
	return all
}

// TestStorageScan has what each form takes beside its own Value, and what it does not. "before" stands for an error.
func TestStorageScan(t *testing.T) {
	const fails, none = "fails", "none"
	eightArray, snoArray := [8]byte(eightRaw), [10]byte(snoRaw)
	for _, tt := range []struct {
		name string
		src  any
		// What the ID is then, as text: of EightByte, as bigint, of Sno, as text, as UUID.
		eight, bigint, sno, text, uuid string
	}{
		{"8 raw bytes", eightRaw, eightText, fails, fails, fails, fails},
		{"8 raw bytes as string", string(eightRaw), eightText, fails, fails, fails, fails},
		{"8 raw bytes as array", eightArray, eightText, fails, fails, fails, fails},
		{"8 digits are raw bytes, or a number", "12345678", "3132333435363738", "0000000000bc614e", fails, fails, fails},
		{"8 digits as array are no number", [8]byte([]byte("12345678")), "3132333435363738", fails, fails, fails, fails},
		{"10 raw bytes", snoRaw, fails, fails, snoText, fails, fails},
		{"10 raw bytes as string", string(snoRaw), fails, fails, snoText, fails, fails},
		{"10 raw bytes as array", snoArray, fails, fails, snoText, fails, fails},
		{"an ID", idtype.SnoID(snoArray), fails, fails, snoText, fails, fails},
		{"hexadecimal text", eightText, eightText, fails, fails, fails, fails},
		{"base 32 text", snoText, fails, fails, snoText, snoText, snoText},
		{"base 32 text as bytes", []byte(snoText), fails, fails, snoText, snoText, snoText},
		{"16 digits are hexadecimal, or a number, or base 32", "2333333333333333", "2333333333333333", "00084a278079d555", "2333333333333333", "2333333333333333", "2333333333333333"},
		{"hexadecimal text in upper case", strings.ToUpper(eightText), fails, fails, fails, fails, fails},
		{"base 32 text in upper case", strings.ToUpper(snoText), fails, fails, fails, fails, fails},
		{"10 bytes as hexadecimal digits", "335f48168d9e8808dc82", fails, fails, fails, fails, fails},
		{"PostgreSQL's hexadecimal", `\x` + eightText, fails, fails, fails, fails, fails},
		{"UUID", snoUUID, fails, fails, fails, fails, snoText},
		{"UUID as bytes", []byte(snoUUID), fails, fails, fails, fails, snoText},
		{"UUID in upper case", strings.ToUpper(snoUUID), fails, fails, fails, fails, fails},
		{"UUID without dashes", strings.ReplaceAll(snoUUID, "-", ""), fails, fails, fails, fails, fails},
		{"UUID with other dashes", strings.ReplaceAll(snoUUID, "-", "_"), fails, fails, fails, fails, fails},
		{"UUID with a dash moved", "3866686-d6937-6d66-6c73-36326a703634", fails, fails, fails, fails, fails},
		{"UUID in braces", "{" + snoUUID + "}", fails, fails, fails, fails, fails},
		{"UUID of others", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", fails, fails, fails, fails, fails},
		{"UUID of another alphabet", "3066686d-6937-6d66-6c73-36326a703634", fails, fails, fails, fails, fails},
		{"UUID of 16 bytes", [16]byte([]byte(snoText)), fails, fails, snoText, snoText, snoText},
		{"UUID of another package", foreignUUID([]byte(snoText)), fails, fails, snoText, snoText, snoText},
		{"integer", int64(eightNum), fails, eightText, fails, fails, fails},
		{"unsigned integer", uint64(eightNum), fails, eightText, fails, fails, fails},
		{"negative", int64(-1), fails, "ffffffffffffffff", fails, fails, fails},
		{"smallest", int64(math.MinInt64), fails, "8000000000000000", fails, fails, fails},
		{"unsigned above int64", uint64(1 << 63), fails, "8000000000000000", fails, fails, fails},
		{"digits", "6601109550783371419", fails, eightText, fails, fails, fails},
		{"digits of -1", "-1", fails, "ffffffffffffffff", fails, fails, fails},
		{"digits of 2^64-1", []byte("18446744073709551615"), fails, "ffffffffffffffff", fails, fails, fails},
		{"digits of -2^63", "-9223372036854775808", fails, "8000000000000000", fails, fails, fails},
		{"digits of 2^64", "18446744073709551616", fails, fails, fails, fails, fails},
		{"digits of -2^63-1", "-9223372036854775809", fails, fails, fails, fails, fails},
		{"plus", "+1", fails, fails, fails, fails, fails},
		{"leading zero", "01", fails, fails, fails, fails, fails},
		{"leading zero, negative", "-01", fails, fails, fails, fails, fails},
		{"minus zero", "-0", fails, fails, fails, fails, fails},
		{"minus alone", "-", fails, fails, fails, fails, fails},
		{"minus twice", "--1", fails, fails, fails, fails, fails},
		{"space", " 1", fails, fails, fails, fails, fails},
		{"underscore", "1_0", fails, fails, fails, fails, fails},
		{"fraction", "1.0", fails, fails, fails, fails, fails},
		{"hexadecimal number", "0x1", fails, fails, fails, fails, fails},

		{"zero", int64(0), fails, none, fails, fails, fails},
		{"unsigned zero", uint64(0), fails, none, fails, fails, fails},
		{"digit zero", "0", fails, none, fails, fails, fails},
		{"digit zero as bytes", []byte("0"), fails, none, fails, fails, fails},
		{"empty", "", fails, fails, fails, none, fails},
		{"empty bytes", []byte{}, fails, fails, fails, none, fails},
		{"no bytes", []byte(nil), fails, fails, fails, none, fails},
		{"an empty CHAR(16)", strings.Repeat(" ", 16), fails, fails, fails, none, fails},
		{"an empty FixedString(16)", make([]byte, 16), fails, fails, fails, none, none},
		{"8 zero bytes", make([]byte, 8), none, fails, fails, fails, fails},
		{"8 zero bytes as array", [8]byte{}, none, fails, fails, fails, fails},
		{"8 zero bytes as string", string(make([]byte, 8)), none, fails, fails, fails, fails},
		{"10 zero bytes", make([]byte, 10), fails, fails, none, fails, fails},
		{"10 zero bytes as string", string(make([]byte, 10)), fails, fails, none, fails, fails},
		{"the text of zero", strings.Repeat("0", 16), none, fails, fails, fails, fails},
		{"the text of zero in base 32", strings.Repeat("2", 16), "2222222222222222", "0007e5196e2ae38e", none, none, none},
		{"nil UUID", nilUUID, fails, fails, fails, fails, none},
		{"nil UUID as array", [16]byte{}, fails, fails, fails, none, none},
		{"nil UUID of another package", foreignUUID{}, fails, fails, fails, none, none},

		{"NULL", nil, fails, fails, fails, fails, fails},
		{"float", 1.5, fails, fails, fails, fails, fails},
		{"bool", true, fails, fails, fails, fails, fails},
		{"time", time.Unix(1, 0).UTC(), fails, fails, fails, fails, fails},
		{"array of others", [10]int8{1}, fails, fails, fails, fails, fails},
		{"array of named bytes", [10]namedByte{1}, fails, fails, fails, fails, fails},
		{"pointer", &eightArray, fails, fails, fails, fails, fails},
		{"struct", struct{ A string }{strings.Repeat("x", 1<<20)}, fails, fails, fails, fails, fails},
		{"megabyte", strings.Repeat("1", 1<<20), fails, fails, fails, fails, fails},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i, want := range []string{tt.eight, tt.bigint, tt.sno, tt.text, tt.uuid} {
				k := byteKinds[i]
				id, o := k.new(k.before()), k.orZero(k.before())
				err, orZeroErr := id.Scan(tt.src), o.Scan(tt.src)
				switch want {
				case fails, none:
					reason, input := error(nil), ""
					switch src := tt.src.(type) {
					case nil:
						reason = idtype.ErrNull
					case string:
						input = src
					case []byte:
						input = string(src)
					}
					if want == none {
						reason = idtype.ErrZero
					}
					wantInputError(t, err, k.typ, input, reason)
					if want == fails && errors.Is(err, idtype.ErrZero) {
						t.Errorf("%s: error is %v: it is not zero", k.name, err)
					}
					if !bytes.Equal(rawOf(id), k.before()) {
						t.Errorf("%s: receiver is %x after an error, want it untouched", k.name, rawOf(id))
					}
				default:
					if err != nil || id.String() != want {
						t.Errorf("%s: %v, %v, want %s", k.name, id, err, want)
					}
				}
				switch want {
				case none:
					if orZeroErr != nil || !o.IsZero() {
						t.Errorf("OrZero of %s = %x, %v, want none", k.name, rawOf(o), orZeroErr)
					}
				case fails:
					wantInputError(t, orZeroErr, k.typ, "", nil)
					if !bytes.Equal(rawOf(o), k.before()) {
						t.Errorf("OrZero of %s is %x after an error, want it untouched", k.name, rawOf(o))
					}
				default:
					if orZeroErr != nil || !bytes.Equal(rawOf(o), rawOf(id)) {
						t.Errorf("OrZero of %s = %x, %v, want %x", k.name, rawOf(o), orZeroErr, rawOf(id))
					}
				}
			}
		})
	}
}

type namedByte byte

var plainUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// TestStorageUUIDAgainstReference damages UUIDs in one place: see TestByteParseAgainstReference.
func TestStorageUUIDAgainstReference(t *testing.T) {
	k := byteKinds[4]
	for _, start := range []string{snoUUID, refUUID("2222222222222223"), refUUID("xxxxxxxxxxxxxxxx")} {
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
					want = k.refRaw(string(chars))
				}
				id := k.new(k.before())
				if err := id.Scan(text); (err == nil) != (want != nil) || err == nil && !bytes.Equal(rawOf(id), want) {
					t.Fatalf("Scan(%q) = %v, %v, want %x", text, id, err, want)
				}
			}
		}
	}
}

// TestStorageScanReasons: the message is what a person who declared the wrong form reads.
func TestStorageScanReasons(t *testing.T) {
	for _, tt := range []struct {
		kind  int
		src   any
		shows string
	}{
		{0, int64(1), "AsBigint"},
		{0, "123", "3 bytes, want 8, or the text of 16 characters"},
		{2, "123", "3 bytes, want 10, or the text of 16 characters"},
		{3, snoUUID, "36 bytes, want the text of 16 characters"},
		{4, "123", "3 bytes, want a UUID, as 36 characters or 16 bytes"},
		{4, strings.ToUpper(snoUUID), "lower-case hexadecimal"},
		{4, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "at index 0"},
		{1, eightText, "digits"},
		{1, 1.5, "int64"},
		{1, nil, "sql.Null"},
		{4, nil, "sql.Null"},
	} {
		k := byteKinds[tt.kind]
		if err := k.new(k.before()).Scan(tt.src); err == nil || !strings.Contains(err.Error(), tt.shows) {
			t.Errorf("%s: Scan(%v): error is %v, want %q in it", k.name, tt.src, err, tt.shows)
		}
	}
}

func TestStorageSQLNull(t *testing.T) {
	n := sql.Null[EventUUIDID]{V: EventUUIDID{1}, Valid: true}
	if err := n.Scan(nil); err != nil || n.Valid || !n.V.IsZero() {
		t.Errorf("sql.Null of NULL = %+v, %v", n, err)
	}
	if err := n.Scan(snoUUID); err != nil || !n.Valid || n.V.String() != snoText {
		t.Errorf("sql.Null of an ID = %+v, %v", n, err)
	}
	if v, err := n.Value(); v != snoUUID || err != nil {
		t.Errorf("Value of sql.Null = %v, %v", v, err)
	}
}

func decimalOf(v int64) string { return new(big.Int).SetInt64(v).String() }

func unsignedOf(v int64) string {
	return new(big.Int).SetBytes(binary.BigEndian.AppendUint64(nil, uint64(v))).String()
}
