package gormid

import (
	"database/sql/driver"
	"maps"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// GORM builds a statement clause by clause, and calls a ClauseBuilder for each. The plugin's
// builders run right before the clause is written, after hooks and other plugins. They convert
// values for columns of IDs, and correct or reject conditions that would not mean what they seem
// to. Subqueries pass through them as well.

// marker is among the builders of a database that has the plugin, and of the sessions created from
// it.
const marker = "idmint"

func (in *installed) registerBuilders(db *gorm.DB) {
	all := map[string]clause.ClauseBuilder{marker: func(clause.Clause, clause.Builder) {}}
	maps.Copy(all, db.ClauseBuilders)
	for _, name := range []string{"WHERE", "GROUP BY", "FROM", "SET", "ON CONFLICT"} {
		next := all[name]
		all[name] = func(c clause.Clause, to clause.Builder) {
			if stmt, ok := to.(*gorm.Statement); ok && c.Expression != nil {
				b := in.builderOf(stmt)
				c.Expression = b.clause(name, c.Expression)
				if b.spread { // FirstOrCreate uses the conditions as values of the row
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

// A builder rewrites a clause of a statement. It changes no expression in place, because sessions
// share them.
type builder struct {
	in        *installed
	stmt      *gorm.Statement
	loneTexts bool // a text without arguments may be meant for the key
	silent    bool // the driver reports the error: it is already set, or cannot be set
	spread    bool // spread bytes were put together again
}

// builderOf returns a builder for a statement. It is silent for Row: if the statement has an error,
// GORM returns a nil row, which panics. The driver's error is in the row instead.
func (in *installed) builderOf(stmt *gorm.Statement) *builder {
	rows, ok := stmt.Settings.Load("rows")
	return &builder{in: in, stmt: stmt, silent: ok && rows == false}
}

// clause rewrites the expression of a clause.
func (b *builder) clause(name string, e clause.Expression) clause.Expression {
	b.loneTexts = name == "WHERE" || name == "GROUP BY"
	switch e := e.(type) {
	case clause.GroupBy:
		e.Having = b.expressions(e.Having)
		return e
	case clause.From:
		e.Joins = slices.Clone(e.Joins)
		for i, join := range e.Joins {
			e.Joins[i].ON.Exprs = b.expressions(join.ON.Exprs)
		}
		return e
	case clause.Set:
		return b.set(e)
	case clause.OnConflict:
		e.Where.Exprs = b.expressions(e.Where.Exprs)
		e.TargetWhere.Exprs = b.expressions(e.TargetWhere.Exprs)
		e.DoUpdates = b.set(e.DoUpdates)
		return e
	}
	return b.expression(e)
}

// A refusal is bound instead of a value, after its error was added to the statement. A subquery
// loses that error, so the driver gets it from the refusal.
type refusal struct{ err error }

var _ driver.Valuer = refusal{}

// Value returns the error.
func (r refusal) Value() (driver.Value, error) { return int64(0), r.err }

// refuse adds an error to the statement.
func (b *builder) refuse(err error) refusal {
	full := newError(b.stmt.Schema, b.stmt.Table, err)
	if !b.silent {
		_ = b.stmt.AddError(full)
	}
	b.silent = true // one error is enough
	return refusal{full}
}
