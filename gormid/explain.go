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

// In its log and in ToSQL, GORM writes bytes as a text, unescaped, or as '<binary>'. A database
// would read that as eight bytes, which a column of IDs accepts. The plugin makes GORM write a
// literal that the database reads as the ID.

// literals write bytes in the syntax of each database.
var literals = map[string]func(hexadecimal string) string{
	"sqlite":     func(h string) string { return "x'" + h + "'" },
	"mysql":      func(h string) string { return "x'" + h + "'" },
	"postgres":   func(h string) string { return `'\x` + h + `'::bytea` },
	"clickhouse": func(h string) string { return "unhex('" + h + "')" },
}

// Explain returns a statement with its values, for people and logs.
func (d dialector) Explain(sql string, vars ...any) string {
	var marks []string // each mark, followed by its replacement
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

// isPrintable is GORM's condition for writing bytes as a text.
func isPrintable(bytes []byte) bool {
	return !strings.ContainsFunc(string(bytes), func(r rune) bool { return !unicode.IsPrint(r) })
}

// literal returns a literal that the database reads as the same value: for an ID that is stored as
// bytes or a text, and for bytes of an ID's size.
func (d dialector) literal(v any) (string, bool) {
	bytes, _ := v.([]byte)
	rv := reflect.Indirect(reflect.ValueOf(v))
	if !rv.IsValid() {
		return "", false
	}
	valuer, _ := rv.Interface().(driver.Valuer)
	if id, _ := columnIn(rv.Type()); id != nil && valuer != nil {
		value, _ := valuer.Value() // a rejected ID is not sent
		if text, ok := value.(string); ok {
			return "'" + text + "'", true // the text of an ID needs no escaping
		}
		bytes, _ = value.([]byte)
	} else if isPrintable(bytes) || !slices.Contains(idSizes, len(bytes)) {
		return "", false
	}
	return literals[d.columns.dialect](hex.EncodeToString(bytes)), bytes != nil
}
