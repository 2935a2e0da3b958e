package adapters_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
	"github.com/idmint/idmint/sqlid/pgxid/pgxsuite"
)

var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// openPool opens a database by whose connections a mode is the default.
func openPool(
	t testing.TB, source string, mode pgx.QueryExecMode,
	afterConnect func(context.Context, *pgx.Conn) error,
) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(source)
	try(t, err)
	config.AfterConnect = afterConnect
	config.ConnConfig.DefaultQueryExecMode = mode
	config.ConnConfig.RuntimeParams["synchronous_commit"] = "off" // which takes most of the time
	config.MaxConns = 3
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	try(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// A kind is a type of IDs, with what its tests need.
type pgxKind struct {
	name string
	test func(t *testing.T, pool *pgxpool.Pool, formats []int16)
}

// Each key is of an entity of its own, which nobody has told the package about.
var pgxKinds = []pgxKind{
	kindOf[pgxsuite.UserID]("bigint", 1, formats.DecimalMax, 14150009200065,
		math.MaxInt64),
	kindOf("bigint", idtype.Trace[pgxsuite.User](1),
		idtype.MustParse[idtype.Trace[pgxsuite.User]]("4646428214845635103"), math.MaxInt64),
	kindOf("bigint", idtype.Short[pgxsuite.User](1),
		idtype.MustParse[idtype.Short[pgxsuite.User]]("xinaS8QBh"), math.MaxInt64),
	kindOf("bigint", idtype.Sequence[pgxsuite.User](1), 57, math.MaxInt64),
	kindOf("bigint", idtype.DecimalID(1), 14150009200065),
	kindOf("bytea", pgxsuite.EightBytes[pgxsuite.User]()...),
	kindOf("bigint", pgxsuite.EightBytes[idtype.AsBigint[pgxsuite.User]]()...),
	kindOf("bytea", pgxsuite.Snos[pgxsuite.User]()...),
	kindOf("uuid", pgxsuite.Snos[idtype.AsUUID[pgxsuite.User]]()...),
	kindOf("text", pgxsuite.Snos[idtype.AsText[pgxsuite.User]]()...),
	kindOf(`varchar(16)`, pgxsuite.Snos[idtype.AsText[pgxsuite.User]]()...),
	kindOf(`char(16)`, pgxsuite.Snos[idtype.AsText[pgxsuite.User]]()...),
}

type row[T any] struct {
	ID   T
	Team *T
	Name string
}

func kindOf[T idtype.ID](column string, ids ...T) pgxKind {
	return pgxKind{
		name: strings.NewReplacer("idtype.", "", "github.com/idmint/idmint/",
			"").Replace(fmt.Sprintf("%T in %s", ids[0], column)),
		test: func(t *testing.T, pool *pgxpool.Pool, formats []int16) {
			testValues(t, pool, formats, column, ids)
			if formats == nil {
				testRows(t, pool, column, ids)
			}
		},
	}
}

func nulls[T idtype.ID, N any](ids []T, of func(T) N) (all []N) {
	for _, id := range ids {
		all = append(all, of(id))
	}
	return append(all, of(*new(T)))
}

// testValues takes values to the server and back.
func testValues[T idtype.ID](
	t *testing.T, pool *pgxpool.Pool, formats []int16, column string, ids []T,
) {
	type value struct {
		column string
		in     any
		want   any // what comes back, which is what went in if this is nil
	}
	sqlNull := func(id T) sql.Null[T] { return sql.Null[T]{V: id, Valid: !id.IsZero()} }
	orZero := func(id T) idtype.OrZero[T] { return idtype.OrZero[T]{ID: id} }
	pointer := func(id T) *T {
		if id.IsZero() {
			return nil
		}
		return &id
	}
	pointers := nulls(ids, pointer)
	array := column + "[]"
	values := []value{
		{column, &ids[0], ids[0]},
		{column, (*T)(nil), sql.Null[T]{}},
		{column, nil, (*T)(nil)},
		{array, ids, nil},
		{array, []T{}, nil},
		{array, []T(nil), nil},
		{array, &ids, ids},
		{array, pointers, nil},
		{array, nulls(ids, sqlNull), nil},
		{array, nulls(ids, sqlid.NullOf), nil},
		{array, nulls(ids, orZero), nil},
		{array, ids, idtype.Slice[T](ids)},
		{array, pgtype.FlatArray[T](ids), nil},
		{array, pgtype.FlatArray[*T](pointers), nil},
		{
			array,
			pgtype.Array[T]{
				Elements: ids,
				Dims:     []pgtype.ArrayDimension{{Length: int32(len(ids)), LowerBound: 1}},
				Valid:    true,
			},
			nil,
		},
		{
			array,
			pgtype.Array[*T]{
				Elements: pointers,
				Dims:     []pgtype.ArrayDimension{{Length: int32(len(pointers)), LowerBound: 1}},
				Valid:    true,
			},
			nil,
		},
	}
	if describes(modeOf(pool)) { // else a Slice is JSON
		values = append(values, value{array, idtype.Slice[T](ids), nil},
			value{array, idtype.Slice[T](ids), ids},
			value{array, idtype.Slice[T]{}, nil})
	}
	for _, id := range append(slices.Clone(ids), *new(T)) {
		if !id.IsZero() {
			values = append(values, value{column, id, nil})
		}
		values = append(values, value{column, pointer(id), nil}, value{column, sqlNull(id), nil},
			value{column, sqlid.NullOf(id), nil},
			value{column, orZero(id), nil})
	}
	if column == "bigint" && ids[0].Scheme() != idtype.SchemeEightByte {
		whole := pgtype.Range[T]{
			Lower: ids[0], Upper: ids[1], LowerType: pgtype.Inclusive,
			UpperType: pgtype.Exclusive, Valid: true,
		}
		values = append(values, value{"int8range", whole, nil}, value{"int8range", &whole, whole},
			value{
				"int8range",
				pgtype.Range[T]{
					Lower: ids[1], LowerType: pgtype.Inclusive, UpperType: pgtype.Unbounded,
					Valid: true,
				},
				nil,
			},
			value{
				"int8range",
				pgtype.Range[T]{LowerType: pgtype.Empty, UpperType: pgtype.Empty, Valid: true},
				nil,
			},
			value{"int8range", pgtype.Range[T]{}, nil})
	}
	for _, v := range values {
		if v.want == nil {
			v.want = v.in
		}
		got := reflect.New(reflect.TypeOf(v.want))
		args := []any{v.in}
		if formats != nil {
			args = []any{pgx.QueryResultFormats(formats), v.in}
		}
		err := pool.QueryRow(t.Context(), "SELECT $1::"+v.column, args...).Scan(got.Interface())
		if err != nil {
			t.Errorf("%T as %s into %T: %v", v.in, v.column, v.want, err)
		} else if !reflect.DeepEqual(got.Elem().Interface(), v.want) {
			t.Errorf("%T as %s: got %v, want %v", v.in, v.column, got.Elem(), v.want)
		}
	}
}

// tables counts the tables: pgx keeps the statements that it prepared, with the types that a table
// of the same name had.
var pgxTables atomic.Int64

// testRows takes IDs as keys through a table, by every way that pgx has for rows.
func testRows[T idtype.ID](t *testing.T, pool *pgxpool.Pool, column string, ids []T) {
	ctx := t.Context()
	must := func(_ any, err error) {
		t.Helper()
		try(t, err)
	}
	table := fmt.Sprint("t", pgxTables.Add(1))
	must(pool.Exec(ctx, fmt.Sprintf(
		"CREATE UNLOGGED TABLE %s (id %s PRIMARY KEY, team %s, name text)", table, column, column,
	)))
	defer func() { must(pool.Exec(context.Background(), "DROP TABLE "+table)) }()

	var want []row[T]
	var last *T
	for i, id := range ids {
		want = append(want, row[T]{id, last, fmt.Sprint("row ", i)})
		last = &id
	}
	n, err := pool.CopyFrom(ctx, pgx.Identifier{table}, []string{"id", "team", "name"},
		pgx.CopyFromSlice(len(want), func(i int) ([]any, error) {
			return []any{want[i].ID, want[i].Team, want[i].Name}, nil
		}))
	if err != nil || int(n) != len(want) {
		t.Fatalf("CopyFrom: %d rows, %v", n, err)
	}
	for name, to := range map[string]pgx.RowToFunc[row[T]]{
		"name": pgx.RowToStructByName[row[T]], "position": pgx.RowToStructByPos[row[T]],
		"address": func(r pgx.CollectableRow) (row[T], error) {
			p, err := pgx.RowToAddrOfStructByName[row[T]](r)
			return *p, err
		},
	} {
		rows, err := pool.Query(ctx, "SELECT id, team, name FROM "+table+
			" WHERE id = ANY($1) ORDER BY name", ids)
		try(t, err)
		if got, err := pgx.CollectRows(rows, to); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("rows by %s: %v, %v; want %v", name, got, err, want)
		}
	}
	var batch pgx.Batch
	for _, r := range want {
		batch.Queue("UPDATE "+table+" SET team = $1 WHERE id = $2 AND team IS NOT DISTINCT FROM $3",
			r.ID, r.ID, r.Team)
	}
	batch.Queue("SELECT array_agg(team ORDER BY name) FROM " +
		table).QueryRow(func(r pgx.Row) error {
		var teams []T
		err := r.Scan(&teams)
		if !slices.Equal(teams, ids) {
			t.Errorf("after the batch: %v, %v; want %v", teams, err, ids)
		}
		return err
	})
	if err := pool.SendBatch(ctx, &batch).Close(); err != nil {
		t.Errorf("batch: %v", err)
	}

	// Zero is refused, alone and in a list; NULL is not read into a plain ID, which stays as it
	// was.
	var zero T
	for _, bad := range []any{
		zero, &zero,
		[]T{ids[0], zero},
		[]*T{&zero},
		sql.Null[T]{Valid: true},
		idtype.Slice[T]{zero},
	} {
		cast := column
		if k := reflect.TypeOf(bad).Kind(); k == reflect.Slice {
			cast += "[]"
		}
		if _, err := pool.Exec(ctx, "SELECT $1::"+cast, bad); !errors.Is(err, idtype.ErrZero) {
			t.Errorf("zero in %T: %v", bad, err)
		}
	}
	_, err = pool.CopyFrom(ctx, pgx.Identifier{table}, []string{"id"},
		pgx.CopyFromRows([][]any{{zero}}))
	if err == nil ||
		// pgx lets the server say what it told it
		!strings.Contains(err.Error(), idtype.ErrZero.Error()) {
		t.Errorf("zero by CopyFrom: %v", err)
	}
	got, many := ids[0], ids
	err = pool.QueryRow(ctx, "SELECT NULL::"+column).Scan(&got)
	if !errors.Is(err, idtype.ErrNull) || !strings.Contains(err.Error(), "sql.Null") || got != ids[0] {
		t.Errorf("NULL: %v, and the ID is %v", err, got)
	}
	if err := pool.QueryRow(ctx, "SELECT ARRAY[NULL]::"+column+"[]").Scan(&many); !errors.Is(err,
		idtype.ErrNull) {
		t.Errorf("NULL in an array: %v", err)
	}
}

