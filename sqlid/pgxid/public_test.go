package pgxid_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/publicid"
	"github.com/idmint/idmint/sqlid/pgxid"
	"github.com/idmint/idmint/sqlid/pgxid/pgxsuite"
)

type inUsers struct{}

var users *publicid.Codec[pgxsuite.UserID]

func (inUsers) Codec() *publicid.Codec[pgxsuite.UserID] { return users }

// A public ID is refused by the columns that refuse the ID behind it, and the error does not show
// that one.
func TestPublicID(t *testing.T) {
	key, err := publicid.ParseKey("0-" + strings.Repeat("07", 32))
	if err != nil {
		t.Fatal(err)
	}
	if users, err = publicid.NewScrambled[pgxsuite.UserID]("user", key); err != nil {
		t.Fatal(err)
	}
	const number = "9007199254740993" // a float8 has ...992
	m, id := pgxsuite.NewMap(), publicid.Of[inUsers](pgxsuite.UserID(9007199254740993))
	for _, oid := range []uint32{pgtype.Float8OID, pgtype.TextOID, pgtype.UUIDOID} {
		for _, v := range []any{id, &id} {
			var refused *pgxid.StorageError
			_, err := m.Encode(oid, pgtype.BinaryFormatCode, v, nil)
			if !errors.As(err, &refused) || strings.Contains(err.Error(), number) {
				t.Errorf("%d: %v", oid, err)
			}
		}
	}
	for oid, want := range map[uint32]string{pgtype.JSONOID: `"` + number + `"`, pgtype.Int8OID: "\x00\x20\x00\x00\x00\x00\x00\x01"} {
		wire, err := m.Encode(oid, pgtype.BinaryFormatCode, id, nil)
		if err != nil || string(wire) != want {
			t.Errorf("%d: %q, %v", oid, wire, err)
		}
		for _, wire := range [][]byte{wire, nil} {
			got := &id
			if wire != nil {
				got = new(publicid.ID[pgxsuite.UserID, inUsers])
			}
			err := m.Scan(oid, pgtype.BinaryFormatCode, wire, &got)
			if err != nil || (got == nil) != (wire == nil) || got != nil && *got != id {
				t.Errorf("%d: %v, %v", oid, got, err)
			}
		}
	}
}
