package pgxid

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/idmint/idmint/idtype"
)

// A direct plan writes and reads lone IDs in the binary format of their column. It leaves what is
// no ID to the key's Value and Scan, whose errors are the right ones. Encode gets what pgx made the
// plan for: an ID or a pointer to one. Scan gets a pointer to one.
type direct interface {
	pgtype.EncodePlan
	pgtype.ScanPlan
}

func directOf(t reflect.Type, form idtype.Storage) direct {
	if t.Kind() == reflect.Int64 {
		return integers{}
	}
	return &inBytes{form, form == idtype.StorageBigint || form == idtype.StorageBytes || t.Len() == 16}
}

// integers are the IDs that are an int64. Their number is read by reflection: a method call by
// interface takes longer.
type integers struct{}

func (integers) Encode(id any, buf []byte) ([]byte, error) {
	v := reflect.ValueOf(id)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Int() <= 0 {
		_, err := id.(driver.Valuer).Value()
		return nil, err
	}
	return binary.BigEndian.AppendUint64(buf, uint64(v.Int())), nil
}

func (integers) Scan(src []byte, dst any) error {
	if len(src) == 8 {
		if v := int64(binary.BigEndian.Uint64(src)); v > 0 {
			reflect.ValueOf(dst).Elem().SetInt(v)
			return nil
		}
	}
	return scanColumn(idtype.StorageBigint, src, dst)
}

// inBytes are the IDs that are bytes, in columns of a form.
type inBytes struct {
	form idtype.Storage
	raw  bool // the column has the ID's bytes, and not its characters
}

// Encode: the bytes of an EightByte are those of its bigint. The characters of a Sno are the bytes
// of its UUID, and a UUID7's bytes are.
func (p *inBytes) Encode(id any, buf []byte) ([]byte, error) {
	if v := id.(interface{ IsZero() bool }); v.IsZero() {
		_, err := id.(driver.Valuer).Value()
		return nil, err
	}
	if p.raw {
		return append(buf, bytesOf(id)...), nil
	}
	return id.(encoding.TextAppender).AppendText(buf)
}

func (p *inBytes) Scan(src []byte, dst any) error {
	if p.raw {
		id := reflect.ValueOf(dst).Elem().Bytes()
		if len(src) == len(id) && len(bytes.Trim(src, "\x00")) != 0 {
			copy(id, src)
			return nil
		}
	} else if dst.(encoding.TextUnmarshaler).UnmarshalText(src) == nil {
		return nil
	}
	return scanColumn(p.form, src, dst)
}

// bytesOf are the bytes of an ID, or of one that a pointer points to.
func bytesOf(id any) []byte {
	v := reflect.ValueOf(id)
	if v.Kind() == reflect.Pointer {
		return v.Elem().Bytes()
	}
	array := reflect.New(v.Type()).Elem()
	array.Set(v)
	return array.Bytes()
}

// scanColumn is for what is no ID in the usual form.
func scanColumn(form idtype.Storage, src []byte, dst any) error {
	scanner := dst.(sql.Scanner)
	switch {
	case src == nil:
		return scanner.Scan(nil)
	case form == idtype.StorageBigint && len(src) == 8:
		return scanner.Scan(int64(binary.BigEndian.Uint64(src)))
	case form == idtype.StorageBigint: // a Scanner would take the bytes for text
		return fmt.Errorf("pgxid: a bigint has 8 bytes, and not %d", len(src))
	}
	return scanner.Scan(src)
}
