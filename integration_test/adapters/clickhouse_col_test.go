package adapters_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	chgo "github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	ch "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/chsuite"
)

// dialClickHouse connects by ch-go.
func dialClickHouse(t testing.TB, d dsn.DSN) *chgo.Client {
	t.Helper()
	return dialClickHouseBy(t, d, new(net.Dialer))
}

func dialClickHouseBy(t testing.TB, d dsn.DSN, dialer chgo.Dialer) *chgo.Client {
	t.Helper()
	o := must(ch.ParseDSN(d.Source()))
	c, err := chgo.Dial(t.Context(), chgo.Options{
		Address: o.Addr[0], User: o.Auth.Username, Password: o.Auth.Password,
		Database: o.Auth.Database, Compression: chgo.CompressionLZ4, Dialer: dialer,
		DialTimeout: time.Minute, ReadTimeout: time.Minute,
	})
	try(t, err)
	return c
}

func doQuery(t testing.TB, c *chgo.Client, body string) {
	t.Helper()
	try(t, c.Do(t.Context(), chgo.Query{Body: body}))
}

// ch-go inserts and reads blocks of all three columns, arrays and maps.
func (f fixture[T]) testBlocks(t *testing.T, d dsn.DSN) {
	c := dialClickHouse(t, d)
	doQuery(t, c, fmt.Sprintf("CREATE OR REPLACE TABLE t (%v, none %s, null Nullable(%[2]s), "+
		"list Array(%[2]s), map Map(%[2]s, %[2]s)) "+
		"ENGINE = MergeTree ORDER BY tuple()", f.column().PrimaryKey(), f.Type))
	var zero T
	ids := f.IDs(3000)
	some := slices.Clone(ids)
	for i := range some {
		if i%3 == 1 {
			some[i] = zero
		}
	}
	none := clickhouse.Col[T]{IDs: some, None: clickhouse.OrZero}
	null := clickhouse.Col[T]{IDs: some, None: clickhouse.OrNull}
	list, pairs := new(clickhouse.Col[T]).Array(),
		proto.NewMap[T, T](new(clickhouse.Col[T]), new(clickhouse.Col[T]))
	for i := range ids {
		list.Append(ids[:i%4])
		pairs.Append(map[T]T{ids[i]: ids[0]})
	}
	try(t, c.Do(t.Context(), chgo.Query{Body: "INSERT INTO t VALUES", Input: proto.Input{
		{Name: "id", Data: &clickhouse.Col[T]{IDs: ids}},
		{Name: "none", Data: &none},
		{Name: "null", Data: &null},
		{Name: "list", Data: list},
		{Name: "map", Data: pairs},
	}}))
	var gotIDs clickhouse.Col[T]
	gotNone := clickhouse.Col[T]{None: clickhouse.OrZero}
	gotNull := clickhouse.Col[T]{None: clickhouse.OrNull}
	gotList, gotPairs := new(clickhouse.Col[T]).Array(),
		proto.NewMap[T, T](new(clickhouse.Col[T]), new(clickhouse.Col[T]))
	var got, gotNones, gotNulls []T
	row := 0
	try(t, c.Do(t.Context(), chgo.Query{
		Body: "SELECT * FROM t",
		Result: proto.Results{
			{Name: "id", Data: &gotIDs},
			{Name: "none", Data: &gotNone},
			{Name: "null", Data: &gotNull},
			{Name: "list", Data: gotList},
			{Name: "map", Data: gotPairs},
		},
		OnResult: func(context.Context, proto.Block) error {
			got = append(got, gotIDs.IDs...)
			gotNones = append(gotNones, gotNone.IDs...)
			gotNulls = append(gotNulls, gotNull.IDs...)
			for i := range gotIDs.Rows() {
				same(t, gotList.Row(i), ids[:row%4])
				if m := gotPairs.Row(i); len(m) != 1 || m[ids[row]] != ids[0] {
					t.Fatalf("row %d: %v", row, m)
				}
				row++
			}
			return nil
		},
	}))
	same(t, got, ids)
	same(t, gotNones, some)
	same(t, gotNulls, some)
	for i := range 5 { // bound parameters
		id, found := f.Edge[i%len(f.Edge)], clickhouse.Col[T]{}
		try(t, c.Do(t.Context(), chgo.Query{
			Body: "SELECT id FROM t WHERE id = {id:" + f.Type +
				"} AND id IN {ids:Array(" + f.Type + ")} LIMIT 1",
			Parameters: []proto.Parameter{
				clickhouse.Param(id).Bound("id"),
				clickhouse.ParamArray(f.Edge).Bound("ids"),
			},
			Result: proto.Results{{Name: "id", Data: &found}},
		}))
		same(t, found.IDs, []T{id})
	}
	try(t, c.Close())
}

// A hasty dialer's connection waits for the server as long as it is told to at first, and then only
// a little at a time: so ch-go looks whether it has given up.
type hasty struct {
	net.Conn
	now atomic.Bool
}

func (h *hasty) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	var err error
	h.Conn, err = new(net.Dialer).DialContext(ctx, network, address)
	return h, err
}

func (h *hasty) SetReadDeadline(at time.Time) error {
	if h.now.Load() && !at.IsZero() {
		at = time.Now().Add(20 * time.Millisecond)
	}
	return h.Conn.SetReadDeadline(at)
}

// A zero among them ends the insert, before a row is sent, and with it the connection.
func TestClickHouseBlocksWithZero(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.ClickHouse)
	_, conn := connectClickHouse(t, d)
	createTable(t, conn, "t", "id Int64")
	dialer := new(hasty)
	c := dialClickHouseBy(t, d, dialer)
	dialer.now.Store(true)
	ids := clickhouse.Col[chsuite.DecimalKey]{IDs: []chsuite.DecimalKey{100_000, 0, 200_000}}
	err := c.Do(t.Context(),
		chgo.Query{Body: "INSERT INTO t VALUES", Input: proto.Input{{Name: "id", Data: &ids}}})
	var refused *clickhouse.RowError
	if !errors.As(err, &refused) || refused.Row != 1 || !errors.Is(err, idtype.ErrZero) ||
		!c.IsClosed() {
		t.Fatalf("zero: %v", err)
	}
	same(t, collectIDs[chsuite.DecimalKey](t, conn, "SELECT id FROM t"), nil)
}
