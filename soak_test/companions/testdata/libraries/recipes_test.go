package libraries

import (
	"encoding"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-playground/form/v4"
	"github.com/jinzhu/copier"

	"github.com/idmint/idmint/idtype"
)

// The recipes of docs/use/companions.md.

// registerForm makes form read and write an ID by its text.
func registerForm[T encoding.TextMarshaler](d *form.Decoder, e *form.Encoder) {
	var zero T
	d.RegisterCustomTypeFunc(func(texts []string) (any, error) {
		id := reflect.New(reflect.TypeFor[T]())
		err := id.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(texts[0]))
		return id.Elem().Interface(), err
	}, zero)
	e.RegisterCustomTypeFunc(func(v any) ([]string, error) {
		text, err := v.(encoding.TextMarshaler).MarshalText()
		return []string{string(text)}, err
	}, zero)
}

// Param is an ID in a path, a query, or a body of huma.
type Param[T idtype.ID] struct{ ID T }

func (p Param[T]) MarshalText() ([]byte, error) { return p.ID.MarshalText() }

func (p *Param[T]) UnmarshalText(text []byte) error {
	return any(&p.ID).(encoding.TextUnmarshaler).UnmarshalText(text)
}

func (Param[T]) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }

// toText is a converter of copier from an ID to its text, and fromText the way back.
func toText[T encoding.TextMarshaler]() copier.TypeConverter {
	var zero T
	return copier.TypeConverter{SrcType: zero, DstType: "", Fn: func(v any) (any, error) {
		text, err := v.(T).MarshalText()
		return string(text), err
	}}
}

func fromText[T any]() copier.TypeConverter {
	var zero T
	return copier.TypeConverter{SrcType: "", DstType: zero, Fn: func(v any) (any, error) {
		id := new(T)
		err := any(id).(encoding.TextUnmarshaler).UnmarshalText([]byte(v.(string)))
		return *id, err
	}}
}
