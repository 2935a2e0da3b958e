package adapters_test

import (
	"bytes"
	"errors"
	"testing"

	chgo "github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/chsuite"
)

// What the package's documentation says of clickhouse-go's own ways with IDs is so, and what it
// says to do instead works. Where a newer clickhouse-go does better, this is where it shows.
func TestClickHouseWaysOfTheDriver(t *testing.T) {
	t.Parallel()
	ctx, conn := newClickHouse(t)

	t.Run("integers and UUIDs are rows as they are", func(t *testing.T) {
		createTable(t, conn, "plain", "a Int64", "b Int64", "c UUID")
		a, b, c := chsuite.DecimalKey(14150009200065), chsuite.EightIntKey{0: 0xff},
			chsuite.SnoUUIDKey(chsuite.SnoAt(7))
		insertBatch(t, conn, "plain", func(batch driver.Batch) error { return batch.Append(a, b, c) })
		var gotA chsuite.DecimalKey
		var gotB chsuite.EightIntKey
		var gotC chsuite.SnoUUIDKey
		try(t, conn.QueryRow(ctx, "SELECT * FROM plain").Scan(&gotA, &gotB, &gotC))
		if gotA != a || gotB != b || gotC != c {
			t.Errorf("got %v, %v, %v, want %v, %v, %v", gotA, gotB, gotC, a, b, c)
		}
		for _, row := range [][]any{
			{chsuite.DecimalKey(0), b, c},
			{a, chsuite.EightIntKey{}, c},
			{a, b, chsuite.SnoUUIDKey{}},
		} {
			batch := must(conn.PrepareBatch(ctx, "INSERT INTO plain"))
			if err := batch.Append(row...); err == nil {
				t.Errorf("zero goes in: %v", row)
			}
			try(t, batch.Abort())
		}
	})

	t.Run("FixedString takes the binary form first", func(t *testing.T) {
		createTable(t, conn, "fixed", "a FixedString(16)", "b FixedString(10)")
		text := idtype.MustParse[chsuite.SnoTextKey]("brpk4q72xwf2m63l")
		insertBatch(t, conn, "fixed", func(batch driver.Batch) error {
			return batch.Append(text, chsuite.SnoKey{})
		})
		var raw []byte
		var zero string
		try(t, conn.QueryRow(ctx, "SELECT * FROM fixed").Scan(&raw, &zero))
		if want := append(text[:], make([]byte, 6)...); !bytes.Equal(raw, want) ||
			zero != string(make([]byte, 10)) {
			t.Errorf("an ID as text is written as %q, zero as %q", raw, zero)
		}
		var got chsuite.SnoTextKey
		err := conn.QueryRow(ctx, "SELECT toFixedString('brpk4q72xwf2m63l', 16)").Scan(&got)
		if err == nil {
			t.Error("text is read without a Field")
		}
		batch := must(conn.PrepareBatch(ctx, "INSERT INTO fixed"))
		err = batch.Append(clickhouse.Field[chsuite.SnoTextKey]{ID: text},
			clickhouse.Field[chsuite.SnoKey]{})
		if err == nil {
			t.Error("zero in a Field goes in")
		}
		try(t, batch.Abort())
	})

	t.Run("a nil pointer panics", func(t *testing.T) {
		createTable(t, conn, "pointer", "id Nullable(Int64)")
		batch := must(conn.PrepareBatch(ctx, "INSERT INTO pointer"))
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_ = batch.Append((*chsuite.DecimalKey)(nil))
		}()
		try(t, batch.Abort())
		id := chsuite.DecimalKey(100_001)
		insertBatch(t, conn, "pointer", func(batch driver.Batch) error { return batch.Append(&id) })
		var got *chsuite.DecimalKey
		if err := conn.QueryRow(ctx, "SELECT id FROM pointer").Scan(&got); err == nil {
			t.Error("a pointer to a pointer is scanned into")
		}
	})

	t.Run("texts in parameters and lists", func(t *testing.T) {
		createTable(t, conn, "short", "id Int64")
		id := idtype.MustParse[chsuite.ShortKey]("xinaS8QBh")
		insertBatch(t, conn, "short", func(batch driver.Batch) error { return batch.Append(id) })
		for query, arg := range map[string]any{
			"SELECT id FROM short WHERE id = {id:Int64}": ch.Named("id", id),
			"SELECT id FROM short WHERE id IN ?":         []chsuite.ShortKey{id},
		} {
			var got chsuite.ShortKey
			if err := conn.QueryRow(ctx, query, arg).Scan(&got); err == nil {
				t.Errorf("%s finds %v", query, got)
			}
		}
	})

	t.Run("a Scan's error does not unwrap", func(t *testing.T) {
		var id chsuite.DecimalKey
		err := conn.QueryRow(ctx, "SELECT toInt64(0)").Scan(&id)
		if err == nil || errors.Is(err, idtype.ErrZero) || !errors.Is(wrapped(err), idtype.ErrZero) {
			t.Errorf("%v", err)
		}
	})

	t.Run("LowCardinality", func(t *testing.T) {
		d := dbtest.New(t, databases.ClickHouse)
		ctx, conn := connectClickHouse(t, d)
		createTable(t, conn, "low", "id LowCardinality(FixedString(10))")
		want := []chsuite.SnoKey{chsuite.SnoAt(1), chsuite.SnoAt(2), chsuite.SnoAt(1)}
		insertBatch(t, conn, "low", func(batch driver.Batch) error {
			for _, id := range want {
				if err := batch.Append(clickhouse.Field[chsuite.SnoKey]{ID: id}); err != nil {
					return err
				}
			}
			return nil
		})
		same(t, collectIDs[chsuite.SnoKey](t, conn, "SELECT id FROM low"), want)
		err := conn.Exec(ctx, "CREATE TABLE refused (id LowCardinality(Int64)) ENGINE = Memory")
		if err == nil {
			t.Error("ClickHouse takes LowCardinality(Int64)")
		}
		c := dialClickHouse(t, d)
		doQuery(t, c, "TRUNCATE TABLE low")
		low := func() *proto.ColLowCardinality[chsuite.SnoKey] {
			return proto.NewLowCardinality(new(clickhouse.ColIDOrZero[chsuite.SnoKey]))
		}
		in, out := low(), low()
		in.AppendArr(want)
		try(t, c.Do(ctx,
			chgo.Query{Body: "INSERT INTO low VALUES", Input: proto.Input{{Name: "id", Data: in}}}))
		try(t, c.Do(ctx, chgo.Query{
			Body:   "SELECT id FROM low",
			Result: proto.Results{{Name: "id", Data: out}},
		}))
		try(t, c.Close())
		same(t, out.Values, want)

		batch := must(conn.PrepareBatch(ctx, "INSERT INTO low"))
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
			try(t, batch.Abort())
		}()
		_ = clickhouse.Append(batch.Column(0), want)
	})
}
