package idtype_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// publishedShort is the example of document 001: xinaS8QBh.
const publishedShort = 11093174944930914

// The reference writes the layout as a string of bits, and the text from one, six bits at a time.

func refShort(p idtype.ShortParts) int64 {
	epoch := time.Date(2018, 3, 1, 0, 0, 0, 0, time.UTC)
	bits := fmt.Sprintf("%042b%09b%09b", time.UnixMilli(p.UnixMs).Sub(epoch)/time.Millisecond, p.Sequence, p.Random)
	v, err := strconv.ParseInt(bits, 2, 64)
	if len(bits) != 60 || err != nil {
		panic(bits)
	}
	return v
}

const refAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func refShortText(v int64) string {
	if v <= 0 {
		return fmt.Sprintf("(%d)", v)
	}
	bits, base64 := fmt.Sprintf("%066b", v), ""
	for ; bits != ""; bits = bits[6:] {
		digit, _ := strconv.ParseInt(bits[:6], 2, 64)
		base64 += refAlphabet[digit : digit+1]
	}
	base64 = strings.TrimLeft(base64, "A")
	end := max(0, len(base64)-2)
	return base64[end:] + base64[:end]
}

// refShortParse takes what refShortText writes, which is the definition of strict.
func refShortParse(text string) (int64, bool) {
	if len(text) > 20 {
		return 0, false
	}
	front := min(2, len(text))
	n := new(big.Int)
	for _, c := range []byte(text[front:] + text[:front]) {
		digit := strings.IndexByte(refAlphabet, c)
		if digit < 0 {
			return 0, false
		}
		n.Add(n.Lsh(n, 6), big.NewInt(int64(digit)))
	}
	return n.Int64(), n.Sign() > 0 && n.IsInt64() && refShortText(n.Int64()) == text
}

type shortVector struct {
	Kind, ID, Base64, Text string

	idtype.ShortParts
}

func TestShortVectors(t *testing.T) {
	kinds, lengths := map[string]int{}, map[int]bool{}
	for _, v := range readVectors[shortVector](t, "shortid.jsonl", 120) {
		kinds[v.Kind]++
		lengths[len(v.Text)] = true
		t.Run(v.Text, func(t *testing.T) {
			id, err := v.ShortParts.ID()
			if err != nil || strconv.FormatInt(int64(id), 10) != v.ID || id.String() != v.Text {
				t.Fatalf("%+v = %d, %s, %v, want %s, %s", v.ShortParts, id, id, err, v.ID, v.Text)
			}
			parsed, err := idtype.ParseShortID(v.Text)
			if err != nil || parsed != id {
				t.Errorf("ParseShortID(%s) = %d, %v, want %d", v.Text, parsed, err, id)
			}
			if got := id.Parts(); got != v.ShortParts {
				t.Errorf("Parts = %+v, want %+v", got, v.ShortParts)
			}
			if got := id.Time(); got.UnixMilli() != v.UnixMs || got.Location() != time.UTC {
				t.Errorf("Time = %v, want %d ms", got, v.UnixMs)
			}
			if err := id.Validate(); err != nil {
				t.Error(err)
			}
			// The base 64 in between, which no function of the package gives.
			if len(v.Text) > 2 && v.Text != v.Base64 {
				if got, err := idtype.ParseShortID(v.Base64); got == id {
					t.Errorf("base 64 without rotation, %s, is %d, %v", v.Base64, got, err)
				}
			}
		})
	}
	if kinds["published"] == 0 || kinds["boundary"] == 0 || len(lengths) < 9 {
		t.Errorf("kinds of vectors: %v, lengths of texts: %v", kinds, lengths)
	}
}

// TestShortPublished is the worked value of document 001, and of the type's own doc.
func TestShortPublished(t *testing.T) {
	id := idtype.MustParseShortID("xinaS8QBh")
	want := idtype.ShortParts{UnixMs: 1562179504129, Sequence: 270, Random: 98}
	if id != publishedShort || id.Parts() != want || id.Time().Format(time.RFC3339Nano) != "2019-07-03T18:45:04.129Z" {
		t.Errorf("%d is %+v of %v", id, id.Parts(), id.Time())
	}
	if got := id.Time().UnixMilli() - idtype.ShortEpoch; got != 42317104129 {
		t.Errorf("%d ms since the epoch", got)
	}
}

