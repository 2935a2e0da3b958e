package gormid

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// GORM passes the values of maps and conditions to the driver unchanged, whichever field they are
// meant for. A text for a column of integers, or bytes for a column of texts, would then be a
// different ID, or none. Values for columns of IDs are therefore converted by the ID's type.

var (
	errFloat = errors.New("a float loses digits of an ID: pass an ID, its text or an integer; " +
		"json.Decoder.UseNumber keeps all digits of JSON numbers")
	errList = errors.New("a list instead of one ID: pass one ID, or write IN ? for a list")
)

// mismatch is the error for an ID in a field for IDs of another entity or form.
func (t target) mismatch(v any) error {
	return fmt.Errorf("%v of type %s does not fit: the field holds %s, stored as %s",
		v, keys.TypeName(reflect.TypeOf(v)), keys.TypeName(t.typ), t.form)
}

// A target is the type of the IDs in a field.
type target struct {
	typ      reflect.Type // of the ID, without pointer or wrapper
	form     idtype.Storage
	optional bool // zero is a value, because the field is an idtype.OrZero
}

// targetOf reports whether a field holds IDs.
func targetOf(field *schema.Field) (target, bool) {
	if field == nil || field.DBName == "" || field.Serializer != nil {
		return target{}, false
	}
	id, _ := columnIn(field.FieldType)
	if id == nil {
		return target{}, false
	}
	t := target{typ: reflect.TypeOf(id), form: id.Storage()}
	if wrapper := field.IndirectFieldType; wrapper != t.typ {
		if !keys.IsWrapper(wrapper) {
			return target{}, false // other types that contain an ID are not converted
		}
		t.optional = wrapper.PkgPath() == keys.Package
	}
	return t, true
}

// one converts a value that is bound on its own. It leaves SQL, and values that mean NULL,
// unchanged.
func (t target) one(v any) (any, error) {
	if v == nil || isSQL(v) {
		return v, nil
	}
	rv := reflect.ValueOf(v)
	valuer, _ := v.(driver.Valuer)
	for rv.Kind() == reflect.Pointer {
		if rv.IsNil() {
			return v, nil
		}
		rv = rv.Elem()
		if inner, ok := rv.Interface().(driver.Valuer); ok {
			valuer = inner
		}
	}
	plain := rv.Interface()
	if id, ok := plain.(column); ok {
		return t.ofID(v, id)
	}
	if valuer != nil {
		value, err := valuer.Value()
		id, _ := columnIn(rv.Type())
		switch {
		case err != nil || value == nil: // NULL
			return v, err
		case isSlice(v):
			return v, errSlice
		case id != nil: // a wrapper
			if differ(reflect.TypeOf(id), t.typ) {
				err = t.mismatch(plain)
			}
			return v, err
		}
		return t.one(value)
	}
	switch rv.Kind() {
	case reflect.String:
		return t.ofText(rv.String())
	case reflect.Slice:
		if rv.Type().Elem().Kind() == reflect.Uint8 {
			return t.scan(rv.Bytes())
		}
		return v, errList
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return t.scan(rv.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return t.scan(rv.Uint())
	case reflect.Float32, reflect.Float64:
		return v, errFloat
	}
	return t.scan(plain)
}

// isSQL recognizes what GORM writes as SQL. GORM wraps an assigned subquery in a list.
func isSQL(v any) bool {
	switch v := v.(type) {
	case clause.Expression, clause.Column, clause.Table, gorm.Valuer, *gorm.DB:
		return true
	case []any:
		return len(v) == 1 && isSQL(v[0])
	}
	return false
}

// ofID converts the ID that v is, or points to. An ID that names no entity is accepted, and an ID
// of the same scheme that is stored in another form is converted to the field's form.
func (t target) ofID(v any, id column) (any, error) {
	from := reflect.TypeOf(id)
	_, err := id.Value()
	switch {
	case err != nil: // zero, or a negative number
		return v, err
	case from == t.typ:
		return v, nil
	case differ(from, t.typ):
	case id.Storage() == t.form && (t.form == idtype.StorageBigint || from.ConvertibleTo(t.typ)):
		return v, nil
	case from.Kind() == reflect.Array && from.ConvertibleTo(t.typ):
		return reflect.ValueOf(id).Convert(t.typ).Interface(), nil
	}
	return v, t.mismatch(id)
}

// ofText parses the text of an ID, as in JSON, or the text of a UUID if the column is one.
func (t target) ofText(s string) (any, error) {
	id := reflect.New(t.typ)
	err := id.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
	if err != nil && (t.form != idtype.StorageUUID || id.Interface().(sql.Scanner).Scan(s) != nil) {
		return s, err
	}
	return id.Elem().Interface(), nil
}

// scan converts a value as if the driver had read it from the column.
func (t target) scan(src any) (any, error) {
	if t.optional && (src == int64(0) || src == uint64(0)) {
		return src, nil
	}
	id := reflect.New(t.typ)
	if err := id.Interface().(sql.Scanner).Scan(src); err != nil {
		return src, err
	}
	return id.Elem().Interface(), nil
}

// elementsOf returns the elements of a slice or an array, unless that is bound as a single value.
func elementsOf(v any) ([]any, bool) {
	if v == nil || isSQL(v) {
		return nil, false
	}
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer && !rv.IsNil() {
		rv = rv.Elem()
	}
	if elementOf(rv.Type()) == nil {
		return nil, false
	}
	elements := make([]any, rv.Len())
	for i := range elements {
		elements[i] = rv.Index(i).Interface()
	}
	return elements, true
}

// isSlice recognizes an [idtype.Slice], or a pointer to one.
func isSlice(v any) bool {
	t := keys.TypeOf(v)
	return t != nil && t.Kind() == reflect.Slice && t.PkgPath() == keys.Package
}

// isIDs recognizes a list of IDs.
func isIDs(v any) bool {
	element := elementOf(keys.TypeOf(v))
	if element == nil {
		return false
	}
	id, _ := columnIn(element)
	return id != nil
}

var valuerType = reflect.TypeFor[driver.Valuer]()

// elementOf returns the type of a list's elements, or nil if the type is bound as a single value.
func elementOf(t reflect.Type) reflect.Type {
	isList := t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array)
	if !isList || t.Elem().Kind() == reflect.Uint8 || t.Implements(valuerType) {
		return nil
	}
	return t.Elem()
}
