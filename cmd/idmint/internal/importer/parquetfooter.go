package importer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// maxFooter is how long a file's table of contents may be.
	maxFooter = 16 << 20
	// maxContents is how much memory it may take once it is read.
	maxContents = 128 << 20
)

// readFooter reads a file's table of contents. The library would take memory for whatever lengths
// it claims.
func readFooter(r io.ReaderAt, size int64) (*format.FileMetaData, error) {
	const magic = "PAR1"
	if size < int64(len(magic)+8) {
		return nil, fmt.Errorf("%d bytes: too short", size)
	}
	var end [8]byte
	if _, err := r.ReadAt(end[:], size-8); err != nil && err != io.EOF {
		return nil, err
	}
	if string(end[4:]) != magic {
		return nil, fmt.Errorf("it ends with %q: want %q", end[4:], magic)
	}
	n := int64(binary.LittleEndian.Uint32(end[:4]))
	if n > size-12 || n > maxFooter {
		return nil, fmt.Errorf("its table of contents has %d bytes of %d: want at most %d MiB", n, size,
			maxFooter>>20)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, size-8-n); err != nil && err != io.EOF {
		return nil, err
	}
	if _, err := checkThrift(text, maxContents); err != nil {
		return nil, fmt.Errorf("its table of contents: %w", err)
	}
	var contents format.FileMetaData
	from := (&thrift.CompactProtocol{}).NewReaderFromBytes(text)
	if err := thrift.NewDecoder(from).Decode(&contents); err != nil {
		return nil, fmt.Errorf("its table of contents: %w", err)
	}
	columns := max(0, len(contents.Schema)-1)
	if columns > maxFields {
		return nil, fmt.Errorf("%d columns: want at most %d", columns, maxFields)
	}
	for i := range columns { // the library goes into groups, however deep they are
		if c := &contents.Schema[i+1]; c.NumChildren.V > 0 {
			return nil, &ParquetError{Column: c.Name, Err: errNested}
		}
	}
	for _, group := range contents.RowGroups { // it makes room for each column in each of them
		if len(group.Columns) != columns {
			return nil, fmt.Errorf("%d columns in a row group, want %d", len(group.Columns), columns)
		}
	}
	return &contents, nil
}

// forLibrary is a file without rows, of the same columns, from which the library makes pages of
// them. What its one row group says of them is true of no other file: they are not packed, and of
// any length.
func forLibrary(contents *format.FileMetaData) (*parquet.File, error) {
	own := format.FileMetaData{Version: contents.Version, Schema: contents.Schema}
	if columns := len(contents.Schema) - 1; columns > 0 {
		group := format.RowGroup{Columns: make([]format.ColumnChunk, columns)}
		for i := range group.Columns {
			c := &group.Columns[i].MetaData
			c.Type = contents.Schema[i+1].Type.V
			c.PathInSchema = []string{contents.Schema[i+1].Name}
			c.Codec = format.Uncompressed
			c.TotalCompressedSize = math.MaxInt64
		}
		own.RowGroups = []format.RowGroup{group}
	}
	const magic = "PAR1"
	foot, err := thrift.Marshal(&thrift.CompactProtocol{}, &own)
	if err != nil {
		return nil, err
	}
	file := append([]byte(magic), foot...)
	file = append(binary.LittleEndian.AppendUint32(file, uint32(len(foot))), magic...)
	return parquet.OpenFile(bytes.NewReader(file), int64(len(file)), parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(max(4<<10, min(64<<10, readBuffers/max(1, len(contents.Schema))))))
}

// A passage is a text of Thrift's compact protocol, which is passed over before a decoder takes
// memory for it.
type passage struct {
	left []byte
	most int64 // bytes that it may take in memory
	room int64 // what of these is left
}

var (
	// errCutOff means that more text may be the mend.
	errCutOff = errors.New("it claims to be longer than it is")
	errDamage = errors.New("damaged")
)

// checkThrift passes over a structure, and returns its length.
func checkThrift(text []byte, most int64) (int, error) {
	p := &passage{text, most, most}
	err := p.structure(0, 0)
	return len(text) - len(p.left), err
}

