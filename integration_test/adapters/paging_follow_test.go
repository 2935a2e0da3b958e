package adapters_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
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
// it by transactions gets it. It is so in every scheme,
// and with bigserial.
func TestFollowersMiss(t *testing.T) {
	t.Parallel()
	pool := openPages(t)
	for _, k := range pagedKeys(t, pool) {
		t.Run(k.name, func(t *testing.T) { k.miss(t, pool) })
	}
}

func testMiss[T interface {
	idtype.ID
	comparable
}](t *testing.T, pool *pgxpool.Pool, writers []func(context.Context) (T, error)) {
	ctx := t.Context()
	newPages[T](t, pool)
	slow, err := pool.Begin(ctx)
	try(t, err)
	defer func() { _ = slow.Rollback(context.Background()) }()
	below, err := writers[0](ctx)
	try(t, err)
	const insert = "INSERT INTO pages (id) VALUES ($1)"
	if _, err := slow.Exec(ctx, insert, below); err != nil {
		t.Fatal(err)
	}
	// Another generator writes until it is above.
	const above = "SELECT id FROM pages WHERE id > $1 ORDER BY id DESC LIMIT 1"
	var last []T
	for len(last) == 0 {
		id, err := writers[1](ctx)
		try(t, err)
		if _, err := pool.Exec(ctx, insert, id); err != nil {
			t.Fatal(err)
		}
		last = idsOf[T](t, pool, above, below)
	}
	all := idsOf[T](t, pool, "SELECT id FROM pages")
	var safe follower[T]
	if early := safe.next(t, pool); len(early) != 0 {
		t.Errorf("the transaction of %v goes on, and %v are read", below, early)
	}
	try(t, slow.Commit(ctx))
	if late := idsOf[T](t, pool, above, last[0]); len(late) != 0 {
		t.Errorf("above %v are %v", last, late)
	}
	followed := safe.upTo(t, pool, len(all)+1)
	if seen := once(t, "by transactions", followed); !seen[below] || len(seen) != len(all)+1 {
		t.Errorf("by transactions: %v, want %v and %v", followed, below, all)
	}
}

// A follower by transactions reads each row once, while four generators of decimal IDs write. One
// by id > last misses some.
func TestFollow(t *testing.T) {
	t.Parallel()
	pool := openPages(t)
	newPages[idtype.DecimalID](t, pool)
	log, err := launchlog.New(memory.New(time.Now), nil)
	try(t, err)
	launch, err := log.Start(t.Context(), launchlog.Request{
		Key: "paging", Service: "shop", Environment: "test", Initiator: "test",
	})
	try(t, err)
	var writers []func(context.Context) (idtype.DecimalID, error)
	for range pageWriters {
		g, err := generator.NewDecimal(log.Generators(launch.ID))
		try(t, err)
		writers = append(writers, g.Next)
	}
	w := startWriting(t, pool, writers)
	var safe follower[idtype.DecimalID]
	var followed []idtype.DecimalID
	above := map[string]int{"id": 0, "serial": 0} // how many rows a follower by such a column gets
	last := map[string]int64{}
	for len(followed) < 4*walkFrom && !t.Failed() { // which the writers tell
		followed = append(followed, safe.next(t, pool)...)
		for column := range above {
			rows := idsOf[int64](t, pool, fmt.Sprintf(
				"SELECT %[1]s FROM pages WHERE %[1]s > $1 ORDER BY %[1]s", column), last[column])
			if above[column] += len(rows); len(rows) != 0 {
				last[column] = rows[len(rows)-1]
			}
		}
	}
	w.stop()
	written := w.sofar()
	followed = append(followed, safe.upTo(t, pool, len(written)-len(followed))...)
	seen := once(t, "by transactions", followed)
	for _, id := range written {
		if !seen[id] {
			t.Errorf("%v was written, and is not read", id)
		}
	}
	t.Logf("%d rows of 4 writers: all by transactions, %d by id > last, %d by a bigserial > last",
		len(written), above["id"], above["serial"])
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
