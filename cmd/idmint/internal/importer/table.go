package importer

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"

	"github.com/idmint/idmint/idtype"
)

// A table is in the same database as the journal, so that a batch is stored in the transaction that
// records it.
type table struct{ *journal }

func (t *table) prepare(ctx context.Context, im Import, columns []string) error {
	if err := im.check(columns, t.mostColumns, t.title); err != nil {
		return err
	}
	for _, name := range append([]string{im.Table, im.IDColumn}, columns...) {
		if t.longestName > 0 && len(name) > t.longestName {
			return fmt.Errorf("the name %s has %d bytes: the database allows at most %d",
				quoted(name), len(name), t.longestName)
		}
	}
	create, err := im.create(columns, t.kind, t.quote, t.text, t.tail)
	if err != nil {
		return err
	}
	return t.transact(ctx, func(ctx context.Context, tx *session) error {
		if err := t.journal.create(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, create); err != nil { // names may contain question marks
			return err
		}
		tx.progress()
		return t.check(ctx, tx, im, columns)
	})
}

func (t *table) check(ctx context.Context, tx *session, im Import, columns []string) error {
	if t.engine != "" {
		var engine string
		if err := tx.queryRow(ctx, t.engine, im.Table).Scan(&engine); err != nil {
			return err
		}
		if engine != t.wantEngine { // another engine could store a part of a batch
			return fmt.Errorf("table %q exists, but its engine is %s: want %s, which has "+
				"transactions", im.Table, cmp.Or(engine, "none"), t.wantEngine)
		}
	}
	found, err := t.found(ctx, tx, im)
	if err != nil {
		return err
	}
	key := found[t.fold(im.IDColumn)]
	switch {
	case !key.partOfKey || key.keys != 1:
		return fmt.Errorf("table %q exists, but %q is not its primary key", im.Table, im.IDColumn)
	case !t.isInteger(key.typ): // other types change the IDs or their order
		return fmt.Errorf("table %q exists, but its key %q is %s: want %s", im.Table, key.name,
			cmp.Or(key.typ, "of no type"), t.integer)
	}
	for _, name := range columns {
		c, ok := found[t.fold(name)]
		if !ok {
			return fmt.Errorf("table %q exists, but has no column %s", im.Table, quoted(name))
		}
		if t.changing != nil && t.changing(c.typ) {
			return fmt.Errorf("table %q exists, but its column %s is %s, which changes any text: "+
				"want another type", im.Table, quoted(name), c.typ)
		}
	}
	return nil
}

// A tableColumn is a column of an existing table.
type tableColumn struct {
	name, typ string
	partOfKey bool // of the primary key
	keys      int  // columns of the primary key
}

// found returns the columns of the table by their folded names, or none if it does not exist.
func (t *table) found(
	ctx context.Context, tx *session, im Import,
) (map[string]tableColumn, error) {
	rows, err := tx.QueryContext(ctx, t.bound(t.columns), im.Table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns := map[string]tableColumn{}
	for rows.Next() {
		var c tableColumn
		if err := rows.Scan(&c.name, &c.typ, &c.partOfKey, &c.keys); err != nil {
			return nil, err
		}
		columns[t.fold(c.name)] = c
	}
	return columns, rows.Err()
}

func (t *table) store(
	ctx context.Context, im Import, columns []string, s *state, ids []idtype.DecimalID, b batch,
) error {
	next := s.after(ids, b)
	batch := rows{im, columns, ids, b.fields, s.rows}
	err := t.transact(ctx, func(ctx context.Context, tx *session) error {
		// The row of the import comes first, which locks it, so that another run that would store
		// this batch waits and then finds it stored.
		before, err := tx.save(ctx, s, next)
		if err == nil {
			s.unanswered = 0
		}
		tx.doubt = func() { s.unanswered = int64(len(ids)) }
		if err != nil || before || len(ids) == 0 {
			return err
		}
		return t.insert(ctx, tx, batch)
	})
	if err == nil {
		*s = next
	}
	return err
}

func (t *table) abandon(ctx context.Context, im Import, s *state) (removed int64, err error) {
	next := s.next()
	next.holder, next.restarted = rand.Text(), true
	err = t.transact(ctx, func(ctx context.Context, tx *session) error {
		if before, err := tx.save(ctx, s, next); err != nil || before {
			return err
		}
		removed = 0
		for _, r := range s.ranges {
			deleted, err := tx.ExecContext(ctx,
				"DELETE FROM "+t.quote(im.Table)+" WHERE "+r.where(t.quote(im.IDColumn)))
			if err != nil {
				return err
			}
			n, err := deleted.RowsAffected()
			if err != nil {
				return err
			}
			tx.progress()
			removed += n
		}
		return nil
	})
	return removed, err
}
