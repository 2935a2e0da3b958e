package schemes

import (
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
		BoundsHelp: "In all its forms.",
		Names:      []Name{{"id", Text}, {"hex", Hex}},
		Text: Texts{
			Name: "SnoID", Pattern: notZero("2", "[3-9a-x]", "[2-9a-x]"),
			Shortest: 16, Longest: 16, Example: "8fhmi7mfls62jp64",
			Alphabet: "23456789abcdefghijklmnopqrstuvwx",
			About:    "16 characters of base 32", Proto: "string",
		},
		Codecs: map[idtype.Storage]Codec{"": {
			"ZSTD(1)",
			"no other codec takes bytes of this length; neighbours begin alike, which ZSTD finds",
		}},
		SQL: SQL{snoPostgres, snoMySQL, snoClickHouse},
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
	if len(text) != len("00000000-0000-0000-0000-000000000000") { // the column takes the bytes too
		return idtype.SnoID{}, &idtype.InputError{Type: "SnoID", Input: Quoted(text), Err: errUUID}
	}
	err := id.Scan(text)
	return idtype.SnoID(id), err
}

func writeSnoUUID(id idtype.SnoID) string {
	v, err := snoColumn(id).Value()
	if err != nil { // zero, which is nobody's ID
		return ""
	}
	return fmt.Sprint(v)
}

const snoPostgres = `
min(t timestamptz) RETURNS bytea STRICT => greatest(decode(lpad(to_hex({unit} << 1), 10, '0') ||
	repeat('0', 10), 'hex'), decode(lpad('1', 20, '0'), 'hex'))
max(t timestamptz) RETURNS bytea STRICT => decode(lpad(to_hex({unit} << 1 | 1), 10, '0') ||
	repeat('f', 10), 'hex')
text(id bytea) RETURNS text IF VALID => (SELECT string_agg({character}, '' ORDER BY i) FROM
	generate_series(0, 15) i)
from_text(id text) RETURNS bytea => CASE WHEN id ~ '^[2-9a-x]{16}$' AND id <> repeat('2', 16) THEN
	{bytes of}substr(id, i + 1, 1){end of bytes} END
-- the characters of the text, as bytes
uuid(id bytea) RETURNS uuid IF VALID => (SELECT string_agg(to_hex(ascii({character})), '' ORDER BY
	i) FROM generate_series(0, 15) i)::uuid
from_uuid(id uuid) RETURNS bytea => CASE WHEN replace(id::text, '-', '') ~
	'^(3[2-9]|6[1-9a-f]|7[0-8]){16}$' AND id <> repeat('32', 16)::uuid THEN
	{bytes of}chr(get_byte(decode(replace(id::text, '-', ''), 'hex'), i)){end of bytes} END
`

const snoMySQL = `
min(t DATETIME(6)) RETURNS BINARY(10) => GREATEST(UNHEX(CONCAT(LPAD(HEX({unit} << 1), 10, '0'),
	'0000000000')), X'00000000000000000001')
max(t DATETIME(6)) RETURNS BINARY(10) => UNHEX(CONCAT(LPAD(HEX({unit} << 1 | 1), 10, '0'),
	'FFFFFFFFFF'))
text(id BLOB) RETURNS CHAR(16) {ascii} IF VALID => CONCAT({characters})
from_text(id {text}) RETURNS BINARY(10) => CASE WHEN CONCAT(id, '.') REGEXP '^[2-9a-x]{16}[.]$' AND
	id <> REPEAT('2', 16) THEN UNHEX(CONCAT({halves})) END
-- the characters of the text, as bytes
uuid(id BLOB) RETURNS CHAR(36) {ascii} =>
	INSERT(INSERT(INSERT(INSERT(LOWER(HEX(idmint_sno_text(id))), 21, 0, '-'), 17, 0, '-'), 13, 0,
	'-'), 9, 0, '-')
from_uuid(id {text}) RETURNS BINARY(10) => CASE WHEN CONCAT(REPLACE(id, '-', ''), '.') REGEXP
	'^(3[2-9]|6[1-9a-f]|7[0-8]){16}[.]$' THEN idmint_sno_from_text(UNHEX(REPLACE(id, '-', ''))) END
`

const snoClickHouse = `
min AS (t) => {bytes}concat(substring(concat(repeat('0', 10), hex(toUInt64({unit} * 2))), -10),
	if({unit} = 0, '0000000001', '0000000000'))), 10)
max AS (t) => {bytes}concat(substring(concat(repeat('0', 10), hex(toUInt64({unit} * 2 + 1))), -10),
	'ffffffffff')), 10)
text AS (id) IF VALID => toFixedString(concat({characters}), 16)
from_text AS (id) => if(match(id, '^[2-9a-x]{16}$') AND id != repeat('2', 16),
	{bytes}concat({halves})), 10), NULL)
uuid AS (id) => toUUID(UUIDNumToString(idmint_sno_text(id)))
from_uuid AS (id) => idmint_sno_from_text(UUIDStringToNum(toString(id)))
`
