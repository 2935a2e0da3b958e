package idtype_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// A loop does n times what is measured. It is in each loop's own code, so that the compiler sees
// what it sees in a program.
type loop struct {
	name string
	run  func(n int)
}

func benchmark(b *testing.B, loops []loop) {
	for _, l := range loops {
		b.Run(l.name, func(b *testing.B) {
			b.ReportAllocs()
			l.run(b.N)
		})
	}
}

// 19 digits is where most IDs of a busy system end up. The short ID has 10 characters.
var (
	bench19    = idtype.DecimalID(7_234_567_891_234_500_065)
	benchShort = idtype.ShortID(publishedShort << 4)
)

// shortBase64 is what a program writes that does without the scheme: 11 characters for 8 bytes.
func shortBase64(b []byte, v int64) []byte {
	var buf [8]byte
	binary.BigEndian.PutUint64(buf[:], uint64(v))
	return base64.RawURLEncoding.AppendEncode(b, buf[:])
}

func BenchmarkEncode(b *testing.B) {
	eight, sno := idtype.MustParse[idtype.EightByteID](eightText), idtype.MustParse[idtype.SnoID](snoText)
	buf := make([]byte, 0, 64)
	benchmark(b, []loop{
		{"19-digits/strconv.AppendInt", func(n int) {
			for range n {
				sinkBytes = strconv.AppendInt(buf, int64(bench19), 10)
			}
		}},
		{"19-digits/AppendText", func(n int) {
			for range n {
				sinkBytes, sinkErr = bench19.AppendText(buf)
			}
		}},
		{"eightbyte/hex.AppendEncode", func(n int) {
			for range n {
				sinkBytes = hex.AppendEncode(buf, eightRaw)
			}
		}},
		{"eightbyte/AppendText", func(n int) {
			for range n {
				sinkBytes, sinkErr = eight.AppendText(buf)
			}
		}},
		{"sno/AppendText", func(n int) {
			for range n {
				sinkBytes, sinkErr = sno.AppendText(buf)
			}
		}},
		{"sno/String", func(n int) {
			for range n {
				sinkString = sno.String()
			}
		}},
		{"short/base64", func(n int) {
			for range n {
				sinkBytes = shortBase64(buf, int64(benchShort))
			}
		}},
		{"short/AppendText", func(n int) {
			for range n {
				sinkBytes, sinkErr = benchShort.AppendText(buf)
			}
		}},
	})
}

func BenchmarkParse(b *testing.B) {
	decimal, short := bench19.String(), benchShort.String()
	encoded := shortBase64(nil, int64(benchShort))
	benchmark(b, []loop{
		{"19-digits/strconv.ParseInt", func(n int) {
			for range n {
				sinkInt, sinkErr = strconv.ParseInt(decimal, 10, 64)
			}
		}},
		{"19-digits/Parse", func(n int) {
			for range n {
				sinkID, sinkErr = idtype.Parse[idtype.DecimalID](decimal)
			}
		}},
		{"eightbyte/strconv.ParseUint", func(n int) {
			for range n {
				_, sinkErr = strconv.ParseUint(eightText, 16, 64)
			}
		}},
		{"eightbyte/Parse", func(n int) {
			for range n {
				sinkEight, sinkErr = idtype.Parse[idtype.EightByteID](eightText)
			}
		}},
		{"sno/Parse", func(n int) {
			for range n {
				sinkSno, sinkErr = idtype.Parse[idtype.SnoID](snoText)
			}
		}},
		{"sno/UnmarshalText", func(n int) {
			text := []byte(snoText)
			for range n {
				sinkErr = sinkSno.UnmarshalText(text)
			}
		}},
		{"short/base64", func(n int) {
			var buf [8]byte
			for range n {
				_, sinkErr = base64.RawURLEncoding.Decode(buf[:], encoded)
				sinkInt = int64(binary.BigEndian.Uint64(buf[:]))
			}
		}},
		{"short/Parse", func(n int) {
			for range n {
				sinkShort, sinkErr = idtype.Parse[idtype.ShortID](short)
			}
		}},
	})
}

func BenchmarkJSON(b *testing.B) {
	data := []byte(`"` + bench19.String() + `"`)
	benchmark(b, []loop{
		{"MarshalJSON", func(n int) {
			for range n {
				sinkBytes, sinkErr = bench19.MarshalJSON()
			}
		}},
		{"UnmarshalJSON", func(n int) {
			for range n {
				sinkErr = sinkID.UnmarshalJSON(data)
			}
		}},
	})
}

// BenchmarkDatabase is what a driver calls, in each form.
func BenchmarkDatabase(b *testing.B) {
	for _, k := range kinds {
		id, dst := k.new(k.before()), k.new(k.before())
		src, _ := id.Value()
		b.Run("Value/"+k.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				sinkValue, sinkErr = id.Value()
			}
		})
		b.Run("Scan/"+k.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				sinkErr = dst.Scan(src)
			}
		})
	}
}
