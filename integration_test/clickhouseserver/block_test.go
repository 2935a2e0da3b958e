package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/uuid"
)

// samples are blocks with all kinds of columns.
func samples(t testing.TB) map[string]struct {
	columns []column
	rows    [][]any
} {
	one := func(typ string, values ...any) (s struct {
		columns []column
		rows    [][]any
	},
	) {
		s.columns = []column{{"c", typ}, {"n", "UInt8"}}
		for _, v := range values {
			s.rows = append(s.rows, []any{v, uint8(7)})
		}
		return s
	}
	all := map[string]struct {
		columns []column
		rows    [][]any
	}{}
	for _, s := range []struct {
		typ    string
		values []any
	}{
		{"Int64", nil},
		{"Int64", []any{int64(1), int64(-1)}},
		{"Decimal(18, 3)", []any{"1.5"}},
		{"String", []any{"", "x", string(make([]byte, 300))}},
		{"FixedString(3)", []any{"abc"}},
		{"UUID", []any{uuid.Max}},
		{"Nullable(String)", []any{nil, "x"}},
		{"Array(Array(String))", []any{[][]string{{"a"}, {}}, [][]string{}}},
		{"Array(LowCardinality(String))", []any{[]string{}, []string{"a", "b", "a"}}},
		{"Array(LowCardinality(String))", []any{[]string{}, []string{}}},
		{
			"Map(String, Array(Nullable(Int64)))",
			[]any{map[string][]*int64{"a": {nil, new(int64)}}, map[string][]*int64{}},
		},
		{"Tuple(a LowCardinality(String), b Int8)", []any{[]any{"x", int8(1)}}},
		{"LowCardinality(Nullable(String))", []any{"a", nil, "a"}},
		{"SimpleAggregateFunction(sum, UInt64)", []any{uint64(5)}},
		{"Enum8('a,(' = 1, 'b\\'' = 2)", []any{"a,("}},
		{"DateTime64(3, 'UTC')", []any{"2026-11-21 00:00:00"}},
		{"IntervalSecond", nil},
	} {
		all[s.typ+string(rune('a'+len(s.values)))] = one(s.typ, s.values...)
	}
	return all
}

// TestCopyBlock wants of both forms what clickhouse-go makes of the same values.
func TestCopyBlock(t *testing.T) {
	for name, s := range samples(t) {
		forms := map[form][]byte{
			fileForm: encode(t, 0, s.columns, s.rows...),
			wireForm: encode(t, revision, s.columns, s.rows...),
		}
		for from := range forms {
			for to, want := range forms {
				rest := memory(append(bytes.Clone(forms[from]), "rest"...))
				slow := buffered{
					bufio.NewReaderSize(iotest.OneByteReader(bytes.NewReader(rest)), 16),
				}
				for _, src := range []source{&rest, slow} {
					var got bytes.Buffer
					columns, rows, err := copyBlock(&got, to, src, from)
					if err != nil || !bytes.Equal(got.Bytes(), want) ||
						rows != uint64(len(s.rows)) || len(columns) != len(s.columns) {
						t.Errorf("%s, %v to %v: %d rows of %v, %v\n got %q\nwant %q", name, from,
							to, rows, columns, err, got.Bytes(), want)
					}
					if b, err := src.next(1); err != nil || b[0] != 'r' {
						t.Errorf("%s, %v to %v: not read to its end, or beyond: %q, %v", name, from,
							to, b, err)
					}
				}
			}
			for n := range forms[from] {
				cut := memory(forms[from][:n:n])
				if _, _, err := copyBlock(io.Discard, wireForm, &cut, from); !errors.Is(err,
					io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
					t.Errorf("%s, %v without its end from %d on: %v", name, from, n, err)
				}
			}
		}
	}
}

