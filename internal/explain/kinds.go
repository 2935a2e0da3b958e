package explain

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/idmint/idmint/idtype"
)

// milliseconds is the layout of times of that resolution.
const milliseconds = "2006-01-02T15:04:05.000Z07:00"

// Schemes lists the kinds, in the order in which people are shown them.
func Schemes() []Scheme {
	return []Scheme{Decimal, Trace, EightByte, Short, Sno, Sequence}
}

// Decimal is the kind of decimal IDs.
var Decimal = &Kind[idtype.DecimalID]{
	Scheme: idtype.SchemeDecimal,
	Forms:  digits(idtype.ParseDecimalID),
	Names:  []Name{{"id", Text}},
	Fields: func(id idtype.DecimalID) any { return id.Parts() },
	Parts:  decimalParts,
	Places: true,
}

func decimalParts(id idtype.DecimalID) []Part {
	generatorPlaces := len(strconv.Itoa(idtype.DecimalMaxGenerator))
	launchPlaces := len(strconv.Itoa(idtype.DecimalMaxLaunch))
	counterPlaces := len(id.String()) - generatorPlaces - launchPlaces
	return []Part{
		{Letter: 'c', Width: counterPlaces, Name: "counter", Value: fmt.Sprint(id.Counter())},
		{
			Letter: 'g', Width: generatorPlaces,
			Name: "generator_id", Value: fmt.Sprint(id.Generator()),
		},
		{Letter: 'l', Width: launchPlaces, Name: "launch_id", Value: fmt.Sprint(id.Launch())},
	}
}

// Trace is the kind of trace IDs.
var Trace = &Kind[idtype.TraceID]{
	Scheme: idtype.SchemeTrace,
	Forms:  digits(idtype.ParseTraceID),
	Names:  []Name{{"id", Text}},
	Fields: func(id idtype.TraceID) any { return id.Parts() },
	Parts:  traceParts,
	Clock:  time.RFC3339,
}

func traceParts(id idtype.TraceID) []Part {
	const reserved = 64 - idtype.TraceTimestampBits - idtype.TraceNodeBits - idtype.TraceBottomBits
	return []Part{
		{Letter: '0', Width: reserved},
		{
			Letter: TimeLetter, Width: idtype.TraceTimestampBits,
			Name: "timestamp", Value: fmt.Sprint(id.Timestamp()),
		},
		{Letter: 'n', Width: idtype.TraceNodeBits, Name: "node_no", Value: fmt.Sprint(id.Node())},
		{
			Letter: 'b', Width: idtype.TraceBottomBits,
			Name: "bottom", Value: fmt.Sprint(id.Bottom()),
		},
	}
}

// EightByte is the kind of eightbyte IDs.
var EightByte = &Kind[idtype.EightByteID]{
	Scheme: idtype.SchemeEightByte,
	Forms: []Form[idtype.EightByteID]{
		{Name: Text, Read: idtype.ParseEightByteID, Write: idtype.EightByteID.String},
		{
			Name: Number, Read: readEightByteNumber,
			Write: func(id idtype.EightByteID) string { return fmt.Sprint(int64(id.Uint64())) },
		},
		{
			Name: Hex, Read: hexReader[idtype.EightByteID]("EightByteID"),
			Write: idtype.EightByteID.String,
		},
	},
	Names:  []Name{{"id", Text}},
	Fields: func(id idtype.EightByteID) any { return id.Parts() },
	Parts:  eightByteParts,
	Clock:  milliseconds,
}

func eightByteParts(id idtype.EightByteID) []Part {
	note := ""
	if id.Mode() == idtype.EightByteSpread {
		note = "with its bits reversed"
	}
	return []Part{
		{
			Letter: TimeLetter, Width: idtype.EightByteTimeBits,
			Name: "unix_ms", Value: fmt.Sprint(id.UnixMs()), Note: note,
		},
		{
			Letter: 's', Width: idtype.EightByteSequenceBits,
			Name: "sequence", Value: fmt.Sprint(id.Sequence()),
		},
		{Letter: 'g', Width: idtype.EightByteGeneratorTopBits},
		{Letter: 'm', Width: idtype.EightByteModeBits, Name: "mode", Value: fmt.Sprint(id.Mode())},
		{
			Letter: 'g', Width: idtype.EightByteGeneratorLowBits,
			Name: "generator_id", Value: fmt.Sprint(id.Generator()),
		},
		{
			Letter: 'c', Width: idtype.EightByteClusterBits,
			Name: "cluster_id", Value: fmt.Sprint(id.Cluster()),
		},
	}
}

