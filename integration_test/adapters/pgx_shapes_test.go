package adapters_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid/pgxid"
	"github.com/idmint/idmint/sqlid/pgxid/pgxsuite"
)

// A Slice is an array for a column of arrays where the server says that it is one. Everywhere else
// it is JSON. No column stores it as something that its Scan does not read.
func TestPgxSlices(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	_, err := openPool(t, source, modes[0], nil).Exec(t.Context(), "CREATE EXTENSION citext")
	try(t, err)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			testSlices(t, openPool(t, source, mode, pgxid.AfterConnect), true)
			testSlices(t, openPool(t, source, mode, nil), false)
		})
	}
}

func testSlices(t *testing.T, pool *pgxpool.Pool, registered bool) {
	type slice = idtype.Slice[pgxsuite.UserID]
	mode := modeOf(pool)
	for _, in := range []struct {
		slice slice
		json  string
	}{{slice{1, 2}, `["1","2"]`}, {slice{}, "[]"}, {nil, "[]"}} {
		for _, column := range []string{"text", "varchar", "bpchar", "json", "jsonb", "citext"} {
			var got string
			var back slice
			query := "SELECT ($1::" + column + ")::text, $1::" + column
			err := pool.QueryRow(t.Context(), query, in.slice).Scan(&got, &back)
			if strings.ReplaceAll(got, " ", "") != in.json ||
				!slices.Equal(back, in.slice) || err != nil {
				t.Errorf("%v, %v: %#v as %s is %s, %v, %v", registered, mode, in.slice,
					column, got, back, err)
			}
		}
		var back slice
		// Such an array is made by UPDATE t SET ids[0] = …, and both of pgx's formats read it.
		err := pool.QueryRow(t.Context(), "SELECT '[0:1]={8,9}'::bigint[]").Scan(&back)
		if !slices.Equal(back, slice{8, 9}) || err != nil {
			t.Errorf("%v, %v: an array from 0 on is %v, %v", registered, mode, back, err)
		}
		err = pool.QueryRow(t.Context(), "SELECT $1::bigint[]", in.slice).Scan(&back)
		if registered && describes(mode) && in.slice != nil {
			if !slices.Equal(back, in.slice) || err != nil {
				t.Errorf("%v: %#v as an array is %v, %v", mode, in.slice, back, err)
			}
		} else if !isState(err, "22P02") {
			t.Errorf("%v, %v: %#v as an array is %v, %v", registered, mode, in.slice,
				back, err)
		}
	}
	if !registered || !describes(mode) {
		return
	}
	for _, column := range []string{"name", "bytea", "int8range", "xml", "bigint"} {
		_, err := pool.Exec(t.Context(), "SELECT $1::"+column, slice{1, 2})
		var e *pgxid.StorageError
		if !errors.As(err, &e) || !strings.Contains(err.Error(),
			"an array or JSON, but the column is") {
			t.Errorf("%v: a slice as %s: %v", mode, column, err)
		}
	}
}

