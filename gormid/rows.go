package gormid

import (
	"context"
	"maps"
	"reflect"

	"gorm.io/gorm"
)

// rows are what a statement creates: structs, or maps. For anything else, which GORM rejects, there
// are zero rows.
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
		return rows{n: 1, maps: []map[string]any{dest}}
	case *map[string]any:
		return rows{n: 1, maps: []map[string]any{*dest}}
	case []map[string]any:
		return rows{n: len(dest), maps: dest}
	case *[]map[string]any:
		return rows{n: len(*dest), maps: *dest}
	}
	if stmt.Schema == nil || !stmt.ReflectValue.IsValid() {
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

// An id is the key of a row.
type id struct {
	value reflect.Value // without pointers; invalid if there is none
	given bool          // there is a value, and not nil
	zero  bool          // there is no value, or nil, or an ID that is zero
}

// get reads the key of a row, which is zero if the row is not present.
func (k *key) get(r row) id {
	if r.isMap() {
		found := id{zero: true}
		for name, v := range r.fields {
			if found.zero && k.isName(name) {
				found = idOf(reflect.ValueOf(v))
			}
		}
		return found
	}
	v, err := r.value.FieldByIndexErr(k.path)
	if err != nil { // the field is in an embedded struct, which is nil
		return id{zero: true}
	}
	return idOf(v)
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

// isName reports whether a name in a map is the key. GORM accepts three names: the column's, the
// field's, and the one from which its naming strategy derives the column's name.
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
		k.clear(ctx, r) // a map with two names would insert the key twice
		r.fields[k.column] = id.Convert(k.typ).Interface()
		return
	}
	v := k.field.ReflectValueOf(ctx, r.value) // creates an embedded struct that is nil
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(k.typ)) // an existing pointer may be shared with another row
		v = v.Elem()
	}
	if v.CanInt() {
		v.SetInt(id.Int()) // avoids the allocation of Convert
	} else {
		v.Set(id.Convert(k.typ))
	}
}

// clear removes the ID from a row that is present and writable.
func (k *key) clear(ctx context.Context, r row) {
	if r.isMap() {
		maps.DeleteFunc(r.fields, func(name string, _ any) bool { return k.isName(name) })
		return
	}
	k.field.ReflectValueOf(ctx, r.value).SetZero()
}