// Short is the kind of short IDs.
var Short = &Kind[idtype.ShortID]{
	Scheme: idtype.SchemeShort,
	Forms: []Form[idtype.ShortID]{
		{Name: Text, Read: idtype.ParseShortID, Write: idtype.ShortID.String, Unsorted: true},
		{
			Name: Number, Read: readShortNumber,
			Write: func(id idtype.ShortID) string { return strconv.FormatInt(int64(id), 10) },
		},
	},
	Names:  []Name{{"id", Number}, {"text", Text}},
	Fields: func(id idtype.ShortID) any { return id.Parts() },
	Parts:  shortParts,
	Clock:  milliseconds,
}

func shortParts(id idtype.ShortID) []Part {
	const reserved = 64 - idtype.ShortTimeBits - idtype.ShortSequenceBits - idtype.ShortRandomBits
	return []Part{
		{Letter: '0', Width: reserved},
		{
			Letter: TimeLetter, Width: idtype.ShortTimeBits,
			Name: "unix_ms", Value: fmt.Sprint(id.UnixMs()),
		},
		{
			Letter: 's', Width: idtype.ShortSequenceBits,
			Name: "sequence", Value: fmt.Sprint(id.Sequence()),
		},
		{
			Letter: 'r', Width: idtype.ShortRandomBits,
			Name: "random", Value: fmt.Sprint(id.Random()),
		},
	}
}

// Sno is the kind of sno IDs.
var Sno = &Kind[idtype.SnoID]{
	Scheme: idtype.SchemeSno,
	Forms: []Form[idtype.SnoID]{
		{Name: Text, Read: idtype.ParseSnoID, Write: idtype.SnoID.String},
		{
			Name: Hex, Read: hexReader[idtype.SnoID]("SnoID"),
			Write: func(id idtype.SnoID) string { return hex.EncodeToString(id[:]) },
		},
		{Name: UUID, Read: readSnoUUID, Write: writeSnoUUID},
	},
	Names:  []Name{{"id", Text}, {"hex", Hex}},
	Fields: func(id idtype.SnoID) any { return id.Parts() },
	Parts:  snoParts,
	Clock:  milliseconds,
}

func snoParts(id idtype.SnoID) []Part {
	return []Part{
		{
			Letter: TimeLetter, Width: idtype.SnoTimeBits,
			Name: "unix_ms", Value: fmt.Sprint(id.UnixMs()),
		},
		{
			Letter: 'k', Width: idtype.SnoTickTockBits,
			Name: "tick_tock", Value: fmt.Sprint(id.TickTock()),
		},
		{Letter: 'm', Width: idtype.SnoMetaBits, Name: "meta", Value: fmt.Sprint(id.Meta())},
		{
			Letter: 'p', Width: idtype.SnoPartitionBits,
			Name: "partition", Value: fmt.Sprint(id.Partition()),
		},
		{
			Letter: 's', Width: idtype.SnoSequenceBits,
			Name: "sequence", Value: fmt.Sprint(id.Sequence()),
		},
	}
}

// SequenceFields is all that a sequence ID says.
type SequenceFields struct {
	ID idtype.SequenceID `json:"id"`
}

// Sequence is the kind of sequence IDs.
var Sequence = &Kind[idtype.SequenceID]{
	Scheme: idtype.SchemeSequence,
	Forms:  digits(idtype.ParseSequenceID),
	Fields: func(id idtype.SequenceID) any { return SequenceFields{id} },
	Parts: func(idtype.SequenceID) []Part {
		return []Part{{Note: "a number that a counter gave"}}
	},
}
