package adapters_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
	"github.com/idmint/idmint/sqlid/pgxid/pgxsuite"
)

// A lone ID in a column of JSON is what it is within a struct: its MarshalJSON. Where the server
// does not say the type, it is sent as any ID. Then integers become numbers, which are read as
// well. Others are no JSON.
func TestPgxJSON(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	setUp := openPool(t, source, modes[0], nil)
	if _, err := setUp.Exec(t.Context(), "CREATE TABLE documents (j json, b jsonb)"); err != nil {
		t.Fatal(err)
	}
	inModes(t, source, func(t *testing.T, pool *pgxpool.Pool) {
		for _, column := range []string{"json", "jsonb"} {
			for _, s := range pgxsuite.Samples {
				for _, value := range s.Values {
					testJSON(t, pool, column, s, value)
				}
				want, err := json.Marshal(s.List)
				try(t, err)
				var got string
				err = pool.QueryRow(t.Context(), "SELECT ($1::"+column+")::text", s.List).Scan(&got)
				if describes(modeOf(pool)) && (got != string(want) || err != nil) {
					t.Errorf("%T as %s: %s, %v, want %s", s.List, column, got, err, want)
				}
			}
			testNoID(t, pool, column)
		}
		// COPY says the type in every mode.
		for _, s := range pgxsuite.Samples {
			want, err := json.Marshal(s.Values[0])
			try(t, err)
			if _, err := setUp.Exec(t.Context(), "TRUNCATE documents"); err != nil {
				t.Fatal(err)
			}
			for _, value := range s.Values {
				rows := pgx.CopyFromRows([][]any{{value, value}})
				_, err := pool.CopyFrom(t.Context(), pgx.Identifier{"documents"},
					[]string{"j", "b"}, rows)
				if err != nil {
					t.Errorf("COPY of %T: %v", value, err)
				}
			}
			var n int
			count := "SELECT count(*) FROM documents WHERE j::text = $1 AND b::text = $1"
			if err := setUp.QueryRow(t.Context(), count, string(want)).Scan(&n); err != nil ||
				n != len(s.Values) {
				t.Errorf("%s: %d rows of %s by COPY, %v", s.Name, n, want, err)
			}
		}
	})
}

func testJSON(t *testing.T, pool *pgxpool.Pool, column string, s pgxsuite.Sample, value any) {
	want, err := json.Marshal(s.Values[0])
	try(t, err)
	got := reflect.New(reflect.TypeOf(value))
	var stored string
	err = pool.QueryRow(t.Context(), "SELECT $1::"+column+", ($1::"+column+")::text",
		value).Scan(got.Interface(), &stored)
	switch {
	case !describes(modeOf(pool)) && s.Form != idtype.StorageBigint:
		if !isState(err, "22P02") {
			t.Errorf("%T as %s: %s, %v", value, column, stored, err)
		}
		return
	case err != nil || !reflect.DeepEqual(got.Elem().Interface(), value):
		t.Errorf("%T as %s came back as %v, %v", value, column, got.Elem(), err)
	case describes(modeOf(pool)) && stored != string(want):
		t.Errorf("%T as %s is %s, want %s", value, column, stored, want)
	}
	if !describes(modeOf(pool)) {
		return
	}
	for _, format := range []int16{pgx.TextFormatCode, pgx.BinaryFormatCode} {
		got.Elem().SetZero()
		err := pool.QueryRow(t.Context(), "SELECT $1::"+column, pgx.QueryResultFormats{format},
			value).Scan(got.Interface())
		if err != nil || !reflect.DeepEqual(got.Elem().Interface(), value) {
			t.Errorf("%T as %s in format %d came back as %v, %v", value, column, format,
				got.Elem(), err)
		}
		many := s.Many()
		err = pool.QueryRow(t.Context(), "SELECT $1::"+column+"[]",
			pgx.QueryResultFormats{format}, s.List).Scan(many)
		if err != nil || !reflect.DeepEqual(reflect.ValueOf(many).Elem().Interface(), s.List) {
			t.Errorf("%T as %s[] in format %d came back as %v, %v", s.List, column, format, many,
				err)
		}
	}
}

