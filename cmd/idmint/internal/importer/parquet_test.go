package importer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"
)

// fromPyarrow reads a file that pyarrow has written: see testdata/parquet/make.py.
func fromPyarrow(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join("testdata", "parquet", name))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// allOf reads a Parquet file to its end, or to the first error.
func allOf(file []byte) (columns []string, values [][]any, err error) {
	rec, err := openParquet(bytes.NewReader(file))
	if err != nil {
		return nil, nil, err
	}
	for {
		v, err := row(rec)
		if err == io.EOF {
			return rec.columns(), values, nil
		}
		if err != nil {
			return rec.columns(), values, err
		}
		values = append(values, v)
	}
}

// Every type is stored as the text that stands beside it, whatever the file's packing.
func TestParquetTypes(t *testing.T) {
	wantColumns, want, _, err := all(t, JSONLines,
		bytes.NewReader(fromPyarrow(t, "types.jsonl")))
	if err != nil {
		t.Fatal(err)
	}
	for _, packing := range []string{"", "-none", "-gzip", "-brotli", "-zstd", "-lz4"} {
		columns, got, err := allOf(fromPyarrow(t, "types"+packing+".parquet"))
		if err != nil {
			t.Errorf("%q: %v", packing, err)
			continue
		}
		if !reflect.DeepEqual(columns, wantColumns) || len(got) != len(want) {
			t.Errorf("%q: %d rows of %v, want %d of %v", packing, len(got), columns, len(want),
				wantColumns)
			continue
		}
		for i := range want {
			for j, column := range columns {
				if got[i][j] != want[i][j] {
					t.Errorf("%q: row %d, column %s: %q, want %q", packing, i+1, column, got[i][j],
						want[i][j])
				}
			}
		}
	}
	_, got, err := allOf(fromPyarrow(t, "int96.parquet"))
	if err != nil || !reflect.DeepEqual(got, [][]any{
		{"1970-01-01T00:00:00.000000001"}, {nil}, {"1969-12-31T23:59:59.999999999"},
	}) {
		t.Errorf("int96: %q, %v", got, err)
	}
}

// Row groups and pages end anywhere, and NULLs stand between values.
func TestParquetRowGroups(t *testing.T) {
	columns, got, err := allOf(fromPyarrow(t, "groups.parquet"))
	if err != nil || len(got) != 1000 || !reflect.DeepEqual(columns, []string{"n", "name"}) {
		t.Fatalf("%d rows of %v, %v", len(got), columns, err)
	}
	for i, v := range got {
		want := []any{fmt.Sprint(i), fmt.Sprintf("name %d", i%13)}
		if i%7 == 0 {
			want[0] = nil
		}
		if !reflect.DeepEqual(v, want) {
			t.Errorf("row %d: %q, want %q", i+1, v, want)
		}
	}
	if _, got, err := allOf(fromPyarrow(t, "empty.parquet")); err != nil || len(got) != 0 {
		t.Errorf("without rows: %q, %v", got, err)
	}
}

// encoded has a column of each encoding, with and without NULLs, which are the zeros.
type encoded struct {
	Plain   int64   `parquet:"plain,optional"`
	Dict    string  `parquet:"dict,optional,dict"`
	Numbers int64   `parquet:"numbers,dict"`
	Delta   int64   `parquet:"delta,optional,delta"`
	Small   int32   `parquet:"small,delta"`
	Lengths string  `parquet:"lengths,optional,delta"`
	Split   float64 `parquet:"split,split"`
	Flag    bool    `parquet:"flag"`
	Fixed   [3]byte `parquet:"fixed"`
	Noise   int64   `parquet:"noise"` // which does not pack
}