func TestShortBounds(t *testing.T) {
	const first, last = 1_519_862_400_000, 1_519_862_400_000 + 1<<42 - 1
	for _, tt := range []struct {
		name  string
		parts idtype.ShortParts
		want  string // the ID, or the part that is out of range
	}{
		{"smallest", idtype.ShortParts{UnixMs: first, Random: 1}, "1"},
		{"sequence alone", idtype.ShortParts{UnixMs: first, Sequence: 1}, "512"},
		{"time alone", idtype.ShortParts{UnixMs: first + 1}, "262144"},
		{"largest", idtype.ShortParts{UnixMs: last, Sequence: 511, Random: 511}, "1152921504606846975"},
		{"before the epoch", idtype.ShortParts{UnixMs: first - 1}, "unix_ms"},
		{"Unix epoch", idtype.ShortParts{}, "unix_ms"},
		{"after the end", idtype.ShortParts{UnixMs: last + 1}, "unix_ms"},
		{"far before", idtype.ShortParts{UnixMs: math.MinInt64}, "unix_ms"},
		{"far after", idtype.ShortParts{UnixMs: math.MaxInt64}, "unix_ms"},
		{"sequence above", idtype.ShortParts{UnixMs: first, Sequence: 512}, "sequence"},
		{"sequence below", idtype.ShortParts{UnixMs: first, Sequence: -1}, "sequence"},
		{"random above", idtype.ShortParts{UnixMs: first, Random: 512}, "random"},
		{"random below", idtype.ShortParts{UnixMs: first, Random: -1}, "random"},
		{"the first bad part is named", idtype.ShortParts{UnixMs: first, Sequence: 512, Random: 512}, "sequence"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, err := tt.parts.ID()
			if tt.want[0] > '9' {
				wantRangeError(t, err, "ShortID", tt.want)
				if id != 0 {
					t.Errorf("%d beside an error", id)
				}
				return
			}
			if err != nil || strconv.FormatInt(int64(id), 10) != tt.want {
				t.Errorf("%+v = %d, %v, want %s", tt.parts, id, err, tt.want)
			}
		})
	}
	// Each part is in its range, and there is no ID.
	if id, err := (idtype.ShortParts{UnixMs: first}).ID(); id != 0 || !errors.Is(err, idtype.ErrZero) {
		t.Errorf("the smallest of all parts = %d, %v, want an error that wraps ErrZero", id, err)
	}
	if idtype.ShortEpoch != first || idtype.ShortMaxUnixMs != last ||
		idtype.ShortMaxSequence != 511 || idtype.ShortMaxRandom != 511 {
		t.Error("the exported bounds are not those of the layout")
	}
	if idtype.ShortTimeStep != 1<<18 || idtype.ShortSequenceStep != 1<<9 {
		t.Error("the exported steps are not those of the layout")
	}
	if got := time.UnixMilli(idtype.ShortMaxUnixMs).UTC().Format(time.RFC3339Nano); got != "2157-07-13T07:35:11.103Z" {
		t.Errorf("the doc has another end than %s", got)
	}
}

func TestShortValidate(t *testing.T) {
	for _, id := range []idtype.ShortID{1, 57, publishedShort, 1<<60 - 1} {
		if err := id.Validate(); err != nil {
			t.Errorf("%d: %v", id, err)
		}
	}
	for _, id := range []idtype.ShortID{1 << 60, 1 << 62, math.MaxInt64} {
		wantRangeError(t, id.Validate(), "ShortID", "unix_ms")
	}
	for _, id := range []idtype.ShortID{0, -1, math.MinInt64} {
		reason := idtype.ErrZero
		if id != 0 {
			reason = nil
		}
		wantInputError(t, id.Validate(), "ShortID", strconv.FormatInt(int64(id), 10), reason)
	}
}

