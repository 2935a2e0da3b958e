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

	"github.com/idmint/idmint/idtype"
)

// publishedShort is the example of docs/design/formats.md: xinaS8QBh.
const publishedShort = 11093174944930914

// The reference writes the text from a string of bits, six bits at a time.

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

func TestShortBounds(t *testing.T) {
	const first, last = 1_519_862_400_000, 1_519_862_400_000 + 1<<42 - 1
	type parts = idtype.ShortParts
	testPartBounds(t, "ShortID", []partBound[parts, idtype.ShortID]{
		{"smallest", parts{UnixMs: first, Random: 1}, "1"},
		{"sequence alone", parts{UnixMs: first, Sequence: 1}, "512"},
		{"time alone", parts{UnixMs: first + 1}, "262144"},
		{"largest", parts{UnixMs: last, Sequence: 511, Random: 511}, "1152921504606846975"},
		{"before the epoch", parts{UnixMs: first - 1}, "unix_ms"},
		{"Unix epoch", parts{}, "unix_ms"},
		{"after the end", parts{UnixMs: last + 1}, "unix_ms"},
		{"far before", parts{UnixMs: math.MinInt64}, "unix_ms"},
		{"far after", parts{UnixMs: math.MaxInt64}, "unix_ms"},
		{"sequence above", parts{UnixMs: first, Sequence: 512}, "sequence"},
		{"sequence below", parts{UnixMs: first, Sequence: -1}, "sequence"},
		{"random above", parts{UnixMs: first, Random: 512}, "random"},
		{"random below", parts{UnixMs: first, Random: -1}, "random"},
		{
			"the first bad part is named",
			parts{UnixMs: first, Sequence: 512, Random: 512},
			"sequence",
		},
	})
	// Each part is in its range, and there is no ID.
	if id, err := (idtype.ShortParts{UnixMs: first}).ID(); id != 0 ||
		!errors.Is(err, idtype.ErrZero) {
		t.Errorf("the smallest of all parts = %d, %v, want an error that wraps ErrZero", id, err)
	}
	// From this time on, texts have 10 characters, as the doc says.
	ten := time.Date(2020, 5, 4, 8, 44, 36, 736e6, time.UTC)
	before, _ := idtype.MaxShortID(ten.Add(-1))
	after, _ := idtype.MinShortID(ten)
	if len(before.String()) != 9 || len(after.String()) != 10 {
		t.Errorf("%s and then %s, want 9 characters, and then 10", before, after)
	}
	if idtype.ShortEpoch != first || idtype.ShortMaxUnixMs != last ||
		idtype.ShortMaxSequence != 511 || idtype.ShortMaxRandom != 511 {
		t.Error("the exported bounds are not those of the layout")
	}
	if idtype.ShortTimeStep != 1<<18 || idtype.ShortSequenceStep != 1<<9 {
		t.Error("the exported steps are not those of the layout")
	}
	got := time.UnixMilli(idtype.ShortMaxUnixMs).UTC().Format(time.RFC3339Nano)
	if got != "2157-07-13T07:35:11.103Z" {
		t.Errorf("the doc has another end than %s", got)
	}
}
