package gormid

import (
	"context"
	"database/sql/driver"
	"errors"
	"maps"
	"reflect"

	"gorm.io/gorm"

	"github.com/idmint/idmint/idtype"
)

// rows are what a statement creates: structs, or maps. GORM refuses anything else, which is no
// rows.
type rows struct {
	n      int
	maps   []map[string]any
	value  reflect.Value // a struct, or a slice or array of structs or of pointers to them
	single bool
}

// A row is one of rows. In a slice of pointers it may be nil, which GORM reports.
type row struct {
	fields map[string]any
	value  reflect.Value
}

func rowsOf(stmt *gorm.Statement) rows {
	switch dest := stmt.Dest.(type) { // the types that GORM knows
	case map[string]any:
		return rowsOfMaps([]map[string]any{dest})
	case *map[string]any:
		return rowsOfMaps([]map[string]any{*dest})
	case []map[string]any:
		return rowsOfMaps(dest)
	case *[]map[string]any:
		return rowsOfMaps(*dest)
	}
	if stmt.Schema == nil {
		return rows{}
	}
	r := rows{value: stmt.ReflectValue}
	t := r.value.Type()
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		r.n = r.value.Len()
		if t = t.Elem(); t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	default:
		r.n, r.single = 1, true
	}
	if t != stmt.Schema.ModelType {
		return rows{}
	}
	return r
}

func rowsOfMaps(m []map[string]any) rows { return rows{n: len(m), maps: m} }

func (r rows) isMaps() bool { return r.maps != nil }

func (r rows) at(i int) row {
	switch {
	case r.maps != nil:
		return row{fields: r.maps[i]}
	case r.single:
		return row{value: r.value}
	}
	return row{value: reflect.Indirect(r.value.Index(i))}
}

func (r row) isMap() bool { return !r.value.IsValid() }

// present is false for a nil pointer or a nil map in place of a row.
func (r row) present() bool { return r.value.IsValid() || r.fields != nil }

// writable is false for a struct that was given by value.
func (r row) writable() bool { return r.isMap() || r.value.CanAddr() }

// An id is what a row holds as its key.
type id struct {
	value reflect.Value // without pointers; invalid where there is none
	given bool          // there is a value, and not nil
	zero  bool          // there is no value, or nil, or an ID that is zero
}

// get reads the key of a row; one that is not present has none.
func (k *key) get(r row) id {
	if r.isMap() {
		_, v := k.inMap(r.fields)
		return idOf(reflect.ValueOf(v))
	}
	v, err := r.value.FieldByIndexErr(k.path)
	if err != nil { // the field is in an embedded struct that is nil
		return id{zero: true}
	}
	return idOf(v)
}

// isRefused reports whether the driver gets an error instead of the value.
func (id id) isRefused() bool {
	if !id.given || !id.zero {
		return false
	}
	valuer, ok := id.value.Interface().(driver.Valuer)
	if !ok {
		return false
	}
	_, err := valuer.Value()
	return errors.Is(err, idtype.ErrZero)
}

func idOf(v reflect.Value) id {
	for v.Kind() == reflect.Pointer {
		v = v.Elem() // of nil: invalid
	}
	if !v.IsValid() {
		return id{zero: true}
	}
	return id{value: v, given: true, zero: v.IsZero()}
}

// inMap returns the key's value in a map, and the name under which the map has it or is to have it.
// GORM takes three names: the column's, the field's, and what its naming strategy makes the
// column's name of. A map with two of them would insert the key twice.
func (k *key) inMap(m map[string]any) (name string, value any) {
	name = k.column
	for n, v := range m {
		if !k.isName(n) {
			continue
		}
		if !idOf(reflect.ValueOf(v)).zero {
			return n, v
		}
		name, value = n, v
	}
	return name, value
}

func (k *key) isName(name string) bool {
	if name == k.column || k.field == nil {
		return name == k.column
	}
	field := k.field.Schema.LookUpField(name)
	return field != nil && field.DBName == k.column
}

// set writes an ID of the source's type into a row that is present and writable.
func (k *key) set(ctx context.Context, r row, id reflect.Value) {
	if r.isMap() {
		name, _ := k.inMap(r.fields)
		k.clear(ctx, r)
		r.fields[name] = id.Convert(k.typ).Interface()
		return
	}
	v := k.field.ReflectValueOf(ctx, r.value) // makes an embedded struct that is nil
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(k.typ)) // a pointer that is there may be that of another row
		v = v.Elem()
	}
	if v.CanInt() {
		v.SetInt(id.Int()) // without the allocation of Convert
	} else {
		v.Set(id.Convert(k.typ))
	}
}

// clear takes the ID out of a row that is present and writable.
func (k *key) clear(ctx context.Context, r row) {
	if r.isMap() {
		maps.DeleteFunc(r.fields, func(name string, _ any) bool { return k.isName(name) })
		return
	}
	k.field.ReflectValueOf(ctx, r.value).SetZero()
}