func TestShortAgainstReference(t *testing.T) {
	t.Run("parts to ID", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.ShortParts{
			UnixMs:   rapid.Int64Range(idtype.ShortEpoch, idtype.ShortMaxUnixMs).Draw(t, "ms"),
			Sequence: rapid.IntRange(0, 511).Draw(t, "sequence"),
			Random:   rapid.IntRange(0, 511).Draw(t, "random"),
		}
		id, err := p.ID()
		want := refShort(p)
		if int64(id) != want || (err == nil) != (want > 0) {
			t.Fatalf("%+v = %d, %v, want %d", p, id, err, want)
		}
		if id != 0 && (id.Parts() != p || id.Validate() != nil) {
			t.Fatalf("parts came back as %+v, %v, want %+v", id.Parts(), id.Validate(), p)
		}
	}))
	t.Run("ID to parts", rapid.MakeCheck(func(t *rapid.T) {
		id := idtype.ShortID(drawID(t))
		p := id.Parts()
		if ok := id < 1<<60; ok != (id.Validate() == nil) || ok && refShort(p) != int64(id) {
			t.Fatalf("%d is %+v, Validate %v", id, p, id.Validate())
		}
	}))
	t.Run("parts out of range", rapid.MakeCheck(func(t *rapid.T) {
		p := idtype.ShortParts{
			UnixMs:   rapid.OneOf(rapid.Int64(), rapid.Just[int64](idtype.ShortEpoch)).Draw(t, "ms"),
			Sequence: rapid.Int().Draw(t, "sequence"), Random: rapid.Int().Draw(t, "random"),
		}
		id, err := p.ID()
		if err == nil && id.Parts() != p {
			t.Fatalf("%+v gives %d, which is %+v", p, id, id.Parts())
		}
		if err != nil && id != 0 {
			t.Fatalf("%d beside %v", id, err)
		}
	}))
}

// TestShortOfTime: the IDs of a millisecond are those between its bounds, and no other.
func TestShortOfTime(t *testing.T) {
	epoch := time.Date(2018, 3, 1, 0, 0, 0, 0, time.UTC)
	end := time.Date(2157, 7, 13, 7, 35, 11, 103_000_000, time.UTC)
	for _, tt := range []struct {
		name     string
		at       time.Time
		min, max idtype.ShortID // 0 for an error
	}{
		{"first", epoch, 1, 1<<18 - 1},
		{"first, its last nanosecond", epoch.Add(time.Millisecond - 1), 1, 1<<18 - 1},
		{"second", epoch.Add(time.Millisecond), 1 << 18, 1<<19 - 1},
		{"last", end, 1<<60 - 1<<18, 1<<60 - 1},
		{"last, its last nanosecond", end.Add(time.Millisecond - 1), 1<<60 - 1<<18, 1<<60 - 1},
		{"published", time.UnixMilli(1562179504129), publishedShort - 270<<9 - 98, publishedShort - 270<<9 - 98 + 1<<18 - 1},
		{"elsewhere", epoch.In(time.FixedZone("", -3600)), 1, 1<<18 - 1},
		{"a nanosecond early", epoch.Add(-1), 0, 0},
		{"a millisecond late", end.Add(time.Millisecond), 0, 0},
		{"1970", time.Unix(0, 0), 0, 0},
		{"zero time", time.Time{}, 0, 0},
		// In milliseconds these do not fit an int64, and wrap around to 2018.
		{"wraps around from above", time.Unix(math.MaxUint64/1000+1519862500, 0), 0, 0},
		{"wraps around from below", time.Unix(-math.MaxUint64/1000+1519862500, 0), 0, 0},
		{"largest", time.Unix(math.MaxInt64, 999_999_999), 0, 0},
		{"smallest", time.Unix(math.MinInt64, 0), 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			minID, minErr := idtype.MinShortID(tt.at)
			maxID, maxErr := idtype.MaxShortID(tt.at)
			if minID != tt.min || maxID != tt.max {
				t.Errorf("%d ..= %d, want %d ..= %d", minID, maxID, tt.min, tt.max)
			}
			if tt.min == 0 {
				wantRangeError(t, minErr, "ShortID", "unix_ms")
				wantRangeError(t, maxErr, "ShortID", "unix_ms")
			} else if minErr != nil || maxErr != nil {
				t.Errorf("errors %v, %v", minErr, maxErr)
			}
		})
	}
}

