package idtype_test

import (
	"os"
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
		want := "//\t" + strings.Join(drawn, " ") + "\n"
		if !strings.Contains(string(source), want) {
			t.Errorf("%s does not draw %s", tt.file, want)
		}
	}
}
