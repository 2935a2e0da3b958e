package importer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// withFooter is a file that is nothing but a table of contents.
func withFooter(footer []byte) []byte {
	file := append([]byte("PAR1"), footer...)
	return append(binary.LittleEndian.AppendUint32(file, uint32(len(footer))), "PAR1"...)
}

// contents is a table of contents, as Thrift writes it.
func contents(t testing.TB, meta format.FileMetaData) []byte {
	t.Helper()
	footer, err := thrift.Marshal(&thrift.CompactProtocol{}, &meta)
	if err != nil {
		t.Fatal(err)
	}
	return footer
}

// claims are tables of contents that claim to take far more memory than their text.
func claims(t testing.TB) map[string][]byte {
	list := func(field, kind byte, n uint64, elements ...byte) []byte {
		b := binary.AppendUvarint([]byte{field<<4 | inList, 0xf0 | kind}, n)
		return append(append(b, elements...), 0)
	}
	root := format.SchemaElement{Name: "root"}
	root.NumChildren.Set(1)
	nested := slices.Repeat([]format.SchemaElement{root}, 100_000)
	return map[string][]byte{
		"a schema of 2^31 columns":    append([]byte{0x15, 2}, list(1, inStruct, 1<<31-1)...),
		"2^31 row groups":             append([]byte{0x15, 2}, list(3, inStruct, 1<<31-1)...),
		"a name of 2^31 bytes":        {0x15, 2, 0x19, 0x1c, 0x48, 0xff, 0xff, 0xff, 0xff, 7},
		"a map of 2^31 names":         append([]byte{0xfb}, 0xff, 0xff, 0xff, 0xff, 7, 0x88, 0),
		"lists in lists":              slices.Repeat([]byte{0xf9, 0x19}, 1_000_000),
		"structures in structures":    slices.Repeat([]byte{0x1c}, 1_000_000),
		"a million empty columns":     list(2, inStruct, 1<<20, make([]byte, 1<<20)...),
		"columns within columns":      contents(t, format.FileMetaData{Schema: nested}),
		"columns times row groups":    contents(t, manyGroups(60_000, 60_000)),
		"a length that never ends":    {0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"an unknown type":             {0x1e, 0, 0},
		"nothing":                     {},
		"the end of a structure only": {0},
	}
}

func manyGroups(columns, groups int) format.FileMetaData {
	root := format.SchemaElement{Name: "root"}
	root.NumChildren.Set(int32(columns))
	meta := format.FileMetaData{
		Schema:    make([]format.SchemaElement, columns+1),
		RowGroups: make([]format.RowGroup, groups),
	}
	meta.Schema[0] = root
	return meta
}

// A table of contents that claims to be large is refused before memory is taken for it: nothing
// can be done about a program that is out of memory.
func TestParquetFooter(t *testing.T) {
	for name, footer := range claims(t) {
		var err error
		file := withFooter(footer)
		n := allocated(func() { _, err = openParquet(bytes.NewReader(file)) })
		if !errors.As(err, new(*ParquetError)) {
			t.Errorf("%s: %v", name, err)
		}
		// what is decoded before it is refused takes a multiple of its text
		if limit := uint64(1<<20 + 200*len(footer)); n > limit {
			t.Errorf("%s: %d KB were allocated for %d KB of contents: %v", name, n>>10,
				len(footer)>>10, err)
		}
	}
	if _, err := openParquet(bytes.NewReader(withFooter(make([]byte, maxFooter+1)))); err == nil ||
		!strings.Contains(err.Error(), "want at most 16 MiB") {
		t.Errorf("a long one: %v", err)
	}
}

// Many columns take little memory before the table is looked at, and while they are read.
func TestParquetManyColumns(t *testing.T) {
	wide := func(columns, rows int) []byte {
		group := parquet.Group{}
		for i := range columns {
			group[fmt.Sprintf("c%05d", i)] = parquet.Int(64)
		}
		var file bytes.Buffer
		w := parquet.NewGenericWriter[any](&file, parquet.NewSchema("root", group))
		row := make(parquet.Row, columns)
		for i := range row {
			row[i] = parquet.Int64Value(int64(i)).Level(0, 0, i)
		}
		for range rows {
			if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	file := wide(20_000, 0)
	var err error
	n := allocated(func() { _, err = openParquet(bytes.NewReader(file)) })
	if err != nil || n > 64<<20 {
		t.Errorf("%d MiB for 20,000 columns, %v", n>>20, err)
	}
	file = wide(2_000, 1)
	n = allocated(func() {
		var rec *parquetRecords
		if rec, err = openParquet(bytes.NewReader(file)); err == nil {
			_, err = row(rec)
		}
	})
	if err != nil || n > 64<<20 {
		t.Errorf("%d MiB for a row of 2,000 columns, %v", n>>20, err)
	}
}

// Bytes that are too long are not written as text first.
func TestParquetLongBytes(t *testing.T) {
	type long struct {
		V []byte `parquet:"v"`
	}
	const most = 1 << 20
	for _, n := range []int{most / 2, most/2 - 1} {
		rec, err := openParquet(bytes.NewReader(written(t, []long{{nil}, {make([]byte, n)}})))
		if err == nil {
			_, err = row(rec)
		}
		if err != nil {
			t.Fatal(err)
		}
		rec.most = most
		var into block
		taken := allocated(func() { err = rec.read(&into) })
		switch {
		case n < most/2 && (err != nil || len(into.text) != most):
			t.Errorf("the longest: %d bytes, %v", len(into.text), err)
		case n == most/2 && (err == nil || !strings.Contains(err.Error(), "the row is longer")):
			t.Error(err)
		case n == most/2 && taken > most/2:
			t.Errorf("%d bytes were taken for it", taken)
		}
	}
}

// Numbers count by their digits.
func TestParquetLongNumbers(t *testing.T) {
	rec, err := openParquet(bytes.NewReader(written(t, []struct{ A, B int64 }{{12, 34}, {12, 345}})))
	if err != nil {
		t.Fatal(err)
	}
	rec.most = 4
	if _, err := row(rec); err != nil {
		t.Error(err)
	}
	if _, err := row(rec); err == nil || !strings.Contains(err.Error(), `row 2, column "B"`) ||
		!strings.Contains(err.Error(), "the row is longer than 4 bytes") {
		t.Error(err)
	}
}