func TestShortBadText(t *testing.T) {
	k := kinds[2]
	if k.name != "ShortID" {
		t.Fatal(k.name)
	}
	for _, tt := range []struct {
		name, text string
		reason     error  // nil for any
		says       string // part of the reason
	}{
		{"empty", "", nil, "1 to 11 characters"},
		{"zero as it is shown", "(0)", idtype.ErrZero, ""},
		{"the digit of zero", "A", idtype.ErrZero, ""},
		{"zero in two digits", "AA", nil, "highest digit"},
		{"zero in ten digits", "AAAAAAAAAA", nil, "highest digit"},
		{"negative as it is shown", "(-5)", nil, "A-Z"},
		{"leading A of two", "AB", nil, "highest digit"},
		{"leading A of three", "BBA", nil, "highest digit"},
		{"published with a leading A before rotation", "xiAnaS8QBh", nil, "highest digit"},
		{"leading A to 11 characters", "xiAAnaS8QBh", nil, "highest digit"},
		{"leading A to 12 characters", "xiAAAnaS8QBh", nil, "11 characters"},
		{"2^63", "AAIAAAAAAAA", nil, "__H________"},
		{"2^66-1", "___________", nil, "__H________"},
		{"2^64: the value wraps to zero", "AAQAAAAAAAA", nil, "__H________"},
		{"2^64 and a valid ID", "xiQnaS8QBhA", nil, "__H________"},
		{"too long", strings.Repeat("B", 12), nil, "11 characters"},
		{"megabyte", strings.Repeat("B", 1<<20), nil, "11 characters"},
		{"padded", "xinaS8QBh=", nil, "A-Z"},
		{"standard alphabet, plus", "x+naS8QBh", nil, "A-Z"},
		{"standard alphabet, slash", "xi/aS8QBh", nil, "A-Z"},
		{"space before", " xinaS8QBh", nil, "A-Z"},
		{"space after", "xinaS8QBh ", nil, "A-Z"},
		{"newline after", "xinaS8QBh\n", nil, "A-Z"},
		{"NUL within", "xina\x008QBh", nil, "A-Z"},
		{"dot", "xi.aS8QBh", nil, "A-Z"},
		{"not ASCII", "xinaS8QBé", nil, "A-Z"},
		{"full width", "ｘi", nil, "A-Z"},
		{"bad in front", "!inaS8QBh", nil, "A-Z"},
		{"bad alone", "!", nil, "A-Z"},
		{"digits of the number", "11093174944930914", nil, "11 characters"},
		{"quoted", `"B"`, nil, "A-Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			testBadText(t, k, ofTexts, tt.text, tt.reason)
			testBadParse(t, k, tt.text, tt.reason)
			if _, err := k.parse(tt.text); !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error is %q, want %q in it", err, tt.says)
			}
		})
	}
}

// TestShortOtherTexts: a text in another case or another rotation is a text of another ID, or of none; never of the same.
func TestShortOtherTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := idtype.ShortID(drawID(t))
		text := id.String()
		others := []string{strings.ToLower(text), strings.ToUpper(text), "A" + text, text + "A"}
		for i := range len(text) {
			others = append(others, text[i:]+text[:i])
		}
		for _, other := range others {
			if got, err := idtype.ParseShortID(other); got == id && other != text || err == nil && got.String() != other {
				t.Fatalf("%d is %s, and %s is %d, %v", id, text, other, got, err)
			}
		}
	})
}

