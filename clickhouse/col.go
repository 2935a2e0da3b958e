package clickhouse

import (
	"encoding"
	"encoding/binary"
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/idmint/idmint/idtype"
)

// ColID is a column of IDs for ch-go, in blocks to insert and in results. IDs of 63 bits, and those
// stored as bytes, go to and from the wire in their own memory. The other forms are converted,
// without an allocation per row.
//
//	ids := clickhouse.ColID[UserID](minted)
//	input := proto.Input{{Name: "id", Data: &ids}}
//	err := conn.Do(ctx, ch.Query{Body: "INSERT INTO users VALUES", Input: input})
//
// A value that is no ID is a [*RowError], on its way in and out.
type ColID[T idtype.ID] []T

// ColIDOrZero is [ColID] that holds zero for "none": see [idtype.OrZero].
type ColIDOrZero[T idtype.ID] []T

// ColIDNullable is [ColID] of type Nullable. Zero is NULL.
type ColIDNullable[T idtype.ID] []T

var (
	_ proto.ColumnOf[idtype.DecimalID] = (*ColID[idtype.DecimalID])(nil)
	_ proto.ColumnOf[idtype.DecimalID] = (*ColIDOrZero[idtype.DecimalID])(nil)
	_ proto.ColumnOf[idtype.DecimalID] = (*ColIDNullable[idtype.DecimalID])(nil)
	_ proto.Preparable                 = ColID[idtype.DecimalID]{}
	_ proto.Preparable                 = ColIDOrZero[idtype.DecimalID]{}
	_ proto.Preparable                 = ColIDNullable[idtype.DecimalID]{}
)

// Type returns what [Column.Type] says.
func (c ColID[T]) Type() proto.ColumnType { return protoType[T]() }

// Rows returns the number of IDs.
func (c ColID[T]) Rows() int { return len(c) }

// Row returns one of the IDs.
func (c ColID[T]) Row(i int) T { return c[i] }

// Reset empties the column and keeps its memory.
func (c *ColID[T]) Reset() { *c = (*c)[:0] }

// Append adds an ID.
func (c *ColID[T]) Append(id T) { *c = append(*c, id) }

// AppendArr adds IDs.
func (c *ColID[T]) AppendArr(ids []T) { *c = append(*c, ids...) }

// Prepare checks the IDs. ch-go calls it before it sends them.
func (c ColID[T]) Prepare() error { return check(c, zeroFails) }

// EncodeColumn writes the IDs.
func (c ColID[T]) EncodeColumn(b *proto.Buffer) { encode(b, c) }

// WriteColumn writes the IDs.
func (c ColID[T]) WriteColumn(w *proto.Writer) { write(w, c) }

// DecodeColumn reads IDs and adds them. On an error the column is left as it was.
func (c *ColID[T]) DecodeColumn(r *proto.Reader, rows int) error {
	return decode((*[]T)(c), r, rows, zeroFails, nil)
}

// Array returns a column of arrays of IDs.
func (c *ColID[T]) Array() *proto.ColArr[T] { return proto.NewArray[T](c) }

// Type returns what [Column.Type] says.
func (c ColIDOrZero[T]) Type() proto.ColumnType { return protoType[T]() }

// Rows returns the number of rows.
func (c ColIDOrZero[T]) Rows() int { return len(c) }

// Row returns the ID of a row, or zero.
func (c ColIDOrZero[T]) Row(i int) T { return c[i] }

// Reset empties the column and keeps its memory.
func (c *ColIDOrZero[T]) Reset() { *c = (*c)[:0] }

// Append adds an ID or zero.
func (c *ColIDOrZero[T]) Append(id T) { *c = append(*c, id) }

// AppendArr adds IDs and zeros.
func (c *ColIDOrZero[T]) AppendArr(ids []T) { *c = append(*c, ids...) }

// Prepare checks the IDs. ch-go calls it before it sends them.
func (c ColIDOrZero[T]) Prepare() error { return check(c, zeroStays) }

// EncodeColumn writes the IDs.
func (c ColIDOrZero[T]) EncodeColumn(b *proto.Buffer) { encode(b, c) }

// WriteColumn writes the IDs.
func (c ColIDOrZero[T]) WriteColumn(w *proto.Writer) { write(w, c) }

// DecodeColumn reads IDs and adds them. On an error the column is left as it was.
func (c *ColIDOrZero[T]) DecodeColumn(r *proto.Reader, rows int) error {
	return decode((*[]T)(c), r, rows, zeroStays, nil)
}

// Array returns a column of arrays of IDs.
func (c *ColIDOrZero[T]) Array() *proto.ColArr[T] { return proto.NewArray[T](c) }

// Type returns Nullable of what [Column.Type] says.
func (c ColIDNullable[T]) Type() proto.ColumnType {
	return proto.ColumnTypeNullable.Sub(protoType[T]())
}

// Rows returns the number of rows.
func (c ColIDNullable[T]) Rows() int { return len(c) }

// Row returns the ID of a row, or zero for NULL.
func (c ColIDNullable[T]) Row(i int) T { return c[i] }

// Reset empties the column and keeps its memory.
func (c *ColIDNullable[T]) Reset() { *c = (*c)[:0] }

// Append adds an ID, or NULL for zero.
func (c *ColIDNullable[T]) Append(id T) { *c = append(*c, id) }

// AppendArr adds IDs, and NULL for zeros.
func (c *ColIDNullable[T]) AppendArr(ids []T) { *c = append(*c, ids...) }

// Prepare checks the IDs. ch-go calls it before it sends them.
func (c ColIDNullable[T]) Prepare() error { return check(c, zeroIsNull) }

// EncodeColumn writes the IDs.
func (c ColIDNullable[T]) EncodeColumn(b *proto.Buffer) {
	encodeNulls(b, c)
	encode(b, c)
}

// WriteColumn writes the IDs.
func (c ColIDNullable[T]) WriteColumn(w *proto.Writer) {
	w.ChainBuffer(func(b *proto.Buffer) { encodeNulls(b, c) })
	write(w, c)
}

// DecodeColumn reads IDs and NULLs and adds them. On an error the column is left as it was.
func (c *ColIDNullable[T]) DecodeColumn(r *proto.Reader, rows int) error {
	var nulls proto.ColUInt8
	if err := nulls.DecodeColumn(r, rows); err != nil {
		return err
	}
	return decode((*[]T)(c), r, rows, zeroIsNull, nulls)
}

// Array returns a column of arrays of IDs.
func (c *ColIDNullable[T]) Array() *proto.ColArr[T] { return proto.NewArray[T](c) }

func protoType[T idtype.ID]() proto.ColumnType { return proto.ColumnType(formOf[T]().columnType()) }

func encodeNulls[T idtype.ID](b *proto.Buffer, ids []T) {
	for _, id := range ids {
		b.PutBool(id.IsZero())
	}
}

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
