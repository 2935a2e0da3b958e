package importer

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxPages is how many bytes the largest pages of a row group's columns may have together, with
// their dictionaries. Writers make pages of 1 MiB or a few.
const maxPages = 256 << 20

// A pageSize is how much memory a page takes. Packed is what lies in the file behind the header.
type pageSize func(header *format.PageHeader, packed *io.SectionReader) (int64, error)

// pagesWithin checks how much memory the pages of a row group take, before the library takes it.
// What all pages claim comes first: it is known without memory. Then each page is unpacked, one at a
// time, because a few bytes may hold far more than they claim.
func pagesWithin(
	r io.ReaderAt, size int64, columns []format.ColumnChunk, leaves []*parquet.Column,
) error {
	var u unpacker
	defer u.close()
	for _, sizeOf := range []func(format.CompressionCodec, *parquet.Column) pageSize{
		claimedBy, u.unpacked,
	} {
		total := int64(0)
		for i, c := range columns {
			largest, err := largestPage(r, size, &c.MetaData, sizeOf(c.MetaData.Codec, leaves[i]))
			if err != nil {
				return err
			}
			if total += largest; total > maxPages {
				return fmt.Errorf("its pages take more than %d MiB at once: want smaller pages",
					maxPages>>20)
			}
		}
	}
	return nil
}

// largestPage is the size of a column's largest page, with its dictionary.
func largestPage(
	r io.ReaderAt, size int64, c *format.ColumnMetaData, sizeOf pageSize,
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
		packed := io.NewSectionReader(r, at+int64(n), int64(header.CompressedPageSize))
		page, err := sizeOf(&header, packed)
		if err != nil {
			return 0, fmt.Errorf("the page at %d: %w", at, err)
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

// claimedBy is what pages say of themselves: their size, packed and unpacked, and their number of
// values.
func claimedBy(_ format.CompressionCodec, leaf *parquet.Column) pageSize {
	return func(header *format.PageHeader, _ *io.SectionReader) (int64, error) {
		n, encoding := valuesOf(header)
		return int64(header.CompressedPageSize) + int64(header.UncompressedPageSize) +
			n*widthOf(leaf, encoding), nil
	}
}

// valuesOf is how many values a page claims, NULLs among them, and their encoding.
func valuesOf(header *format.PageHeader) (n int64, encoding format.Encoding) {
	var claimed int32
	switch header.Type {
	case format.DictionaryPage: // which has no other encoding
		claimed, encoding = header.DictionaryPageHeader.V.NumValues, format.Plain
	case format.DataPageV2:
		claimed, encoding = header.DataPageHeaderV2.V.NumValues, header.DataPageHeaderV2.V.Encoding
	default:
		claimed, encoding = header.DataPageHeader.V.NumValues, header.DataPageHeader.V.Encoding
	}
	return int64(max(0, claimed)), encoding
}

// widthOf is what a value takes beside its packed form.
func widthOf(leaf *parquet.Column, encoding format.Encoding) int64 {
	const index, level = 4, 1 // of a value in a dictionary or in a text, and whether it is NULL
	width := int64(index)
	switch typ := leaf.Type(); {
	case inDictionary(encoding):
	case typ.Kind() == parquet.Boolean:
		width = 1
	case typ.Kind() == parquet.Int64, typ.Kind() == parquet.Double:
		width = 8
	case typ.Kind() == parquet.Int96:
		width = 12
	case typ.Kind() == parquet.FixedLenByteArray:
		width = int64(typ.Length())
	}
	if leaf.Optional() {
		width += level
	}
	return width
}

func inDictionary(encoding format.Encoding) bool {
	//lint:ignore SA1019 older writers make files with it
	return encoding == format.PlainDictionary || encoding == format.RLEDictionary
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