func TestBadBlocks(t *testing.T) {
	le := func(n byte) []byte { return []byte{n, 0, 0, 0, 0, 0, 0, 0} }
	col := func(typ string, data ...[]byte) []byte {
		b := append([]byte{0, 1, 1, 1, 'c', byte(len(typ))}, typ...)
		return append(append(b, 0), bytes.Join(data, nil)...)
	}
	for name, b := range map[string][]byte{
		"field of information":  {9},
		"columns":               {0, 0xff, 0xff, 0xff, 0x7f, 1},
		"rows":                  {0, 1, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"number":                bytes.Repeat([]byte{0xff}, 20),
		"own serialization":     {0, 1, 1, 1, 'c', 4, 'I', 'n', 't', '8', 1, 0},
		"type":                  col("Variant(Int8)", []byte{1}),
		"type without an end":   col("Array(Int8", []byte{1}),
		"version of dictionary": col("LowCardinality(String)", le(2)),
		"flags of dictionary": col("LowCardinality(String)", le(1),
			[]byte{0, 1, 0, 0, 0, 0, 0, 0}),
		"rows of dictionary": col("LowCardinality(String)", le(1), le(0), le(2)),
		"values of dictionary": col("LowCardinality(String)", le(1),
			[]byte{0, 2, 0, 0, 0, 0, 0, 0}, bytes.Repeat([]byte{0xff}, 8)),
		"values of arrays": col("Array(Int8)", bytes.Repeat([]byte{0xff}, 8)),
		"values that never come": col("Array(Int64)", []byte{0, 0, 0, 0, 0xff, 0, 0, 0},
			make([]byte, 100)),
	} {
		src := memory(b)
		if _, _, err := copyBlock(io.Discard, fileForm, &src, wireForm); err == nil {
			t.Errorf("a bad %s is taken", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

func TestParseType(t *testing.T) {
	for typ, want := range map[string]uint64{
		"Decimal(9, 2)": 4, "Decimal(10, 2)": 8, "Decimal(38, 2)": 16, "Decimal(39, 2)": 32,
		"Int256": 32, "FixedString(10)": 10,
		"DateTime('Europe/Berlin')": 4, "Enum16('a' = 1)": 2, "IntervalDay": 8, "Tuple()": 1,
	} {
		if got, err := parseType(typ); err != nil || got.kind != fixed || got.width != want {
			t.Errorf("%s: %+v, %v; want a width of %d", typ, got, err, want)
		}
	}
	for typ, want := range map[string]kind{
		"String": text, "Map(String, Int8)": array, "Point": tuple, "MultiPolygon": array,
		"Nested(a Int8, b String)":                 array,
		"Tuple(`a b\\`c` Array(Int8), `d` String)": tuple, "Array(Tuple(Int8, String))": array,
	} {
		if got, err := parseType(typ); err != nil || got.kind != want {
			t.Errorf("%s: %+v, %v; want kind %d", typ, got, err, want)
		}
	}
	deep := bytes.Repeat([]byte("Array("), 100)
	for _, typ := range []string{
		"", "Int", "Int8)", "Array", "Array()", "Array(Int8, Int8)", "Array(Int8", "Array(Int8))",
		"Array(Int8)x", "FixedString(x)",
		"FixedString(99999999)", "Decimal(a, b)", "Decimal(1)", "Map(Int8)", "Nested()",
		"AggregateFunction(sum, Int8)", "JSON",
		"Tuple(`a Int8)", "Enum8('a", string(deep),
	} {
		if got, err := parseType(typ); err == nil && typ != "Int8)" {
			t.Errorf("%s: %+v", typ, got)
		}
	}
}

// FuzzBlocks: whatever comes is an error or a block, that comes back the same from the other form.
func FuzzBlocks(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(encode(f, revision, s.columns, s.rows...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var file, wire, again bytes.Buffer
		src := memory(b)
		columns, rows, err := copyBlock(&file, fileForm, &src, wireForm)
		if err != nil || columns == nil {
			return
		}
		first := memory(file.Bytes())
		if _, _, err := copyBlock(&wire, wireForm, &first, fileForm); err != nil || len(first) > 0 {
			t.Fatalf("%d rows of %v do not come back: %v", rows, columns, err)
		}
		second := memory(wire.Bytes())
		if _, n, err := copyBlock(&again, fileForm, &second, wireForm); err != nil || n != rows ||
			!bytes.Equal(again.Bytes(), file.Bytes()) {
			t.Fatalf("%d rows of %v come back as %d others: %v", rows, columns, n, err)
		}
	})
}

// FuzzPackets: no client's hello and query do more than fail.
func FuzzPackets(f *testing.F) {
	f.Add(greeting("u", "p", "d")[1:], question("SELECT 1")[1:])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f}, []byte("'"))
	f.Fuzz(func(t *testing.T, hello, query []byte) {
		h := memory(hello)
		d := decoder{source: &h}
		d.hello()
		q := memory(query)
		d = decoder{source: &q}
		got := d.query()
		insertionOf(got.body)
		if d.err == nil && len(got.body) > len(query) {
			t.Errorf("a text of %d bytes out of %d", len(got.body), len(query))
		}
	})
}
