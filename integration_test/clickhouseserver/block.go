package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A form is how a block is written: as between client and server, or as in files.
type form bool

const (
	wireForm form = true
	fileForm form = false
)

const (
	maxColumns = 1 << 16
	maxRows    = 1 << 30
	maxValues  = 1 << 40 // of all of a block's arrays together
)

type column struct{ name, typ string }

// A blockCopier copies blocks from one form to another. It looks into values only as far as it must
// to find where a column ends, and holds none.
type blockCopier struct {
	decoder
	w io.Writer
}

// copyBlock copies a block of rows, and returns what it is. The empty block, by which clients and
// files end, has no columns and is not written.
func copyBlock(w io.Writer, to form, s source, from form) ([]column, uint64, error) {
	c := blockCopier{decoder{source: s}, w}
	if from == wireForm {
		c.blockInfo()
	}
	columns, rows := c.uvarint(), c.uvarint()
	if c.err == nil && (columns > maxColumns || rows > maxRows) {
		c.err = fmt.Errorf("a block of %d columns and %d rows is too large", columns, rows)
	}
	if c.err != nil || columns == 0 {
		return nil, 0, c.err
	}
	c.writeStart(to, columns, rows)
	all := make([]column, 0, min(columns, 64))
	for range columns {
		col := column{c.text(), c.text()}
		if from == wireForm && c.byte() != 0 && c.err == nil {
			c.err = fmt.Errorf("column %s has a serialization of its own", col.name)
		}
		c.writeColumn(to, col)
		if rows > 0 && c.err == nil {
			var t *dataType
			if t, c.err = parseType(col.typ); c.err == nil {
				c.state(t)
				c.values(t, rows)
			}
		}
		if c.err != nil {
			return nil, 0, fmt.Errorf("column %s: %w", col.name, c.err)
		}
		all = append(all, col)
	}
	return all, rows, nil
}

// writeHeader writes a block of no rows, on the wire.
func writeHeader(w io.Writer, columns []column) error {
	c := blockCopier{w: w}
	c.writeStart(wireForm, uint64(len(columns)), 0)
	for _, col := range columns {
		c.writeColumn(wireForm, col)
	}
	return c.err
}

func (c *blockCopier) blockInfo() {
	for c.err == nil {
		switch field := c.uvarint(); field {
		case 0:
			return
		case 1:
			c.byte() // overflows
		case 2:
			c.bytes(4) // bucket
		default:
			c.err = fmt.Errorf("unknown field %d of a block's information", field)
		}
	}
}

func (c *blockCopier) writeStart(to form, columns, rows uint64) {
	var b []byte
	if to == wireForm {
		b = append(b, 1, 0, 2, 0xff, 0xff, 0xff, 0xff, 0) // no overflows, no bucket
	}
	c.write(binary.AppendUvarint(binary.AppendUvarint(b, columns), rows))
}

func (c *blockCopier) writeColumn(to form, col column) {
	var b []byte
	for _, s := range []string{col.name, col.typ} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	if to == wireForm {
		b = append(b, 0) // the usual serialization
	}
	c.write(b)
}

func (c *blockCopier) write(b []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(b)
	}
}

func (c *blockCopier) copy(n uint64) {
	if c.err == nil {
		c.err = copyBytes(c.w, c.source, n)
	}
}

// copyUint64 copies a number and returns it.
func (c *blockCopier) copyUint64() uint64 {
	b := c.bytes(8)
	if c.err != nil {
		return 0
	}
	c.write(b)
	return binary.LittleEndian.Uint64(b)
}

// state copies what goes before the values of a column.
func (c *blockCopier) state(t *dataType) {
	if t.kind == lowCardinality {
		if v := c.copyUint64(); v != 1 && c.err == nil {
			c.err = fmt.Errorf("version %d of LowCardinality", v)
		}
		return
	}
	for _, part := range t.parts {
		c.state(part)
	}
}

// values copies n values of a type.
func (c *blockCopier) values(t *dataType, n uint64) {
	if n > maxValues && c.err == nil {
		c.err = fmt.Errorf("%d values are too many", n)
	}
	if c.err != nil {
		return
	}
	switch t.kind {
	case fixed:
		c.copy(n * t.width)
	case text:
		for i := uint64(0); i < n && c.err == nil; i++ {
			size := c.uvarint()
			var b [binary.MaxVarintLen64]byte
			c.write(b[:binary.PutUvarint(b[:], size)])
			c.copy(size)
		}
	case nullable:
		c.copy(n)
		c.values(t.parts[0], n)
	case array:
		if n == 0 {
			return
		}
		c.copy((n - 1) * 8)
		c.values(t.parts[0], c.copyUint64()) // the offsets are those of the arrays' ends
	case tuple:
		for _, part := range t.parts {
			c.values(part, n)
		}
	case lowCardinality:
		c.dictionary(t, n)
	}
}

// dictionary copies values that are places in a dictionary, which goes before them.
func (c *blockCopier) dictionary(t *dataType, n uint64) {
	const widthMask, global, additional = 0xff, 1 << 8, 1 << 9
	if n == 0 {
		return
	}
	flags := c.copyUint64()
	if c.err == nil && (flags&widthMask > 3 || flags&global != 0) {
		c.err = fmt.Errorf("flags %#x of a dictionary", flags)
	}
	if flags&additional != 0 {
		c.values(t.parts[0], c.copyUint64())
	}
	if places := c.copyUint64(); places != n && c.err == nil {
		c.err = errors.New("a dictionary's rows are not its block's")
	}
	c.copy(n << (flags & widthMask))
}
