package gormid

import (
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm"
)

var errNilPointer = errors.New("the pointer is nil, and ClickHouse's driver panics at it: " +
	"declare the field as sql.Null or idtype.OrZero; in a map give nil")

// checkClickHouse refuses what ClickHouse's driver takes. The driver calls Value on a nil pointer.
// In a FixedString it stores the bytes of MarshalBinary, and zero has some too.
func checkClickHouse(stmt *gorm.Statement) error {
	if stmt.Schema == nil || stmt.Dialector.Name() != "clickhouse" {
		return nil
	}
	for k, rows := range written(stmt) {
		for i := range rows.n {
			row := rows.at(i)
			if k.get(row).isRefused() {
				return zeroError(k.field, i)
			}
			var v any
			if row.isMap() {
				_, v = k.inMap(row.fields)
			} else if row.present() {
				v, _ = k.field.ValueOf(stmt.Context, row.value)
			}
			if v := reflect.ValueOf(v); v.Kind() == reflect.Pointer && v.IsNil() {
				return fmt.Errorf("row %d: %s of type %s: %w",
					i, k.field.Name, typeName(k.field.FieldType), errNilPointer)
			}
		}
	}
	return nil
}
