package importer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// An unpacker unpacks pages, one at a time, each within the size that it claims.
type unpacker struct {
	packed, text bytes.Buffer  // of the last page
	zstd         *zstd.Decoder // which needs no closing: it has no goroutines
}

// page returns a page's two parts. Levels are nil where they are packed with the values. The parts
// are valid until the next call.
func (u *unpacker) page(
	codec format.CompressionCodec, header *format.PageHeader, packed *io.SectionReader,
) (levels, values []byte, err error) {
	u.packed.Reset()
	u.packed.Grow(int(packed.Size()))
	if _, err := io.Copy(&u.packed, packed); err != nil {
		return nil, nil, err
	}
	values, claimed := u.packed.Bytes(), int64(header.UncompressedPageSize)
	if err := checksum(header, values); err != nil {
		return nil, nil, err
	}
	if header.Type == format.DataPageV2 { // whose levels are not packed
		v2 := &header.DataPageHeaderV2.V
		repetition, definition := int64(v2.RepetitionLevelsByteLength), int64(v2.DefinitionLevelsByteLength)
		n := repetition + definition
		if repetition < 0 || definition < 0 || n > int64(len(values)) || n > claimed {
			return nil, nil, fmt.Errorf("%d and %d bytes of levels", repetition, definition)
		}
		levels, values, claimed = values[:n], values[n:], claimed-n
		if v2.IsCompressed.Valid && !v2.IsCompressed.V {
			codec = format.Uncompressed
		}
	}
	if codec == format.Uncompressed || len(values) == 0 {
		return levels, values, nil
	}
	values, err = u.decompress(codec, values, claimed)
	return levels, values, err
}

// decompress unpacks no more bytes than a page claims.
func (u *unpacker) decompress(
	codec format.CompressionCodec, packed []byte, claimed int64,
) ([]byte, error) {
	var stream io.Reader
	var err error
	switch codec {
	case format.Gzip:
		if stream, err = gzip.NewReader(bytes.NewReader(packed)); err != nil {
			return nil, err
		}
	case format.Brotli:
		stream = brotli.NewReader(bytes.NewReader(packed))
	}
	more := fmt.Errorf("it unpacks to more than the %d bytes that it claims", claimed)
	u.text.Reset()
	if stream != nil {
		if n, err := io.CopyN(&u.text, stream, claimed+1); n > claimed {
			return nil, more
		} else if err != io.EOF {
			return nil, err
		}
		return u.text.Bytes(), nil
	}
	room := max(1, claimed) // LZ4 needs some
	u.text.Grow(int(room))
	text := u.text.AvailableBuffer()[:room:room]
	switch codec {
	case format.Snappy: // which begins with its size
		if n, err := snappy.DecodedLen(packed); err != nil || int64(n) > claimed {
			return nil, more
		}
		text, err = snappy.Decode(text, packed)
	case format.Lz4Raw:
		n := 0
		n, err = lz4.UncompressBlock(packed, text)
		text = text[:max(0, n)]
	case format.Zstd:
		if u.zstd == nil {
			u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
				zstd.WithDecodeAllCapLimit(true))
			if err != nil {
				return nil, err
			}
		}
		text, err = u.zstd.DecodeAll(packed, text[:0])
	default:
		return nil, fmt.Errorf("it is packed by %s", codec)
	}
	if err != nil {
		return nil, fmt.Errorf("%w, or is damaged: %w", more, err)
	}
	if int64(len(text)) > claimed {
		return nil, more
	}
	return text, nil
}

// moreThan is what memory a page's values take that is more than it claims, for n values.
func moreThan(
	n int64, header *format.PageHeader, encoding format.Encoding, leaf *parquet.Column,
	levels, values []byte,
) (more int64, err error) {
	if leaf.Optional() {
		held := int64(0)
		if held, values, err = levelsOf(header, levels, values); err != nil {
			return 0, err
		}
		more = max(0, held-n)
	}
	held, err := heldBy(encoding, leaf.Type().Kind(), values)
	return more + max(0, held-n*widthOf(leaf, encoding)), err
}

