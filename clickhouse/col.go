package clickhouse

import (
	"encoding"
	"encoding/binary"
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/idmint/idmint/idtype"
)

// Col is a column of IDs for ch-go, in blocks to insert and in results. It is [ColID],
// [ColIDOrZero] or [ColIDNullable]: Z says what a zero is.
//
// IDs of 63 bits, and those stored as bytes, go to and from the wire in their own memory. The other
// forms are converted, without an allocation per row.
//
//	ids := clickhouse.ColID[UserID](minted)
//	input := proto.Input{{Name: "id", Data: &ids}}
//	err := conn.Do(ctx, ch.Query{Body: "INSERT INTO users VALUES", Input: input})
//
// A value that is no ID is a [*RowError], on its way in and out.
type Col[T idtype.ID, Z zeros] []T

// ColID is a [Col] that holds an ID in each row.
type ColID[T idtype.ID] = Col[T, fails]

// ColIDOrZero is a [Col] that holds zero for "none": see [idtype.OrZero].
type ColIDOrZero[T idtype.ID] = Col[T, stays]

// ColIDNullable is a [Col] of type Nullable. Zero is NULL.
type ColIDNullable[T idtype.ID] = Col[T, isNull]

var (
	_ proto.ColumnOf[idtype.DecimalID] = (*ColID[idtype.DecimalID])(nil)
	_ proto.Preparable                 = ColID[idtype.DecimalID]{}
)

// Type returns what [Column.Type] says, or Nullable of it.
func (c Col[T, Z]) Type() proto.ColumnType {
	t := proto.ColumnType(formOf[T]().columnType())
	if c.zero() == zeroIsNull {
		return proto.ColumnTypeNullable.Sub(t)
	}
	return t
}

func (c Col[T, Z]) zero() zero { return (*new(Z)).zero() }

// Rows returns the number of rows.
func (c Col[T, Z]) Rows() int { return len(c) }

// Row returns the ID of a row, or zero.
func (c Col[T, Z]) Row(i int) T { return c[i] }

// Reset empties the column and keeps its memory.
func (c *Col[T, Z]) Reset() { *c = (*c)[:0] }

// Append adds an ID, or zero.
func (c *Col[T, Z]) Append(id T) { *c = append(*c, id) }

// AppendArr adds IDs and zeros.
func (c *Col[T, Z]) AppendArr(ids []T) { *c = append(*c, ids...) }

// Prepare checks the IDs. ch-go calls it before it sends them.
func (c Col[T, Z]) Prepare() error { return check(c, c.zero()) }

// EncodeColumn writes the IDs.
func (c Col[T, Z]) EncodeColumn(b *proto.Buffer) {
	c.encodeNulls(b)
	encode(b, c)
}

// WriteColumn writes the IDs.
func (c Col[T, Z]) WriteColumn(w *proto.Writer) {
	w.ChainBuffer(c.encodeNulls)
	write(w, c)
}

func (c Col[T, Z]) encodeNulls(b *proto.Buffer) {
	if c.zero() == zeroIsNull {
		for _, id := range c {
			b.PutBool(id.IsZero())
		}
	}
}

// DecodeColumn reads IDs and adds them. On an error the column is left as it was.
func (c *Col[T, Z]) DecodeColumn(r *proto.Reader, rows int) error {
	var nulls proto.ColUInt8
	if c.zero() == zeroIsNull {
		if err := nulls.DecodeColumn(r, rows); err != nil {
			return err
		}
	}
	return decode((*[]T)(c), r, rows, c.zero(), nulls)
}

// Array returns a column of arrays of IDs.
func (c *Col[T, Z]) Array() *proto.ColArr[T] { return proto.NewArray[T](c) }

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

func write[T idtype.ID](w *proto.Writer, ids []T) {
	f := formOf[T]()
	switch {
	case f.size == 0:
		proto.ColInt64(int64s(ids)).WriteColumn(w)
	case f.storage == idtype.StorageBytes:
		w.ChainWrite(rawBytes(ids))
	default:
		w.ChainBuffer(func(b *proto.Buffer) { encode(b, ids) })
	}
}

// swapUUID turns each half of a UUID around, which is how ClickHouse has them.
func swapUUID(u []byte) {
	slices.Reverse(u[:8])
	slices.Reverse(u[8:])
}

// decode adds rows to ids. Nulls, if not nil, says which rows are NULL. Their values mean nothing.
func decode[T idtype.ID](ids *[]T, r *proto.Reader, rows int, z zero, nulls []uint8) error {
	if rows == 0 {
		return nil
	}
	n := len(*ids)
	all := slices.Grow(*ids, rows)[:n+rows]
	added := all[n:]
	if err := read(added, r, z, nulls); err != nil {
		return err
	}
	for i, null := range nulls {
		if null != 0 {
			clear(added[i : i+1])
		} else if added[i].IsZero() {
			return rowError[T](i, check(added[i:i+1], zeroFails).(*RowError).Err)
		}
	}
	if err := check(added, z); err != nil {
		return err
	}
	*ids = all
	return nil
}

// read sets ids to what comes.
func read[T idtype.ID](ids []T, r *proto.Reader, z zero, nulls []uint8) error {
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
		if isNull || z != zeroFails && [textLen]byte(chars) == [textLen]byte{} {
			continue
		}
		if err := any(&ids[i]).(encoding.TextUnmarshaler).UnmarshalText(chars); err != nil {
			return rowError[T](i, err)
		}
	}
	return nil
}
