package idtype_test

import (
	"encoding/hex"
	"strconv"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// The functions of the standard library for hexadecimal digits are beside ours.
func BenchmarkByteEncode(b *testing.B) {
	eight, sno, buf := idtype.MustParseEightByteID(eightText), idtype.MustParseSnoID(snoText), make([]byte, 0, 64)
	b.Run("hex.AppendEncode", func(b *testing.B) {
		for range b.N {
			sinkBytes = hex.AppendEncode(buf, eightRaw)
		}
	})
	b.Run("EightByte.AppendText", func(b *testing.B) {
		for range b.N {
			sinkBytes, sinkErr = eight.AppendText(buf)
		}
	})
	b.Run("Sno.AppendText", func(b *testing.B) {
		for range b.N {
			sinkBytes, sinkErr = sno.AppendText(buf)
		}
	})
	b.Run("Sno.String", func(b *testing.B) {
		for range b.N {
			sinkString = sno.String()
		}
	})
}

func BenchmarkByteParse(b *testing.B) {
	b.Run("strconv.ParseUint", func(b *testing.B) {
		for range b.N {
			_, sinkErr = strconv.ParseUint(eightText, 16, 64)
		}
	})
	b.Run("ParseEightByteID", func(b *testing.B) {
		for range b.N {
			sinkEight, sinkErr = idtype.ParseEightByteID(eightText)
		}
	})
	b.Run("ParseSnoID", func(b *testing.B) {
		for range b.N {
			sinkSno, sinkErr = idtype.ParseSnoID(snoText)
		}
	})
	b.Run("Sno.UnmarshalText", func(b *testing.B) {
		text := []byte(snoText)
		for range b.N {
			sinkErr = sinkSno.UnmarshalText(text)
		}
	})
}

// BenchmarkStorage is what a driver calls, in each form.
func BenchmarkStorage(b *testing.B) {
	for _, k := range byteKinds {
		id, dst := k.new(k.before()), k.new(k.before())
		src, _ := id.Value()
		b.Run("Value/"+k.typ+" "+string(k.form), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				sinkValue, sinkErr = id.Value()
			}
		})
		b.Run("Scan/"+k.typ+" "+string(k.form), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				sinkErr = dst.Scan(src)
			}
		})
	}
}