// levelsOf is how many levels a page holds, of a bit each, and what lies behind them. In a page of
// the first version they begin with their length.
func levelsOf(header *format.PageHeader, levels, values []byte) (n int64, rest []byte, err error) {
	encoding := header.DataPageHeader.V.DefinitionLevelEncoding
	if header.Type == format.DataPageV2 {
		encoding, levels = format.RLE, levels[header.DataPageHeaderV2.V.RepetitionLevelsByteLength:]
	} else {
		if len(values) < 4 {
			return 0, nil, errCutOff
		}
		n := uint64(binary.LittleEndian.Uint32(values))
		if values = values[4:]; n > uint64(len(values)) {
			return 0, nil, errCutOff
		}
		levels, values = values[:n], values[n:]
	}
	if encoding == format.BitPacked {
		return 8 * int64(len(levels)), values, nil
	}
	n, err = runsOf(levels, 1)
	return n, values, err
}

// heldBy is what memory the values of a page take. It is 0 where they cannot take more than their
// text.
func heldBy(encoding format.Encoding, kind parquet.Kind, text []byte) (int64, error) {
	const length = 4
	switch {
	case len(text) == 0:
	case inDictionary(encoding):
		n, err := runsOf(text[1:], uint64(text[0]))
		return n * length, err
	case encoding == format.RLE: // booleans, behind the length of their text
		if len(text) < 4 {
			return 0, errCutOff
		}
		n, err := runsOf(text[4:], 1)
		return (n + 7) / 8, err
	case encoding == format.DeltaBinaryPacked:
		n, _, err := deltasOf(text)
		if kind == parquet.Int64 {
			return n * 8, err
		}
		return n * length, err
	case encoding == format.DeltaLengthByteArray:
		n, _, err := deltasOf(text)
		return n * length, err
	case encoding == format.DeltaByteArray:
		return prefixed(text)
	}
	return 0, nil
}

// prefixed is what texts take of which each repeats the beginning of the one before.
func prefixed(text []byte) (int64, error) {
	n, rest, err := deltasOf(text)
	if err != nil {
		return 0, err
	}
	m, texts, err := deltasOf(rest)
	total := 4 * (n + m) // their lengths
	if err != nil || total > maxPages {
		return total, err
	}
	prefixes, err := sumOf(text)
	if err != nil {
		return 0, err
	}
	suffixes, err := sumOf(rest)
	if err == nil && suffixes > int64(len(texts)) {
		err = errCutOff
	}
	return total + prefixes + suffixes, err
}

// sumOf is the sum of the lengths with which a text begins.
func sumOf(text []byte) (sum int64, err error) {
	lengths, err := parquet.DeltaBinaryPacked.DecodeInt32(nil, text)
	for _, n := range lengths {
		if n < 0 {
			return 0, errDamage
		}
		sum += int64(n)
	}
	return sum, err
}

// runsOf is how many values a text holds in runs, which repeat a value, or have eight of a number of
// bits side by side:
// https://parquet.apache.org/docs/file-format/data-pages/encodings
func runsOf(text []byte, width uint64) (n int64, err error) {
	for len(text) > 0 {
		head, k := binary.Uvarint(text)
		count := head >> 1
		if k <= 0 || count > math.MaxInt32 {
			return 0, errDamage
		}
		if text = text[k:]; count == 0 {
			continue // padding, which has no value
		}
		size := (width + 7) / 8
		if head&1 != 0 {
			count, size = 8*count, count*width
		}
		if size > uint64(len(text)) {
			if head&1 == 0 || size-uint64(len(text)) >= width {
				return 0, errCutOff
			}
			size = uint64(len(text)) // see padding
		}
		text = text[size:]
		n += int64(count)
	}
	return n, nil
}

// deltasOf is how many values a text of DELTA_BINARY_PACKED holds, and what lies behind them.
func deltasOf(text []byte) (n int64, rest []byte, err error) {
	var head [3]uint64 // values of a block, its parts, all values
	for i := range head {
		var k int
		if head[i], k = binary.Uvarint(text); k <= 0 || head[i] > math.MaxInt32 {
			return 0, nil, errDamage
		}
		text = text[k:]
	}
	if head[1] == 0 || head[0]%head[1] != 0 {
		return 0, nil, errDamage
	}
	part, parts, left := head[0]/head[1], head[1], head[2]
	_, k := binary.Varint(text) // the first value
	for text = text[max(0, k):]; k > 0 && left > 1; {
		if _, k = binary.Varint(text); k <= 0 { // the least difference
			break
		}
		text = text[k:]
		widths := text[:min(parts, uint64(len(text)))]
		text = text[len(widths):]
		for _, width := range widths {
			if left <= 1 {
				break
			}
			// The last part may be cut.
			text = text[min(uint64(len(text)), part*uint64(width)/8):]
			left -= min(left-1, part)
		}
	}
	if k <= 0 {
		return 0, nil, errDamage
	}
	return int64(head[2]), text, nil
}
