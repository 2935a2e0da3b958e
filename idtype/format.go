package idtype

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"reflect"
)

// format writes the text of an ID for %s, %v, and %q, and its number or its bytes for %#v and all
// other verbs. With only a String method, %x would print the hexadecimal form of the text.
func format[T ID](s fmt.State, verb rune, id T) {
	var v any = id.String()
	switch {
	case verb == 's', verb == 'q', verb == 'v' && !s.Flag('#'):
	case isInteger[T]():
		v = reflect.ValueOf(id).Int()
	default:
		v = AppendBytes(nil, id)
	}
	fmt.Fprintf(s, fmt.FormatString(s, verb), v)
}

// generate returns a random ID that follows its layout, for testing/quick.
func generate[T ID](r *rand.Rand) reflect.Value {
	var id T
	raw := make([]byte, reflect.TypeFor[T]().Size())
	for {
		r.Read(raw)
		if isInteger[T]() {
			raw[0] &= 0x7f // positive
		}
		if s, ok := any(id).(interface{ Layout() *SnowflakeLayout }); ok {
			n := binary.BigEndian.Uint64(raw) % uint64(s.Layout().Most())
			binary.BigEndian.PutUint64(raw, n+1)
		}
		var err error
		if id, err = FromBytes[T](raw); err == nil && id.Validate() == nil {
			return reflect.ValueOf(id)
		}
	}
}
