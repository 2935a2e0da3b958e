package idtype_test

import (
	"strconv"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// benchIDs: 19 digits is where most IDs of a busy system end up, 14 those of the document's example.
var benchIDs = []struct {
	name string
	id   idtype.DecimalID
}{
	{"14-digits", 14150009200065},
	{"19-digits", 7_234_567_891_234_500_065},
}

var sinkInt int64

func BenchmarkEncode(b *testing.B) {
	buf := make([]byte, 0, 64)
	for _, bb := range benchIDs {
		b.Run(bb.name+"/strconv.AppendInt", func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				sinkBytes = strconv.AppendInt(buf, int64(bb.id), 10)
			}
		})
		b.Run(bb.name+"/AppendText", func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				sinkBytes, sinkErr = bb.id.AppendText(buf)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, bb := range benchIDs {
		text := bb.id.String()
		b.Run(bb.name+"/strconv.ParseInt", func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				sinkInt, sinkErr = strconv.ParseInt(text, 10, 64)
			}
		})
		b.Run(bb.name+"/ParseDecimalID", func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				sinkID, sinkErr = idtype.ParseDecimalID(text)
			}
		})
	}
}

func BenchmarkJSON(b *testing.B) {
	id := benchIDs[1].id
	data := []byte(`"` + id.String() + `"`)
	b.Run("MarshalJSON", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			sinkBytes, sinkErr = id.MarshalJSON()
		}
	})
	b.Run("UnmarshalJSON", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			sinkErr = sinkID.UnmarshalJSON(data)
		}
	})
}

func BenchmarkDatabase(b *testing.B) {
	id := benchIDs[1].id
	src := any(int64(id))
	b.Run("Value", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			sinkValue, sinkErr = id.Value()
		}
	})
	b.Run("Scan", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			sinkErr = sinkID.Scan(src)
		}
	})
}
