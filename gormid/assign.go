package gormid

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
)

// assigned is the state that the callbacks of a statement share: the IDs minted for its rows.
type assigned struct {
	in   *installed
	stmt *gorm.Statement // to tell it from associations, to which GORM passes the settings
	key  *key
	ids  reflect.Value // a slice of the source's type
}

type assignedKey struct{} // in the settings of a statement

func assignedTo(stmt *gorm.Statement) *assigned {
	v, _ := stmt.Settings.Load(assignedKey{})
	if a, ok := v.(*assigned); ok && a.stmt == stmt {
		return a
	}
	return nil
}

// assign is the first callback of a create. It gives an ID to every row that lacks one, and asks
// the source once.
func (in *installed) assign(db *gorm.DB) {
	in.refuse(db, func(m *model) error { return m.makeErr })
	if db.Error != nil {
		return
	}
	stmt := db.Statement
	k := in.keyOf(stmt)
	if k == nil || k.source == nil {
		return
	}
	rows := rowsOf(stmt)
	need := 0
	for i := range rows.n {
		switch row := rows.at(i); {
		case !row.present():
			if rows.maps != nil {
				fail(db, gorm.ErrInvalidData) // GORM would insert a row of defaults
				return
			}
		case !k.get(row).zero:
		case !row.writable():
			fail(db, gorm.ErrInvalidValue)
			return
		default:
			need++
		}
	}
	if need == 0 {
		return
	}
	ids, err := k.source.Mint(stmt.Context, need)
	if err != nil {
		fail(db, fmt.Errorf("the source of %s IDs failed: %w", k.source.Scheme(), err))
		return
	}
	next := 0
	for i := range rows.n {
		if row := rows.at(i); row.present() && k.get(row).zero {
			k.set(stmt.Context, row, ids.Index(next))
			next++
		}
	}
	stmt.Settings.Store(assignedKey{}, &assigned{in, stmt, k, ids})
}

// prepare runs right before the INSERT. Hooks, which may add clauses, have run, and so have the
// associations that the row belongs to, which set foreign keys.
func (in *installed) prepare(db *gorm.DB) {
	if db.Error != nil {
		return
	}
	stmt := db.Statement
	if in.convertMaps(stmt); db.Error != nil {
		return
	}
	err := checkClickHouse(stmt)
	if a := assignedTo(stmt); a != nil && err == nil {
		err = a.includeKey()
		a.returnKey()
	}
	if err != nil {
		fail(db, err)
	}
}

var errOmitted = errors.New("the primary key, which a rule assigns, is left out by Omit: " +
	"omit only other columns")

// includeKey adds the key to the columns of Select.
func (a *assigned) includeKey() error {
	stmt, column := a.stmt, a.key.column
	if len(stmt.Selects)+len(stmt.Omits) == 0 {
		return nil
	}
	columns, restricted := stmt.SelectAndOmitColumns(true, false)
	selected, named := columns[column]
	switch {
	case named && !selected:
		return errOmitted
	case !named && restricted:
		stmt.Selects = append(slices.Clone(stmt.Selects), column)
	}
	return nil
}
