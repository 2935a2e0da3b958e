package adapters_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/pgxsuite"
	"github.com/idmint/idmint/sqlid/pgxid"
)

// What the package's documentation says of the modes in which the server says no types.
func TestPgxUntypedModes(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	eight, sno := idtype.MustParse[idtype.EightByteID](pgxsuite.Deadbeef),
		idtype.MustParse[idtype.SnoID](pgxsuite.SnoText)
	for _, mode := range slices.DeleteFunc(slices.Clone(modes), describes) {
		t.Run(mode.String(), func(t *testing.T) {
			pool := openPool(t, source, mode, pgxid.AfterConnect)
			for _, test := range []struct {
				in           any
				column, want string // the text of what is stored, or the state of the server's error
			}{
				{sno, "text", `\x335f48168d9e8808dc82`},
				{eight, "text", `\x6465616462656566`},
				{sno, "uuid", "22P02"},
				{sno, "jsonb", "22P02"},
				{pgxsuite.UserID(1<<53 + 1), "float8", "9.007199254740992e+15"},
				{pgxsuite.UserID(7), "text", "7"},
				{pgxsuite.UserID(7), "jsonb", "7"},
				{idtype.Sno[idtype.AsUUID[pgxsuite.User]](sno), "jsonb", "22P02"},
				{idtype.Sno[idtype.AsText[pgxsuite.User]](sno), "jsonb", "22P02"},
				{[]pgxsuite.UserID{1, 2}, "text", "{1,2}"},
				{[]pgxsuite.UserID{1, 2}, "jsonb", "22P02"},
				{[]pgxsuite.UserID{}, "jsonb", "{}"},
				{idtype.Slice[pgxsuite.UserID]{1}, "bigint[]", "22P02"},
				{idtype.Slice[pgxsuite.UserID]{1}, "jsonb", `["1"]`},
				{idtype.Slice[pgxsuite.UserID]{1}, "text", `["1"]`},
			} {
				var got string
				err := pool.QueryRow(t.Context(), "SELECT ($1::"+test.column+")::text",
					test.in).Scan(&got)
				if test.want == "22P02" && !isState(err, test.want) || test.want != "22P02" &&
					(err != nil || got != test.want) {
					t.Errorf("%v: %T as %s: %s, %v, want %s", mode, test.in, test.column, got, err,
						test.want)
				}
			}
			var got idtype.SnoID
			err := pool.QueryRow(t.Context(), "SELECT to_jsonb($1::text)", sno.String()).Scan(&got)
			if err != nil || got != sno {
				t.Errorf("%v: by to_jsonb: %v, %v", mode, got, err)
			}
		})
	}
}

// What the package's documentation says of connections that do not know the IDs.
func TestPgxUnregistered(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	eight := idtype.MustParse[idtype.EightByteID](pgxsuite.Deadbeef)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			pool := openPool(t, source, mode, nil)
			for _, c := range []struct {
				column    string
				id        any
				want      string
				described bool // only where the server says the type
			}{
				{"uuid", eight, "64656164-6265-6566-0000-000000000000", true},
				{"text", eight, "deadbeef", true},
				{"bigint[]", eight, "{100,101,97,100,98,101,101,102}", true},
				{"float4", pgxsuite.UserID(1<<24 + 1), "1.6777216e+07", false},
				{"jsonb", pgxsuite.UserID(7), "7", false},
			} {
				var got string
				err := pool.QueryRow(t.Context(), "SELECT ($1::"+c.column+")::text", c.id).Scan(&got)
				if want := !c.described || describes(mode); want != (err == nil && got == c.want) {
					t.Errorf("%v: %s: %s, %v", mode, c.column, got, err)
				}
			}
			for column, zero := range map[string]any{
				"bigint": pgxsuite.UserID(0), "text": idtype.Slice[pgxsuite.UserID]{0},
				"bytea": idtype.SnoID{},
			} {
				if _, err := pool.Exec(t.Context(), "SELECT $1::"+column, zero); !errors.Is(err,
					idtype.ErrZero) {
					t.Errorf("%v: zero as %s: %v", mode, column, err)
				}
			}
			var id pgxsuite.UserID
			if err := pool.QueryRow(t.Context(), `SELECT '"7"'::jsonb`).Scan(&id); err == nil {
				t.Errorf("%v: a string in jsonb is read", mode)
			}
			for _, expression := range []string{"'deadbeef'::text", "'10:00:00'::time"} {
				var got idtype.EightByteID
				err := pool.QueryRow(t.Context(), "SELECT "+expression, textFormat(mode)...).Scan(&got)
				if err != nil || got.IsZero() {
					t.Errorf("%v: %s: %v, %v", mode, expression, got, err)
				}
			}
			for column, list := range map[string]any{
				"bigint[]": []pgxsuite.UserID{7},
				"int8range": pgtype.Range[pgxsuite.UserID]{
					Lower: 7, LowerType: pgtype.Inclusive,
					UpperType: pgtype.Unbounded, Valid: true,
				},
			} {
				_, err := pool.Exec(t.Context(), "SELECT $1::"+column, list)
				if (err == nil) != describes(mode) {
					t.Errorf("%v: %T: %v", mode, list, err)
				}
			}
		})
	}
}

// textFormat asks for results as texts in the modes in which they are not that anyway.
func textFormat(mode pgx.QueryExecMode) []any {
	if describes(mode) {
		return []any{pgx.QueryResultFormats{pgx.TextFormatCode}}
	}
	return nil
}

// A type that pgx does not know is as without the package, until it is registered before.
func TestPgxUnknownTypes(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	setUp := openPool(t, source, modes[0], nil)
	for _, ddl := range []string{
		"CREATE EXTENSION citext",
		"CREATE TYPE mood AS ENUM ('deadbeef')",
	} {
		if _, err := setUp.Exec(t.Context(), ddl); err != nil {
			t.Fatal(err)
		}
	}
	var oid uint32
	try(t, setUp.QueryRow(t.Context(), "SELECT 'citext'::regtype::oid").Scan(&oid))
	withCitext := func(ctx context.Context, conn *pgx.Conn) error {
		conn.TypeMap().RegisterType(&pgtype.Type{
			Name: "citext", OID: oid,
			Codec: pgtype.TextCodec{},
		})
		return pgxid.AfterConnect(ctx, conn)
	}
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			without, with := openPool(t, source, mode, pgxid.AfterConnect), openPool(t, source, mode,
				withCitext)
			var got idtype.EightByteID
			for _, expression := range []string{"'deadbeef'::citext", "'deadbeef'::mood"} {
				if err := without.QueryRow(t.Context(), "SELECT "+expression).Scan(&got); err != nil {
					t.Errorf("%v: %s: %v", mode, expression, err)
				}
			}
			err := with.QueryRow(t.Context(), "SELECT 'deadbeef'::citext").Scan(&got)
			if !isStorageError(err, idtype.StorageBytes, "citext") ||
				!strings.Contains(err.Error(), `"deadbeef"`) {
				t.Errorf("%v: citext: %v", mode, err)
			}
			err = without.QueryRow(t.Context(), "SELECT 'deadbeef'::mood::text").Scan(&got)
			if !isStorageError(err, idtype.StorageBytes, "text") {
				t.Errorf("%v: an enum as text: %v", mode, err)
			}
		})
	}
}
