package idtype_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
)

// TestShortOtherTexts: a text in another case or another rotation is a text of another ID, or of
// none; never of the same.
func TestShortOtherTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := idtype.ShortID(drawID(t))
		text := id.String()
		others := []string{strings.ToLower(text), strings.ToUpper(text), "A" + text, text + "A"}
		for i := range len(text) {
			others = append(others, text[i:]+text[:i])
		}
		for _, other := range others {
			if got, err := idtype.ParseShortID(other); got == id && other != text ||
				err == nil && got.String() != other {
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
		got := UserShortID(77)
		if err := json.Unmarshal([]byte(tt.data), &got); err != nil || got != tt.want {
			t.Errorf("%s = %d, %v, want %d", tt.data, got, err, tt.want)
		}
		if out, err := json.Marshal(got); string(out) != tt.out || err != nil {
			t.Errorf("%d as JSON = %s, %v, want %s", got, out, err, tt.out)
		}
	}
	names := map[UserShortID]string{}
	if err := json.Unmarshal([]byte(`{"1":"text","xinaS8QBh":"published"}`), &names); err != nil ||
		names[53] != "text" ||
		names[publishedShort] != "published" {
		t.Errorf("map is %v, %v", names, err)
	}
	for _, data := range []string{`true`, `1.5`, `{}`} {
		if err := json.Unmarshal([]byte(data), new(UserShortID)); err == nil ||
			!strings.Contains(err.Error(), "exact integer") {
			t.Errorf("error for %s is %v, want the forms that are read", data, err)
		}
	}
}

// TestShortScanText: a text never becomes another ID by way of the database.
func TestShortScanText(t *testing.T) {
	for _, text := range []string{"xinaS8QBh", "B", "_", "-", "(0)"} {
		id := UserShortID(77)
		wantInputError(t, id.Scan(text), "ShortID", text, nil)
		wantInputError(t, id.Scan([]byte(text)), "ShortID", text, nil)
		if id != 77 {
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
