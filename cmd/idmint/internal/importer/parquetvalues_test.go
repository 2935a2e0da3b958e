package importer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// inRuns writes bits as runs of any length, and as eight and more side by side.
func inRuns(random *rand.Rand, bits []bool) (text []byte) {
	for at := 0; at < len(bits); {
		if random.IntN(2) == 0 {
			groups := 1 + random.IntN(3)
			text = binary.AppendUvarint(text, uint64(groups)<<1|1)
			for range groups {
				octet := byte(0)
				for i := range 8 {
					if at >= len(bits) || bits[at] { // what lies behind the last one may be anything
						octet |= 1 << i
					}
					at++
				}
				text = append(text, octet)
			}
			continue
		}
		n := 1
		for n < 20 && at+n < len(bits) && bits[at+n] == bits[at] {
			n++
		}
		text = binary.AppendUvarint(text, uint64(n)<<1)
		if bits[at] {
			text = append(text, 1)
		} else {
			text = append(text, 0)
		}
		at += n
	}
	return text
}

func behindLength(text []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// inBits writes bits side by side, from the highest of each byte on.
func inBits(bits []bool) []byte {
	text := make([]byte, (len(bits)+7)/8)
	for i, bit := range bits {
		if bit {
			text[i/8] |= 0x80 >> (i % 8)
		}
	}
	return text
}

// pagesOf are pages of the same values: two of the first version, with levels in runs and in bits,
// and one of the second.
func pagesOf(
	random *rand.Rand, encoding format.Encoding, there []bool, values []byte,
) map[string]forgedPage {
	n, levels := int32(len(there)), inRuns(random, there)
	v1 := append(behindLength(levels), values...)
	inRuns := dataPage(encoding, n, v1, int32(len(v1)))
	packed := append(behindLength(inBits(there)), values...)
	inBits := dataPage(encoding, n, packed, int32(len(packed)))
	inBits.header.DataPageHeader.V.DefinitionLevelEncoding = format.BitPacked
	v2 := append(levels, values...)
	second := forgedPage{format.PageHeader{
		Type:               format.DataPageV2,
		CompressedPageSize: int32(len(v2)), UncompressedPageSize: int32(len(v2)),
	}, v2}
	second.header.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{
		NumValues: n, NumRows: n, Encoding: encoding, DefinitionLevelsByteLength: int32(len(levels)),
	})
	return map[string]forgedPage{"runs": inRuns, "bits": inBits, "second version": second}
}

// sparse are the texts of values, with NULL where none is.
func sparse(there []bool, texts []string) (rows [][]any) {
	for _, is := range there {
		row := []any{nil}
		if is {
			row[0], texts = texts[0], texts[1:]
		}
		rows = append(rows, row)
	}
	return rows
}

// checkPages reads a file of each page.
func checkPages[T any](t *testing.T, pages map[string]forgedPage, want [][]any) {
	t.Helper()
	for name, page := range pages {
		_, got, err := allOf(forgedFile[T](t, forgedGroup{
			format.Uncompressed, int32(len(want)), []forgedPage{page},
		}))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}

// drawThere says of up to 70 values which are there, and how many.
func drawThere(random *rand.Rand) (there []bool, n int) {
	there = make([]bool, 1+random.IntN(70))
	for i := range there {
		if there[i] = random.IntN(4) > 0; there[i] {
			n++
		}
	}
	return there, n
}

// Booleans in runs are read, however long the runs are.
func TestParquetBooleans(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		there, n := drawThere(random)
		values, texts := make([]bool, n), make([]string, n)
		for i := range values {
			if values[i] = random.IntN(2) == 0; i > 0 && random.IntN(3) > 0 {
				values[i] = values[i-1]
			}
			texts[i] = fmt.Sprint(values[i])
		}
		runs := behindLength(inRuns(random, values))
		checkPages[*bool](t, pagesOf(random, format.RLE, there, runs), sparse(there, texts))
	}
	for _, bad := range [][]byte{{}, {9, 0, 0, 0, 2, 1}, {2, 0, 0, 0, 2, 1}, {1, 0, 0, 0, 2, 1}} {
		page := dataPage(format.RLE, 2, bad, int32(len(bad)))
		refusedCheaply(t, forgedFile[bool](t, forgedGroup{format.Uncompressed, 2, []forgedPage{page}}),
			"it claims to be longer than it is")
	}
}

