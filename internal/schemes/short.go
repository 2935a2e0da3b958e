package schemes

import (
	_ "embed"
	"strconv"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

// Short is the kind of short IDs.
var Short = add(&Kind[idtype.ShortID]{
	Facts: Facts{
		Scheme: idtype.SchemeShort, Place: 4, Storages: integer,
		Fields: []Field{
			{Letter: '0', Width: 4, Name: "unix_ms"}, // part of a number in older rows
			{Letter: TimeLetter, Width: formats.ShortTimeBits, Name: "unix_ms"},
			{Letter: 's', Width: formats.ShortSequenceBits, Name: "sequence"},
			{Letter: 'r', Width: formats.ShortRandomBits, Name: "random"},
		},
		Epoch: formats.ShortEpoch, Unit: time.Millisecond,
		BoundsHelp: "  short      As numbers, because the texts are not ordered by time.\n",
		Names:      []Name{{"id", Number}, {"text", Text}},
		Text: Texts{
			Name: "ShortID", Pattern: shortPattern, Shortest: 1, Longest: 11, Example: "xinaS8QBh",
			Alphabet: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
			About:    "1 to 11 characters of base 64", Proto: "string",
		},
		Codecs: map[idtype.Storage]Codec{"": {
			"Delta(8), T64('bit'), ZSTD(1)",
			"the differences are small but random, and T64 omits the bits that none of them has",
		}},
		SQL: shortSQL,
	},
	Forms: []Form[idtype.ShortID]{
		{Name: Text, Read: idtype.Parse[idtype.ShortID], Write: idtype.ShortID.String, Unsorted: true},
		{
			Name: Number, Read: readNumber[idtype.ShortID],
			Write: func(id idtype.ShortID) string { return strconv.FormatInt(int64(id), 10) },
		},
	},
	Values: parts(idtype.ShortID.Parts),
	Span:   within(idtype.Bounds[idtype.ShortID]),
})

// shortPattern matches the texts of short IDs, which begin with the two lowest digits. The highest
// digit is not A, which is 0, and of eleven digits it is at most H, which is 7.
const shortPattern = "^(?:[B-Za-z0-9_-][A-Za-z0-9_-]?|[A-Za-z0-9_-]{2}" +
	"(?:[B-Za-z0-9_-][A-Za-z0-9_-]{0,7}|[B-H][A-Za-z0-9_-]{8}))$"

//go:embed short.sql
var shortSQL string