// encodedRows are rows whose values repeat for a while, and then do not.
func encodedRows(n int) (rows []encoded, want [][]any) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		r := encoded{
			Noise:   random.Int64(),
			Numbers: int64(i % 9), Small: int32(i % 5), Split: float64(i), Flag: i%7 < 3,
			Fixed: [3]byte{byte(i)},
		}
		w := []any{
			nil, nil, fmt.Sprint(r.Numbers), nil, fmt.Sprint(r.Small), nil, fmt.Sprint(i),
			fmt.Sprint(r.Flag), fmt.Sprintf(`\x%02x0000`, byte(i)), fmt.Sprint(r.Noise),
		}
		if i%3 > 0 {
			number, text := int64(i*i), fmt.Sprint("name ", max(0, i-n/2))
			r.Plain, r.Dict, r.Delta, r.Lengths = number, text, number, text
			w[0], w[1], w[3], w[5] = fmt.Sprint(number), text, fmt.Sprint(number), text
		}
		rows, want = append(rows, r), append(want, w)
	}
	return rows, want
}

// Each encoding is read, packed by each codec, in pages of both versions. Those of the second
// version pack their values, and not what says which of them are NULL.
func TestParquetEncodings(t *testing.T) {
	for _, n := range []int{1, 7, 1000, 5000} {
		rows, want := encodedRows(n)
		for _, version := range []int{1, 2} {
			for _, codec := range []compress.Codec{
				&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli,
				&parquet.Lz4Raw,
			} {
				_, got, err := allOf(written(t, rows, parquet.DataPageVersion(version),
					parquet.Compression(codec), parquet.PageBufferSize(2000)))
				if err != nil || len(got) != len(want) {
					t.Errorf("version %d, %v: %d rows, %v", version, codec, len(got), err)
					continue
				}
				for i, v := range got {
					if !reflect.DeepEqual(v, want[i]) {
						t.Fatalf("version %d, %v: row %d: %v, want %v", version, codec, i+1, v, want[i])
					}
				}
			}
		}
	}
}

