package clickhouse_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	chgo "github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	ch "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/cmd/idmint/dsn"
)

// dial connects by ch-go. Patience is how long it waits for the server, also when it gives up by itself.
func dial(t testing.TB, d dsn.DSN, compression chgo.Compression, patience time.Duration) *chgo.Client {
	t.Helper()
	o := ok(ch.ParseDSN(d.Source()))
	c, err := chgo.Dial(t.Context(), chgo.Options{
		Address: o.Addr[0], User: o.Auth.Username, Password: o.Auth.Password, Database: o.Auth.Database, Compression: compression,
		ReadTimeout: patience,
	})
	try(t, err)
	return c
}

func do(t testing.TB, c *chgo.Client, body string) {
	t.Helper()
	try(t, c.Do(t.Context(), chgo.Query{Body: body}))
}

func TestBlocks(t *testing.T) { each(t, func(f tests) func(*testing.T) { return f.blocks }) }

// ch-go inserts and reads blocks of all three columns, arrays and maps, by both methods of compression and without.
func (f fixture[T]) testBlocks(t *testing.T) {
	d := dbtest.New(t, databases.ClickHouse)
	for _, compression := range []chgo.Compression{chgo.CompressionDisabled, chgo.CompressionLZ4, chgo.CompressionZSTD} {
		c := dial(t, d, compression, time.Minute)
		do(t, c, fmt.Sprintf("CREATE OR REPLACE TABLE t (%v, none %s, null Nullable(%[2]s), list Array(%[2]s), map Map(%[2]s, %[2]s)) "+
			"ENGINE = MergeTree ORDER BY tuple()", f.column().PrimaryKey(), f.typ))
		var zero T
		ids := clickhouse.ColID[T](f.ids(3000))
		some := slices.Clone(ids)
		for i := range some {
			if i%3 == 1 {
				some[i] = zero
			}
		}
		none, null := clickhouse.ColIDOrZero[T](some), clickhouse.ColIDNullable[T](some)
		list, pairs := new(clickhouse.ColID[T]).Array(), proto.NewMap[T, T](new(clickhouse.ColID[T]), new(clickhouse.ColID[T]))
		for i := range ids {
			list.Append(ids[:i%4])
			pairs.Append(map[T]T{ids[i]: ids[0]})
		}
		try(t, c.Do(t.Context(), chgo.Query{Body: "INSERT INTO t VALUES", Input: proto.Input{
			{Name: "id", Data: &ids},
			{Name: "none", Data: &none},
			{Name: "null", Data: &null},
			{Name: "list", Data: list},
			{Name: "map", Data: pairs},
		}}))
		var gotIDs, got clickhouse.ColID[T]
		var gotNone clickhouse.ColIDOrZero[T]
		var gotNull, gotNulls clickhouse.ColIDNullable[T]
		gotList, gotPairs := new(clickhouse.ColID[T]).Array(), proto.NewMap[T, T](new(clickhouse.ColID[T]), new(clickhouse.ColID[T]))
		var none2 clickhouse.ColIDOrZero[T]
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
				got.AppendArr(gotIDs)
				none2.AppendArr(gotNone)
				gotNulls.AppendArr(gotNull)
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
		same(t, none2, none)
		same(t, gotNulls, null)
		for i := range 5 { // bound parameters
			id, found := f.edge[i%len(f.edge)], clickhouse.ColID[T]{}
			try(t, c.Do(t.Context(), chgo.Query{
				Body:       "SELECT id FROM t WHERE id = {id:" + f.typ + "} AND id IN {ids:Array(" + f.typ + ")} LIMIT 1",
				Parameters: []proto.Parameter{clickhouse.Param(id).Bound("id"), clickhouse.ParamArray(f.edge).Bound("ids")},
				Result:     proto.Results{{Name: "id", Data: &found}},
			}))
			same(t, found, []T{id})
		}
		try(t, c.Close())
	}
}

// A zero among them ends the insert, before a row is sent, and with it the connection.
func TestBlocksWithZero(t *testing.T) {
	d := dbtest.New(t, databases.ClickHouse)
	c := dial(t, d, chgo.CompressionLZ4, time.Second)
	do(t, c, "CREATE TABLE t (id Int64) ENGINE = MergeTree ORDER BY id")
	ids := clickhouse.ColID[decimalKey]{100_000, 0, 200_000}
	err := c.Do(t.Context(), chgo.Query{Body: "INSERT INTO t VALUES", Input: proto.Input{{Name: "id", Data: &ids}}})
	var refused *clickhouse.RowError
	if !errors.As(err, &refused) || refused.Row != 1 || !errors.Is(err, idtype.ErrZero) || !c.IsClosed() {
		t.Fatalf("zero: %v", err)
	}
	_, conn := connect(t, d)
	same(t, collect[decimalKey](t, conn, "SELECT id FROM t"), nil)
}

func TestSpoilt(t *testing.T) { each(t, func(f tests) func(*testing.T) { return f.spoilt }) }