// TestShortLengths: a text grows by a character with every six bits, and ordinary IDs have ten.
func TestShortLengths(t *testing.T) {
	for bit := range 63 {
		want := bit/6 + 1
		smallest, largest := idtype.ShortID(1)<<bit, idtype.ShortID(1<<bit-1)+1<<bit
		if len(smallest.String()) != want || len(largest.String()) != want {
			t.Errorf("%s ..= %s of %d bits, want %d characters", smallest, largest, bit+1, want)
		}
	}
	ten := time.Date(2020, 5, 4, 8, 44, 36, 736_000_000, time.UTC)
	before, _ := idtype.MaxShortID(ten.Add(-1))
	after, _ := idtype.MinShortID(ten)
	if len(before.String()) != 9 || len(after.String()) != 10 {
		t.Errorf("%s and then %s, want 9 characters, and then 10", before, after)
	}
}

// TestShortJSON: a string is the text, also where it looks like a number; a number is the number.
func TestShortJSON(t *testing.T) {
	for _, tt := range []struct {
		data string
		want UserShortID
		out  string
	}{
		{`"xinaS8QBh"`, publishedShort, `"xinaS8QBh"`},
		{`11093174944930914`, publishedShort, `"xinaS8QBh"`},
		{`"1"`, 53, `"1"`},
		{`1`, 1, `"B"`},
		{`"null"`, 37<<18 | 37<<12 | 39<<6 | 46, `"null"`},
		{`null`, 0, `null`},
		{`9223372036854775807`, math.MaxInt64, `"__H________"`},
		{` "-_" `, 62<<6 | 63, `"-_"`},
	} {
		got := UserShortID(before)
		if err := json.Unmarshal([]byte(tt.data), &got); err != nil || got != tt.want {
			t.Errorf("%s = %d, %v, want %d", tt.data, got, err, tt.want)
		}
		if out, err := json.Marshal(got); string(out) != tt.out || err != nil {
			t.Errorf("%d as JSON = %s, %v, want %s", got, out, err, tt.out)
		}
	}
	names := map[UserShortID]string{}
	if err := json.Unmarshal([]byte(`{"1":"text","xinaS8QBh":"published"}`), &names); err != nil || names[53] != "text" ||
		names[publishedShort] != "published" {
		t.Errorf("map is %v, %v", names, err)
	}
	for _, data := range []string{`true`, `1.5`, `{}`} {
		if err := json.Unmarshal([]byte(data), new(UserShortID)); err == nil || !strings.Contains(err.Error(), "exact integer") {
			t.Errorf("error for %s is %v, want the forms that are read", data, err)
		}
	}
}

// TestShortScanText: a text never becomes another ID by way of the database.
func TestShortScanText(t *testing.T) {
	for _, text := range []string{"xinaS8QBh", "B", "_", "-", "(0)"} {
		id := UserShortID(before)
		wantInputError(t, id.Scan(text), "ShortID", text, nil)
		wantInputError(t, id.Scan([]byte(text)), "ShortID", text, nil)
		if id != before {
			t.Errorf("receiver is %d after an error, want it untouched", id)
		}
	}
	var scanned UserShortID
	if err := scanned.Scan("1234567"); err != nil || scanned != 1234567 {
		t.Errorf("digits = %d, %v, want their number", scanned, err)
	}
	if parsed := idtype.MustParse[UserShortID]("1234567"); parsed == scanned {
		t.Error("as text the digits are the same ID: the doc gives a wrong reason")
	}
}

// TestShortZeroText: zero and what else is no ID has a text that is no ID's.
func TestShortZeroText(t *testing.T) {
	for _, v := range []idtype.ShortID{0, -1, -published, math.MinInt64} {
		text := v.String()
		if text != "("+strconv.FormatInt(int64(v), 10)+")" {
			t.Errorf("text of %d is %s", int64(v), text)
		}
		if id, err := idtype.ParseShortID(text); err == nil {
			t.Errorf("%s is read back as %d", text, id)
		}
	}
	if idtype.MustParseShortID("0") != 52 {
		t.Error("the doc gives a wrong reason for the text of zero")
	}
}
