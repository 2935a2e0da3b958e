// This file is written by hand. GORM's log skips files with such a name, and reports the caller's
// file instead.

package gormid

import (
	"errors"
	"reflect"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// On a conflict a row keeps its stored key, or nothing is inserted. The minted ID is then not in
// the database, and references to it would dangle. The struct therefore gets the stored key, or
// zero.

// onConflict returns the statement's clause, and whether it may let rows keep another key. It
// cannot if the key itself is the target of the conflict, because a new ID meets no conflict: GORM
// saves associations in this way. MySQL has no target: any unique index counts there.
func (a *assigned) onConflict() (c clause.OnConflict, ok bool) {
	if a.ignores() {
		return clause.OnConflict{DoNothing: true}, true
	}
	c, ok = a.stmt.Clauses["ON CONFLICT"].Expression.(clause.OnConflict)
	if !ok || a.isMySQL() || c.OnConstraint != "" {
		return c, ok
	}
	if c.UpdateAll && len(c.Columns) == 0 {
		return c, false // GORM's default is the primary key
	}
	isKey := func(c clause.Column) bool {
		return c.Name == a.key.column || c.Name == clause.PrimaryKey
	}
	return c, len(c.Columns) != 1 || !isKey(c.Columns[0])
}

// ignores reports whether the INSERT may be an INSERT OR IGNORE.
func (a *assigned) ignores() bool {
	insert, _ := a.stmt.Clauses["INSERT"].Expression.(clause.Insert)
	return insert.Modifier != ""
}

func (a *assigned) isMySQL() bool { return a.stmt.Dialector.Name() == "mysql" }

// returnKey makes an upsert return the stored keys, if possible.
func (a *assigned) returnKey() {
	stmt, field := a.stmt, a.key.field
	c, ok := a.onConflict()
	rows := rowsOf(stmt)
	switch {
	case !ok || a.ignores() || c.DoNothing && !a.isMySQL():
		// The clause would only return inserted rows, which GORM scans into the wrong structs.
	case len(c.Where.Exprs) > 0 && !rows.single: // for the same reason
	case rows.maps != nil: // GORM cannot scan into []map, and appends to *[]map
	case !a.canReturn():
	case !a.returnsKey():
		returning, given := a.returning()
		columns := append(slices.Clone(returning.Columns), clause.Column{Name: field.DBName})
		if !given { // the same as GORM without a clause
			for _, f := range stmt.Schema.FieldsWithDefaultDBValue {
				if f.Readable {
					columns = append(columns, clause.Column{Name: f.DBName})
				}
			}
		}
		stmt.Clauses["RETURNING"] = clause.Clause{
			Name: "RETURNING", Expression: clause.Returning{Columns: columns},
		}
	}
}

func (a *assigned) returning() (r clause.Returning, given bool) {
	r, given = a.stmt.Clauses["RETURNING"].Expression.(clause.Returning)
	return r, given
}

func (a *assigned) returnsKey() bool {
	r, given := a.returning()
	isKey := func(c clause.Column) bool {
		return c.Name == "*" || c.Name == a.key.column || c.Name == clause.PrimaryKey
	}
	return given && a.canReturn() &&
		(len(r.Columns) == 0 || slices.ContainsFunc(r.Columns, isKey))
}

// canReturn reports whether the dialect has the clause, and whether GORM may scan the key. It
// checks the same lists as GORM's own callback.
func (a *assigned) canReturn() bool {
	return slices.Contains(a.stmt.BuildClauses, "RETURNING") &&
		a.key.field != nil && a.key.field.Readable
}

// settle runs right after the INSERT, before the associations that refer to the row.
func (in *installed) settle(db *gorm.DB) {
	a := assignedTo(db.Statement)
	db.Statement.Settings.Delete(assignedKey{})
	if db.Error != nil {
		in.explain(db)
	} else if a != nil && !db.DryRun && a.mayDiffer(db.RowsAffected) {
		a.clearAbsent(db)
	}
}

// mayDiffer reports whether a row may hold an ID that is not in the database.
func (a *assigned) mayDiffer(affected int64) bool {
	c, ok := a.onConflict()
	if !ok {
		return false
	}
	fewer := affected < int64(rowsOf(a.stmt).n)
	if c.DoNothing {
		// GORM counts skipped rows when it scans. MySQL may count skipped rows.
		_, scanned := a.returning()
		return fewer || scanned || a.isMySQL()
	}
	return fewer || !a.returnsKey()
}

// clearAbsent resets the key to zero in the rows whose minted ID is not in the database.
func (a *assigned) clearAbsent(db *gorm.DB) {
	absent := make(map[any]bool, a.ids.Len())
	minted := make([]any, a.ids.Len())
	for i := range minted {
		minted[i] = a.ids.Index(i).Convert(a.key.typ).Interface()
		absent[minted[i]] = true
	}
	stored, err := a.stored(minted)
	if err != nil {
		fail(db, err)
		return
	}
	for _, id := range stored {
		delete(absent, id)
	}
	if len(absent) == 0 {
		return
	}
	rows := rowsOf(a.stmt)
	for i := range rows.n {
		row := rows.at(i)
		id := a.key.get(row)
		if id.given && id.value.Type() == a.key.typ && absent[id.value.Interface()] {
			a.key.clear(a.stmt.Context, row)
		}
	}
}

// stored returns the IDs that are in the table. It queries the connection of the INSERT directly,
// because with GORM a plugin might redirect or scope the query. The INSERT has bound each of these
// IDs, so they fit one query.
func (a *assigned) stored(ids []any) (stored []any, err error) {
	stmt, column := a.stmt, clause.Column{Name: a.key.column}
	query := &gorm.Statement{
		DB: stmt.DB, Table: stmt.Table, TableExpr: stmt.TableExpr, Schema: stmt.Schema,
	}
	clause.Expr{
		SQL:  "SELECT ? FROM ? WHERE ? IN ?",
		Vars: []any{column, clause.Table{Name: clause.CurrentTable}, column, ids},
	}.Build(query)

	begin, sql := time.Now(), query.SQL.String()
	defer func() {
		stmt.Logger.Trace(stmt.Context, begin, func() (string, int64) {
			shown, vars := sql, query.Vars
			if filter, ok := stmt.Logger.(gorm.ParamsFilter); ok {
				shown, vars = filter.ParamsFilter(stmt.Context, sql, vars...)
			}
			return a.in.wrapped.Explain(shown, vars...), int64(len(stored))
		}, err)
	}()
	result, err := stmt.ConnPool.QueryContext(stmt.Context, sql, query.Vars...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	id := reflect.New(a.key.typ)
	for result.Next() {
		if err := result.Scan(id.Interface()); err != nil {
			return nil, err
		}
		stored = append(stored, id.Elem().Interface())
	}
	return stored, result.Err()
}
