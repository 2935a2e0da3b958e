package pgxid

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/idmint/idmint/idtype"
)

// A jsonPlan writes and reads a lone ID, or a wrapper of an ID, as encoding/json does. pgx's own
// plan would write the ID's Value: a number, or bytes that are not JSON. As in every column, zero
// is an error, and an OrZero without an ID is null.
type jsonPlan struct {
	version bool // binary jsonb begins with a version
}

const jsonbVersion = 1

func (p jsonPlan) Encode(value any, buf []byte) ([]byte, error) {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, nil
		}
		v = v.Elem()
	}
	column, err := v.Interface().(driver.Valuer).Value()
	if err != nil || column == nil {
		return nil, err
	}
	// Marshal the ID itself: the JSON of sql.Null differs, and a publicid.ID does not expose its
	// field.
	k, _ := idOf(v.Type())
	id := reflect.New(k.typ)
	err = id.Interface().(sql.Scanner).Scan(column)
	if err != nil && !errors.Is(err, idtype.ErrZero) {
		return nil, err
	}
	text, err := id.Interface().(json.Marshaler).MarshalJSON()
	if err != nil {
		return nil, err
	}
	if p.version {
		buf = append(buf, jsonbVersion)
	}
	return append(buf, text...), nil
}

func (p jsonPlan) Scan(src []byte, dst any) error {
	if p.version && src != nil {
		if len(src) == 0 || src[0] != jsonbVersion {
			return fmt.Errorf("pgxid: the server sent jsonb of a version other than %d: "+
				"cast the column to json", jsonbVersion)
		}
		src = src[1:]
	}
	if src != nil {
		src = []byte(strings.Trim(string(src), " \t\r\n"))
	}
	return scanJSON(src, reflect.ValueOf(dst))
}

// scanJSON sets the value that dst points to. JSON's null is read as NULL.
func scanJSON(src []byte, dst reflect.Value) error {
	null := src == nil || string(src) == "null"
	if dst.Type().Elem().Kind() == reflect.Pointer {
		if null {
			dst.Elem().SetZero()
			return nil
		}
		inner := reflect.New(dst.Type().Elem().Elem())
		if err := scanJSON(src, inner); err != nil {
			return err
		}
		dst.Elem().Set(inner)
		return nil
	}
	scanner := dst.Interface().(sql.Scanner)
	u, ok := scanner.(json.Unmarshaler)
	switch {
	case null && src != nil && ok && dst.Elem().Kind() == reflect.Struct: // an OrZero without an ID
		return u.UnmarshalJSON(src)
	case null:
		return scanner.Scan(nil)
	}
	k, _ := idOf(dst.Type())
	id := reflect.New(k.typ)
	var err error
	if k.form == idtype.StorageBigint && len(src) != 0 && src[0] != '"' {
		err = id.Interface().(sql.Scanner).Scan(src) // a number, as stored by two of the modes
	} else {
		err = id.Interface().(json.Unmarshaler).UnmarshalJSON(src)
	}
	if err != nil {
		return err
	}
	return scanner.Scan(id.Elem().Interface())
}
