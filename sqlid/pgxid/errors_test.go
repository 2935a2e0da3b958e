package pgxid_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid/pgxid"
	"github.com/idmint/idmint/sqlid/pgxid/pgxsuite"
)

// An error names the Go type, the value, the column, and what to do.
func TestErrorTexts(t *testing.T) {
	m := pgxsuite.NewMap()
	encode := func(oid uint32, value any) error {
		_, err := m.Encode(oid, pgtype.BinaryFormatCode, value, nil)
		return err
	}
	scan := func(oid uint32, wire string, dst any) error {
		return m.Scan(oid, pgtype.BinaryFormatCode, []byte(wire), dst)
	}
	id, eight := pgxsuite.UserID(14150009200065), idtype.MustParse[idtype.EightByteID](pgxsuite.Deadbeef)
	const advice = ": declare the key with another form, cast the column, or use the ID's text"
	for want, err := range map[string]error{
		`pgxid: "14150009200065" as idtype.Decimal[pgxsuite.User]: ` +
			"the ID is stored as bigint, but the column is float8" +
			advice: encode(pgtype.Float8OID, &id),
		`pgxid: "6465616462656566" as idtype.EightByteID: ` +
			"the ID is stored as bytes, but the column is uuid" + advice: encode(pgtype.UUIDOID, eight),
		`pgxid: "5" as idtype.Decimal[pgxsuite.User]: the ID is stored as bigint, but ` +
			"the column is float8" +
			advice: scan(pgtype.Float8OID, "\x40\x14\x00\x00\x00\x00\x00\x00", &id),
		`pgxid: "deadbeef" as idtype.EightByteID: ` +
			"the ID is stored as bytes, but the column is text" +
			advice: scan(pgtype.TextOID, "deadbeef", &eight),
	} {
		var typed *pgxid.StorageError
		if !errors.As(err, &typed) || typed.Error() != want || typed.Type == "" {
			t.Errorf("error %v\nwant  %s", err, want)
		}
	}

	const ragged = "pgxid: an array of several dimensions has slices of unequal length: " +
		"PostgreSQL requires equal lengths"
	err := encode(pgtype.Int8ArrayOID, [][]pgxsuite.UserID{{1}, {2, 3}})
	for err != nil && err.Error() != ragged {
		err = errors.Unwrap(err)
	}
	if err == nil {
		t.Errorf("slices of unequal lengths give no error %s", ragged)
	}
	const version = "pgxid: the server sent jsonb of a version other than 1: cast the " +
		"column to json"
	err = scan(pgtype.JSONBOID, "\x02\"7\"", &id)
	for err != nil && err.Error() != version {
		err = errors.Unwrap(err)
	}
	if err == nil {
		t.Errorf("jsonb of version 2 gives no error %s", version)
	}
}
