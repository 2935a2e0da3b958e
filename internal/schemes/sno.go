package schemes

import (
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

// Sno is the kind of sno IDs.
var Sno = add(&Kind[idtype.SnoID]{
	Facts: Facts{
		Scheme: idtype.SchemeSno, Place: 5, Size: len(idtype.SnoID{}),
		Storages: []idtype.Storage{idtype.StorageBytes, idtype.StorageText, idtype.StorageUUID},
		Fields: []Field{
			{Letter: TimeLetter, Width: formats.SnoTimeBits, Name: "unix_ms"},
			{Letter: 'k', Width: formats.SnoTickTockBits, Name: "tick_tock"},
			{Letter: 'm', Width: formats.SnoMetaBits, Name: "meta"},
			{Letter: 'p', Width: formats.SnoPartitionBits, Name: "partition"},
			{Letter: 's', Width: formats.SnoSequenceBits, Name: "sequence"},
		},
		Epoch: formats.SnoEpoch, Unit: formats.SnoTimeUnit * time.Millisecond,
		BoundsHelp: "  sno        In any of its forms.\n",
		Names:      []Name{{"id", Text}, {"hex", Hex}},
		Text: Texts{
			Name: "SnoID", Pattern: notZero("2", "[3-9a-x]", "[2-9a-x]"),
			Shortest: 16, Longest: 16, Example: "8fhmi7mfls62jp64",
			Alphabet: "23456789abcdefghijklmnopqrstuvwx",
			About:    "16 characters of base 32", Proto: "string",
		},
		Codecs: map[idtype.Storage]Codec{"": {
			"ZSTD(1)",
			"no other codec supports this length; adjacent IDs begin alike, which ZSTD detects",
		}},
		SQL: snoSQL,
	},
	Forms: []Form[idtype.SnoID]{
		{Name: Text, Read: idtype.Parse[idtype.SnoID], Write: idtype.SnoID.String},
		{
			Name: Hex, Read: hexReader[idtype.SnoID]("SnoID"),
			Write: func(id idtype.SnoID) string { return hex.EncodeToString(id[:]) },
		},
		{Name: UUID, Read: readSnoUUID, Write: writeSnoUUID},
	},
	Values: parts(idtype.SnoID.Parts),
	Span:   within(idtype.Bounds[idtype.SnoID]),
})

// snoColumn is a sno ID in a UUID column.
type snoColumn = idtype.Sno[idtype.AsUUID[any]]

var errUUID = errors.New("want a UUID")

func readSnoUUID(text string) (idtype.SnoID, error) {
	var id snoColumn
	if len(text) != len("00000000-0000-0000-0000-000000000000") { // a column accepts bytes too
		return idtype.SnoID{}, &idtype.InputError{Type: "SnoID", Input: Quoted(text), Err: errUUID}
	}
	err := id.Scan(text)
	return idtype.SnoID(id), err
}

func writeSnoUUID(id idtype.SnoID) string {
	v, err := snoColumn(id).Value()
	if err != nil { // zero, which is never an ID
		return ""
	}
	return fmt.Sprint(v)
}

//go:embed sno.sql
var snoSQL string
