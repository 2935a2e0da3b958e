package idtype

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
)

// A Codec writes and reads IDs of one type in the binary format that PostgreSQL has for a column of their [Storage]. It is for
// drivers, to whom values come as any; the ID types' method Codec makes one. pgx takes it for a plan as it is.
type Codec interface {
	// Storage is the form of the columns.
	Storage() Storage
	// Encode appends an ID of the type, or one that id points to. Its errors are those of the ID's Value.
	Encode(id any, buf []byte) ([]byte, error)
	// Scan sets the ID that dst points to; nil as src is NULL. Its errors are those of the ID's Scan, and leave the ID as it was.
	Scan(src []byte, dst any) error
}

// An int63Codec knows its type, which a method call by interface does not: that is half of the time.
type int63Codec[T ~int64] struct{}

func (int63Codec[T]) Storage() Storage { return StorageBigint }

func (int63Codec[T]) Encode(id any, buf []byte) ([]byte, error) {
	var v T
	switch id := id.(type) {
	case T:
		v = id
	case *T:
		v = *id
	}
	if v <= 0 {
		_, err := id.(driver.Valuer).Value()
		return nil, err
	}
	return binary.BigEndian.AppendUint64(buf, uint64(v)), nil
}

func (int63Codec[T]) Scan(src []byte, dst any) error {
	if id, ok := dst.(*T); ok && len(src) == 8 {
		if v := int64(binary.BigEndian.Uint64(src)); v > 0 {
			*id = T(v)
			return nil
		}
	}
	return scanColumn(StorageBigint, src, dst)
}

// A byteCodec is that of byte IDs in a form.
type byteCodec struct{ form Storage }

var byteCodecs = map[Storage]Codec{
	StorageBigint: &byteCodec{StorageBigint}, StorageBytes: &byteCodec{StorageBytes},
	StorageText: &byteCodec{StorageText}, StorageUUID: &byteCodec{StorageUUID},
}

func (c *byteCodec) Storage() Storage { return c.form }

// Encode: the bytes of an EightByte are those of its bigint, and the characters of a Sno those of its UUID.
func (c *byteCodec) Encode(id any, buf []byte) ([]byte, error) {
	if v := id.(interface{ IsZero() bool }); v.IsZero() {
		_, err := id.(driver.Valuer).Value()
		return nil, err
	}
	if c.form == StorageBigint || c.form == StorageBytes {
		return id.(encoding.BinaryAppender).AppendBinary(buf)
	}
	return id.(encoding.TextAppender).AppendText(buf)
}

func (c *byteCodec) Scan(src []byte, dst any) error {
	var err error
	if c.form == StorageBigint || c.form == StorageBytes {
		err = dst.(encoding.BinaryUnmarshaler).UnmarshalBinary(src)
	} else {
		err = dst.(encoding.TextUnmarshaler).UnmarshalText(src)
	}
	if err != nil {
		return scanColumn(c.form, src, dst)
	}
	return nil
}

// scanColumn is for what is no ID in the usual form. The errors of Scan speak of what the column holds.
func scanColumn(form Storage, src []byte, dst any) error {
	scanner := dst.(sql.Scanner)
	switch {
	case src == nil:
		return scanner.Scan(nil)
	case form == StorageBigint && len(src) == 8:
		return scanner.Scan(int64(binary.BigEndian.Uint64(src)))
	}
	return scanner.Scan(src)
}
