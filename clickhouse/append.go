package clickhouse

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/google/uuid"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// An Appender is a column of a batch of clickhouse-go, as its Batch.Column returns it.
type Appender interface {
	Append(v any) error
}

// Append adds IDs to a column of a batch of clickhouse-go. The batch copies them all at once, as it
// copies an []int64, without an allocation per row.
//
//	batch, err := conn.PrepareBatch(ctx, "INSERT INTO users (id, name)")
//	err = clickhouse.Append(batch.Column(0), ids)
//	err = batch.Column(1).Append(names)
//	err = batch.Send()
//
// For an ID that is zero, Append adds no row and returns a [*RowError] that wraps [idtype.ErrZero].
// If the column may hold "none", pass [OrZero] or [OrNull], of which the last one counts. Any other
// error wraps the batch's error, after which the batch accepts no more rows.
func Append[T idtype.ID](column Appender, ids []T, none ...None) error {
	as := noNone
	if len(none) > 0 {
		as = none[len(none)-1]
	}
	if err := check(ids, as); err != nil {
		return err
	}
	step := chunk
	if formOf[T]().size == 0 && as != OrNull {
		step = len(ids)
	}
	var b buffer[T]
	for len(ids) > 0 {
		n := min(step, len(ids))
		// The batch's error names Go's types rather than IDs.
		if err := column.Append(b.values(ids[:n], as == OrNull)); err != nil {
			return fmt.Errorf("clickhouse: cannot append IDs of type %s to a column of type %s: "+
				"check the batch's order of columns and the table: %w",
				keys.TypeName(reflect.TypeFor[T]()), formOf[T]().columnType(), err)
		}
		ids = ids[n:]
	}
	return nil
}

// chunk is how many IDs are converted before they go to the batch, so that their memory stays small
// and in the cache.
const chunk = 4096

// A buffer converts IDs to what the columns of clickhouse-go accept, and reuses its slices for the
// next IDs.
type buffer[T idtype.ID] struct {
	chars   []byte
	ints    []int64
	texts   []string
	raw     [][]byte
	uuids   []uuid.UUID
	intPtrs []*int64
	strPtrs []*string
	idPtrs  []*uuid.UUID
}

// values returns a column's values, which refer to the memory of ids if the column holds the same
// bytes.
func (b *buffer[T]) values(ids []T, nullable bool) any {
	f := formOf[T]()
	switch {
	case f.size == 0:
		b.ints = int64s(ids)
	case f.storage == idtype.StorageBytes:
		return b.bytes(ids, f.size, nullable)
	case f.storage == idtype.StorageText:
		return b.text(ids, nullable)
	case f.storage == idtype.StorageUUID:
		b.chars, b.uuids = b.chars[:0], b.uuids[:0]
		for i, id := range ids {
			b.chars = appendText(b.chars, id)
			b.uuids = append(b.uuids, uuid.UUID(b.chars[i*textLen:]))
		}
		if nullable {
			b.idPtrs = pointers(b.idPtrs[:0], b.uuids)
			return b.idPtrs
		}
		return b.uuids
	default:
		raw := rawBytes(ids)
		b.ints = b.ints[:0]
		for i := 0; i < len(raw); i += f.size {
			b.ints = append(b.ints, int64(binary.BigEndian.Uint64(raw[i:])))
		}
	}
	if nullable {
		b.intPtrs = pointers(b.intPtrs[:0], b.ints)
		return b.intPtrs
	}
	return b.ints
}

// bytes returns a slice of each ID's bytes. clickhouse-go stores nil as NULL.
func (b *buffer[T]) bytes(ids []T, size int, nullable bool) [][]byte {
	raw := rawBytes(ids)
	b.raw = b.raw[:0]
	for i, id := range ids {
		if nullable && id.IsZero() {
			b.raw = append(b.raw, nil)
			continue
		}
		b.raw = append(b.raw, raw[i*size:(i+1)*size:(i+1)*size])
	}
	return b.raw
}

// text returns substrings of one string, which both String and FixedString(16) accept, and an empty
// one for zero.
func (b *buffer[T]) text(ids []T, nullable bool) any {
	b.chars = b.chars[:0]
	for _, id := range ids {
		b.chars = appendText(b.chars, id)
	}
	joined := string(b.chars)
	b.texts = b.texts[:0]
	for i, id := range ids {
		if id.IsZero() {
			b.texts = append(b.texts, "")
			continue
		}
		b.texts = append(b.texts, joined[i*textLen:(i+1)*textLen])
	}
	if nullable {
		b.strPtrs = pointers(b.strPtrs[:0], b.texts)
		return b.strPtrs
	}
	return b.texts
}

// pointers returns pointers to the values, or nil for zero.
func pointers[V comparable](dst []*V, values []V) []*V {
	var zero V
	for i := range values {
		p := &values[i]
		if *p == zero {
			p = nil
		}
		dst = append(dst, p)
	}
	return dst
}

// appendText appends the 16 characters of an ID's text, the 16 bytes of a UUID, or 16 NULs for
// zero.
func appendText[T idtype.ID](b []byte, id T) []byte {
	switch {
	case id.IsZero():
		return append(b, make([]byte, textLen)...)
	case id.Scheme() == idtype.SchemeUUID7:
		b, _ = id.AppendBinary(b) // fails only for zero, as AppendText does
	default:
		b, _ = id.AppendText(b)
	}
	return b
}