// Whoever has such a file learns what is wrong with it, and where.
func TestParquetRefused(t *testing.T) {
	types := fromPyarrow(t, "types.parquet")
	type names struct {
		A string `parquet:"a"`
		B string `parquet:"A"`
	}
	for _, test := range []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "Parquet: 0 bytes: too short"},
		{"text", []byte("a,b\n1,2\n3,4\n"), `Parquet: it ends with "3,4\n": want "PAR1"`},
		{"cut off", types[:len(types)-9], `Parquet: it ends with `},
		{
			"a huge footer", append(bytes.Clone(types[:len(types)-8]), "\xff\xff\xff\x7fPAR1"...),
			"Parquet: its table of contents has 2147483647 bytes of",
		},
		{"a list", fromPyarrow(t, "list.parquet"), `Parquet: column "nested": lists, maps`},
		{
			"a repeated value", written(t, []struct{ A []int32 }{{[]int32{1, 2}}}),
			`Parquet: column "A": lists, maps`,
		},
		{"a struct", fromPyarrow(t, "struct.parquet"), `Parquet: column "nested": lists, maps`},
		{"float16", fromPyarrow(t, "float16.parquet"), `Parquet: column "n": type `},
		{
			"not UTF-8", written(t, []struct{ A string }{{"x"}, {"\xff"}}),
			`Parquet: row 2, column "A": a text is not UTF-8`,
		},
		{
			"a NUL byte", written(t, []struct{ A string }{{"x\x00"}}),
			`Parquet: row 1, column "A": a text has a NUL byte`,
		},
		{
			"names that are one column", written(t, []names{{"x", "y"}}),
			`Parquet: column "A" is there twice`,
		},
		{"a late time", written(t, []struct {
			At int64 `parquet:",timestamp(millisecond)"`
		}{{1 << 60}}), `Parquet: row 1, column "At": the year `},
		{"a day's end", written(t, []struct {
			At int32 `parquet:",time(millisecond)"`
		}{{86_399_999}, {86_400_000}}), `Parquet: row 2, column "At": the time of day 86400000`},
	} {
		_, _, err := allOf(test.file)
		var wrong *ParquetError
		if !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
	for name, r := range map[string]io.Reader{
		"a stream": io.MultiReader(bytes.NewReader(types)),
		"a pipe":   notSeekable{bytes.NewReader(types)},
	} {
		if _, err := openParquet(r); !errors.Is(err, errPipe) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// notSeekable has the methods of a file, as a pipe does.
type notSeekable struct{ *bytes.Reader }

func (notSeekable) Seek(int64, int) (int64, error) { return 0, os.ErrInvalid }

// written is a file by the library itself.
func written[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// numberedParquet is numbered(n) in row groups of 100 rows, with a name for the first row.
func numberedParquet(t testing.TB, n int, first string) []byte {
	type numbers struct {
		N    int64  `parquet:"n"`
		Name string `parquet:"name"`
	}
	rows := make([]numbers, n)
	for i := range rows {
		rows[i] = numbers{int64(i), fmt.Sprintf("name %d", i)}
	}
	rows[0].Name = first
	return written(t, rows, parquet.MaxRowsPerRowGroup(100), parquet.PageBufferSize(256))
}

// An import of Parquet that ended anywhere goes on there: nothing twice, nothing lost.
func TestParquetResume(t *testing.T) { everywhere(t, testParquetResume) }

func testParquetResume(t *testing.T, newFixture func(testing.TB) *fixture) {
	file := numberedParquet(t, 250, "name 0")
	for _, stop := range []int64{10, 100, 130, 250} {
		f := newFixture(t)
		ending, cancel := context.WithCancelCause(ctx)
		_, err := f.run(ending, bytes.NewReader(file), importing(asParquet, func(im *Import) {
			im.Progress = func(rows, bytes int64) {
				if bytes <= 0 || bytes > int64(len(file)) || rows == 250 && bytes != int64(len(file)) {
					t.Errorf("after %d rows the file has come to %d of %d", rows, bytes, len(file))
				}
				if rows >= stop {
					cancel(errStop)
				}
			}
		}))
		var stopped *StoppedError
		if !errors.As(err, &stopped) || stopped.Rows != stop {
			t.Fatalf("%v, want the end after %d rows", err, stop)
		}
		f.checkNumbered(int(stop), 1)
		// A file that differs in one letter is not the rest of this one.
		other := numberedParquet(t, 250, "name 1")
		_, err = f.run(ctx, bytes.NewReader(other), importing(asParquet, resume))
		if !errors.Is(err, errChanged) {
			t.Errorf("with another file: %v", err)
		}
		if _, err := f.run(ctx, bytes.NewReader(file),
			importing(asParquet, resume)); err != nil {
			t.Fatal(err)
		}
		f.checkNumbered(250, 1)
		result, err := f.run(ctx, bytes.NewReader(file), importing(asParquet, resume))
		if err != nil || result.Rows != 0 {
			t.Errorf("again: %+v, %v", result, err)
		}
	}
}

// A file that is damaged is an error, or its values are those that were written. Its pages have
// checksums. A byte of a page's values is an error in any case.
func TestParquetDamaged(t *testing.T) {
	good := numberedParquet(t, 150, "name 0")
	_, want, err := allOf(good)
	if err != nil || len(want) != 150 {
		t.Fatal(len(want), err)
	}
	footer := len(good) - 8 - int(binary.LittleEndian.Uint32(good[len(good)-8:]))
	packed := make([]bool, footer) // bytes of pages, without their headers
	file, err := parquet.OpenFile(bytes.NewReader(good), int64(len(good)))
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, group := range file.Metadata().RowGroups {
		for _, c := range group.Columns {
			at := c.MetaData.DataPageOffset
			if c.MetaData.DictionaryPageOffset != 0 {
				at = c.MetaData.DictionaryPageOffset
			}
			for end := at + c.MetaData.TotalCompressedSize; at < end; pages++ {
				var header format.PageHeader
				n, err := readHeader(io.NewSectionReader(bytes.NewReader(good), at, end-at), &header)
				if err != nil || header.CRC == 0 {
					t.Fatalf("the page at %d: checksum %d, %v", at, header.CRC, err)
				}
				at += int64(n)
				for range header.CompressedPageSize {
					packed[at] = true
					at++
				}
			}
		}
	}
	if pages < 4 {
		t.Fatalf("%d pages", pages)
	}
	for at := range footer {
		bad := bytes.Clone(good)
		bad[at] ^= 0x55
		_, got, err := allOf(bad)
		switch {
		case err != nil && !errors.As(err, new(*ParquetError)):
			t.Errorf("byte %d: %T %v", at, err, err)
		case err == nil && packed[at]:
			t.Errorf("byte %d of a page is damaged, and nothing is said", at)
		case err == nil && !reflect.DeepEqual(got, want):
			t.Errorf("byte %d: %q, want %q", at, got, want)
		case len(got) > len(want) || len(got) > 0 && !reflect.DeepEqual(got, want[:len(got)]):
			t.Errorf("byte %d: before %v there are %q", at, err, got)
		}
	}
}

// Without checksums other values may be as good. Nothing else comes of a damaged file: no panic,
// and no rows out of thin air. A file that is cut off is an error.
func TestParquetDamagedWithoutChecksums(t *testing.T) {
	const step = 3
	good := fromPyarrow(t, "types.parquet")
	failed := 0
	for at := 0; at < len(good); at += step {
		file := bytes.Clone(good)
		file[at] ^= 0x55
		_, values, err := allOf(file)
		if err != nil {
			failed++
			if !errors.As(err, new(*ParquetError)) {
				t.Errorf("byte %d: %T %v", at, err, err)
			}
		}
		if len(values) > 3 {
			t.Errorf("byte %d: %d rows of 3", at, len(values))
		}
	}
	if failed < len(good)/step/10 {
		t.Errorf("%d of %d damaged bytes are errors", failed, len(good)/step)
	}
	for n := 0; n < len(good); n += step {
		if _, _, err := allOf(good[:n]); !errors.As(err, new(*ParquetError)) {
			t.Errorf("%d bytes of it: %v", n, err)
		}
	}
}

// FuzzParquet: an error, never a panic, and values that are texts.
func FuzzParquet(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "parquet", "*.parquet"))
	if err != nil || len(files) < 5 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		f.Add(fromPyarrow(f, filepath.Base(name)))
	}
	rows, _ := encodedRows(50)
	for _, version := range []int{1, 2} {
		f.Add(written(f, rows, parquet.DataPageVersion(version),
			parquet.Compression(&parquet.Uncompressed)))
	}
	for _, footer := range claims(f) {
		if len(footer) < 1<<10 {
			f.Add(withFooter(footer))
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		columns, values, err := allOf(file)
		if err != nil && !errors.As(err, new(*ParquetError)) {
			t.Errorf("%T %v", err, err)
		}
		for _, v := range values {
			if len(v) != len(columns) {
				t.Fatalf("%d values for %d columns", len(v), len(columns))
			}
			for _, v := range v {
				if text, ok := v.(string); ok && badText(text) != "" {
					t.Fatalf("%q", text)
				}
			}
		}
	})
}

