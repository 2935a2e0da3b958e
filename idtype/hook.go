package idtype

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

var errHook = errors.New("want the ID's text: " +
	"put it in quotes, so that it is not read as a number")

// DecodeHook is a hook for mapstructure, which viper and koanf use to read structs. It reads an ID,
// a wrapper of one, or a public ID from its text only. Without the hook these libraries read 010 as
// 8, true as 1, and an empty text as zero:
//
//	viper.Unmarshal(&config, viper.DecodeHook(mapstructure.DecodeHookFuncType(idtype.DecodeHook)))
//
// DecodeHook returns data for other types unchanged, so it can be composed with other hooks. The
// error is an [*InputError], or the error of the type's UnmarshalText.
func DecodeHook(from, to reflect.Type, data any) (any, error) {
	ptr := reflect.New(to)
	dst, ok := ptr.Interface().(interface {
		encoding.TextUnmarshaler
		UnmarshalBSONValue(typ byte, data []byte) error
		GormDataType() string
	})
	if !ok || from == to {
		return data, nil
	}
	text, ok := data.(string)
	if !ok {
		name, _, _ := strings.Cut(to.Name(), "[")
		input := fmt.Sprintf("%v %s", from, quote(fmt.Sprint(data)))
		return nil, &InputError{Type: name, Input: input, Err: errHook}
	}
	if err := dst.UnmarshalText([]byte(text)); err != nil {
		return nil, err
	}
	return ptr.Elem().Interface(), nil
}
