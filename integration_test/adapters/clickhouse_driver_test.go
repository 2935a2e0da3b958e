package adapters_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
)

// Rows one by one: every ID comes back as it was, by Scan and by Collect.
func (f fixture[T]) testRows(t *testing.T, d dsn.DSN) {
	ctx, conn := connectClickHouse(t, d)
	createTable(t, conn, "t", f.column().PrimaryKey().String(), "n Int32")
	want := f.IDs(100)
	insertBatch(t, conn, "t", func(b driver.Batch) error {
		for i, id := range want {
			if err := b.Append(clickhouse.Field[T]{ID: id}, int32(i)); err != nil {
				return err
			}
		}
		return nil
	})
	same(t, collectIDs[T](t, conn, "SELECT id FROM t ORDER BY n"), want)
	var got []T
	for _, field := range scanned(t, conn, "SELECT id FROM t ORDER BY n", clickhouse.Field[T]{}) {
		got = append(got, field.ID)
	}
	same(t, got, want)
	var typ string
	try(t, conn.QueryRow(ctx, "SELECT toTypeName(id) FROM t LIMIT 1").Scan(&typ))
	if typ != f.Type || typ != f.column().Type() {
		t.Fatalf("the column is %s, want %s", typ, f.Type)
	}
}

// scanned reads a column into values that hold something stale.
func scanned[D any](t *testing.T, conn driver.Conn, query string, stale D) (all []D) {
	t.Helper()
	rows := must(conn.Query(t.Context(), query))
	for rows.Next() {
		d := stale
		try(t, rows.Scan(&d))
		all = append(all, d)
	}
	try(t, rows.Err())
	return all
}

// AppendStruct, ScanStruct and Select with fields of every kind.
func (f fixture[T]) testStructs(t *testing.T, d dsn.DSN) {
	ctx, conn := connectClickHouse(t, d)
	createTable(t, conn, "t", f.column().PrimaryKey().String(),
		clickhouse.Column[T]{Name: "none"}.NotNull().String(),
		clickhouse.Column[T]{Name: "null"}.Nullable().String(),
		clickhouse.Column[T]{Name: "set"}.Nullable().String())
	type row struct {
		ID   clickhouse.Field[T] `ch:"id"`
		None idtype.OrZero[T]    `ch:"none"`
		Null sql.Null[T]         `ch:"null"`
		Set  sqlid.Null[T]       `ch:"set"`
	}
	var want []row
	for _, id := range f.IDs(10) {
		want = append(want, row{ID: clickhouse.Field[T]{ID: id}, Set: sqlid.NullOf(id)})
	}
	insertBatch(t, conn, "t", func(b driver.Batch) error {
		for _, r := range want {
			if err := b.AppendStruct(&r); err != nil {
				return err
			}
		}
		return nil
	})
	var got []row
	try(t, conn.Select(ctx, &got, "SELECT * FROM t"))
	if !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	var one row
	try(t, conn.QueryRow(ctx, "SELECT * FROM t LIMIT 1").ScanStruct(&one))
	if one != want[0] {
		t.Fatalf("got %v, want %v", one, want[0])
	}
}

