package gormid

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"

	"gorm.io/gorm/schema"
)

// GORM sets a field with [schema.Field.Set]: from rows, from maps, and for relations. The plugin
// replaces the Set of fields that hold IDs, because GORM's own has three flaws:
//
//   - If the row has NULL, it leaves a pointer to a Scanner unchanged, and also a Scanner that is
//     not an integer. An old foreign key would be saved again.
//   - It parses the text of an integer by Go's syntax.
//   - It writes through a pointer that another row may share.

// A setter sets a field that holds IDs.
type setter struct {
	field *schema.Field
	next  func(context.Context, reflect.Value, any) error // GORM's
	target
}

func (s *setter) set(ctx context.Context, row reflect.Value, v any) error {
	rv := reflect.ValueOf(v)
	for rv.IsValid() && rv.Type() != s.field.FieldType && rv.Kind() == reflect.Pointer {
		rv = rv.Elem()
	}
	switch {
	case !rv.IsValid():
		s.field.ReflectValueOf(ctx, row).SetZero()
		return nil
	case rv.Type() == s.field.FieldType:
		s.field.ReflectValueOf(ctx, row).Set(rv)
		return nil
	case rv.Type() == s.typ:
		return s.setID(ctx, row, rv)
	}
	v = rv.Interface()
	id, isID := v.(column)
	switch {
	case isSQL(v): // the result is only known to the database
		return nil
	case isID && id.IsZero():
		return s.setID(ctx, row, reflect.Zero(s.typ))
	}
	if valuer, ok := v.(driver.Valuer); ok && !isID {
		value, err := valuer.Value()
		if err != nil {
			return s.refuse(err)
		}
		if v = value; v == nil {
			s.field.ReflectValueOf(ctx, row).SetZero()
			return nil
		}
	}
	v, err := s.one(v)
	if err != nil {
		return s.refuse(err)
	}
	switch rv = reflect.ValueOf(v); {
	case rv.IsValid() && rv.Type() == s.typ:
		return s.setID(ctx, row, rv)
	case rv.IsValid() && rv.CanInt() && s.typ.Kind() == reflect.Int64: // of any entity
		return s.setID(ctx, row, rv.Convert(s.typ))
	}
	return s.next(ctx, row, v)
}

// setID puts an ID, even zero, into a field that is an ID, a pointer to one, or a wrapper.
func (s *setter) setID(ctx context.Context, row, id reflect.Value) error {
	field := s.field.ReflectValueOf(ctx, row)
	switch {
	case s.field.FieldType == s.typ:
		field.Set(id)
	case s.field.FieldType.Kind() == reflect.Pointer && s.field.FieldType.Elem() == s.typ:
		p := reflect.New(s.typ) // an existing pointer may be shared with another row
		p.Elem().Set(id)
		field.Set(p)
	case s.field.FieldType.Kind() == reflect.Pointer || !field.CanAddr():
		return s.next(ctx, row, id.Interface())
	default:
		if err := field.Addr().Interface().(sql.Scanner).Scan(id.Interface()); err != nil {
			return s.refuse(err)
		}
	}
	return nil
}

func (s *setter) refuse(err error) error {
	err = fmt.Errorf("%s: %w", fieldName(s.field), err)
	return newError(s.field.Schema, s.field.Schema.Table, err)
}

// wrapSet replaces the Set of a field that holds IDs. No statement may use the field meanwhile.
func wrapSet(field *schema.Field) {
	if t, ok := targetOf(field); ok {
		field.Set = (&setter{field, field.Set, t}).set
	}
}
