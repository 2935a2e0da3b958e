package adapters_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
)

// What docs/paging.md says of readers that follow a table.

// follower reads the rows of transactions that have ended, in their order, and no row twice.
type follower[T any] struct {
	tx string
	id *T
}

// next reads on to what is certain: all older transactions have ended.
func (f *follower[T]) next(t *testing.T, q querier) (ids []T) {
	t.Helper()
	if f.id == nil {
		f.tx = "0"
	}
	rows, err := q.Query(t.Context(), ofPage(t, "SELECT tx::text"), f.tx, f.id)
	try(t, err)
	var id T
	_, err = pgx.ForEachRow(rows, []any{&f.tx, &id}, func() error {
		ids = append(ids, id)
		return nil
	})
	try(t, err)
	if len(ids) != 0 {
		f.id = &ids[len(ids)-1]
	}
	return ids
}

// upTo reads on until it has n rows. Others of the server may have transactions that go on.
func (f *follower[T]) upTo(t *testing.T, q querier, n int) (ids []T) {
	t.Helper()
	for len(ids) < n {
		ids = append(ids, f.next(t, q)...)
	}
	return ids
}

// Who follows a table by id > last misses a row that is below, and is committed later. Who follows
// it by transactions gets it, and every row once.
func TestFollow(t *testing.T) {
	t.Parallel()
	withKeys(t, pages[idtype.DecimalID].testFollow, pages[idtype.EightByteID].testFollow,
		pages[idtype.SequenceID].testFollow)
}

func (p pages[T]) testFollow(t *testing.T) {
	ctx := t.Context()
	slow := must(p.Begin(ctx))
	defer func() { _ = slow.Rollback(context.Background()) }()
	below := must(p.writers[0](ctx))
	must(slow.Exec(ctx, "INSERT INTO pages (id) VALUES ($1)", below))
	// Others write until they are above.
	const above = "SELECT id FROM pages WHERE id > $1 ORDER BY id DESC LIMIT 1"
	var last []T
	for len(last) == 0 {
		p.write(t)
		last = idsOf[T](t, p, above, below)
	}
	all := idsOf[T](t, p, "SELECT id FROM pages")
	var safe follower[T]
	if early := safe.next(t, p); len(early) != 0 {
		t.Errorf("the transaction of %v goes on, and %v are read", below, early)
	}
	try(t, slow.Commit(ctx))
	if late := idsOf[T](t, p, above, last[0]); len(late) != 0 {
		t.Errorf("above %v are %v", last, late)
	}
	followed := safe.upTo(t, p, len(all)+1)
	all = append(all, p.write(t)...)
	followed = append(followed, safe.upTo(t, p, 2)...)
	if seen := once(t, "by transactions", followed); !seen[below] || len(seen) != len(all)+1 {
		t.Errorf("by transactions: %v, want %v and %v", followed, below, all)
	}
}

// The follower sorts transactions by their numbers, and not by the text of these.
func TestFollowOrder(t *testing.T) {
	t.Parallel()
	pool := openPages(t)
	newPages[idtype.DecimalID](t, pool)
	const low = idtype.DecimalID(formats.DecimalMin)
	_, err := pool.Exec(t.Context(), fmt.Sprintf(
		"INSERT INTO pages (id, tx) VALUES (%d, '10'), (%d, '9'), (%d, '100')", low+1, low+2, low+3))
	try(t, err)
	var f follower[idtype.DecimalID]
	got := f.upTo(t, pool, 3)
	if !slices.Equal(got, []idtype.DecimalID{low + 2, low + 1, low + 3}) || f.tx != "100" {
		t.Errorf("read %v up to %s", got, f.tx)
	}
	if again := f.next(t, pool); len(again) != 0 {
		t.Errorf("read %v again", again)
	}
}

// Where transactions end after a time, no row comes that is older than that. The statement of the
// page reads those rows alone.
func TestHorizon(t *testing.T) {
	t.Parallel()
	pool := openPages(t)
	newPages[idtype.DecimalID](t, pool)
	const low = idtype.DecimalID(formats.DecimalMin)
	const old, recent, late = low + 1, low + 2, low + 3
	_, err := pool.Exec(t.Context(), fmt.Sprintf("INSERT INTO pages (id, created_at) VALUES "+
		"(%d, now() - interval '61 s'), (%d, now() + interval '1 h')", old, recent))
	try(t, err)
	err = pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), fmt.Sprintf("SET LOCAL transaction_timeout = '20ms'; "+
			"INSERT INTO pages (id) VALUES (%d); SELECT pg_sleep(10)", late))
		return err
	})
	stored := idsOf[idtype.DecimalID](t, pool, "SELECT id FROM pages ORDER BY id")
	if err == nil || !slices.Equal(stored, []idtype.DecimalID{old, recent}) {
		t.Errorf("%v are stored, %v", stored, err)
	}
	rows, err := pool.Query(t.Context(), ofPage(t, "SELECT id, created_at"), time.Unix(0, 0), old)
	try(t, err)
	type row struct {
		ID idtype.DecimalID
		At time.Time
	}
	read, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil || len(read) != 1 || read[0].ID != old {
		t.Errorf("read %v, %v", read, err)
	}
}