// Whole columns, more than one chunk of them, into columns of the type and into those that
// clickhouse-go takes the same for.
func (f fixture[T]) testColumns(t *testing.T, d dsn.DSN) {
	_, conn := connectClickHouse(t, d)
	types := []string{f.Type}
	if f.Type == "FixedString(16)" {
		types = append(types, "String")
	}
	for i, typ := range types {
		table := fmt.Sprintf("t%d", i)
		createTable(t, conn, table, "id "+typ)
		want := f.IDs(10_000)
		before := slices.Clone(want)
		insertBatch(t, conn, table, func(b driver.Batch) error {
			return clickhouse.Append(b.Column(0), want)
		})
		same(t, want, before)
		same(t, collectIDs[T](t, conn, "SELECT id FROM "+table), want)
		insertBatch(t, conn, table, func(b driver.Batch) error {
			return clickhouse.Append(b.Column(0), []T(nil))
		})
	}

	// A zero among them: no row is added, and the batch goes on.
	var zero T
	batch := must(conn.PrepareBatch(t.Context(), "INSERT INTO t0"))
	err := clickhouse.Append(batch.Column(0), append(f.IDs(5000), zero))
	var row *clickhouse.RowError
	if !errors.As(err, &row) || row.Row != len(f.Edge)+5000 || !errors.Is(err, idtype.ErrZero) ||
		batch.Rows() != 0 {
		t.Fatalf("%v, %d rows", err, batch.Rows())
	}
	try(t, clickhouse.Append(batch.Column(0), f.Edge))
	try(t, batch.Send())
	if n := len(collectIDs[T](t, conn, "SELECT id FROM t0")); n != 10_000+2*len(f.Edge) {
		t.Fatalf("%d rows", n)
	}
	// The batch's own error comes through, with what the column should be.
	createTable(t, conn, "other", "d Date")
	batch = must(conn.PrepareBatch(t.Context(), "INSERT INTO other"))
	err = clickhouse.Append(batch.Column(0), f.Edge)
	if errors.Unwrap(err) == nil || !strings.Contains(err.Error(), " to a column of type "+
		f.Type+": check the batch's order of columns and the table: ") {
		t.Fatalf("IDs into a column of dates: %v", err)
	}
	try(t, batch.Abort())
}

// inOrder reads IDs as they were inserted.
const inOrder = "SELECT id FROM t ORDER BY _part, _part_offset"

// NULL by rows and by columns.
func (f fixture[T]) testNulls(t *testing.T, d dsn.DSN) {
	ctx, conn := connectClickHouse(t, d)
	createTable(t, conn, "t", f.column().Nullable().String())
	var zero T
	ids := append(f.IDs(5000), zero, f.At(9), zero)
	insertBatch(t, conn, "t", func(b driver.Batch) error {
		return clickhouse.Append(b.Column(0), ids, clickhouse.OrNull)
	})
	insertBatch(t, conn, "t", func(b driver.Batch) error {
		return errors.Join(b.Append(sql.Null[T]{}), b.Append(sql.Null[T]{V: ids[0], Valid: true}),
			b.Append(nil))
	})
	var want, got []sql.Null[T]
	for _, id := range append(ids, zero, ids[0], zero) {
		want = append(want, sql.Null[T]{V: id, Valid: !id.IsZero()})
	}
	for _, n := range scanned(t, conn, inOrder, sql.Null[T]{V: f.At(1), Valid: true}) {
		if !n.Valid {
			n.V = zero
		}
		got = append(got, n)
	}
	same(t, got, want)
	var nulls uint64
	try(t, conn.QueryRow(ctx, "SELECT countIf(id IS NULL) FROM t").Scan(&nulls))
	if nulls != 4 {
		t.Fatalf("%d NULLs", nulls)
	}
	field := clickhouse.Field[T]{ID: f.At(1)}
	null := wrapped(conn.QueryRow(ctx, "SELECT id FROM t WHERE id IS NULL").Scan(&field))
	if err := null; !errors.Is(err, idtype.ErrNull) || field.ID != f.At(1) {
		t.Fatalf("NULL into an ID: %v, %v", field, err)
	}
}

