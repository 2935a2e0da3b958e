package gormid

import (
	"database/sql/driver"
	"maps"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// GORM builds a statement clause by clause, and asks its ClauseBuilders for each. The plugin's
// builders look at a clause right before, when hooks and other plugins have had their say. They
// convert values for columns of IDs. They mend or refuse a condition that would mean something else
// than it looks. Subqueries come the same way.

// builders say what the plugin does to a clause.
var builders = map[string]func(*builder, clause.Expression) clause.Expression{
	"WHERE": func(b *builder, e clause.Expression) clause.Expression {
		b.words = true
		return b.expression(e)
	},
	"GROUP BY": func(b *builder, e clause.Expression) clause.Expression {
		b.words = true
		if group, ok := e.(clause.GroupBy); ok {
			group.Having = b.expressions(group.Having)
			return group
		}
		return e
	},
	"FROM": func(b *builder, e clause.Expression) clause.Expression {
		from, ok := e.(clause.From)
		if !ok {
			return e
		}
		from.Joins = slices.Clone(from.Joins)
		for i, join := range from.Joins {
			from.Joins[i].ON.Exprs = b.expressions(join.ON.Exprs)
		}
		return from
	},
	"SET": func(b *builder, e clause.Expression) clause.Expression {
		if set, ok := e.(clause.Set); ok {
			return b.set(set)
		}
		return e
	},
	"ON CONFLICT": func(b *builder, e clause.Expression) clause.Expression {
		conflict, ok := e.(clause.OnConflict)
		if !ok {
			return e
		}
		conflict.Where.Exprs = b.expressions(conflict.Where.Exprs)
		conflict.TargetWhere.Exprs = b.expressions(conflict.TargetWhere.Exprs)
		conflict.DoUpdates = b.set(conflict.DoUpdates)
		return conflict
	},
}

func registerBuilders(db *gorm.DB) {
	all := maps.Clone(db.ClauseBuilders)
	if all == nil {
		all = map[string]clause.ClauseBuilder{}
	}
	for name, rewrite := range builders {
		next := all[name]
		all[name] = func(c clause.Clause, to clause.Builder) {
			if stmt, ok := to.(*gorm.Statement); ok && c.Expression != nil {
				b := builderOf(stmt)
				c.Expression = rewrite(b, c.Expression)
				if b.spread { // FirstOrCreate takes the conditions for values of the row
					stmt.Clauses[name] = c
				}
			}
			if next != nil {
				next(c, to)
			} else {
				c.Build(to)
			}
		}
	}
	db.ClauseBuilders = all
}

// isMaps recognises rows that are created from maps.
func isMaps(dest any) bool {
	switch dest.(type) {
	case map[string]any, *map[string]any, []map[string]any, *[]map[string]any:
		return true
	}
	return false
}

// A builder rewrites a clause of a statement. It changes no expression in place: sessions share
// them.
type builder struct {
	stmt   *gorm.Statement
	words  bool // a text without arguments may be meant for the key
	silent bool // the error is left to the driver: it is there already, or has no other place
	spread bool // bytes were put together again
}

// builderOf returns a builder for a statement. It is silent for Row: GORM then returns no row at
// all where there is an error, and a nil row panics. The driver's error is in the row.
func builderOf(stmt *gorm.Statement) *builder {
	rows, ok := stmt.Settings.Load("rows")
	return &builder{stmt: stmt, silent: ok && rows == false}
}

// A refusal is bound instead of a value. The statement has the error already. A subquery loses its
// error, so there the driver meets it.
type refusal struct{ err error }

var _ driver.Valuer = refusal{}

// Value fails.
func (r refusal) Value() (driver.Value, error) { return int64(0), r.err }

// refuse ends the statement.
func (b *builder) refuse(err error) refusal {
	full := err
	if _, known := err.(*Error); !known {
		full = newError(b.stmt.Schema, b.stmt.Table, err)
	}
	if !b.silent {
		_ = b.stmt.AddError(full)
	}
	b.silent = true // one error is enough
	return refusal{full}
}
