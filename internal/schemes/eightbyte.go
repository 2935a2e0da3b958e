package schemes

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

// EightByte is the kind of eightbyte IDs.
var EightByte = add(&Kind[idtype.EightByteID]{
	Facts: Facts{
		Scheme: idtype.SchemeEightByte, Place: 3, Size: len(idtype.EightByteID{}),
		Storages: []idtype.Storage{idtype.StorageBytes, idtype.StorageBigint},
		Fields: []Field{
			{Letter: TimeLetter, Width: formats.EightByteTimeBits, Name: "unix_ms"},
			{Letter: 's', Width: formats.EightByteSequenceBits, Name: "sequence"},
			{Letter: 'g', Width: formats.EightByteGeneratorTopBits, Name: "generator_id"},
			{Letter: 'm', Width: formats.EightByteModeBits, Name: "mode"},
			{Letter: 'g', Width: formats.EightByteGeneratorLowBits, Name: "generator_id"},
			{Letter: 'c', Width: formats.EightByteClusterBits, Name: "cluster_id"},
		},
		Unit: time.Millisecond,
		BoundsHelp: `  eightbyte  TIME_SEQUENTIAL IDs only: SPREAD IDs are not ordered by time.
             As numbers, a span in which they become negative gives two ranges.
`,
		Names: []Name{{"id", Text}},
		Text: Texts{
			Name: "EightByteID", Pattern: notZero("0", "[1-9a-f]", "[0-9a-f]"),
			Shortest: 16, Longest: 16, Example: "5b9bda2989e1989b", Alphabet: "0123456789abcdef",
			About: "16 hexadecimal digits in lower case", Proto: "string",
		},
		Codecs: map[idtype.Storage]Codec{
			"": {"Delta(8), ZSTD(1)", "the differences between IDs repeat"},
			idtype.StorageBigint: {
				"Delta(8), T64('bit'), ZSTD(1)",
				"the differences are small, and T64 omits the bits that none of them has",
			},
		},
		SQL: eightbyteSQL,
	},
	Forms: []Form[idtype.EightByteID]{
		{Name: Text, Read: idtype.Parse[idtype.EightByteID], Write: idtype.EightByteID.String},
		{
			Name: Number, Read: readEightByteNumber,
			Write: func(id idtype.EightByteID) string { return fmt.Sprint(int64(id.Uint64())) },
		},
		{
			Name: Hex, Read: hexReader[idtype.EightByteID]("EightByteID"),
			Write: idtype.EightByteID.String,
		},
	},
	Values: parts(idtype.EightByteID.Parts),
	Note: func(id idtype.EightByteID) string {
		if id.Parts().Mode == idtype.EightByteSpread {
			return "with its bits reversed"
		}
		return ""
	},
	Span: eightByteSpan,
})

// eightByteColumn is an eightbyte ID in a BIGINT column.
type eightByteColumn = idtype.EightByte[idtype.AsBigint[any]]

func readEightByteNumber(text string) (idtype.EightByteID, error) {
	var id eightByteColumn
	err := id.Scan(text)
	return idtype.EightByteID(id), err
}

// eightByteSpan returns two ranges of numbers if the IDs become negative within the span.
func eightByteSpan(form string, from, to time.Time) ([]idtype.Range[idtype.EightByteID], error) {
	if form != Number {
		return idtype.Bounds[idtype.EightByteID](from, to)
	}
	found, err := idtype.Bounds[eightByteColumn](from, to)
	var ranges []idtype.Range[idtype.EightByteID]
	for _, r := range found {
		ranges = append(ranges, idtype.Range[idtype.EightByteID]{
			Min: idtype.EightByteID(r.Min), Max: idtype.EightByteID(r.Max),
		})
	}
	return ranges, err
}

//go:embed eightbyte.sql
var eightbyteSQL string
