package gormid

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
)

// GORM hands what stands in maps and in conditions to the driver as it is, whatever field it is
// meant for. A text for a column of integers, or bytes for one of texts, is then another ID, or
// none. So values for the columns of IDs are converted by the ID's type.

var (
	errFloat = errors.New("a float loses digits of an ID: give an ID, its text or an integer; " +
		"json.Decoder.UseNumber keeps those of JSON")
	errList = errors.New("a list where one ID is wanted: give one ID, or write IN ? for a list")
)

// A mismatchError is of an ID in a place where IDs have another form.
type mismatchError struct {
	value any
	want  reflect.Type
	form  idtype.Storage
}

func (e *mismatchError) Error() string {
	return fmt.Sprintf("%v of type %s does not fit: the field holds %s, stored as %s",
		e.value, typeName(reflect.TypeOf(e.value)), typeName(e.want), e.form)
}

// A target is the ID's type of a field.
type target struct {
	typ      reflect.Type // of the ID, without pointer or wrapper
	form     idtype.Storage
	optional bool // zero is a value: the field is an idtype.OrZero
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
		if !slices.Contains(wrappers, wrapper.PkgPath()) {
			return target{}, false // what others make of an ID and more is their own
		}
		t.optional = wrapper.PkgPath() == idPackage
	}
	return t, true
}

// anID is what IDs have.
type anID interface {
	column
	driver.Valuer
	IsZero() bool
	Scheme() idtype.Scheme
}

// one converts a value that is bound by itself. What is no value but SQL stays as it is, and so
// does what means NULL.
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
	if id, ok := plain.(anID); ok {
		return t.ofID(v, id)
	}
	if valuer != nil {
		value, err := valuer.Value()
		if id, _ := columnIn(rv.Type()); id != nil || err != nil || value == nil {
			return v, err // a wrapper of an ID, or NULL
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

// isSQL recognises what GORM writes as SQL. It wraps a subquery that is assigned in a list.
func isSQL(v any) bool {
	switch v := v.(type) {
	case clause.Expression, clause.Column, clause.Table, gorm.Valuer, *gorm.DB:
		return true
	case []any:
		return len(v) == 1 && isSQL(v[0])
	}
	return false
}

// ofID takes the ID that v is, or points to. An ID of another entity is as good, and one of the
// same scheme that is stored otherwise becomes one of the field's.
func (t target) ofID(v any, id anID) (any, error) {
	from := reflect.TypeOf(id)
	switch {
	case valueError(id) != nil:
		return v, valueError(id)
	case from == t.typ:
		return v, nil
	case id.Storage() == t.form && (t.form == idtype.StorageBigint || from.ConvertibleTo(t.typ)):
		return v, nil
	case from.Kind() == reflect.Array && from.ConvertibleTo(t.typ):
		return reflect.ValueOf(id).Convert(t.typ).Interface(), nil
	}
	return v, &mismatchError{id, t.typ, t.form}
}

// valueError is that of an ID that is not stored.
func valueError(id anID) error {
	if id.IsZero() {
		return idtype.ErrZero
	}
	_, err := id.Value()
	return err
}

// ofText takes the text of an ID, as JSON has it, or of a UUID where the column is one.
func (t target) ofText(s string) (any, error) {
	id := reflect.New(t.typ)
	err := id.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
	if err != nil && (t.form != idtype.StorageUUID || id.Interface().(sql.Scanner).Scan(s) != nil) {
		return s, err
	}
	return id.Elem().Interface(), nil
}

// scan takes what a driver makes of the column.
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

// elementsOf are those of a slice, an [idtype.Slice] among them, or an array that is no value by
// itself.
func elementsOf(v any) ([]any, bool) {
	if v == nil || isSQL(v) {
		return nil, false
	}
	rv := reflect.ValueOf(v)
	for rv.Kind() == reflect.Pointer && !rv.IsNil() {
		rv = rv.Elem()
	}
	if k := rv.Kind(); k != reflect.Slice && k != reflect.Array {
		return nil, false
	}
	if rv.Type().Elem().Kind() == reflect.Uint8 {
		return nil, false
	}
	if _, ok := rv.Interface().(driver.Valuer); ok && !isIDSlice(rv.Type()) {
		return nil, false
	}
	elements := make([]any, rv.Len())
	for i := range elements {
		elements[i] = rv.Index(i).Interface()
	}
	return elements, true
}

// isIDSlice recognises an [idtype.Slice].
func isIDSlice(t reflect.Type) bool {
	return t != nil && t.PkgPath() == idPackage && strings.HasPrefix(t.Name(), "Slice[")
}

var (
	idPackage = reflect.TypeFor[idtype.DecimalID]().PkgPath()

	// wrappers are the packages that have optional IDs.
	wrappers = []string{"database/sql", idPackage, path.Join(path.Dir(idPackage), "sqlid")}
)

// isIDs recognises a list of IDs.
func isIDs(v any) bool {
	t := reflect.TypeOf(v)
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return false
	}
	if t.Implements(reflect.TypeFor[driver.Valuer]()) {
		return false
	}
	id, _ := columnIn(t.Elem())
	return id != nil
}