// What comes from the wire is any bytes: an error that leaves the column as it was, or IDs that are written as the same bytes.
func (f fixture[T]) testSpoilt(t *testing.T) {
	id := clickhouse.ColID[T](f.ids(3))
	var b proto.Buffer
	id.EncodeColumn(&b)
	var vectors bytes.Buffer
	w := proto.NewWriter(&vectors, new(proto.Buffer))
	id.WriteColumn(w)
	if _, err := w.Flush(); err != nil || !bytes.Equal(vectors.Bytes(), b.Buf) {
		t.Fatalf("WriteColumn and EncodeColumn differ: %v", err)
	}
	refused := 0
	for at := range b.Buf {
		for _, x := range []byte{0, 1, 0x31, 0x7f, 0x80, 0xff} {
			spoilt := bytes.Clone(b.Buf)
			spoilt[at] = x
			if x == 0 { // a whole row of zeros
				size := len(spoilt) / len(id)
				clear(spoilt[at/size*size : (at/size+1)*size])
			}
			got := clickhouse.ColID[T]{f.at(5)}
			if err := got.DecodeColumn(reader(spoilt), len(id)); err != nil {
				var row *clickhouse.RowError
				if !errors.As(err, &row) || row.Row != at*len(id)/len(spoilt) || !slices.Equal(got, clickhouse.ColID[T]{f.at(5)}) {
					t.Fatalf("byte %d as %#x: %v, %v", at, x, got, err)
				}
				refused++
				continue
			}
			var again proto.Buffer
			got[1:].EncodeColumn(&again)
			if got[0] != f.at(5) || !bytes.Equal(again.Buf, spoilt) {
				t.Fatalf("byte %d as %#x: read as %v", at, x, got)
			}
		}
		got := clickhouse.ColID[T]{f.at(5)}
		if err := got.DecodeColumn(reader(b.Buf[:at]), len(id)); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != 1 {
			t.Fatalf("%d bytes: %v, %v", at, got, err)
		}
	}
	t.Logf("%d of %d spoilt blocks were refused", refused, 6*len(b.Buf))

	// NULL hides whatever stands for the value; what is not NULL is an ID.
	var zero T
	null := clickhouse.ColIDNullable[T]{zero, f.at(1)}
	var n proto.Buffer
	null.EncodeColumn(&n)
	size := (len(n.Buf) - 2) / 2
	for i := range size {
		n.Buf[2+i] = 0x81
	}
	var got clickhouse.ColIDNullable[T]
	try(t, got.DecodeColumn(reader(n.Buf), 2))
	same(t, got, null)
	n.Buf[0] = 0
	clear(n.Buf[2 : 2+size])
	var row *clickhouse.RowError
	if err := got.DecodeColumn(reader(n.Buf), 2); !errors.As(err, &row) || row.Row != 0 || !errors.Is(err, idtype.ErrZero) || len(got) != 2 {
		t.Fatalf("zero that is not NULL: %v, %v", got, err)
	}
}

func reader(b []byte) *proto.Reader { return proto.NewReader(bytes.NewReader(b)) }

// FuzzDecode reads any bytes as columns of all types: an error that leaves the column as it was, or IDs that are written as the bytes.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(make([]byte, 160))                                         // zeros
	f.Add(bytes.Repeat([]byte{0xff}, 160))                           // negative integers
	f.Add(bytes.Repeat([]byte{1}, 160))                              // a mask of NULLs
	f.Add(bytes.Repeat([]byte("23456789abcdefgh"), 10))              // texts of sno IDs
	f.Add(bytes.Repeat([]byte("98765432hgfedcba"), 10))              // and as UUIDs
	f.Add(append(make([]byte, 4), bytes.Repeat([]byte("2"), 64)...)) // texts of zero, which are not NULL
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, of := range all() {
			of.fuzzed(t, data)
		}
	})
}

func (f fixture[T]) fuzz(t *testing.T, data []byte) {
	for _, column := range []proto.ColumnOf[T]{
		&clickhouse.ColID[T]{f.at(1)}, &clickhouse.ColIDOrZero[T]{f.at(1)}, &clickhouse.ColIDNullable[T]{f.at(1)},
	} {
		var one proto.Buffer
		column.EncodeColumn(&one)
		rows := len(data) / len(one.Buf)
		data := data[:rows*len(one.Buf)]
		err := column.DecodeColumn(reader(data), rows)
		var row *clickhouse.RowError
		if err != nil && (!errors.As(err, &row) || row.Row < 0 || row.Row >= rows || column.Rows() != 1) || column.Row(0) != f.at(1) {
			t.Fatalf("%s as %T: %d rows, %v", f.name, column, column.Rows(), err)
		}
		if err != nil {
			continue
		}
		var again proto.Buffer
		column.EncodeColumn(&again)
		if _, nullable := column.(*clickhouse.ColIDNullable[T]); nullable {
			back := clickhouse.ColIDNullable[T]{}
			try(t, back.DecodeColumn(reader(again.Buf), rows+1))
			for i := range rows + 1 {
				if back[i] != column.Row(i) {
					t.Fatalf("%s as %T: row %d is %v and then %v", f.name, column, i, column.Row(i), back[i])
				}
			}
		} else if !bytes.Equal(again.Buf[len(one.Buf):], data) {
			t.Fatalf("%s as %T: %x is written as %x", f.name, column, data, again.Buf[len(one.Buf):])
		}
	}
}
