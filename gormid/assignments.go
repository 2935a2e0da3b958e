package gormid

import (
	"maps"
	"slices"
	"strconv"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// set converts what is assigned.
func (b *builder) set(set clause.Set) clause.Set {
	rewritten := slices.Clone(set)
	for i, a := range set {
		rewritten[i].Value = b.assigned(a.Column, a.Value, "")
	}
	return rewritten
}

// convertMaps converts the rows that maps are. It changes no map unless all are right.
func convertMaps(stmt *gorm.Statement) {
	if !isMaps(stmt.Dest) {
		return
	}
	b, rows := builderOf(stmt), rowsOf(stmt)
	converted := make([]map[string]any, rows.n)
	for i, row := range rows.maps {
		for name, v := range row {
			id := b.assigned(clause.Column{Name: name}, v, "row "+strconv.Itoa(i)+": ")
			if v == nil || isInteger(v) { // as good as the ID
				continue
			}
			if converted[i] == nil {
				converted[i] = map[string]any{}
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
	converted, err := t.one(v)
	if err != nil {
		return b.refuse(assignError(field, where, isMaps(b.stmt.Dest), err))
	}
	return converted
}
