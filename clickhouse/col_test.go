package clickhouse_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
)

func TestSpoilt(t *testing.T) {
	each(t, func(t *testing.T, f interface{ testSpoilt(*testing.T) }) { f.testSpoilt(t) })
}

// Any bytes may come from the wire. They are IDs that are written as the same bytes, or an error
// that leaves the column as it was.
func (f fixture[T]) testSpoilt(t *testing.T) {
	id := clickhouse.Col[T]{IDs: f.IDs(3)}
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
				size := len(spoilt) / id.Rows()
				clear(spoilt[at/size*size : (at/size+1)*size])
			}
			got := clickhouse.Col[T]{IDs: []T{f.At(5)}}
			if err := got.DecodeColumn(reader(spoilt), id.Rows()); err != nil {
				var row *clickhouse.RowError
				if !errors.As(err, &row) || row.Row != at*id.Rows()/len(spoilt) ||
					!slices.Equal(got.IDs, []T{f.At(5)}) {
					t.Fatalf("byte %d as %#x: %v, %v", at, x, got, err)
				}
				refused++
				continue
			}
			var again proto.Buffer
			clickhouse.Col[T]{IDs: got.IDs[1:]}.EncodeColumn(&again)
			if got.Row(0) != f.At(5) || !bytes.Equal(again.Buf, spoilt) {
				t.Fatalf("byte %d as %#x: read as %v", at, x, got)
			}
		}
		got := clickhouse.Col[T]{IDs: []T{f.At(5)}}
		if err := got.DecodeColumn(reader(b.Buf[:at]), id.Rows()); !errors.Is(err, io.EOF) &&
			!errors.Is(err, io.ErrUnexpectedEOF) ||
			got.Rows() != 1 {
			t.Fatalf("%d bytes: %v, %v", at, got, err)
		}
	}
	t.Logf("%d of %d spoilt blocks were refused", refused, 6*len(b.Buf))

	// NULL hides whatever stands for the value; what is not NULL is an ID.
	var zero T
	null := clickhouse.Col[T]{[]T{zero, f.At(1)}, clickhouse.OrNull}
	var n proto.Buffer
	null.EncodeColumn(&n)
	size := (len(n.Buf) - 2) / 2
	for i := range size {
		n.Buf[2+i] = 0x81
	}
	got := clickhouse.Col[T]{None: clickhouse.OrNull}
	try(t, got.DecodeColumn(reader(n.Buf), 2))
	if !slices.Equal(got.IDs, null.IDs) {
		t.Fatalf("got %v, want %v", got, null)
	}
	n.Buf[0] = 0
	clear(n.Buf[2 : 2+size])
	var row *clickhouse.RowError
	if err := got.DecodeColumn(reader(n.Buf), 2); !errors.As(err, &row) || row.Row != 0 ||
		!errors.Is(err, idtype.ErrZero) ||
		got.Rows() != 2 {
		t.Fatalf("zero that is not NULL: %v, %v", got, err)
	}
}

func reader(b []byte) *proto.Reader { return proto.NewReader(bytes.NewReader(b)) }

// FuzzDecode reads any bytes as columns of all types. They are IDs that are written as these bytes,
// or an error that leaves the column as it was.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(make([]byte, 160))                            // zeros
	f.Add(bytes.Repeat([]byte{0xff}, 160))              // negative integers
	f.Add(bytes.Repeat([]byte{1}, 160))                 // a mask of NULLs
	f.Add(bytes.Repeat([]byte("23456789abcdefgh"), 10)) // texts of sno IDs
	f.Add(bytes.Repeat([]byte("98765432hgfedcba"), 10)) // and as UUIDs
	// texts of zero, which are not NULL
	f.Add(append(make([]byte, 4), bytes.Repeat([]byte("2"), 64)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, of := range all {
			of.(interface{ fuzz(*testing.T, []byte) }).fuzz(t, data)
		}
	})
}

func (f fixture[T]) fuzz(t *testing.T, data []byte) {
	for _, none := range []clickhouse.None{0, clickhouse.OrZero, clickhouse.OrNull} {
		column := clickhouse.Col[T]{[]T{f.At(1)}, none}
		var one proto.Buffer
		column.EncodeColumn(&one)
		rows := len(data) / len(one.Buf)
		data := data[:rows*len(one.Buf)]
		err := column.DecodeColumn(reader(data), rows)
		var row *clickhouse.RowError
		if err != nil &&
			(!errors.As(err, &row) || row.Row < 0 || row.Row >= rows || column.Rows() != 1) ||
			column.Row(0) != f.At(1) {
			t.Fatalf("%s, none %d: %d rows, %v", f.Name, none, column.Rows(), err)
		}
		if err != nil {
			continue
		}
		var again proto.Buffer
		column.EncodeColumn(&again)
		if none == clickhouse.OrNull {
			back := clickhouse.Col[T]{None: none}
			try(t, back.DecodeColumn(reader(again.Buf), rows+1))
			if !slices.Equal(back.IDs, column.IDs) {
				t.Fatalf("%s: %v are then %v", f.Name, column.IDs, back.IDs)
			}
		} else if !bytes.Equal(again.Buf[len(one.Buf):], data) {
			written := again.Buf[len(one.Buf):]
			t.Fatalf("%s, none %d: %x is written as %x", f.Name, none, data, written)
		}
	}
}
