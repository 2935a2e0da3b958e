package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
)

func tenDigits(n int) []byte { return strconv.AppendInt(nil, int64(1e9+n), 10) }

func dial(t testing.TB, p *process, c ch.Compression) *ch.Client {
	t.Helper()
	client, err := ch.Dial(t.Context(), ch.Options{
		Address: p.native, User: testUser, Password: testPassword, Database: testDatabase,
		Compression: c, DialTimeout: time.Minute, ReadTimeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestChGo uses the columns of ch-go: many rows in blocks, by all ways of compression.
func TestChGo(t *testing.T) {
	p := start(t)
	for _, compression := range []ch.Compression{
		ch.CompressionDisabled, ch.CompressionLZ4,
		ch.CompressionZSTD, ch.CompressionNone,
	} {
		t.Run(fmt.Sprint(compression), func(t *testing.T) {
			c := dial(t, p, compression)
			do := func(q ch.Query) {
				t.Helper()
				if err := c.Do(t.Context(), q); err != nil {
					t.Fatalf("%s: %v", q.Body, err)
				}
			}
			do(ch.Query{Body: "CREATE OR REPLACE TABLE t (id Int64, b FixedString(10), " +
				"n Nullable(Int64)) ENGINE = MergeTree ORDER BY id"})
			const rows, blocks = 100_000, 10
			var id proto.ColInt64
			b := proto.ColFixedStr{Size: 10}
			n := proto.NewColNullable(new(proto.ColInt64))
			input := proto.Input{
				{Name: "id", Data: &id},
				{Name: "b", Data: &b},
				{Name: "n", Data: n},
			}
			sent := 0
			fill := func(context.Context) error {
				input.Reset()
				if sent == rows {
					return io.EOF
				}
				for range rows / blocks {
					id.Append(int64(sent))
					b.Append(tenDigits(sent))
					n.Append(proto.Nullable[int64]{Set: sent%2 == 0, Value: int64(sent)})
					sent++
				}
				return nil
			}
			do(ch.Query{Body: input.Into("t"), Input: input, OnInput: fill})
			var gotID proto.ColInt64
			gotB := proto.ColFixedStr{Size: 10}
			gotN := proto.NewColNullable(new(proto.ColInt64))
			got := 0
			do(ch.Query{
				Body: "SELECT id, b, n FROM t ORDER BY id",
				Result: proto.Results{
					{Name: "id", Data: &gotID},
					{Name: "b", Data: &gotB},
					{Name: "n", Data: gotN},
				},
				OnResult: func(_ context.Context, block proto.Block) error {
					for i := range block.Rows {
						if gotID.Row(i) != int64(got) ||
							!bytes.Equal(gotB.Row(i), tenDigits(got)) ||
							gotN.Row(i).Set != (got%2 == 0) {
							return fmt.Errorf("row %d: %d %q %v", got, gotID.Row(i), gotB.Row(i),
								gotN.Row(i))
						}
						got++
					}
					return nil
				},
			})
			if got != rows {
				t.Errorf("%d rows, want %d", got, rows)
			}
			var sum proto.ColInt64
			do(ch.Query{
				Body:       "SELECT sum(id) AS sum FROM t WHERE id < {to:Int64}",
				Parameters: ch.Parameters(map[string]any{"to": 101}),
				Result:     proto.Results{{Name: "sum", Data: &sum}},
			})
			if sum.Row(0) != 5050 {
				t.Errorf("sum %d", sum.Row(0))
			}
			var x *ch.Exception
			if err := c.Do(t.Context(), ch.Query{Body: "SELECT * FROM nope"}); !errors.As(err,
				&x) || x.Code != proto.ErrUnknownTable {
				t.Errorf("an unknown table: %v", err)
			}
			err := c.Do(t.Context(), ch.Query{
				Body:  "INSERT INTO t (nope) VALUES",
				Input: proto.Input{{Name: "nope", Data: &id}},
			})
			if !ch.IsErr(err, proto.ErrUnknownIdentifier) {
				t.Errorf("an unknown column: %v", err)
			}
			if err := c.Ping(t.Context()); err != nil {
				t.Errorf("after exceptions: %v", err)
			}
		})
	}
	wrong := ch.Options{
		Address: p.native, User: testUser, Password: "wrong",
		DialTimeout: time.Minute, ReadTimeout: time.Minute,
	}
	if _, err := ch.Dial(t.Context(), wrong); !ch.IsErr(err, proto.ErrAuthenticationFailed) {
		t.Errorf("a wrong password: %v", err)
	}
}
