package gormid

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/idmint/idmint/internal/keys"
	"github.com/idmint/idmint/internal/nilable"
)

// In SQL that the caller wrote, the plugin only sees an argument, and the text before its
// placeholder. It rejects a zero, and an ID whose entity differs from the column's before the
// placeholder. It also rejects an [idtype.Slice] if SQL expects a list or an ID. A Slice is a
// single parameter of JSON text, and a comparison with it is true for no row, or for all of them.

var errSlice = errors.New("an idtype.Slice is a single JSON text: " +
	"pass a []ID, or expand the text in SQL, as json_each(?) does")

// compares matches, at the end of SQL, a column, a word that expects a list, and a parenthesis.
var compares = pattern("(?i)([\\w.\"`]+)\\s*(?:[=<>!]+\\s*)?(?:NOT\\s+)?" +
	`((?:\b(?:IN|ANY|ALL|SOME)\b)?)\s*(\(?)\s*$`)

// vars rewrites the arguments of a condition, and conditions among the arguments.
func (b *builder) vars(e clause.Expr) []any {
	rewritten := slices.Clone(e.Vars)
	for i, v := range e.Vars {
		switch v := v.(type) {
		case clause.Interface: // a query
		case clause.Expr: // a value; not a condition that could be meant for the key
			v.Vars = b.vars(v)
			rewritten[i] = v
		case clause.Expression:
			rewritten[i] = b.expression(v)
		case *gorm.DB:
			if b.rawSlice(v.Statement) >= 0 { // of Raw, which runs no callbacks here
				rewritten[i] = b.refuse(errSlice)
			}
		default:
			rewritten[i] = b.argument(e.SQL, v, func() string { return before(e.SQL, i) })
		}
	}
	return rewritten
}

// named rewrites the named arguments of a condition.
func (b *builder) named(e clause.NamedExpr) []any {
	rewrite := func(name string, v any) any {
		return b.argument(e.SQL, v, func() string {
			before, _, _ := strings.Cut(e.SQL, "@"+name)
			return before
		})
	}
	rewritten := slices.Clone(e.Vars)
	for i, v := range e.Vars {
		switch v := v.(type) {
		case sql.NamedArg:
			rewritten[i] = sql.Named(v.Name, rewrite(v.Name, v.Value))
		case map[string]any:
			all := make(map[string]any, len(v))
			for name, v := range v {
				all[name] = rewrite(name, v)
			}
			rewritten[i] = all
		}
	}
	return rewritten
}

// argument returns what is bound for v, given a function for the SQL before its placeholder.
func (b *builder) argument(sql string, v any, before func() string) any {
	bytes, _ := v.([]byte)
	switch {
	case hasZero(v):
		return b.refuse(zeroReason(fmt.Sprintf("the condition %q: "+
			"it contains a zero ID: set the ID first, or write IS NULL for NULL", sql)))
	case isSlice(v) && b.wantsIDs(before(), false):
		return b.refuse(errSlice)
	case len(bytes) != 0 && b.wantsIDs(before(), true):
		return []any{v} // otherwise GORM spreads it
	}
	if err := b.checkEntity(sql, v, before); err != nil {
		return b.refuse(err)
	}
	return v
}

// checkEntity rejects an ID, or a list, of another entity than the column that SQL compares it
// with. It ignores SQL with a subquery, whose columns the statement's model does not know.
func (b *builder) checkEntity(sql string, v any, before func() string) error {
	t := keys.TypeOf(v)
	if element := elementOf(t); element != nil {
		t = element
	}
	if t == nil {
		return nil
	}
	id, _ := columnIn(t)
	if id == nil {
		return nil
	}
	left := strings.TrimRight(before(), " (")
	for _, word := range []string{" BETWEEN", " IN", " NOT"} {
		if n := len(left) - len(word); n > 0 && strings.EqualFold(left[n:], word) {
			left = left[:n]
		}
	}
	left = strings.TrimRight(left, " =<>!")
	field := b.field(left[strings.LastIndexAny(left, " (,\t\n")+1:])
	of, ok := targetOf(field)
	if !ok || !differ(reflect.TypeOf(id), of.typ) || subquery().MatchString(sql) {
		return nil
	}
	return conditionError(field.Name, of.mismatch(v))
}

var subquery = pattern(`(?i)\bSELECT\b`)

// wantsIDs reports whether SQL ends with a comparison with a column of IDs, or before a list. In
// parentheses, only the former counts.
func (b *builder) wantsIDs(sql string, inParentheses bool) bool {
	found := compares().FindStringSubmatch(sql[max(0, len(sql)-100):])
	if found == nil {
		return false
	}
	_, ofIDs := targetOf(b.field(found[1]))
	if inParentheses {
		return ofIDs && found[3] != ""
	}
	return ofIDs || found[2] != ""
}

// rawSlice returns the index of the argument of a Raw or Exec that is an [idtype.Slice] although a
// list is expected, or -1.
func (b *builder) rawSlice(stmt *gorm.Statement) int {
	if stmt.SQL.Len() != 0 {
		for i, v := range stmt.Vars {
			if isSlice(v) && b.wantsIDs(before(stmt.SQL.String(), i), false) {
				return i
			}
		}
	}
	return -1
}

var marks = pattern(`\?|\$\d+`)

// before returns the SQL between the i-th placeholder and the one before it.
func before(sql string, i int) string {
	parts := marks().Split(sql, -1)
	return parts[min(i, len(parts)-1)]
}

// hasZero recognizes an ID that is zero, or a list that contains one.
func hasZero(v any) bool {
	if id, ok := v.(column); ok {
		return !nilable.IsNil(v) && id.IsZero()
	}
	list, _ := v.([]any)
	if isIDs(v) {
		list, _ = elementsOf(v)
	}
	return slices.ContainsFunc(list, hasZero)
}
