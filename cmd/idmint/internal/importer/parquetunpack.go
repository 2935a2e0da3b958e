package importer

import (
	"bytes"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// An unpacker unpacks pages, one at a time, each within the size that it claims.
type unpacker struct {
	packed, text bytes.Buffer  // of the last page
	zstd         *zstd.Decoder // which needs no closing: it has no goroutines
}

// checkCodec checks that pages of a codec can be unpacked.
func checkCodec(codec format.CompressionCodec) error {
	switch codec {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Zstd, format.Brotli, format.Lz4Raw:
		return nil
	}
	return fmt.Errorf("it is packed by %v: want snappy, gzip, zstd, brotli, LZ4_RAW or none", codec)
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
		repetition := int64(v2.RepetitionLevelsByteLength)
		definition := int64(v2.DefinitionLevelsByteLength)
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
		if n, err := snappy.DecodedLen(packed); err == nil && int64(n) > claimed {
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
		return nil, checkCodec(codec)
	}
	if err != nil {
		return nil, fmt.Errorf("%w, or is damaged: %w", more, err)
	}
	if int64(len(text)) > claimed {
		return nil, more
	}
	return text, nil
}