// Numbers of 32 bits may have differences of more. Numbers without a sign have all 32.
func TestParquetDifferences(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		there, n := drawThere(random)
		numbers, signed, texts := make([]int64, n), make([]string, n), make([]string, n)
		narrow := make([]int32, n)
		for i := range numbers {
			numbers[i] = int64(random.Uint32() >> random.IntN(32))
			narrow[i] = int32(numbers[i])
			signed[i], texts[i] = fmt.Sprint(narrow[i]), fmt.Sprint(numbers[i])
		}
		wide, err := parquet.DeltaBinaryPacked.EncodeInt64(nil, numbers)
		if err != nil {
			t.Fatal(err)
		}
		own, err := parquet.DeltaBinaryPacked.EncodeInt32(nil, narrow)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{wide, own} {
			pages := pagesOf(random, format.DeltaBinaryPacked, there, text)
			checkPages[*int32](t, pages, sparse(there, signed))
			checkPages[*uint32](t, pages, sparse(there, texts))
		}
	}
}

// What follows plain values is none.
func TestParquetBehindValues(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	const behind = "behind them"
	for range 300 {
		there, n := drawThere(random)
		numbers, numberTexts := []byte(nil), make([]string, n)
		words, wordTexts := []byte(nil), make([]string, n)
		for i := range n {
			number := random.Int64()
			numbers = binary.LittleEndian.AppendUint64(numbers, uint64(number))
			numberTexts[i] = fmt.Sprint(number)
			wordTexts[i] = strings.Repeat("x", random.IntN(5))
			words = append(words, behindLength([]byte(wordTexts[i]))...)
		}
		checkPages[*int64](t, pagesOf(random, format.Plain, there, append(numbers, behind...)),
			sparse(there, numberTexts))
		checkPages[*string](t, pagesOf(random, format.Plain, there, append(words, behind...)),
			sparse(there, wordTexts))
	}
}

// A page of the second version that does not say which values are NULL is damaged. Its values are
// neither lost nor NULL.
func TestParquetNoLevels(t *testing.T) {
	page := pagesOf(rand.New(rand.NewPCG(1, 1)), format.Plain, nil, make([]byte, 16))["second version"]
	page.header.DataPageHeaderV2.V.NumValues = 2
	file := forgedFile[*int64](t, forgedGroup{format.Uncompressed, 2, []forgedPage{page}})
	if _, got, err := allOf(file); len(got) != 0 || !errors.As(err, new(*ParquetError)) {
		t.Errorf("%v, %v", got, err)
	}
}

// A codec that nobody can unpack is told before anything is made.
func TestParquetUnknownCodec(t *testing.T) {
	page := dataPage(format.Plain, 1, make([]byte, 8), 8)
	file := forgedFile[int64](t, forgedGroup{format.Lz4, 1, []forgedPage{page}})
	_, err := openParquet(strings.NewReader(string(file)))
	const want = `column "v": it is packed by LZ4: want snappy`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// The library reads booleans and LZ4_RAW of pyarrow, and numbers of DuckDB, as others. It refuses
// the times of fastparquet.
func TestParquetWriters(t *testing.T) {
	all := map[string][][]any{}
	number := uint32(1)
	for i := range 200 {
		number = number*1103515245 + 12345
		flag, word := number%16 < 11, fmt.Sprint("word ", number%13)
		maybe := any(fmt.Sprint(flag))
		if i%5 == 0 {
			maybe = nil
		}
		signed, unsigned := fmt.Sprint(int32(number)), fmt.Sprint(number)
		row := []any{fmt.Sprint(flag), maybe, signed, unsigned, fmt.Sprint(float64(number) / 3), word}
		all["pyarrow"] = append(all["pyarrow"], row)
		at := time.Unix(int64(number), 0).UTC().Format("2006-01-02T15:04:05")
		all["fastparquet"] = append(all["fastparquet"], []any{signed, word, at})
	}
	all["duckdb"] = all["pyarrow"]
	for writer, want := range all {
		_, got, err := allOf(fromPyarrow(t, writer+".parquet"))
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %d rows, %v", writer, len(got), err)
			continue
		}
		for i := range want {
			for j := range want[i] {
				g, w := got[i][j], want[i][j]
				if x, err := strconv.ParseFloat(fmt.Sprint(w), 64); err == nil && j == 4 {
					y, _ := strconv.ParseFloat(fmt.Sprint(g), 64)
					g, w = y, x // whatever the form is
				}
				if g != w {
					t.Fatalf("%s: row %d, value %d: %v, want %v", writer, i+1, j+1, g, w)
				}
			}
		}
	}
}
