package clickhouse

import (
	"encoding"
	"encoding/binary"
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/idmint/idmint/idtype"
)

// A None says how a column stores "none", which is zero in Go. The zero value of None is for
// columns that have an ID in each row, where zero is an error.
type None int

const (
	noNone None = iota
	OrZero      // as the column's zero, in one that is not Nullable: see [idtype.OrZero]
	OrNull      // as NULL, in a Nullable column
)

// Col is a column of IDs for ch-go, both for blocks to insert and for results.
//
// IDs of 63 bits, and IDs stored as bytes, are sent and received in their own memory. The other
// forms are converted, without an allocation per row.
//
//	ids := clickhouse.Col[UserID]{IDs: minted}
//	input := proto.Input{{Name: "id", Data: &ids}}
//	err := conn.Do(ctx, ch.Query{Body: "INSERT INTO users VALUES", Input: input})
//
// A value that is not an ID results in a [*RowError], both on input and on output.
type Col[T idtype.ID] struct {
	IDs  []T
	None None
}

var (
	_ proto.ColumnOf[idtype.DecimalID] = (*Col[idtype.DecimalID])(nil)
	_ proto.Preparable                 = Col[idtype.DecimalID]{}
)

// Type returns the same as [Column.Type], or Nullable of it.
func (c Col[T]) Type() proto.ColumnType {
	t := proto.ColumnType(formOf[T]().columnType())
	if c.None == OrNull {
		return proto.ColumnTypeNullable.Sub(t)
	}
	return t
}

// Rows returns the number of rows.
func (c Col[T]) Rows() int { return len(c.IDs) }

// Row returns the ID of a row, or zero.
func (c Col[T]) Row(i int) T { return c.IDs[i] }

// Reset empties the column and keeps its memory.
func (c *Col[T]) Reset() { c.IDs = c.IDs[:0] }

// Append adds an ID, or zero.
func (c *Col[T]) Append(id T) { c.IDs = append(c.IDs, id) }

// AppendArr adds IDs and zeros.
func (c *Col[T]) AppendArr(ids []T) { c.IDs = append(c.IDs, ids...) }

// Prepare checks the IDs. ch-go calls it before it sends them.
func (c Col[T]) Prepare() error { return check(c.IDs, c.None) }

// EncodeColumn writes the IDs.
func (c Col[T]) EncodeColumn(b *proto.Buffer) {
	c.encodeNulls(b)
	encode(b, c.IDs)
}

// WriteColumn writes the IDs.
func (c Col[T]) WriteColumn(w *proto.Writer) {
	w.ChainBuffer(c.encodeNulls)
	f := formOf[T]()
	switch {
	case f.size == 0:
		proto.ColInt64(int64s(c.IDs)).WriteColumn(w)
	case f.storage == idtype.StorageBytes:
		w.ChainWrite(rawBytes(c.IDs))
	default:
		w.ChainBuffer(func(b *proto.Buffer) { encode(b, c.IDs) })
	}
}

func (c Col[T]) encodeNulls(b *proto.Buffer) {
	if c.None == OrNull {
		for _, id := range c.IDs {
			b.PutBool(id.IsZero())
		}
	}
}

// DecodeColumn reads IDs and appends them, but leaves the column unchanged if there is an error.
func (c *Col[T]) DecodeColumn(r *proto.Reader, rows int) error {
	if rows == 0 {
		return nil
	}
	var nulls proto.ColUInt8 // which rows are NULL, so that their values mean nothing
	if c.None == OrNull {
		if err := nulls.DecodeColumn(r, rows); err != nil {
			return err
		}
	}
	n := len(c.IDs)
	all := slices.Grow(c.IDs, rows)[:n+rows]
	added := all[n:]
	if err := read(added, r, c.None, nulls); err != nil {
		return err
	}
	for i, null := range nulls {
		if null != 0 {
			clear(added[i : i+1])
		} else if added[i].IsZero() {
			return rowError[T](i, check(added[i:i+1], noNone).(*RowError).Err)
		}
	}
	if err := check(added, c.None); err != nil {
		return err
	}
	c.IDs = all
	return nil
}

// Array returns a column of arrays of IDs.
func (c *Col[T]) Array() *proto.ColArr[T] { return proto.NewArray[T](c) }

func encode[T idtype.ID](b *proto.Buffer, ids []T) {
	f := formOf[T]()
	switch {
	case f.size == 0:
		proto.ColInt64(int64s(ids)).EncodeColumn(b)
	case f.storage == idtype.StorageBytes:
		b.Buf = append(b.Buf, rawBytes(ids)...)
	case f.storage == idtype.StorageBigint:
		b.Buf = slices.Grow(b.Buf, len(ids)*f.size)
		for raw := rawBytes(ids); len(raw) > 0; raw = raw[f.size:] {
			b.PutUInt64(binary.BigEndian.Uint64(raw))
		}
	default:
		b.Buf = slices.Grow(b.Buf, len(ids)*textLen)
		for _, id := range ids {
			b.Buf = appendText(b.Buf, id)
			if f.storage == idtype.StorageUUID {
				swapUUID(b.Buf[len(b.Buf)-textLen:])
			}
		}
	}
}

// swapUUID reverses the bytes of each half of a UUID, which is how ClickHouse encodes them.
func swapUUID(u []byte) {
	slices.Reverse(u[:8])
	slices.Reverse(u[8:])
}

// read reads as many values as there are ids, and stores them there.
func read[T idtype.ID](ids []T, r *proto.Reader, none None, nulls []uint8) error {
	f := formOf[T]()
	switch {
	case f.size == 0:
		ints := proto.ColInt64(int64s(ids)[:0])
		return ints.DecodeColumn(r, len(ids)) // into the memory of ids, which is large enough
	case f.storage == idtype.StorageBytes:
		return r.ReadFull(rawBytes(ids))
	case f.storage == idtype.StorageBigint:
		raw := rawBytes(ids)
		if err := r.ReadFull(raw); err != nil {
			return err
		}
		for id := range slices.Chunk(raw, f.size) {
			slices.Reverse(id)
		}
		return nil
	}
	text, err := r.ReadRaw(len(ids) * textLen)
	if err != nil {
		return err
	}
	clear(ids)
	for i := range ids {
		chars := text[i*textLen : (i+1)*textLen]
		if f.storage == idtype.StorageUUID {
			swapUUID(chars)
		}
		isNull := nulls != nil && nulls[i] != 0
		if isNull || none != noNone && [textLen]byte(chars) == [textLen]byte{} {
			continue
		}
		var err error
		if f.size == textLen {
			err = any(&ids[i]).(encoding.BinaryUnmarshaler).UnmarshalBinary(chars)
		} else {
			err = any(&ids[i]).(encoding.TextUnmarshaler).UnmarshalText(chars)
		}
		if err != nil {
			return rowError[T](i, err)
		}
	}
	return nil
}
