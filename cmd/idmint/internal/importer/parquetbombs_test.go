package importer

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// A forgedGroup is a row group of one column. What its pages say of themselves need not be true.
type forgedGroup struct {
	codec format.CompressionCodec
	rows  int32
	pages []forgedPage
}

type forgedPage struct {
	header format.PageHeader
	body   []byte
}

// forgedFile is a file of one column.
func forgedFile[T any](t testing.TB, groups ...forgedGroup) []byte {
	t.Helper()
	type column struct {
		V T `parquet:"v"`
	}
	good := written(t, make([]column, 1))
	contents, err := readFooter(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		t.Fatal(err)
	}
	like := contents.RowGroups[0].Columns[0]
	contents.RowGroups, contents.NumRows = nil, 0
	forged := []byte("PAR1")
	for _, g := range groups {
		c := like
		c.MetaData.Codec, c.MetaData.NumValues = g.codec, int64(g.rows)
		c.MetaData.DictionaryPageOffset, c.MetaData.DataPageOffset = 0, int64(len(forged))
		for _, p := range g.pages {
			head, err := thrift.Marshal(&thrift.CompactProtocol{}, &p.header)
			if err != nil {
				t.Fatal(err)
			}
			forged = append(append(forged, head...), p.body...)
		}
		c.MetaData.TotalCompressedSize = int64(len(forged)) - c.MetaData.DataPageOffset
		contents.RowGroups = append(contents.RowGroups, format.RowGroup{
			Columns: []format.ColumnChunk{c}, NumRows: int64(g.rows),
		})
		contents.NumRows += int64(g.rows)
	}
	return withContents(t, forged, contents)
}

// withContents ends a file with a table of contents.
func withContents(t testing.TB, file []byte, contents *format.FileMetaData) []byte {
	t.Helper()
	foot, err := thrift.Marshal(&thrift.CompactProtocol{}, contents)
	if err != nil {
		t.Fatal(err)
	}
	file = binary.LittleEndian.AppendUint32(append(file, foot...), uint32(len(foot)))
	return append(file, "PAR1"...)
}

// dataPage is a page of n values, with the size that it claims to unpack to.
func dataPage(encoding format.Encoding, n int32, body []byte, unpacked int32) forgedPage {
	h := format.PageHeader{
		Type: format.DataPage, CompressedPageSize: int32(len(body)), UncompressedPageSize: unpacked,
	}
	h.DataPageHeader = thrift.New(format.DataPageHeader{
		NumValues: n, Encoding: encoding,
		DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})
	return forgedPage{h, body}
}

func dictionaryPage(encoding format.Encoding, n int32, body []byte) forgedPage {
	h := format.PageHeader{
		Type:               format.DictionaryPage,
		CompressedPageSize: int32(len(body)), UncompressedPageSize: int32(len(body)),
	}
	h.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: n, Encoding: encoding})
	return forgedPage{h, body}
}

// forged is a file of one column that has one page of n values. Those of a dictionary have one of
// the text x.
func forged[T any](
	t testing.TB, codec format.CompressionCodec, n int32, page []byte, unpacked int32,
	encoding ...format.Encoding, // of the values; Plain where it is left out
) []byte {
	t.Helper()
	e := append(encoding, format.Plain)[0]
	pages := []forgedPage{dataPage(e, n, page, unpacked)}
	if inDictionary(e) {
		x := dictionaryPage(format.Plain, 1, []byte("\x01\x00\x00\x00x"))
		pages = []forgedPage{x, pages[0]}
	}
	return forgedFile[T](t, forgedGroup{codec, n, pages})
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
	refusedCheaply(t, file, "the pages take more than 256 MiB at once")
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

// A few bytes say that a value repeats, that numbers have no bits, or how long texts are. They
// count as what they take.
func TestParquetManyValues(t *testing.T) {
	const n = maxPages/4 + 1
	run := func(n uint64, bits byte) []byte { return append(binary.AppendUvarint(nil, n<<1), bits) }
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
	const want = "the pages take more than 256 MiB at once"
	for name, test := range map[string]struct {
		file []byte
		most uint64 // KiB that may be allocated
	}{
		"an entry of a dictionary": {
			file(forged[string], append([]byte{1}, run(n, 1)...), format.RLEDictionary), 1 << 10,
		},
		"entries without bits": {
			file(forged[string], binary.AppendUvarint([]byte{0}, (n/8+1)<<1|1), format.RLEDictionary),
			1 << 10,
		},
		"a level":  {file(forged[*int64], behindLength(run(4*n, 1)), format.Plain), 1 << 10},
		"deltas":   {file(forged[int64], deltas, format.DeltaBinaryPacked), 8 << 10},
		"lengths":  {file(forged[string], deltas, format.DeltaLengthByteArray), 8 << 10},
		"prefixes": {file(forged[string], prefixes, format.DeltaByteArray), 4 << 10},
	} {
		t.Run(name, func(t *testing.T) { refusedWithin(t, test.file, want, test.most<<10) })
	}
}

// Row groups may be packed by different codecs: files that were made of others are.
func TestParquetMixedCodecs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var groups []forgedGroup
	var want [][]any
	for _, codec := range []compress.Codec{
		&parquet.Uncompressed, &parquet.Lz4Raw, &parquet.Snappy, &parquet.Uncompressed, &parquet.Zstd,
		&parquet.Gzip, &parquet.Brotli,
	} {
		var plain []byte
		for range 300 {
			n := random.Int64() // which does not pack
			plain = binary.LittleEndian.AppendUint64(plain, uint64(n))
			want = append(want, []any{fmt.Sprint(n)})
		}
		packed, err := codec.Encode(nil, plain)
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, forgedGroup{codec.CompressionCodec(), 300, []forgedPage{
			dataPage(format.Plain, 300, packed, int32(len(plain))),
		}})
	}
	_, got, err := allOf(forgedFile[int64](t, groups...))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%d rows, %v", len(got), err)
	}
}

