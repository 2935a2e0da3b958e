package idtype_test

import (
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

// publishedShort is the example of docs/design/formats.md: xinaS8QBh.
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

// TestShortPublished is the worked value of docs/design/formats.md, and of the type's own doc.
func TestShortPublished(t *testing.T) {
	id := idtype.MustParseShortID("xinaS8QBh")
	want := idtype.ShortParts{UnixMs: 1562179504129, Sequence: 270, Random: 98}
	if id != publishedShort || id.Parts() != want ||
		id.Time().Format(time.RFC3339Nano) != "2019-07-03T18:45:04.129Z" {
		t.Errorf("%d is %+v of %v", id, id.Parts(), id.Time())
	}
	if got := id.Time().UnixMilli() - idtype.ShortEpoch; got != 42317104129 {
		t.Errorf("%d ms since the epoch", got)
	}
}

func TestShortBounds(t *testing.T) {
	const first, last = 1_519_862_400_000, 1_519_862_400_000 + 1<<42 - 1
	testPartBounds(t, "ShortID", []partBound[idtype.ShortParts, idtype.ShortID]{
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
	})
	// Each part is in its range, and there is no ID.
	if id, err := (idtype.ShortParts{UnixMs: first}).ID(); id != 0 ||
		!errors.Is(err, idtype.ErrZero) {
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
