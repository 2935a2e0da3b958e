package importer

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// maxPages is how many bytes the largest pages of a row group's columns may have together, with
// their dictionaries. Writers make pages of 1 MiB or a few.
const maxPages = 256 << 20

// pagesWithin checks the sizes that pages of a row group claim, before memory is taken for them.
func pagesWithin(
	r io.ReaderAt, size int64, columns []format.ColumnChunk, leaves []*parquet.Column,
) error {
	total := int64(0)
	for i, c := range columns {
		largest, err := largestPage(r, size, &c.MetaData, leaves[i])
		if err != nil {
			return err
		}
		if total += largest; total > maxPages {
			return fmt.Errorf("its pages take more than %d MiB at once: want smaller pages",
				maxPages>>20)
		}
	}
	return nil
}

// largestPage is the size of a column's largest page, with its dictionary.
func largestPage(
	r io.ReaderAt, size int64, c *format.ColumnMetaData, leaf *parquet.Column,
) (int64, error) {
	at := c.DataPageOffset
	if c.DictionaryPageOffset != 0 {
		at = c.DictionaryPageOffset
	}
	if at < 0 || c.TotalCompressedSize < 0 || at > size-c.TotalCompressedSize {
		return 0, fmt.Errorf("a column's pages are at %d, with %d bytes, in a file of %d", at,
			c.TotalCompressedSize, size)
	}
	end := at + c.TotalCompressedSize
	var dictionary, largest int64
	for at < end {
		var header format.PageHeader
		n, err := readHeader(io.NewSectionReader(r, at, end-at), &header)
		if err != nil {
			return 0, fmt.Errorf("the page at %d: %w", at, err)
		}
		if header.CompressedPageSize < 0 || header.UncompressedPageSize < 0 ||
			int64(header.CompressedPageSize) > end-at {
			return 0, fmt.Errorf("the page at %d has %d bytes, and %d when unpacked, of %d", at,
				header.CompressedPageSize, header.UncompressedPageSize, end-at)
		}
		page := int64(header.CompressedPageSize) + int64(header.UncompressedPageSize) +
			valuesOf(&header, leaf)
		if page <= maxPages { // a larger one is refused as it is
			packed := io.NewSectionReader(r, at+int64(n), int64(header.CompressedPageSize))
			if err := unpacksTo(c.Codec, packed, &header); err != nil {
				return 0, fmt.Errorf("the page at %d: %w", at, err)
			}
		}
		if header.Type == format.DictionaryPage {
			dictionary = max(dictionary, page)
		} else {
			largest = max(largest, page)
		}
		at += int64(n) + int64(header.CompressedPageSize)
	}
	return dictionary + largest, nil
}

// valuesOf is what the values of a page take beside their packed form. A few bytes may hold any
// number of equal ones, or of NULLs.
func valuesOf(header *format.PageHeader, leaf *parquet.Column) int64 {
	const index, level = 4, 1 // of a value in a dictionary or in a text, and whether it is NULL
	width := int64(index)
	switch typ := leaf.Type(); typ.Kind() {
	case parquet.Boolean:
		width = 1
	case parquet.Int64, parquet.Double:
		width = 8
	case parquet.Int96:
		width = 12
	case parquet.FixedLenByteArray:
		width = int64(typ.Length())
	}
	var n int64
	var encoding format.Encoding
	switch {
	case header.Type == format.DictionaryPage:
		return int64(header.DictionaryPageHeader.V.NumValues) * width
	case header.Type == format.DataPageV2:
		n, encoding = int64(header.DataPageHeaderV2.V.NumValues), header.DataPageHeaderV2.V.Encoding
	default:
		n, encoding = int64(header.DataPageHeader.V.NumValues), header.DataPageHeader.V.Encoding
	}
	//lint:ignore SA1019 older writers make files with it
	if encoding == format.PlainDictionary || encoding == format.RLEDictionary {
		width = index
	}
	if leaf.Optional() {
		width += level
	}
	return n * width
}

// unpacksTo checks that a page of gzip, snappy or LZ4 has the size that it claims. The library
// unpacks whatever there is. For LZ4 it takes twice the memory again and again until that fits, which
// what is damaged never does.
func unpacksTo(
	codec format.CompressionCodec, packed *io.SectionReader, header *format.PageHeader,
) error {
	claimed := int64(header.UncompressedPageSize)
	if header.Type == format.DataPageV2 { // whose levels are not packed
		v2 := &header.DataPageHeaderV2.V
		levels := int64(v2.DefinitionLevelsByteLength) + int64(v2.RepetitionLevelsByteLength)
		if v2.IsCompressed.Valid && !v2.IsCompressed.V {
			return nil
		}
		if levels < 0 || levels > packed.Size() || levels > claimed {
			return fmt.Errorf("%d bytes of levels", levels)
		}
		claimed -= levels
		packed = io.NewSectionReader(packed, levels, packed.Size()-levels)
	}
	if packed.Size() == 0 {
		return nil
	}
	more := fmt.Errorf("it unpacks to more than the %d bytes that it claims", claimed)
	r := bufio.NewReader(packed)
	switch codec {
	case format.Snappy: // which begins with its size
		if n, err := binary.ReadUvarint(r); err != nil || n > uint64(claimed) {
			return more
		}
	case format.Gzip:
		z, err := gzip.NewReader(r)
		if err != nil {
			return err
		}
		if n, err := io.CopyN(io.Discard, z, claimed+1); n > claimed {
			return more
		} else if err != io.EOF {
			return err
		}
	case format.Lz4Raw:
		text := make([]byte, packed.Size())
		if _, err := io.ReadFull(r, text); err != nil {
			return err
		}
		if _, err := lz4.UncompressBlock(text, make([]byte, max(1, claimed))); err != nil {
			return fmt.Errorf("%w, or is damaged: %w", more, err)
		}
	}
	return nil
}

// readHeader reads a page's header, and returns its length. It may hold values of any length, as
// the least and the greatest of the page.
func readHeader(r *io.SectionReader, header *format.PageHeader) (int, error) {
	for window := int64(512); ; window *= 16 {
		text := make([]byte, min(window, r.Size(), maxRecord))
		if _, err := r.ReadAt(text, 0); err != nil && err != io.EOF {
			return 0, err
		}
		n, err := checkThrift(text, maxRecord)
		if err == nil {
			*header = format.PageHeader{}
			from := (&thrift.CompactProtocol{}).NewReaderFromBytes(text[:n])
			if err = thrift.NewDecoder(from).Decode(header); err == nil {
				return n, nil
			}
		}
		if err != errCutOff || window >= min(r.Size(), maxRecord) {
			return 0, errors.Join(errors.New("no header"), err)
		}
	}
}