func TestPgxModes(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			pool := openPool(t, source, mode, pgxid.AfterConnect)
			for _, k := range pgxKinds {
				t.Run(k.name, func(t *testing.T) { k.test(t, pool, nil) })
			}
		})
	}
	pool := openPool(t, source, pgx.QueryExecModeCacheStatement, pgxid.AfterConnect)
	for name, format := range map[string]int16{
		"text":   pgx.TextFormatCode,
		"binary": pgx.BinaryFormatCode,
	} {
		t.Run(name, func(t *testing.T) {
			for _, k := range pgxKinds {
				t.Run(k.name, func(t *testing.T) { k.test(t, pool, []int16{format}) })
			}
		})
	}
}

// What does not concern IDs is as without the package.
func TestPgxOthersStay(t *testing.T) {
	t.Parallel()
	source := dbtest.New(t, databases.Postgres).Source()
	for _, mode := range apart {
		t.Run(mode.String(), func(t *testing.T) {
			with, without := openPool(t, source, mode, pgxid.AfterConnect),
				openPool(t, source, mode, nil)
			for _, expression := range []string{
				"5::bigint", "ARRAY[5, 6]::bigint[]", "ARRAY[[5], [6]]::bigint[]", "int8range(5, 6)",
				`'\x0102'::bytea`,
				"'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'::uuid", "'x'::text", "'x'::char(3)",
				"ARRAY['x', NULL]", "(5::bigint, 'x'::text)", "NULL::bigint",
			} {
				var got, want any
				err, errWithout := with.QueryRow(t.Context(), "SELECT "+expression).Scan(&got),
					without.QueryRow(t.Context(), "SELECT "+expression).Scan(&want)
				if err != nil || errWithout != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%v: %s as any: %#v, %v; without %#v, %v", mode, expression, got, err,
						want, errWithout)
				}
			}
		})
	}
	pool := openPool(t, source, pgx.QueryExecModeCacheStatement, pgxid.AfterConnect)
	if _, err := pool.Exec(t.Context(), "CREATE TABLE lists (a bigint[])"); err != nil {
		t.Fatal(err)
	}
	_, err := pool.CopyFrom(t.Context(), pgx.Identifier{"lists"}, []string{"a"},
		pgx.CopyFromRows([][]any{{"{{1,2},{3,4}}"}}))
	try(t, err)
	var a string
	if err := pool.QueryRow(t.Context(), "SELECT a::text FROM lists").Scan(&a); err != nil ||
		a != "{{1,2},{3,4}}" {
		t.Errorf("a text copied into an array of two dimensions: %s, %v", a, err)
	}
}