// elementSize is what an element of a list takes in memory at most, beside its text. Field is the
// list's number in its structure, and outer that of the structure. Columns take the most: those of
// the schema, and those of row groups.
func elementSize(kind byte, outer, field int64) int64 {
	switch {
	case kind != inStruct:
		return 16
	case outer == 0 && field == 2, outer == 4 && field == 1:
		return 800
	}
	return 128
}

// The types of Thrift.
const (
	inTrue = iota + 1
	inFalse
	inByte
	inInt16
	inInt32
	inInt64
	inDouble
	inBinary
	inList
	inSet
	inMap
	inStruct
	inUUID
)

// maxDepth is how deep structures may be within each other. Parquet's are 6 deep.
const maxDepth = 32

func (p *passage) structure(depth int, outer int64) error {
	if depth > maxDepth {
		return errDamage
	}
	for field := int64(0); ; {
		head, err := p.next()
		if err != nil || head == 0 {
			return err
		}
		if delta := head >> 4; delta != 0 {
			field += int64(delta)
		} else if field, err = p.varint(); err != nil {
			return err
		}
		if kind := head & 0xf; kind != inTrue && kind != inFalse { // the type is the value
			if err := p.value(kind, depth, outer, field); err != nil {
				return err
			}
		}
	}
}

func (p *passage) value(kind byte, depth int, outer, field int64) error {
	switch kind {
	case inTrue, inFalse, inByte:
		return p.skip(1)
	case inInt16, inInt32, inInt64:
		_, err := p.varint()
		return err
	case inDouble:
		return p.skip(8)
	case inUUID:
		return p.skip(16)
	case inBinary:
		n, err := p.uvarint()
		if err != nil {
			return err
		}
		if err := p.take(n, 1); err != nil {
			return err
		}
		return p.skip(n)
	case inList, inSet:
		head, err := p.next()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 0xf {
			if n, err = p.uvarint(); err != nil {
				return err
			}
		}
		kind = head & 0xf
		if err := p.take(n, elementSize(kind, outer, field)); err != nil {
			return err
		}
		return p.elements(n, depth, field, kind)
	case inMap:
		n, err := p.uvarint()
		if err != nil || n == 0 {
			return err
		}
		kinds, err := p.next()
		if err == nil {
			err = p.take(n, 128)
		}
		if err != nil {
			return err
		}
		return p.elements(n, depth, field, kinds>>4, kinds&0xf)
	case inStruct:
		return p.structure(depth+1, field)
	}
	return errDamage
}

func (p *passage) elements(n uint64, depth int, field int64, kinds ...byte) error {
	if depth > maxDepth { // lists of lists
		return errDamage
	}
	for range n {
		for _, kind := range kinds {
			if err := p.value(kind, depth+1, field, field); err != nil {
				return err
			}
		}
	}
	return nil
}

// take takes memory into account for n elements, of which each has a byte at least.
func (p *passage) take(n uint64, each int64) error {
	if n > uint64(len(p.left)) {
		return errCutOff
	}
	if p.room -= int64(n) * each; p.room < 0 {
		return fmt.Errorf("it takes more than %d MiB in memory", p.most>>20)
	}
	return nil
}

func (p *passage) next() (byte, error) {
	if len(p.left) == 0 {
		return 0, errCutOff
	}
	b := p.left[0]
	p.left = p.left[1:]
	return b, nil
}

func (p *passage) skip(n uint64) error {
	if n > uint64(len(p.left)) {
		return errCutOff
	}
	p.left = p.left[n:]
	return nil
}

func (p *passage) uvarint() (uint64, error) {
	v, n := binary.Uvarint(p.left)
	if n == 0 {
		return 0, errCutOff
	}
	if n < 0 {
		return 0, errDamage
	}
	p.left = p.left[n:]
	return v, nil
}

func (p *passage) varint() (int64, error) {
	v, err := p.uvarint()
	return int64(v>>1) ^ -int64(v&1), err
}
