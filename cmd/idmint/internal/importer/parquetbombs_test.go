package importer

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// forged is a file of one column that has one page of n values. What the page says of its size need
// not be true.
func forged[T any](
	t testing.TB, codec format.CompressionCodec, n int32, page []byte, unpacked int32,
	encoding ...format.Encoding, // of the values; Plain where it is left out
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
		NumValues: n, Encoding: append(encoding, format.Plain)[0],
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

	for codec, packed := range map[format.CompressionCodec]compress.Codec{
		format.Zstd: &parquet.Zstd, format.Brotli: &parquet.Brotli, format.Lz4Raw: &parquet.Lz4Raw,
	} {
		zeros, err := packed.Encode(nil, make([]byte, 96<<20))
		if err != nil {
			t.Fatal(err)
		}
		const window = 16 << 20 // brotli's
		refusedWithin(t, forged[int64](t, codec, 125, zeros, 1000), want, window)
	}

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
	both, err := largestPage(r, size, &meta, claimedBy(meta.Codec, leaf))
	if err != nil {
		t.Fatal(err)
	}
	meta.TotalCompressedSize -= meta.DataPageOffset - meta.DictionaryPageOffset
	meta.DictionaryPageOffset = 0
	alone, err := largestPage(r, size, &meta, claimedBy(meta.Codec, leaf))
	if err != nil {
		t.Fatal(err)
	}
	const one = 3 * 8 // a value: in the file, unpacked, and read
	if alone <= 0 || both-alone != one {
		t.Errorf("%d bytes, and %d with a dictionary of one value", alone, both)
	}
}

// A few bytes say that a value repeats, that numbers have no bits, or how long texts are. They count
// as what they take.
func TestParquetManyValues(t *testing.T) {
	const n = maxPages/4 + 1
	run := func(n uint64, bits byte) []byte { return append(binary.AppendUvarint(nil, n<<1), bits) }
	behindLength := func(page []byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(page))), page...)
	}
	deltas := binary.AppendUvarint(binary.AppendUvarint(nil, 128), 4)
	deltas = binary.AppendVarint(binary.AppendUvarint(deltas, n), 0)
	for range n / 128 { // whose numbers are all the same, in parts without a bit
		deltas = append(deltas, 0, 0, 0, 0, 0)
	}
	deltas = append(deltas, 0, 0, 0, 0, 0)
	long := bytes.Repeat([]byte("x"), 1<<20)
	var texts []byte
	offsets := []uint32{0}
	for range maxPages>>20 + 1 {
		texts = append(texts, long...)
		offsets = append(offsets, uint32(len(texts)))
	}
	prefixes, err := parquet.DeltaByteArray.EncodeByteArray(nil, texts, offsets)
	if err != nil {
		t.Fatal(err)
	}
	file := func(f func(testing.TB, format.CompressionCodec, int32, []byte, int32,
		...format.Encoding) []byte, page []byte, encoding format.Encoding,
	) []byte {
		return f(t, format.Uncompressed, 1000, page, int32(len(page)), encoding)
	}
	const want = "its pages take more than 256 MiB at once"
	for name, test := range map[string]struct {
		file []byte
		most uint64 // KiB that may be allocated
	}{
		"an entry of a dictionary": {
			file(forged[string], append([]byte{1}, run(n, 1)...), format.RLEDictionary), 1 << 10,
		},
		"entries without bits": {
			file(forged[string], binary.AppendUvarint([]byte{0}, (n/8+1)<<1|1), format.RLEDictionary), 1 << 10,
		},
		"a level": {file(forged[*int64], behindLength(run(4*n, 1)), format.Plain), 1 << 10},
		"booleans": {
			file(forged[bool], behindLength(append(run(16*n, 1), run(16*n, 0)...)), format.RLE), 1 << 10,
		},
		"deltas":   {file(forged[int64], deltas, format.DeltaBinaryPacked), 8 << 10},
		"lengths":  {file(forged[string], deltas, format.DeltaLengthByteArray), 8 << 10},
		"prefixes": {file(forged[string], prefixes, format.DeltaByteArray), 4 << 10},
	} {
		t.Run(name, func(t *testing.T) { refusedWithin(t, test.file, want, test.most<<10) })
	}
}

// What the library writes holds as many values as were written, and nothing is left.
func TestParquetHeld(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		values := make([]int32, random.IntN(600))
		bound := random.Int32N(math.MaxInt32>>random.IntN(31)) + 1
		for i := range values {
			if values[i] = random.Int32N(bound); i > 0 && random.IntN(8) > 0 {
				values[i] = values[i-1]
			}
		}
		text, err := parquet.DeltaBinaryPacked.EncodeInt32(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		n, rest, err := deltasOf(append(text, "rest"...))
		if err != nil || n != int64(len(values)) || string(rest) != "rest" {
			t.Fatalf("%d values: %d, %q, %v", len(values), n, rest, err)
		}
		text, err = parquet.RLEDictionary.EncodeInt32(nil, values)
		if err != nil {
			t.Fatal(err)
		}
		n, err = runsOf(append(text, 0, 0)[1:], uint64(text[0])) // as some pad it
		if err != nil || n != int64(len(values)) {
			t.Fatalf("%d values: %d in runs, %v", len(values), n, err)
		}
	}
}

// refusedCheaply reads the first row, which is an error that takes little memory.
func refusedCheaply(t *testing.T, file []byte, want string) {
	t.Helper()
	refusedWithin(t, file, want, 1<<20)
}

func refusedWithin(t *testing.T, file []byte, want string, most uint64) {
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
	if n > most {
		t.Errorf("%d KB were allocated for a file of %d bytes", n>>10, len(file))
	}
}
