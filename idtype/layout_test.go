package idtype_test

import (
	"encoding/hex"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// A width is a part of a layout: the letter of its bits in the drawing, and their number.
type width struct {
	letter string
	bits   int
}

// TestWidths: the parts fill the ID, and the drawing above the type shows them.
func TestWidths(t *testing.T) {
	for _, tt := range []struct {
		file  string
		size  int
		parts []width
	}{
		{"trace.go", 64, []width{
			{"0", 1},
			{"t", idtype.TraceTimestampBits},
			{"n", idtype.TraceNodeBits},
			{"h", idtype.TraceBottomBits - idtype.TraceCounterBits},
			{"c", idtype.TraceCounterBits},
		}},
		{"short.go", 64, []width{
			{"0", 4},
			{"t", idtype.ShortTimeBits},
			{"s", idtype.ShortSequenceBits},
			{"r", idtype.ShortRandomBits},
		}},
		{"eightbyte.go", 8 * len(idtype.EightByteID{}), []width{
			{"t", idtype.EightByteTimeBits},
			{"s", idtype.EightByteSequenceBits},
			{"g", idtype.EightByteGeneratorTopBits},
			{"m", idtype.EightByteModeBits},
			{"g", idtype.EightByteGeneratorLowBits},
			{"c", idtype.EightByteClusterBits},
		}},
		{"sno.go", 8 * len(idtype.SnoID{}), []width{
			{"t", idtype.SnoTimeBits},
			{"k", idtype.SnoTickTockBits},
			{"m", idtype.SnoMetaBits},
			{"p", idtype.SnoPartitionBits},
			{"s", idtype.SnoSequenceBits},
		}},
	} {
		sum, drawn := 0, []string{}
		for _, p := range tt.parts {
			sum += p.bits
			drawn = append(drawn, strings.Repeat(p.letter, p.bits))
		}
		if sum != tt.size {
			t.Errorf("%s: the parts have %d bits, want %d", tt.file, sum, tt.size)
		}
		source, err := os.ReadFile(tt.file)
		if err != nil {
			t.Fatal(err)
		}
		if want := "//\t" + strings.Join(drawn, " ") + "\n"; !strings.Contains(string(source), want) {
			t.Errorf("%s does not draw %s", tt.file, want)
		}
	}
}

// A partBound is parts at the edge of a layout.
type partBound[P composed[T], T idtype.ID] struct {
	name  string
	parts P
	want  string // the ID as a number, or its bytes, or the part that is out of range
}

type composed[T any] interface{ ID() (T, error) }

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
			got := hex.EncodeToString(rawOf(id))
			if v := reflect.ValueOf(id); v.Kind() == reflect.Int64 {
				got = strconv.FormatInt(v.Int(), 10)
			}
			if err != nil || got != tt.want {
				t.Errorf("%+v = %s, %v, want %s", tt.parts, got, err, tt.want)
			}
		})
	}
}
