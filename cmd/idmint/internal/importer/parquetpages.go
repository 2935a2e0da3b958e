package importer

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// maxPages is how many bytes the pages of all columns may have together that are read at a time,
// with their dictionaries. Writers make pages of 1 MiB or a few.
const maxPages = 256 << 20

// A parquetChunk is a column's part of a row group. The library reads it as a stream of pages that
// are not packed. Each is read, checked and unpacked here, when the library asks for it. So no page
// takes memory for what it merely claims, and each chunk has its own codec.
type parquetChunk struct {
	r       io.ReaderAt
	at, end int64 // of the pages that were not read yet, in the file
	codec   format.CompressionCodec
	leaf    *parquet.Column
	unpack  *unpacker // shared by all columns: the library reads a page whole, before any other
	room    *int64    // what is left of maxPages, shared by all columns

	dictionary, page int64     // what they take in memory
	first            bool      // no page was read yet
	begin            int64     // where the last page begins in the stream
	parts            [4][]byte // the last page: its header, levels and values, and padding
	err              error     // why no page follows
}

func openChunk(
	r io.ReaderAt, size int64, c *format.ColumnMetaData, leaf *parquet.Column, u *unpacker,
	room *int64,
) (*parquetChunk, error) {
	at := c.DataPageOffset
	if c.DictionaryPageOffset != 0 {
		at = c.DictionaryPageOffset
	}
	if at < 0 || c.TotalCompressedSize < 0 || at > size-c.TotalCompressedSize {
		return nil, fmt.Errorf("its pages are at %d, with %d bytes, in a file of %d", at,
			c.TotalCompressedSize, size)
	}
	return &parquetChunk{
		r: r, at: at, end: at + c.TotalCompressedSize, codec: c.Codec, leaf: leaf, unpack: u,
		room: room, first: true,
	}, nil
}

// close gives back what the pages took.
func (c *parquetChunk) close() {
	*c.room += c.dictionary + c.page
	c.dictionary, c.page = 0, 0
}

// ReadAt reads the stream. It goes forward alone, as the library does, and stops behind each page.
func (c *parquetChunk) ReadAt(into []byte, at int64) (n int, err error) {
	for n == 0 && len(into) > 0 {
		behind := at - c.begin
		if behind < 0 {
			return 0, errors.ErrUnsupported
		}
		for _, part := range c.parts {
			if behind < int64(len(part)) {
				n += copy(into[n:], part[max(0, behind):])
			}
			behind -= int64(len(part))
		}
		if n == 0 {
			c.begin = at - behind
			if c.err == nil {
				c.err = c.next()
			}
			if c.err != nil {
				return 0, c.err
			}
		}
	}
	return n, nil
}

// next reads the next page.
func (c *parquetChunk) next() error {
	c.parts = [4][]byte{}
	if c.at >= c.end {
		return io.EOF
	}
	at := c.at
	var header format.PageHeader
	n, err := readHeader(io.NewSectionReader(c.r, at, c.end-at), &header)
	if err == nil {
		err = c.read(&header, at+int64(n))
	}
	if err != nil {
		return fmt.Errorf("the page at %d: %w", at, err)
	}
	return nil
}

