package explain

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
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
	Parts: func(id idtype.DecimalID) []Part {
		p := id.Parts()
		generatorPlaces := len(strconv.Itoa(formats.DecimalMaxGenerator))
		launchPlaces := len(strconv.Itoa(formats.DecimalMaxLaunch))
		return []Part{
			part('c', len(id.String())-generatorPlaces-launchPlaces, "counter", p.Counter),
			part('g', generatorPlaces, "generator_id", p.Generator),
			part('l', launchPlaces, "launch_id", p.Launch),
		}
	},
	Places: true,
}

func part(letter byte, width int, name string, value any) Part {
	return Part{Letter: letter, Width: width, Name: name, Value: fmt.Sprint(value)}
}

// Trace is the kind of trace IDs.
var Trace = &Kind[idtype.TraceID]{
	Scheme: idtype.SchemeTrace,
	Forms:  digits(idtype.Parse[idtype.TraceID]),
	Names:  []Name{{"id", Text}},
	Fields: func(id idtype.TraceID) any { return id.Parts() },
	Parts: func(id idtype.TraceID) []Part {
		const reserved = 64 - formats.TraceTimestampBits - formats.TraceNodeBits - formats.TraceBottomBits
		p := id.Parts()
		return []Part{
			{Letter: '0', Width: reserved},
			part(TimeLetter, formats.TraceTimestampBits, "timestamp", p.Timestamp),
			part('n', formats.TraceNodeBits, "node_no", p.Node),
			part('b', formats.TraceBottomBits, "bottom", p.Bottom),
		}
	},
	Clock: time.RFC3339,
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
	Parts: func(id idtype.EightByteID) []Part {
		p := id.Parts()
		at := part(TimeLetter, formats.EightByteTimeBits, "unix_ms", p.UnixMs)
		if p.Mode == idtype.EightByteSpread {
			at.Note = "with its bits reversed"
		}
		return []Part{
			at,
			part('s', formats.EightByteSequenceBits, "sequence", p.Sequence),
			{Letter: 'g', Width: formats.EightByteGeneratorTopBits},
			part('m', formats.EightByteModeBits, "mode", p.Mode),
			part('g', formats.EightByteGeneratorLowBits, "generator_id", p.Generator),
			part('c', formats.EightByteClusterBits, "cluster_id", p.Cluster),
		}
	},
	Clock: milliseconds,
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
	Parts: func(id idtype.ShortID) []Part {
		const reserved = 64 - formats.ShortTimeBits - formats.ShortSequenceBits - formats.ShortRandomBits
		p := id.Parts()
		return []Part{
			{Letter: '0', Width: reserved},
			part(TimeLetter, formats.ShortTimeBits, "unix_ms", p.UnixMs),
			part('s', formats.ShortSequenceBits, "sequence", p.Sequence),
			part('r', formats.ShortRandomBits, "random", p.Random),
		}
	},
	Clock: milliseconds,
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
	Parts: func(id idtype.SnoID) []Part {
		p := id.Parts()
		return []Part{
			part(TimeLetter, formats.SnoTimeBits, "unix_ms", p.UnixMs),
			part('k', formats.SnoTickTockBits, "tick_tock", p.TickTock),
			part('m', formats.SnoMetaBits, "meta", p.Meta),
			part('p', formats.SnoPartitionBits, "partition", p.Partition),
			part('s', formats.SnoSequenceBits, "sequence", p.Sequence),
		}
	},
	Clock: milliseconds,
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