// Arrays of several dimensions, of ranges, multiranges, Go's arrays and composites.
func TestPgxShapes(t *testing.T) {
	t.Parallel()
	type span = pgtype.Range[pgxsuite.UserID]
	type sno = idtype.Sno[idtype.AsUUID[pgxsuite.User]]
	s := span{
		Lower: 5, Upper: 9, LowerType: pgtype.Inclusive, UpperType: pgtype.Exclusive,
		Valid: true,
	}
	id := idtype.MustParse[sno](pgxsuite.SnoText)
	zero := s
	zero.Upper = 0
	source := dbtest.New(t, databases.Postgres).Source()
	_, err := openPool(t, source, modes[0], nil).Exec(t.Context(),
		"CREATE TYPE member AS (id bigint, name text)")
	try(t, err)
	inModes(t, source, func(t *testing.T, pool *pgxpool.Pool) {
		for _, test := range []struct {
			column string
			in     any
			want   string
		}{
			{"bigint[]", [][]pgxsuite.UserID{{1, 2}, {3, 4}}, "{{1,2},{3,4}}"},
			{"bigint[]", [][][]pgxsuite.UserID{{{1}, {2}}, {{3}, {4}}}, "{{{1},{2}},{{3},{4}}}"},
			{"bigint[]", [][]*pgxsuite.UserID{{nil}}, "{{NULL}}"},
			{"bigint[]", [][]pgxsuite.UserID{}, "{}"},
			{"bigint[]", [][]pgxsuite.UserID{{}, {}}, "{}"},
			{"uuid[]", [][]sno{{id}}, "{{" + pgxsuite.SnoUUID + "}}"},
			{"bigint[]", [2]pgxsuite.UserID{1, 2}, "{1,2}"},
			{"uuid[]", [1]sno{id}, "{" + pgxsuite.SnoUUID + "}"},
			{"bytea[]", &[1]idtype.SnoID{idtype.SnoID(id)}, `{"\\x335f48168d9e8808dc82"}`},
			{"int8range[]", []span{s, {}}, `{"[5,9)",NULL}`},
			{"int8range[]", []*span{&s, nil}, `{"[5,9)",NULL}`},
			{"int8range[]", pgtype.FlatArray[span]{s}, `{"[5,9)"}`},
			{"int8multirange", pgtype.Multirange[span]{s}, "{[5,9)}"},
			{"int8multirange", pgtype.Multirange[span]{}, "{}"},
		} {
			var got string
			err := pool.QueryRow(t.Context(), "SELECT ($1::"+test.column+")::text",
				test.in).Scan(&got)
			if err != nil || got != test.want {
				t.Errorf("%T: %s, %v", test.in, got, err)
			}
			if reflect.TypeOf(test.in).Kind() == reflect.Pointer {
				continue
			}
			back := reflect.New(reflect.TypeOf(test.in))
			err = pool.QueryRow(t.Context(), "SELECT $1::"+test.column,
				test.in).Scan(back.Interface())
			if err != nil || !reflect.DeepEqual(back.Elem().Interface(), test.in) &&
				test.want != "{}" {
				t.Errorf("%T came back as %v, %v", test.in, back.Elem(), err)
			}
		}
		for _, ragged := range []any{
			[][]pgxsuite.UserID{{1}, {2, 3}}, [][][]pgxsuite.UserID{{{1}}, {{2, 3}}},
		} {
			_, err := pool.Exec(t.Context(), "SELECT $1::bigint[]", ragged)
			if err == nil || !strings.Contains(err.Error(), "unequal") {
				t.Errorf("slices of unequal lengths: %v", err)
			}
		}
		if describes(modeOf(pool)) {
			_, err := pool.Exec(t.Context(), "SELECT $1::uuid[]",
				[2]idtype.SnoID{idtype.SnoID(id), {}})
			if !isStorageError(err, idtype.StorageBytes, "uuid[]") {
				t.Errorf("an array of Go as uuid[]: %v", err)
			}
		}
		for column, bad := range map[string]any{
			"bigint[]": [][]pgxsuite.UserID{{1, 2}, {3, 0}}, "uuid[]": [2]sno{id, {}},
			"int8range": zero, "int8range[]": []span{
				s,
				zero,
			}, "int8multirange": pgtype.Multirange[span]{zero},
		} {
			if _, err := pool.Exec(t.Context(), "SELECT $1::"+column, bad); !errors.Is(err,
				idtype.ErrZero) {
				t.Errorf("zero in %T: %v", bad, err)
			}
		}
		testComposite(t, pool)
	})
}

type member struct {
	ID   pgxsuite.UserID
	Name string
}

// A composite is what pgx makes of it: where the server does not say the type, the map must know
// it.
func testComposite(t *testing.T, pool *pgxpool.Pool) {
	c, err := pool.Acquire(t.Context())
	try(t, err)
	defer c.Release()
	types, err := c.Conn().LoadTypes(t.Context(), []string{"member"})
	try(t, err)
	m := c.Conn().TypeMap()
	m.RegisterTypes(types)
	in, got := member{7, "Ann"}, member{}
	query := func() error { return c.QueryRow(t.Context(), "SELECT $1::member", in).Scan(&got) }
	if err := query(); (err == nil) != describes(modeOf(pool)) {
		t.Errorf("a composite without a default type: %v", err)
	}
	m.RegisterDefaultPgType(member{}, "member")
	if err := query(); err != nil || got != in {
		t.Errorf("a composite: %v, %v", got, err)
	}
	in.ID = 0
	if err := query(); !errors.Is(err, idtype.ErrZero) {
		t.Errorf("zero in a composite: %v", err)
	}
}
