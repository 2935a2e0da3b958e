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

// A direct plan writes and reads lone IDs in the binary format of their column. Anything that is
// not an ID is passed to the key's Value and Scan, which return the right errors. Encode receives
// the value that pgx made the plan for, which is an ID or a pointer to one; Scan receives a pointer
// to one.
type direct interface {
	pgtype.EncodePlan
	pgtype.ScanPlan
}

func directOf(t reflect.Type, form idtype.Storage) direct {
	if t.Kind() == reflect.Int64 {
		return integers{}
	}
	raw := form == idtype.StorageBigint || form == idtype.StorageBytes || t.Len() == 16
	return &inBytes{form, raw}
}

// integers is the plan for IDs that are an int64. It reads the number by reflection, because a
// method call through an interface takes longer.
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

// inBytes is the plan for byte IDs in columns of one form.
type inBytes struct {
	form idtype.Storage
	raw  bool // the column holds the ID's bytes rather than its characters
}

// Encode writes the bytes of an EightByte for a bigint, the characters of a Sno as the bytes of a
// UUID, and the bytes of a UUID7 as they are.
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

// bytesOf returns the bytes of an ID, or of the ID that a pointer points to.
func bytesOf(id any) []byte {
	v := reflect.ValueOf(id)
	if v.Kind() == reflect.Pointer {
		return v.Elem().Bytes()
	}
	array := reflect.New(v.Type()).Elem()
	array.Set(v)
	return array.Bytes()
}

// scanColumn scans values that are not an ID in its usual form.
func scanColumn(form idtype.Storage, src []byte, dst any) error {
	scanner := dst.(sql.Scanner)
	switch {
	case src == nil:
		return scanner.Scan(nil)
	case form == idtype.StorageBigint && len(src) == 8:
		return scanner.Scan(int64(binary.BigEndian.Uint64(src)))
	case form == idtype.StorageBigint: // a Scanner would read the bytes as text
		return fmt.Errorf("pgxid: a bigint must have 8 bytes, not %d", len(src))
	}
	return scanner.Scan(src)
}