// Pages that claim more than they may are refused before they are unpacked. They count together.
func TestParquetHugePages(t *testing.T) {
	type one struct {
		A string `parquet:"a"`
	}
	type two struct {
		A string `parquet:"a"`
		B string `parquet:"b"`
	}
	value := strings.Repeat("x", 1<<10)
	huge := []parquet.WriterOption{
		parquet.PageBufferSize(2 * maxPages), parquet.Compression(&parquet.Zstd),
	}
	ones := slices.Repeat([]one{{value}}, maxPages/len(value)+1)
	refusedCheaply(t, written(t, ones, huge...),
		`column "a": the page at 4: the pages take more than 256 MiB`)
	twos := slices.Repeat([]two{{value, value}}, maxPages/len(value)/2+1)
	refusedWithin(t, written(t, twos, huge...), "the pages take more than 256 MiB", 2*maxPages)
}

// A row has a longest length, as a record of other files has.
func TestParquetLongRow(t *testing.T) {
	file := written(t, []struct{ A, B string }{{"x", "y"}, {"12345", "67890"}, {"12345", "678901"}})
	rec, err := openParquet(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	rec.most = 10
	for range 2 {
		if _, err := row(rec); err != nil {
			t.Error(err)
		}
	}
	var wrong *ParquetError
	var into block
	if err := rec.read(&into); !errors.As(err, &wrong) || wrong.Row != 3 || wrong.Column != "B" ||
		!strings.Contains(err.Error(), "the row is longer") {
		t.Error(err)
	}
	if len(into.ends) > 0 || len(into.text) > 0 {
		t.Errorf("it leaves %d fields, %q", len(into.ends), into.text)
	}
}