// Zero for none in a column that is not Nullable: what OMITTED columns hold, what OrZero writes,
// and what the database counts.
func (f fixture[T]) testZeros(t *testing.T, d dsn.DSN) {
	ctx, conn := connectClickHouse(t, d)
	createTable(t, conn, "t", f.column().NotNull().String(), "n UInt8")
	var zero T
	ids := append(f.IDs(5000), zero, f.At(9), zero)
	insertBatch(t, conn, "t (id)", func(b driver.Batch) error {
		return clickhouse.Append(b.Column(0), ids, clickhouse.OrZero)
	})
	insertBatch(t, conn, "t (id)", func(b driver.Batch) error {
		return errors.Join(b.Append(idtype.OrZero[T]{}), b.Append(idtype.OrZero[T]{ID: ids[0]}))
	})
	insertBatch(t, conn, "t (n)", func(b driver.Batch) error { return b.Append(uint8(1)) })
	want := append(ids, zero, ids[0], zero)
	var got []T
	for _, o := range scanned(t, conn, inOrder, idtype.OrZero[T]{ID: f.At(1)}) {
		got = append(got, o.ID)
	}
	same(t, got, want)
	var defaults uint64
	try(t, conn.QueryRow(ctx,
		"SELECT countIf(id = defaultValueOfTypeName(toTypeName(id))) FROM t").Scan(&defaults))
	if defaults != 4 {
		t.Fatalf("%d zeros to the database", defaults)
	}
	try(t, conn.QueryRow(ctx, "SELECT count() FROM t WHERE id = ?",
		idtype.OrZero[T]{}).Scan(&defaults))
	if defaults != 4 {
		t.Fatalf("%d zeros by a placeholder", defaults)
	}
	// Nowhere else does zero go in or come out.
	batch := must(conn.PrepareBatch(ctx, "INSERT INTO t (id)"))
	if err := batch.Append(clickhouse.Field[T]{}); err == nil {
		t.Fatal("zero goes in")
	}
	try(t, batch.Abort())
	ids, err := clickhouse.Collect([]T{f.At(3)},
		must(conn.Query(ctx, "SELECT id FROM t ORDER BY n DESC LIMIT 2")))
	var row *clickhouse.RowError
	if !errors.As(err, &row) || row.Row != 0 || !errors.Is(err, idtype.ErrZero) || len(ids) != 1 {
		t.Fatalf("zero comes out: %v, %v", ids, err)
	}
}

func (f fixture[T]) testArrays(t *testing.T, d dsn.DSN) {
	ctx, conn := connectClickHouse(t, d)
	createTable(t, conn, "t", "ids Array("+f.Type+")")
	want := [][]T{f.Edge, {}, f.IDs(100)}
	insertBatch(t, conn, "t", func(b driver.Batch) error {
		for _, ids := range want {
			if err := b.Append(must(clickhouse.Array[T](ids).Elements())); err != nil {
				return err
			}
		}
		return nil
	})
	for i, got := range scanned(t, conn, "SELECT ids FROM t", clickhouse.Array[T]{f.At(7)}) {
		same(t, got, want[i])
	}
	var zero T
	if _, err := (clickhouse.Array[T]{f.At(1), zero}).Elements(); !errors.Is(err, idtype.ErrZero) {
		t.Fatalf("zero in an array: %v", err)
	}
	got := clickhouse.Array[T]{f.At(7)}
	err := wrapped(conn.QueryRow(
		ctx, fmt.Sprintf("SELECT [ids[1], defaultValueOfTypeName('%s')] FROM t LIMIT 1", f.Type),
	).Scan(&got))
	var element *clickhouse.ElementError
	if !errors.As(err, &element) || !errors.Is(err, idtype.ErrZero) || len(got) != 1 {
		t.Fatalf("zero out of an array: %v, %v", got, err)
	}
	if err := conn.QueryRow(ctx, "SELECT 'text'").Scan(&got); !errors.As(err, &element) &&
		err == nil {
		t.Fatal("an array out of a text")
	}
}

