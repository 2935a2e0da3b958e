package importer

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// forged is a file of one column that has one page of n values. What the page says of its size need
// not be true.
func forged[T any](
	t testing.TB, codec format.CompressionCodec, n int32, page []byte, unpacked int32,
) []byte {
	t.Helper()
	type column struct {
		V T `parquet:"v"`
	}
	good := written(t, make([]column, 1))
	file, err := parquet.OpenFile(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		t.Fatal(err)
	}
	header := format.PageHeader{
		Type: format.DataPage, CompressedPageSize: int32(len(page)), UncompressedPageSize: unpacked,
	}
	header.DataPageHeader.Valid = true
	header.DataPageHeader.V = format.DataPageHeader{
		NumValues: n, Encoding: format.Plain,
		DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	}
	head, err := thrift.Marshal(&thrift.CompactProtocol{}, &header)
	if err != nil {
		t.Fatal(err)
	}
	meta := *file.Metadata()
	meta.NumRows = int64(n)
	group := &meta.RowGroups[0]
	group.NumRows = int64(n)
	group.Columns[0].MetaData.NumValues = int64(n)
	group.Columns[0].MetaData.Codec = codec
	group.Columns[0].MetaData.DataPageOffset = 4
	group.Columns[0].MetaData.DictionaryPageOffset = 0
	group.Columns[0].MetaData.TotalCompressedSize = int64(len(head) + len(page))
	group.Columns[0].MetaData.TotalUncompressedSize = int64(len(head)) + int64(unpacked)
	foot, err := thrift.Marshal(&thrift.CompactProtocol{}, &meta)
	if err != nil {
		t.Fatal(err)
	}
	forged := append(append([]byte("PAR1"), head...), append(page, foot...)...)
	forged = binary.LittleEndian.AppendUint32(forged, uint32(len(foot)))
	return append(forged, "PAR1"...)
}

// nulls is a page of NULLs, which are one run of a few bytes.
func nulls(n int32) []byte {
	run := append(binary.AppendUvarint(nil, uint64(n)<<1), 0)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
}

// A few bytes say that there are many NULLs. They count as what they take.
func TestParquetManyNulls(t *testing.T) {
	few := nulls(1000)
	_, values, err := allOf(forged[*int64](t, format.Uncompressed, 1000, few, int32(len(few))))
	if err != nil || len(values) != 1000 || values[999][0] != nil {
		t.Fatalf("%d rows, %v", len(values), err)
	}
	const n = maxPages/9 + 1 // 8 bytes each, and one that says that it is NULL
	many := nulls(n)
	file := forged[*int64](t, format.Uncompressed, n, many, int32(len(many)))
	refusedCheaply(t, file, "its pages take more than 256 MiB at once")
}

// A small page may unpack to far more than it claims. It is refused before it is unpacked whole.
func TestParquetPageOfFalseSize(t *testing.T) {
	var zeros bytes.Buffer
	z := gzip.NewWriter(&zeros)
	_, err := z.Write(make([]byte, 96<<20))
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	const want = "it unpacks to more than the 1000 bytes that it claims"
	refusedCheaply(t, forged[int64](t, format.Gzip, 125, zeros.Bytes(), 1000), want)
	snappy := append(binary.AppendUvarint(nil, 96<<20), 0, 0)
	refusedCheaply(t, forged[int64](t, format.Snappy, 125, snappy, 1000), want)

	zeros.Reset()
	z.Reset(&zeros)
	_, err = z.Write(make([]byte, 1000))
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	_, values, err := allOf(forged[int64](t, format.Gzip, 125, zeros.Bytes(), 1000))
	if err != nil || len(values) != 125 {
		t.Errorf("a page of its size: %d rows, %v", len(values), err)
	}
}

// A column's dictionary stays in memory beside its largest page.
func TestParquetDictionary(t *testing.T) {
	type column struct {
		V int64 `parquet:"v,dict"`
	}
	good := written(t, make([]column, 10))
	r, size := bytes.NewReader(good), int64(len(good))
	file, err := parquet.OpenFile(r, size)
	if err != nil {
		t.Fatal(err)
	}
	meta := file.Metadata().RowGroups[0].Columns[0].MetaData
	leaf := file.Root().Columns()[0]
	both, err := largestPage(r, size, &meta, leaf)
	if err != nil {
		t.Fatal(err)
	}
	meta.TotalCompressedSize -= meta.DataPageOffset - meta.DictionaryPageOffset
	meta.DictionaryPageOffset = 0
	alone, err := largestPage(r, size, &meta, leaf)
	if err != nil {
		t.Fatal(err)
	}
	const one = 3 * 8 // a value: in the file, unpacked, and read
	if alone <= 0 || both-alone != one {
		t.Errorf("%d bytes, and %d with a dictionary of one value", alone, both)
	}
}

// refusedCheaply reads the first row, which is an error that takes little memory.
func refusedCheaply(t *testing.T, file []byte, want string) {
	t.Helper()
	rec, err := openParquet(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	n := allocated(func() { _, err = row(rec) })
	var wrong *ParquetError
	if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if n > 1<<20 {
		t.Errorf("%d KB were allocated for a file of %d bytes", n>>10, len(file))
	}
}
