package clickhouse

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/uuid"

	"github.com/idmint/idmint/idtype"
)

// A Field is an ID in a row or in a field of a struct, for clickhouse-go and a FixedString. For
// such columns clickhouse-go uses an ID's binary form, which is wrong for an ID stored as text. A
// Field uses the ID's Value and Scan instead.
type Field[T idtype.ID] struct {
	ID T
}

var (
	_ driver.Valuer = Field[idtype.SnoID]{}
	_ sql.Scanner   = (*Field[idtype.SnoID])(nil)
)

// String returns the ID's text.
func (f Field[T]) String() string { return f.ID.String() }

// Value returns the ID's value, or an error for zero.
func (f Field[T]) Value() (driver.Value, error) { return f.ID.Value() }

// Scan reads the ID, but leaves the receiver unchanged if there is an error.
func (f *Field[T]) Scan(src any) error { return scanInto(&f.ID, src) }

func scanInto[T any](id *T, src any) error { return any(id).(sql.Scanner).Scan(src) }

// An Array is a list of IDs in a column of type Array, for rows of clickhouse-go and database/sql.
type Array[T idtype.ID] []T

var _ sql.Scanner = (*Array[idtype.DecimalID])(nil)

// Elements returns the IDs as clickhouse-go accepts them in a row: batch.Append(id, elements). IDs
// of 63 bits are not copied, and an ID that is zero results in an [*ElementError].
func (a Array[T]) Elements() (any, error) {
	if err := check(a, noNone); err != nil {
		return nil, elementError(a, err)
	}
	var b buffer[T]
	return b.values(a, false), nil
}

// Scan reads the array from clickhouse-go. If it returns an error, an [*ElementError], the receiver
// is unchanged.
func (a *Array[T]) Scan(src any) error {
	// The common case avoids a call for each element.
	if ints, ok := src.([]int64); ok && formOf[T]().size == 0 {
		if i := firstBelow(ints, noNone); i >= 0 {
			return elementError(src, rowError[T](i, scanInto(new(T), ints[i])))
		}
		ids := make([]T, len(ints))
		copy(int64s(ids), ints)
		*a = ids
		return nil
	}
	v := reflect.ValueOf(src)
	if v.Kind() != reflect.Slice {
		return elementError(src, errColumnKind)
	}
	ids := make([]T, v.Len())
	for i := range ids {
		if err := scanInto(&ids[i], element(v.Index(i))); err != nil {
			return elementError(src, rowError[T](i, err))
		}
	}
	*a = ids
	return nil
}

// element converts an element of an array or map to what the Scan of an ID accepts.
func element(v reflect.Value) any {
	src := v.Interface()
	if u, ok := src.(uuid.UUID); ok {
		return [16]byte(u)
	}
	return src
}

// A Map is a column of type Map whose keys are IDs, for rows of clickhouse-go and database/sql. V
// is the type that clickhouse-go uses for the values.
type Map[K idtype.ID, V any] map[K]V

var (
	_ driver.Valuer = Map[idtype.DecimalID, string]{}
	_ sql.Scanner   = (*Map[idtype.DecimalID, string])(nil)
)

// Value returns the map with its keys as clickhouse-go expects them, or an [*ElementError] if a key
// is zero.
func (m Map[K, V]) Value() (driver.Value, error) {
	keys := slices.Collect(maps.Keys(m))
	if err := check(keys, noNone); err != nil {
		return nil, elementError(m, err.(*RowError).Err) // no index, because maps have no order
	}
	var b buffer[K]
	values := b.values(keys, false)
	switch elements := values.(type) {
	case []int64:
		return withKeys(m, keys, elements), nil
	case []uuid.UUID:
		return withKeys(m, keys, elements), nil
	case [][]byte:
		texts := make([]string, len(elements))
		for i, e := range elements {
			texts[i] = string(e)
		}
		return withKeys(m, keys, texts), nil
	}
	return withKeys(m, keys, values.([]string)), nil
}

func withKeys[K idtype.ID, V any, C comparable](m Map[K, V], keys []K, columns []C) map[C]V {
	all := make(map[C]V, len(m))
	for i, k := range keys {
		all[columns[i]] = m[k]
	}
	return all
}

// Scan reads the map from clickhouse-go. If it returns an error, an [*ElementError], the receiver
// is unchanged.
func (m *Map[K, V]) Scan(src any) error {
	v := reflect.ValueOf(src)
	if v.Kind() != reflect.Map {
		return elementError(src, errColumnKind)
	}
	all := make(Map[K, V], v.Len())
	for entries := v.MapRange(); entries.Next(); {
		var k K
		if err := scanInto(&k, element(entries.Key())); err != nil {
			return elementError(src, err)
		}
		value, ok := entries.Value().Interface().(V)
		if !ok {
			return elementError(src, fmt.Errorf("the map's values are not %v: "+
				"declare Map with the type that the driver uses for them", reflect.TypeFor[V]()))
		}
		all[k] = value
	}
	*m = all
	return nil
}

// Rows are the result of a query of clickhouse-go or of database/sql.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Collect appends the IDs that a query of one column returns to ids, and closes the rows. From a
// native connection it allocates nothing per row for IDs of 63 bits. If a value is not an ID, the
// error is a [*RowError] that counts from the query's first row, and Collect returns what it
// appended before.
func Collect[T idtype.ID](ids []T, rows Rows) ([]T, error) {
	first := len(ids)
	err := collect(&ids, first, rows)
	if closed := rows.Close(); err == nil {
		err = closed
	}
	return ids, err
}

func collect[T idtype.ID](ids *[]T, first int, rows Rows) error {
	fail := func(err error) error { return rowError[T](len(*ids)-first, err) }
	if formOf[T]().size != 0 {
		var c kept[T]
		dest := []any{&c}
		for rows.Next() {
			if err := rows.Scan(dest...); err != nil {
				return fail(cmp.Or(c.err, err))
			}
			*ids = append(*ids, c.ID)
		}
		return rows.Err()
	}
	var v int64
	dest := []any{&v}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return fail(err)
		}
		var id T
		if v <= 0 {
			return fail(scanInto(&id, v))
		}
		*ids = append(*ids, id)
		int64s(*ids)[len(*ids)-1] = v
	}
	return rows.Err()
}

// kept keeps an ID's error, because clickhouse-go's error does not unwrap to it.
type kept[T idtype.ID] struct {
	Field[T]
	err error
}

func (k *kept[T]) Scan(src any) error {
	k.err = k.Field.Scan(src)
	return k.err
}
