package gormid

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm/clause"

	"github.com/idmint/idmint/idtype"
)

func (b *builder) expressions(all []clause.Expression) []clause.Expression {
	if len(all) == 0 {
		return all
	}
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
		if in, ok := b.listed(e.Column, e.Value); ok {
			return in
		}
		e.Value = b.compared(e.Column, e.Value)
		return e
	case clause.Neq:
		if in, ok := b.listed(e.Column, e.Value); ok {
			return clause.Not(in)
		}
		e.Value = b.compared(e.Column, e.Value)
		return e
	case clause.Gt:
		e.Value = b.compared(e.Column, e.Value)
		return e
	case clause.Gte:
		e.Value = b.compared(e.Column, e.Value)
		return e
	case clause.Lt:
		e.Value = b.compared(e.Column, e.Value)
		return e
	case clause.Lte:
		e.Value = b.compared(e.Column, e.Value)
		return e
	case clause.IN:
		return b.in(e)
	case clause.Expr:
		if key := b.word(e); key != nil {
			return key
		}
		e.Vars = b.vars(e)
		return e
	}
	return e
}

// compared converts a value that is compared with a column.
func (b *builder) compared(column, v any) any {
	field := b.field(column)
	t, ok := targetOf(field)
	return b.value(column, t, ok, v)
}

// value converts a value that is compared with a column. isIDs says whether the column holds IDs.
func (b *builder) value(column any, t target, isIDs bool, v any) any {
	if !isIDs {
		if rv := reflect.ValueOf(v); rv.Kind() == reflect.Pointer && rv.IsNil() {
			return v
		}
		if id, isID := v.(anID); isID && id.IsZero() {
			return b.refuse(conditionError(columnName(column), idtype.ErrZero))
		}
		return v
	}
	if t.form == idtype.StorageBigint && isInteger(v) {
		return v // as a bound, it need not be an ID
	}
	converted, err := t.one(v)
	if err != nil {
		return b.refuse(conditionError(b.field(column).Name, err))
	}
	return converted
}

// isInteger recognises integers that are no IDs.
func isInteger(v any) bool {
	rv := reflect.ValueOf(v)
	_, isValue := v.(driver.Valuer)
	return !isValue && (rv.CanInt() || rv.CanUint())
}

func conditionError(column string, err error) error {
	if errors.Is(err, idtype.ErrZero) {
		return zeroErrorf("a condition on %s: the ID is zero: set it first; "+
			"for NULL write IS NULL, or give nil", column)
	}
	return fmt.Errorf("a condition on %s: %w", column, err)
}

// listed makes an IN of an equality with a list of IDs. GORM itself knows lists of int64 and the
// like alone.
func (b *builder) listed(column, v any) (clause.IN, bool) {
	elements, isList := elementsOf(v)
	if !isList {
		return clause.IN{}, false
	}
	field := b.field(column)
	t, ok := targetOf(field)
	switch {
	case ok || isIDs(v):
		for i, e := range elements {
			elements[i] = b.value(column, t, ok, e)
		}
		return clause.IN{Column: column, Values: elements}, true
	case field == nil && isSlice(v):
		err := fmt.Errorf("a condition on %s: "+
			"no model tells whether an idtype.Slice is a list or a value there: "+
			"write IN ? with the IDs, or = ? for a column of JSON", columnName(column))
		return clause.IN{Column: column, Values: []any{b.refuse(err)}}, true
	}
	return clause.IN{}, false
}

// in rewrites a list. GORM may have been given one value, bytes or an [idtype.Slice], and have
// spread it or taken it for a list.
func (b *builder) in(e clause.IN) clause.Expression {
	field := b.field(e.Column)
	t, ok := targetOf(field)
	bytes, spread := spreadBytes(e.Values)
	switch {
	case ok && spread:
		b.spread = true
		return clause.Eq{Column: e.Column, Value: b.compared(e.Column, bytes)}
	case field == nil && spread && (len(bytes) == 8 || len(bytes) == 10):
		err := fmt.Errorf("a condition on %s: "+
			"no model tells whether these %d bytes are an ID or a list: write = ? or IN ?",
			columnName(e.Column), len(bytes))
		e.Values = []any{b.refuse(err)}
		return e
	}
	values := make([]any, 0, len(e.Values))
	for _, v := range e.Values {
		elements, isList := elementsOf(v)
		if isList && (ok || isIDs(v) || field == nil && isSlice(v)) {
			values = append(values, elements...)
		} else {
			values = append(values, v)
		}
	}
	for i, v := range values {
		values[i] = b.value(e.Column, t, ok, v)
	}
	e.Values = values
	return e
}

// spreadBytes puts together what GORM made of a []byte, or an array: a list of numbers.
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

func isSlice(v any) bool { return isIDSlice(indirectType(v)) }

// vars rewrites the arguments of SQL that the caller wrote. It rewrites conditions among them. It
// spreads an [idtype.Slice] where a list is wanted. It keeps bytes in parentheses together, which
// GORM would spread.
func (b *builder) vars(e clause.Expr) []any {
	rewritten := slices.Clone(e.Vars)
	for i, v := range e.Vars {
		switch v := v.(type) {
		case clause.Interface: // a query
		case clause.Expr: // a value, and no condition that could be meant for the key
			v.Vars = b.vars(v)
			rewritten[i] = v
		case clause.Expression:
			rewritten[i] = b.expression(v)
		case []byte:
			if b.comparesIDs(beforeMark(e.SQL, i)) {
				rewritten[i] = []any{v}
			}
		case driver.Valuer:
			if isSlice(v) && afterIN(beforeMark(e.SQL, i)) {
				rewritten[i], _ = elementsOf(v)
			}
		}
	}
	return rewritten
}
