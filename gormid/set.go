package gormid

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"

	"gorm.io/gorm/schema"
)

// GORM sets a field by [schema.Field.Set]: from rows, from maps, for relations. So fields of IDs
// get a Set of the plugin's. GORM's own goes wrong in three ways:
//
//   - Where the row has NULL, it leaves a pointer to a Scanner as it was, and a Scanner that is no
//     integer. An old foreign key would be saved again.
//   - It takes a text for an integer by Go's syntax.
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
	case isSQL(v): // the row does not know what the database makes of it
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

// setID puts an ID, zero too, into a field that is one, a pointer to one, or a wrapper.
func (s *setter) setID(ctx context.Context, row, id reflect.Value) error {
	field := s.field.ReflectValueOf(ctx, row)
	switch {
	case s.field.FieldType == s.typ:
		field.Set(id)
	case s.field.FieldType.Kind() == reflect.Pointer && s.field.FieldType.Elem() == s.typ:
		p := reflect.New(s.typ) // one that is there may be that of another row
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

// wrapSet gives a field of IDs its Set. No statement may use the field meanwhile.
func wrapSet(field *schema.Field) {
	if t, ok := targetOf(field); ok {
		field.Set = (&setter{field, field.Set, t}).set
	}
}
