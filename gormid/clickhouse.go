package gormid

import (
	"errors"
	"fmt"
	"reflect"

	"gorm.io/gorm"

	"github.com/idmint/idmint/internal/keys"
)

var errNilPointer = errors.New("the pointer is nil, on which ClickHouse's driver panics: " +
	"declare the field as sql.Null or idtype.OrZero")

// checkClickHouse rejects what ClickHouse's driver would accept. The driver calls Value on a nil
// pointer. Into a FixedString it writes the bytes of the ID, even if the ID is zero.
func checkClickHouse(stmt *gorm.Statement) error {
	if stmt.Schema == nil || stmt.Dialector.Name() != "clickhouse" {
		return nil
	}
	for k, rows := range written(stmt) {
		for i := range rows.n {
			row := rows.at(i)
			id := k.get(row)
			switch isPointer := k.field.FieldType.Kind() == reflect.Pointer; {
			case id.zero && (id.given || k.field.PrimaryKey && row.present()):
				return zeroError(k.field, rowName(i), false)
			case !id.given && isPointer && !row.isMap():
				return fmt.Errorf("row %d: %s of type %s: %w",
					i, k.field.Name, keys.TypeName(k.field.FieldType), errNilPointer)
			}
		}
	}
	return nil
}
