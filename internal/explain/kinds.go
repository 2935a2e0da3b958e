package explain

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
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
	Forms:  digits(idtype.Parse[idtype.DecimalID]),
	Names:  []Name{{"id", Text}},
	Fields: func(id idtype.DecimalID) any { return id.Parts() },
	Parts:  decimalParts,
	Places: true,
}

func decimalParts(id idtype.DecimalID) []Part {
	generatorPlaces := len(strconv.Itoa(formats.DecimalMaxGenerator))
	launchPlaces := len(strconv.Itoa(formats.DecimalMaxLaunch))
	counterPlaces := len(id.String()) - generatorPlaces - launchPlaces
	return []Part{
		{Letter: 'c', Width: counterPlaces, Name: "counter", Value: fmt.Sprint(id.Parts().Counter)},
		{
			Letter: 'g', Width: generatorPlaces,
			Name: "generator_id", Value: fmt.Sprint(id.Parts().Generator),
		},
		{Letter: 'l', Width: launchPlaces, Name: "launch_id", Value: fmt.Sprint(id.Parts().Launch)},
	}
}

// Trace is the kind of trace IDs.
var Trace = &Kind[idtype.TraceID]{
	Scheme: idtype.SchemeTrace,
	Forms:  digits(idtype.Parse[idtype.TraceID]),
	Names:  []Name{{"id", Text}},
	Fields: func(id idtype.TraceID) any { return id.Parts() },
	Parts:  traceParts,
	Clock:  time.RFC3339,
}

func traceParts(id idtype.TraceID) []Part {
	const reserved = 64 - formats.TraceTimestampBits - formats.TraceNodeBits - formats.TraceBottomBits
	return []Part{
		{Letter: '0', Width: reserved},
		{
			Letter: TimeLetter, Width: formats.TraceTimestampBits,
			Name: "timestamp", Value: fmt.Sprint(id.Parts().Timestamp),
		},
		{Letter: 'n', Width: formats.TraceNodeBits, Name: "node_no", Value: fmt.Sprint(id.Parts().Node)},
		{
			Letter: 'b', Width: formats.TraceBottomBits,
			Name: "bottom", Value: fmt.Sprint(id.Parts().Bottom),
		},
	}
}

// EightByte is the kind of eightbyte IDs.
var EightByte = &Kind[idtype.EightByteID]{
	Scheme: idtype.SchemeEightByte,
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
	Names:  []Name{{"id", Text}},
	Fields: func(id idtype.EightByteID) any { return id.Parts() },
	Parts:  eightByteParts,
	Clock:  milliseconds,
}

func eightByteParts(id idtype.EightByteID) []Part {
	note := ""
	if id.Parts().Mode == idtype.EightByteSpread {
		note = "with its bits reversed"
	}
	return []Part{
		{
			Letter: TimeLetter, Width: formats.EightByteTimeBits,
			Name: "unix_ms", Value: fmt.Sprint(id.Parts().UnixMs), Note: note,
		},
		{
			Letter: 's', Width: formats.EightByteSequenceBits,
			Name: "sequence", Value: fmt.Sprint(id.Parts().Sequence),
		},
		{Letter: 'g', Width: formats.EightByteGeneratorTopBits},
		{Letter: 'm', Width: formats.EightByteModeBits, Name: "mode", Value: fmt.Sprint(id.Parts().Mode)},
		{
			Letter: 'g', Width: formats.EightByteGeneratorLowBits,
			Name: "generator_id", Value: fmt.Sprint(id.Parts().Generator),
		},
		{
			Letter: 'c', Width: formats.EightByteClusterBits,
			Name: "cluster_id", Value: fmt.Sprint(id.Parts().Cluster),
		},
	}
}

// Short is the kind of short IDs.
var Short = &Kind[idtype.ShortID]{
	Scheme: idtype.SchemeShort,
	Forms: []Form[idtype.ShortID]{
		{Name: Text, Read: idtype.Parse[idtype.ShortID], Write: idtype.ShortID.String, Unsorted: true},
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
	const reserved = 64 - formats.ShortTimeBits - formats.ShortSequenceBits - formats.ShortRandomBits
	return []Part{
		{Letter: '0', Width: reserved},
		{
			Letter: TimeLetter, Width: formats.ShortTimeBits,
			Name: "unix_ms", Value: fmt.Sprint(id.Parts().UnixMs),
		},
		{
			Letter: 's', Width: formats.ShortSequenceBits,
			Name: "sequence", Value: fmt.Sprint(id.Parts().Sequence),
		},
		{
			Letter: 'r', Width: formats.ShortRandomBits,
			Name: "random", Value: fmt.Sprint(id.Parts().Random),
		},
	}
}

// Sno is the kind of sno IDs.
var Sno = &Kind[idtype.SnoID]{
	Scheme: idtype.SchemeSno,
	Forms: []Form[idtype.SnoID]{
		{Name: Text, Read: idtype.Parse[idtype.SnoID], Write: idtype.SnoID.String},
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
			Letter: TimeLetter, Width: formats.SnoTimeBits,
			Name: "unix_ms", Value: fmt.Sprint(id.Parts().UnixMs),
		},
		{
			Letter: 'k', Width: formats.SnoTickTockBits,
			Name: "tick_tock", Value: fmt.Sprint(id.Parts().TickTock),
		},
		{Letter: 'm', Width: formats.SnoMetaBits, Name: "meta", Value: fmt.Sprint(id.Parts().Meta)},
		{
			Letter: 'p', Width: formats.SnoPartitionBits,
			Name: "partition", Value: fmt.Sprint(id.Parts().Partition),
		},
		{
			Letter: 's', Width: formats.SnoSequenceBits,
			Name: "sequence", Value: fmt.Sprint(id.Parts().Sequence),
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
	Forms:  digits(idtype.Parse[idtype.SequenceID]),
	Fields: func(id idtype.SequenceID) any { return SequenceFields{id} },
	Parts: func(idtype.SequenceID) []Part {
		return []Part{{Note: "a number that a counter gave"}}
	},
}
