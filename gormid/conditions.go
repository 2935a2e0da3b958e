package gormid

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
)

func (b *builder) expressions(all []clause.Expression) []clause.Expression {
	rewritten := make([]clause.Expression, len(all))
	for i, e := range all {
		rewritten[i] = b.expression(e)
	}
	return rewritten
}

// expression rewrites a condition.
func (b *builder) expression(e clause.Expression) clause.Expression {
	switch e := e.(type) {
	case clause.Where:
		return clause.Where{Exprs: b.expressions(e.Exprs)}
	case clause.AndConditions:
		return clause.AndConditions{Exprs: b.expressions(e.Exprs)}
	case clause.OrConditions:
		return clause.OrConditions{Exprs: b.expressions(e.Exprs)}
	case clause.NotConditions:
		return clause.NotConditions{Exprs: b.expressions(e.Exprs)}
	case clause.Eq:
		if in, ok := b.listed(e); ok {
			return in
		}
		return b.compared(e)
	case clause.Neq:
		if in, ok := b.listed(clause.Eq(e)); ok {
			return clause.Not(in)
		}
		return clause.Neq(b.compared(clause.Eq(e)))
	case clause.Gt:
		return clause.Gt(b.compared(clause.Eq(e)))
	case clause.Gte:
		return clause.Gte(b.compared(clause.Eq(e)))
	case clause.Lt:
		return clause.Lt(b.compared(clause.Eq(e)))
	case clause.Lte:
		return clause.Lte(b.compared(clause.Eq(e)))
	case clause.IN:
		return b.list(e)
	case clause.Expr:
		if key := b.loneText(e); key != nil {
			return key
		}
		e.Vars = b.vars(e)
		return e
	case clause.NamedExpr:
		e.Vars = b.named(e)
		return e
	}
	return e
}

// compared converts a value that is compared with a column.
func (b *builder) compared(e clause.Eq) clause.Eq {
	field := b.field(e.Column)
	t, ok := targetOf(field)
	e.Value = b.value(e.Column, field, t, ok, e.Value)
	return e
}

// value converts a value that is compared with a column. isIDs is true if the column holds IDs.
func (b *builder) value(column any, field *schema.Field, t target, isIDs bool, v any) any {
	switch {
	case !isIDs && hasZero(v):
		return b.refuse(conditionError(columnName(column), idtype.ErrZero))
	case !isIDs && field == nil && isSlice(v):
		return b.refuse(conditionError(columnName(column), errSlice))
	case !isIDs, t.form == idtype.StorageBigint && isInteger(v): // a bound need not be an ID
		return v
	}
	converted, err := t.one(v)
	if err != nil {
		return b.refuse(conditionError(field.Name, err))
	}
	return converted
}

// isInteger recognizes integers that are not IDs.
func isInteger(v any) bool {
	rv := reflect.ValueOf(v)
	_, isValue := v.(driver.Valuer)
	return !isValue && (rv.CanInt() || rv.CanUint())
}

func conditionError(column string, err error) error {
	if errors.Is(err, idtype.ErrZero) {
		return zeroReason(fmt.Sprintf("a condition on %s: the ID is zero: set it first; "+
			"for NULL, write IS NULL or pass nil", column))
	}
	return fmt.Errorf("a condition on %s: %w", column, err)
}

// listed turns an equality with a list of IDs into an IN. GORM itself only knows lists of types
// such as int64.
func (b *builder) listed(e clause.Eq) (clause.IN, bool) {
	elements, isList := elementsOf(e.Value)
	field := b.field(e.Column)
	t, ok := targetOf(field)
	if !isList || !ok && !isIDs(e.Value) {
		return clause.IN{}, false
	}
	for i, v := range elements {
		elements[i] = b.value(e.Column, field, t, ok, v)
	}
	return clause.IN{Column: e.Column, Values: elements}, true
}

// list rewrites a list, which GORM may have spread from a single value of bytes.
func (b *builder) list(e clause.IN) clause.Expression {
	field := b.field(e.Column)
	t, ok := targetOf(field)
	bytes, spread := spreadBytes(e.Values)
	switch {
	case ok && spread:
		b.spread = true
		return b.compared(clause.Eq{Column: e.Column, Value: bytes})
	case field == nil && spread && slices.Contains(idSizes, len(bytes)):
		err := fmt.Errorf("a condition on %s: "+
			"without a model, these %d bytes may be an ID or a list: write = ? or IN ?",
			columnName(e.Column), len(bytes))
		e.Values = []any{b.refuse(err)}
		return e
	}
	values := make([]any, len(e.Values))
	for i, v := range e.Values {
		values[i] = b.value(e.Column, field, t, ok, v)
	}
	e.Values = values
	return e
}

// spreadBytes reverts what GORM does to a []byte or an array, which becomes a list of numbers.
func spreadBytes(values []any) ([]byte, bool) {
	bytes := make([]byte, 0, 16)
	for _, v := range values {
		number, ok := v.(byte)
		if !ok {
			return nil, false
		}
		bytes = append(bytes, number)
	}
	return bytes, len(bytes) != 0
}