// read reads the page behind a header.
func (c *parquetChunk) read(header *format.PageHeader, at int64) error {
	packed := io.NewSectionReader(c.r, at, int64(header.CompressedPageSize))
	if header.CompressedPageSize < 0 || header.UncompressedPageSize < 0 ||
		packed.Size() > c.end-at {
		return fmt.Errorf("it has %d bytes, and %d when unpacked, of %d", header.CompressedPageSize,
			header.UncompressedPageSize, c.end-at)
	}
	out := format.PageHeader{Type: header.Type}
	isDictionary, isData := false, false
	switch header.Type {
	case format.DictionaryPage:
		isDictionary = header.DictionaryPageHeader.Valid
		out.DictionaryPageHeader = header.DictionaryPageHeader
	case format.DataPage:
		isData = header.DataPageHeader.Valid
		out.DataPageHeader = header.DataPageHeader
		out.DataPageHeader.V.Statistics = format.Statistics{}
	case format.DataPageV2:
		isData = header.DataPageHeaderV2.Valid
		out.DataPageHeaderV2 = header.DataPageHeaderV2
		out.DataPageHeaderV2.V.Statistics = format.Statistics{}
		out.DataPageHeaderV2.V.IsCompressed = thrift.New(false)
	}
	n, encoding := valuesOf(header)
	switch {
	case isDictionary && !c.first:
		return errors.New("a dictionary behind other pages")
	case isDictionary && !isPlain(encoding):
		return fmt.Errorf("a dictionary of encoding %v", encoding)
	case isData && inDictionary(encoding) && c.dictionary == 0:
		return errors.New("it has values of a dictionary, which is missing")
	case n < 0 || !isDictionary && !isData:
		return errDamage
	}
	c.first = false

	// The page before is forgotten. Memory is taken for what a page claims, and then for what it has.
	*c.room, c.page = *c.room+c.page, 0
	size := &c.page
	if isDictionary {
		size = &c.dictionary
	}
	take := func(n int64) error {
		if n > *c.room {
			return fmt.Errorf("the pages take more than %d MiB at once: want smaller pages", maxPages>>20)
		}
		*size += n
		*c.room -= n
		return nil
	}
	if err := take(1 + int64(header.CompressedPageSize) + int64(header.UncompressedPageSize) +
		n*widthOf(c.leaf, encoding)); err != nil {
		return err
	}
	body := pageBody{encoding: encoding, n: n}
	var err error
	if body.levels, body.values, err = c.unpack.page(c.codec, header, packed); err != nil {
		return err
	}
	if isData {
		if err := c.decode(&body, header, take); err != nil {
			return err
		}
		out.DataPageHeader.V.Encoding = body.encoding
		out.DataPageHeaderV2.V.Encoding = body.encoding
		out.DataPageHeaderV2.V.NumNulls = int32(n - body.n)
	}
	c.parts = [4][]byte{nil, body.levels, body.values, nil}
	if isData && inDictionary(encoding) {
		c.parts[3] = padding[:]
	}
	whole := len(c.parts[1]) + len(c.parts[2]) + len(c.parts[3])
	if whole > math.MaxInt32 {
		return errDamage
	}
	out.CompressedPageSize, out.UncompressedPageSize = int32(whole), int32(whole)
	c.parts[0], err = thrift.Marshal(&thrift.CompactProtocol{}, &out)
	c.at = at + packed.Size()
	return err
}

// decode does to a page what the library cannot, or what it would do without asking for memory.
func (c *parquetChunk) decode(
	body *pageBody, header *format.PageHeader, take func(int64) error,
) error {
	claimed := body.n * widthOf(c.leaf, body.encoding)
	if c.leaf.Optional() {
		n := body.n
		levels, err := body.splitLevels(header)
		if err == nil {
			err = take(max(0, levels-n))
		}
		if err != nil {
			return err
		}
	}
	typ := c.leaf.Type()
	more, err := body.more(typ.Kind())
	if err == nil {
		err = take(max(0, more-claimed))
	}
	if err != nil {
		return err
	}
	return body.simplify(typ)
}

// padding follows runs. Some writers leave out the end of the last one, behind the last value.
var padding [32]byte

// valuesOf is how many values a page claims, NULLs among them, and their encoding.
func valuesOf(header *format.PageHeader) (n int64, encoding format.Encoding) {
	switch header.Type {
	case format.DictionaryPage:
		h := &header.DictionaryPageHeader.V
		return int64(h.NumValues), h.Encoding
	case format.DataPageV2:
		h := &header.DataPageHeaderV2.V
		return int64(h.NumValues), h.Encoding
	}
	h := &header.DataPageHeader.V
	return int64(h.NumValues), h.Encoding
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

// isPlain and inDictionary are about values: older writers say of both that they are
// PLAIN_DICTIONARY.
func isPlain(encoding format.Encoding) bool {
	//lint:ignore SA1019 older writers make files with it
	return encoding == format.Plain || encoding == format.PlainDictionary
}

func inDictionary(encoding format.Encoding) bool {
	//lint:ignore SA1019 older writers make files with it
	return encoding == format.PlainDictionary || encoding == format.RLEDictionary
}

// checksum compares a page with its checksum, where it has one.
func checksum(header *format.PageHeader, packed []byte) error {
	if want := uint32(header.CRC); want != 0 && want != crc32.ChecksumIEEE(packed) {
		return errors.New("it does not fit its checksum")
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