// testNoID is for zero, NULL, JSON's null and what is no ID.
func testNoID(t *testing.T, pool *pgxpool.Pool, column string) {
	ctx, id := t.Context(), pgxsuite.UserID(7)
	for _, zero := range []any{
		pgxsuite.UserID(0), new(pgxsuite.UserID), sql.Null[pgxsuite.UserID]{Valid: true}, idtype.SnoID{},
	} {
		_, err := pool.Exec(ctx, "SELECT $1::"+column, zero)
		if !errors.Is(err, idtype.ErrZero) {
			t.Errorf("zero %T as %s: %v", zero, column, err)
		}
	}
	for _, null := range []any{
		(*pgxsuite.UserID)(nil),
		sql.Null[pgxsuite.UserID]{},
		sqlid.Null[pgxsuite.UserID]{},
		sql.Null[idtype.SnoID]{},
	} {
		var got *string
		err := pool.QueryRow(ctx, "SELECT ($1::"+column+")::text", null).Scan(&got)
		if err != nil || got != nil {
			t.Errorf("%T as %s: %v, %v", null, column, got, err)
		}
	}
	if describes(modeOf(pool)) {
		var got string
		err := pool.QueryRow(ctx, "SELECT ($1::"+column+")::text",
			idtype.OrZero[pgxsuite.UserID]{}).Scan(&got)
		if err != nil || got != "null" {
			t.Errorf("none as %s: %s, %v", column, got, err)
		}
	}
	for _, null := range []string{"NULL", "'null'"} {
		pointer, none := &id, idtype.OrZero[pgxsuite.UserID]{ID: 7}
		wrapped, ours := sql.Null[pgxsuite.UserID]{V: 7, Valid: true}, sqlid.NullOf(id)
		query := "SELECT " + null + "::" + column
		if err := pool.QueryRow(ctx, query).Scan(&id); !errors.Is(err, idtype.ErrNull) || id != 7 {
			t.Errorf("%s into an ID: %v, %v", null, id, err)
		}
		err := pool.QueryRow(ctx, strings.Replace("SELECT %, %, %", "%", null+"::"+column, 3)).
			Scan(&pointer, &wrapped, &ours)
		if err != nil || pointer != nil || wrapped.Valid || ours.Valid {
			t.Errorf("%s into wrappers: %v, %v, %v, %v", null, pointer, wrapped, ours, err)
		}
		err = pool.QueryRow(ctx, query).Scan(&none)
		if null == "NULL" && (!errors.Is(err, idtype.ErrNull) || none.ID != 7) ||
			null != "NULL" && (err != nil || !none.IsZero()) {
			t.Errorf("%s into OrZero: %v, %v", null, none, err)
		}
	}
	// What no UnmarshalJSON takes; a text of 8 characters is 10 with its quotes, which is a Sno's
	// number of bytes.
	for _, text := range []string{
		`"deadbeef"`, `"123456"`, "1e-3", "5.0", "-5", "{}", "[7]",
		"true", "12345678", " 5 x",
	} {
		for _, dst := range []any{&idtype.EightByteID{}, &idtype.SnoID{}, new(*idtype.SnoID)} {
			err := pool.QueryRow(ctx, "SELECT '"+text+"'::"+column).Scan(dst)
			if err == nil || !reflect.ValueOf(dst).Elem().IsZero() {
				t.Errorf("%s as %s into %T: %v, %v", text, column, dst,
					reflect.ValueOf(dst).Elem(), err)
			}
		}
	}
	var got pgxsuite.UserID
	if err := pool.QueryRow(ctx, "SELECT ' \"7\" '::"+column).Scan(&got); err != nil || got != 7 {
		t.Errorf("white space around the ID in %s: %v, %v", column, got, err)
	}
}

// Under database/sql parameters are checked as well.
func TestPgxDatabaseSQL(t *testing.T) {
	t.Parallel()
	config, err := pgx.ParseConfig(dbtest.New(t, databases.Postgres).Source())
	try(t, err)
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(pgxid.AfterConnect))
	defer db.Close()
	if _, err := db.Exec("SELECT $1::float8", pgxsuite.UserID(7)); !isStorageError(err,
		idtype.StorageBigint, "float8") {
		t.Errorf("an ID as float8: %v", err)
	}
	var got string
	if err := db.QueryRow("SELECT ($1::jsonb)::text", pgxsuite.UserID(7)).Scan(&got); err != nil ||
		got != `"7"` {
		t.Errorf("an ID as jsonb: %s, %v", got, err)
	}
	var id pgxsuite.UserID
	if err := db.QueryRow("SELECT ($1::jsonb)#>>'{}'", pgxsuite.UserID(7)).Scan(&id); err != nil ||
		id != 7 {
		t.Errorf("an ID as jsonb: %v, %v", id, err)
	}
}

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
	withCitext := pgxid.After(func(_ context.Context, conn *pgx.Conn) error {
		conn.TypeMap().RegisterType(&pgtype.Type{
			Name: "citext", OID: oid,
			Codec: pgtype.TextCodec{},
		})
		return nil
	})
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
