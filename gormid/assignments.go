package gormid

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
	"github.com/idmint/idmint/internal/nilable"
)

// set converts assigned values.
func (b *builder) set(set clause.Set) clause.Set {
	rewritten := slices.Clone(set)
	for i, a := range set {
		rewritten[i].Value = b.assigned(a.Column, a.Value, "")
	}
	return rewritten
}

// convertMaps converts rows that are maps. It changes no map unless all of them are valid.
func (in *installed) convertMaps(stmt *gorm.Statement) {
	b, rows := in.builderOf(stmt), rowsOf(stmt)
	if !rows.isMaps() {
		return
	}
	converted := make([]map[string]any, rows.n)
	for i, row := range rows.maps {
		converted[i] = maps.Clone(row)
		for name, v := range row {
			id := b.assigned(clause.Column{Name: name}, v, rowName(i))
			if nilable.IsNil(id) {
				id = nil // ClickHouse's driver panics on a nil pointer
			}
			converted[i][name] = id
		}
	}
	if stmt.Error == nil {
		for i, row := range converted {
			maps.Copy(rows.maps[i], row)
		}
	}
}

func (b *builder) assigned(column clause.Column, v any, where string) any {
	field := b.field(column)
	t, ok := targetOf(field)
	if !ok {
		return v
	}
	if e, ok := v.(clause.Expr); ok && strings.TrimSpace(e.SQL) == "?" && len(e.Vars) == 1 {
		v = e.Vars[0]
	}
	converted, err := t.one(v)
	if err != nil {
		if errors.Is(err, idtype.ErrZero) {
			err = zeroError(field, where, rowsOf(b.stmt).isMaps())
		} else {
			err = fmt.Errorf("%s%s of type %s: %w",
				where, fieldName(field), keys.TypeName(field.FieldType), err)
		}
		return b.refuse(err)
	}
	return converted
}