func (f fixture[T]) testMaps(t *testing.T, d dsn.DSN) {
	ctx, conn := connectClickHouse(t, d)
	createTable(t, conn, "t", "names Map("+f.Type+", String)")
	want := clickhouse.Map[T, string]{}
	for i, id := range f.IDs(20) {
		want[id] = fmt.Sprint(i)
	}
	insertBatch(t, conn, "t", func(b driver.Batch) error {
		return errors.Join(b.Append(want), b.Append(clickhouse.Map[T, string]{}))
	})
	rows := must(conn.Query(ctx, "SELECT names FROM t"))
	for i := 0; rows.Next(); i++ {
		got := clickhouse.Map[T, string]{f.At(1): "stale"}
		try(t, rows.Scan(&got))
		if i == 0 && !maps.Equal(got, want) || i == 1 && len(got) != 0 {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	try(t, rows.Err())
	var zero T
	if _, err := (clickhouse.Map[T, string]{zero: ""}).Value(); !errors.Is(err, idtype.ErrZero) {
		t.Fatalf("zero as a key: %v", err)
	}
	numbers := clickhouse.Map[T, int]{}
	if err := conn.QueryRow(ctx, "SELECT names FROM t LIMIT 1").Scan(&numbers); err == nil ||
		len(numbers) != 0 {
		t.Fatalf("texts as numbers: %v, %v", numbers, err)
	}
}

// Bound parameters find the ID that they are, and no other; so do values that the driver writes
// into the text, and lists of them.
func (f fixture[T]) testParams(t *testing.T, d dsn.DSN) {
	ctx, conn := connectClickHouse(t, d)
	createTable(t, conn, "t", f.column().PrimaryKey().String())
	ids := f.IDs(1)
	insertBatch(t, conn, "t", func(b driver.Batch) error {
		return clickhouse.Append(b.Column(0), ids)
	})
	one := "SELECT id FROM t WHERE id = {id:" + f.column().Type() + "}"
	for _, id := range ids {
		same(t, collectIDs[T](t, conn, one, ch.Named("id", clickhouse.Param(id))), []T{id})
		same(t, collectIDs[T](t, conn, "SELECT id FROM t WHERE id = ?", id), []T{id})
	}
	list := "SELECT id FROM t WHERE id IN {ids:Array(" + f.column().Type() +
		")} ORDER BY indexOf({ids:Array(" + f.column().Type() + ")}, id)"
	same(t, collectIDs[T](t, conn, list, ch.Named("ids", clickhouse.ParamArray(ids))), ids)
	same(t, collectIDs[T](t, conn, list, ch.Named("ids", clickhouse.ParamArray(ids[2:4]))), ids[2:4])
	same(t, collectIDs[T](t, conn, list, ch.Named("ids", clickhouse.ParamArray([]T(nil)))), nil)
	var zero T
	for _, q := range []struct {
		query string
		arg   any
	}{
		{one, ch.Named("id", clickhouse.Param(zero))},
		{list, ch.Named("ids", clickhouse.ParamArray([]T{ids[0], zero}))},
		{"SELECT id FROM t WHERE id = ?", zero},
	} {
		rows, err := conn.Query(ctx, q.query, q.arg)
		if err == nil {
			_, err = clickhouse.Collect[T](nil, rows)
		}
		if err == nil {
			t.Errorf("zero in %s: no error", q.query)
		} else if !bytes.Contains([]byte(err.Error()), []byte("zero means not assigned")) {
			t.Errorf("zero in %s: %v", q.query, err)
		}
	}
}

// Values of the column that are no ID are typed errors that quote them, and leave what was there.
func (f fixture[T]) testRefused(t *testing.T, d dsn.DSN) {
	ctx, conn := connectClickHouse(t, d)
	for _, bad := range f.Bad {
		query := fmt.Sprintf("SELECT CAST(? AS %s)", f.Type)
		field := clickhouse.Field[T]{ID: f.At(1)}
		err := wrapped(conn.QueryRow(ctx, query, bad).Scan(&field))
		var input *idtype.InputError
		if !errors.As(err, &input) || input.Input == "" || field.ID != f.At(1) {
			t.Errorf("%v by Scan: %v, %v", bad, field, err)
		}
		ids, err := clickhouse.Collect([]T{f.At(1)}, must(conn.Query(ctx, query, bad)))
		var row *clickhouse.RowError
		if !errors.As(err, &row) || !errors.As(err, &input) || len(ids) != 1 {
			t.Errorf("%v by Collect: %v, %v", bad, ids, err)
		}
	}
}

// A constraint takes what is an ID, and of what is none, all that Scan refuses.
func (f fixture[T]) testChecked(t *testing.T, d dsn.DSN) {
	ctx, conn := connectClickHouse(t, d)
	try(t, conn.Exec(ctx, fmt.Sprintf(
		"CREATE OR REPLACE TABLE t (%v, CONSTRAINT ids CHECK %s) ENGINE = Memory", f.column().NotNull(),
		f.column().Check(),
	)))
	insertBatch(t, conn, "t", func(b driver.Batch) error {
		return clickhouse.Append(b.Column(0), f.IDs(100))
	})
	for _, bad := range f.Bad {
		err := conn.Exec(ctx, fmt.Sprintf("INSERT INTO t SELECT CAST(? AS %s)", f.Type), bad)
		var refused *ch.Exception
		if !errors.As(err, &refused) || refused.Code != 469 { // VIOLATED_CONSTRAINT
			t.Errorf("%v: %v", bad, err)
		}
	}
	same(t, collectIDs[T](t, conn, "SELECT id FROM t"), f.IDs(100))
}

// database/sql over clickhouse-go: batches by a transaction, arguments, and all kinds of
// destinations.
func (f fixture[T]) testStandard(t *testing.T, d dsn.DSN) {
	db := ch.OpenDB(must(ch.ParseDSN(d.Source())))
	defer db.Close()
	must(db.Exec(fmt.Sprintf("CREATE OR REPLACE TABLE t (%v, %v) ENGINE = MergeTree ORDER BY id",
		f.column().PrimaryKey(), clickhouse.Column[T]{Name: "ref"}.Nullable())))
	tx := must(db.Begin())
	stmt := must(tx.Prepare("INSERT INTO t"))
	ids := f.IDs(1)
	for i, id := range ids {
		must(stmt.Exec(clickhouse.Field[T]{ID: id}, sql.Null[T]{V: id, Valid: i%2 == 0}))
	}
	try(t, tx.Commit())
	for i, id := range ids {
		var got clickhouse.Field[T]
		var ref sql.Null[T]
		try(t, db.QueryRow("SELECT id, ref FROM t WHERE id = ?", id).Scan(&got, &ref))
		if got.ID != id || ref.Valid != (i%2 == 0) || ref.Valid && ref.V != id {
			t.Fatalf("got %v and %v for %v", got, ref, id)
		}
	}
	all, err := clickhouse.Collect[T](nil, must(db.Query("SELECT id FROM t")))
	try(t, err)
	if len(all) != len(ids) {
		t.Fatalf("%d rows, want %d", len(all), len(ids))
	}
}

// A table in production refuses test IDs, those of launch 0.
func TestClickHouseRefusesTestIDs(t *testing.T) {
	t.Parallel()
	ctx, conn := connectClickHouse(t, dbtest.New(t, databases.ClickHouse))
	column := clickhouse.Column[idtype.DecimalID]{Name: "id"}
	try(t, conn.Exec(ctx, fmt.Sprintf("CREATE TABLE t (%v, CONSTRAINT no_tests CHECK %s) ENGINE = Memory",
		column.PrimaryKey(), column.CheckProduction())))
	for id, takes := range map[int64]bool{
		10000000001: true, 10000000000: false, 14150009200000: false, 57: false,
		9223372029999999999: true, 9223372036854775807: false,
	} {
		if err := conn.Exec(ctx, "INSERT INTO t VALUES (?)", id); (err == nil) != takes {
			t.Errorf("%d: %v", id, err)
		}
	}
}
