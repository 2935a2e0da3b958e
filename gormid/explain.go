package gormid

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// GORM writes bytes into its log and into ToSQL as a text: unescaped, or as '<binary>'. That would
// be read as eight bytes, and a column of IDs takes them. The plugin has GORM write what the
// database reads as the ID.

// literals are how a database writes bytes.
var literals = map[string]func(hexadecimal string) string{
	"sqlite":     func(h string) string { return "x'" + h + "'" },
	"mysql":      func(h string) string { return "x'" + h + "'" },
	"postgres":   func(h string) string { return `'\x` + h + `'::bytea` },
	"clickhouse": func(h string) string { return "unhex('" + h + "')" },
}

// Explain writes a statement for people and logs.
func (d dialector) Explain(sql string, vars ...any) string {
	var marks []string // each mark, and what is written instead
	for i, v := range vars {
		literal, ok := d.literal(v)
		if !ok {
			continue
		}
		if marks == nil {
			vars = slices.Clone(vars)
		}
		mark := fmt.Sprintf("\x00idmint %d\x00", i)
		vars[i] = mark
		marks = append(marks, "'"+mark+"'", literal, `"`+mark+`"`, literal)
	}
	return strings.NewReplacer(marks...).Replace(d.Dialector.Explain(sql, vars...))
}

// isPrintable is what GORM asks of bytes before it writes them as a text.
func isPrintable(bytes []byte) bool {
	return !strings.ContainsFunc(string(bytes), func(r rune) bool { return !unicode.IsPrint(r) })
}

// literal writes what the database reads as the same value. It does so for an ID that is stored as
// bytes or a text, and for bytes of an ID's size.
func (d dialector) literal(v any) (string, bool) {
	bytes, _ := v.([]byte)
	rv := reflect.Indirect(reflect.ValueOf(v))
	if !rv.IsValid() {
		return "", false
	}
	valuer, _ := rv.Interface().(driver.Valuer)
	if id, _ := columnIn(rv.Type()); id != nil && valuer != nil {
		value, _ := valuer.Value() // what is refused is not sent
		if text, ok := value.(string); ok {
			return "'" + text + "'", true // no text of an ID needs an escape
		}
		bytes, _ = value.([]byte)
	} else if isPrintable(bytes) || !slices.Contains(idSizes, len(bytes)) {
		return "", false
	}
	return literals[d.columns.dialect](hex.EncodeToString(bytes)), bytes != nil
}