// Whatever a page and its column say that is no page, is an error.
func TestParquetForged(t *testing.T) {
	x := []byte("\x01\x00\x00\x00x")
	one := []byte{0, 2} // the first entry of the dictionary, once
	both := dataPage(format.RLEDictionary, 1, one, 2)
	both.header.DictionaryPageHeader = dictionaryPage(format.Plain, 1, nil).header.DictionaryPageHeader
	bare := dataPage(format.Plain, 1, x, 5)
	bare.header.DataPageHeader = thrift.Null[format.DataPageHeader]{}
	index := dataPage(format.Plain, 1, x, 5)
	index.header.Type = format.IndexPage
	wrong := dataPage(format.Plain, 1, x, 5)
	wrong.header.CRC = 7
	long := dataPage(format.Plain, 1, x, 5)
	long.header.CompressedPageSize = 1 << 20
	suffix := binary.AppendUvarint([]byte{128, 1, 4, 1}, 0) // a prefix of no bytes
	suffix = binary.AppendVarint(append(suffix, 128, 1, 4, 1), 2_000_000_000)
	for name, test := range map[string]struct {
		pages []forgedPage
		want  string
	}{
		"no dictionary":        {[]forgedPage{both}, "it has values of a dictionary, which is missing"},
		"no header":            {[]forgedPage{bare}, "damaged"},
		"an index":             {[]forgedPage{index}, "damaged"},
		"another checksum":     {[]forgedPage{wrong}, "it does not fit its checksum"},
		"longer than its file": {[]forgedPage{long}, "it has 1048576 bytes"},
		"a packed dictionary": {
			[]forgedPage{
				dictionaryPage(format.DeltaLengthByteArray, 1, x), dataPage(format.RLEDictionary, 1, one, 2),
			},
			"a dictionary of encoding DELTA_LENGTH_BYTE_ARRAY",
		},
		"two dictionaries": {
			[]forgedPage{dictionaryPage(format.Plain, 1, x), dictionaryPage(format.Plain, 1, x)},
			"a dictionary behind other pages",
		},
		"a long suffix": {
			[]forgedPage{dataPage(format.DeltaByteArray, 1, suffix, int32(len(suffix)))},
			"it claims to be longer than it is",
		},
	} {
		t.Run(name, func(t *testing.T) {
			group := forgedGroup{format.Uncompressed, 1, test.pages}
			refusedCheaply(t, forgedFile[string](t, group), test.want)
		})
	}
	for _, length := range []int32{0, -1} {
		file := forgedFile[[3]byte](t, forgedGroup{format.Uncompressed, 1, []forgedPage{bare}})
		contents, err := readFooter(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		contents.Schema[1].TypeLength.Set(length)
		_, err = openParquet(bytes.NewReader(withContents(t, file, contents)))
		if want := fmt.Sprintf(`column "v": its values have %d bytes`, length); err == nil ||
			!strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Some writers cut the last run, where no value needs the rest. A page may fill its memory, then.
func TestParquetCutRun(t *testing.T) {
	entries := []byte("\x01\x00\x00\x00a\x01\x00\x00\x00b")
	for width := byte(1); width <= 9; width++ { // eight numbers, of which the second is 1, and no more
		run := make([]byte, 1+(2*width+7)/8)
		run[0], run[1+width/8] = 1<<1|1, 1<<(width%8)
		for _, size := range []int{0, 4096, 6144} {
			page, want := []byte{width}, [][]any(nil)
			one := append([]byte{1 << 1}, make([]byte, (width+7)/8)...) // a run of the first entry
			for len(page)+len(one)+len(run) <= size {
				page, want = append(page, one...), append(want, []any{"a"})
			}
			for len(page)+len(run) < size {
				page = append(page, 0)
			}
			page, want = append(page, run...), append(want, []any{"a"}, []any{"b"})
			n := int32(len(want))
			_, got, err := allOf(forgedFile[string](t, forgedGroup{format.Uncompressed, n, []forgedPage{
				dictionaryPage(format.Plain, 2, entries),
				dataPage(format.RLEDictionary, n, page, int32(len(page))),
			}}))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%d bits, %d bytes: %d rows, %v", width, size, len(got), err)
			}
		}
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
		n = 0
		err = eachRun(append(text, 0, 0)[1:], uint64(text[0]), // as some pad it
			func(count int64, _ []byte, _ bool) { n += count })
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
