package integration_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

// What docs/paging.md says of walks through a table while rows are written. Its statements are run.

// ofPage is the statement of the page that begins so.
func ofPage(t *testing.T, begins string) string {
	t.Helper()
	page, err := os.ReadFile("../docs/paging.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```sql\n"+begins)
	statement, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("docs/paging.md has no %s", begins)
	}
	return begins + statement
}

// A pagedKey is a scheme of keys, by writers with a generator each.
type pagedKey struct {
	name string
	walk func(t *testing.T, pool *pgxpool.Pool)
	miss func(t *testing.T, pool *pgxpool.Pool)
}

const pageWriters = 4

// keyOf is a scheme whose generators newNext makes, each with its number.
func keyOf[T interface {
	idtype.ID
	comparable
}](name string, newNext func(i int) (func(context.Context) (T, error), error)) pagedKey {
	writers := func(t *testing.T) (all []func(context.Context) (T, error)) {
		for i := range pageWriters {
			next, err := newNext(i)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, next)
		}
		return all
	}
	return pagedKey{
		name,
		func(t *testing.T, pool *pgxpool.Pool) { testWalk(t, pool, writers(t)) },
		func(t *testing.T, pool *pgxpool.Pool) { testMiss(t, pool, writers(t)) },
	}
}

// pagedKeys are those of all schemes, and of a sequence of PostgreSQL's, as bigserial has one.
func pagedKeys(t *testing.T, pool *pgxpool.Pool) []pagedKey {
	t.Helper()
	log, err := launchlog.New(memory.New(time.Now), nil)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := log.Start(t.Context(), launchlog.Request{
		Key: "paging", Service: "shop", Environment: "test", Initiator: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	counter, err := log.Counter("sequence")
	if err != nil {
		t.Fatal(err)
	}
	short, err := generator.NewShort(generator.Given(struct{}{}), nil) // one for all: it has no number
	if err != nil {
		t.Fatal(err)
	}
	eight := func(mode idtype.EightByteMode) func(int) (func(context.Context) (idtype.EightByteID, error), error) {
		return func(i int) (func(context.Context) (idtype.EightByteID, error), error) {
			g, err := generator.NewEightByte(mode, generator.Given(generator.EightBytePair{Generator: i}), nil)
			return g.Next, err
		}
	}
	if _, err := pool.Exec(t.Context(), "CREATE SEQUENCE serial"); err != nil {
		t.Fatal(err)
	}
	return []pagedKey{
		keyOf("bigserial", func(int) (func(context.Context) (idtype.SequenceID, error), error) {
			return func(ctx context.Context) (id idtype.SequenceID, err error) {
				err = pool.QueryRow(ctx, "SELECT nextval('serial')").Scan(&id)
				return id, err
			}, nil
		}),
		keyOf("decimal", func(int) (func(context.Context) (idtype.DecimalID, error), error) {
			g, err := generator.NewDecimal(log.Generators(launch.ID))
			return g.Next, err
		}),
		keyOf("sequence", func(int) (func(context.Context) (idtype.SequenceID, error), error) {
			g, err := generator.NewSequence(counter, 10)
			return g.Next, err
		}),
		keyOf("trace", func(i int) (func(context.Context) (idtype.TraceID, error), error) {
			g, err := generator.NewTrace(generator.Given(i), nil)
			return g.Next, err
		}),
		keyOf("short", func(int) (func(context.Context) (idtype.ShortID, error), error) {
			return short.Next, nil
		}),
		keyOf("sno", func(i int) (func(context.Context) (idtype.SnoID, error), error) {
			g, err := generator.NewSno(generator.Given(i), nil)
			return g.Next, err
		}),
		keyOf("eightbyte", eight(idtype.EightByteTimeSequential)),
		keyOf("eightbyte, SPREAD", eight(idtype.EightByteSpread)),
	}
}

// Every row that was there as a walk began is seen once, in either direction. Within one snapshot no
// other row is.
func TestWalks(t *testing.T) {
	pool := openPages(t)
	for _, k := range pagedKeys(t, pool) {
		t.Run(k.name, func(t *testing.T) { k.walk(t, pool) })
	}
}

func openPages(t *testing.T) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(dbtest.New(t, databases.Postgres).Source())
	if err != nil {
		t.Fatal(err)
	}
	config.AfterConnect = pgxid.AfterConnect
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec // tables come and go
	config.ConnConfig.RuntimeParams["synchronous_commit"] = "off"          // which takes most of the time
	config.MaxConns = 2*pageWriters + 2
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// newPages makes the table pages of keys of a type, with the transaction that wrote each row.
func newPages[T idtype.ID](t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	key, err := sqlid.Column[T]{Name: "id"}.PrimaryKey(sqlid.Postgres)
	if err != nil {
		t.Fatal(err)
	}
	_, err = pool.Exec(t.Context(), "DROP TABLE IF EXISTS pages; CREATE TABLE pages ("+key+
		", serial bigserial, created_at timestamptz DEFAULT now()); "+ofPage(t, "ALTER TABLE pages"))
	if err != nil {
		t.Fatal(err)
	}
}

// writing is writers that write until they are told to stop.
type writing[T any] struct {
	mu        sync.Mutex
	committed []T
	many      chan struct{} // closed once there are as many as a walk needs

	end context.CancelFunc
	wg  sync.WaitGroup
}

const (
	walkFrom = 200
	patience = time.Minute
)

func startWriting[T idtype.ID](
	t *testing.T, pool *pgxpool.Pool, writers []func(context.Context) (T, error),
) *writing[T] {
	ctx, end := context.WithCancel(t.Context())
	w := &writing[T]{many: make(chan struct{}), end: end}
	for i, next := range writers {
		w.wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for ctx.Err() == nil {
				// What has begun is carried out: a lost answer would be a row that nobody knows of.
				ids, err := writeOne(t.Context(), pool, next, random)
				if err != nil {
					t.Error(err)
					return
				}
				w.add(ids)
			}
		})
	}
	t.Cleanup(w.stop)
	return w
}

// writeOne writes up to three rows in a transaction, which may then wait a little.
func writeOne[T idtype.ID](
	ctx context.Context, pool *pgxpool.Pool, next func(context.Context) (T, error), random *rand.Rand,
) (ids []T, err error) {
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		for range 1 + random.IntN(3) {
			id, err := next(ctx)
			if err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "INSERT INTO pages (id) VALUES ($1)", id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		if random.IntN(8) == 0 {
			_, err := tx.Exec(ctx, "SELECT pg_sleep($1)", 0.01*random.Float64())
			return err
		}
		return nil
	})
	return ids, err
}

func (w *writing[T]) add(ids []T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.committed)
	w.committed = append(w.committed, ids...)
	if before < walkFrom && len(w.committed) >= walkFrom {
		close(w.many)
	}
}

// sofar are the rows that are there for certain.
func (w *writing[T]) sofar() []T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.committed)
}

func (w *writing[T]) stop() {
	w.end()
	w.wg.Wait()
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func idsOf[T any](t *testing.T, q querier, query string, args ...any) []T {
	t.Helper()
	rows, err := q.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

const pageSize = 40

// newestFirst walks down from the newest row, by pages.
func newestFirst[T any](t *testing.T, q querier) (all []T) {
	page := idsOf[T](t, q, ofPage(t, "SELECT id FROM pages ORDER"), pageSize)
	for next := ofPage(t, "SELECT id FROM pages WHERE id <"); len(page) != 0; {
		all = append(all, page...)
		page = idsOf[T](t, q, next, page[len(page)-1], pageSize)
	}
	return all
}

// oldestFirst walks up to the row that was the newest as it began. Else it would go on for as long
// as rows are written.
func oldestFirst[T any](t *testing.T, q querier) (all []T) {
	top := idsOf[T](t, q, "SELECT id FROM pages ORDER BY id DESC LIMIT 1")[0]
	page := idsOf[T](t, q, "SELECT id FROM pages WHERE id <= $1 ORDER BY id LIMIT $2", top, pageSize)
	for len(page) != 0 {
		all = append(all, page...)
		page = idsOf[T](t, q, "SELECT id FROM pages WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3",
			page[len(page)-1], top, pageSize)
	}
	return all
}

func testWalk[T interface {
	idtype.ID
	comparable
}](t *testing.T, pool *pgxpool.Pool, writers []func(context.Context) (T, error)) {
	newPages[T](t, pool)
	w := startWriting(t, pool, writers)
	select {
	case <-w.many:
	case <-time.After(patience):
		t.Fatal("no rows are written")
	}
	for name, walk := range map[string]func(*testing.T, querier) []T{
		"newest first": newestFirst[T], "oldest first": oldestFirst[T],
	} {
		before := w.sofar()
		seen := once(t, name, walk(t, pool))
		for _, id := range before {
			if !seen[id] {
				t.Errorf("%s: %v was there before, and is not seen", name, id)
			}
		}
		tx, err := pool.BeginTx(t.Context(), pgx.TxOptions{
			IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly,
		})
		if err != nil {
			t.Fatal(err)
		}
		all := idsOf[T](t, tx, "SELECT id FROM pages")
		if seen := once(t, name, walk(t, tx)); len(seen) != len(all) {
			t.Errorf("%s in a snapshot: %d rows of %d", name, len(seen), len(all))
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.stop()
}

func once[T comparable](t *testing.T, name string, ids []T) map[T]bool {
	t.Helper()
	seen := map[T]bool{}
	for _, id := range ids {
		if seen[id] {
			t.Errorf("%s: %v is seen twice", name, id)
		}
		seen[id] = true
	}
	return seen
}

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
	if err != nil {
		t.Fatal(err)
	}
	var id T
	_, err = pgx.ForEachRow(rows, []any{&f.tx, &id}, func() error {
		ids = append(ids, id)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(ids) != 0 {
		f.id = &ids[len(ids)-1]
	}
	return ids
}

// upTo reads on until it has n rows. Others of the server may have transactions that go on.
func (f *follower[T]) upTo(t *testing.T, q querier, n int) (ids []T) {
	t.Helper()
	for deadline := time.Now().Add(patience); len(ids) < n; {
		ids = append(ids, f.next(t, q)...)
		if time.Now().After(deadline) {
			t.Fatalf("%d rows are read of %d", len(ids), n)
		}
	}
	return ids
}

// Who follows a table by id > last misses a row that is below, and is committed later. Who follows
// it by transactions gets it. It is so in every scheme,
// and with bigserial.
func TestFollowersMiss(t *testing.T) {
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
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slow.Rollback(context.Background()) }()
	below, err := writers[0](ctx)
	if err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT INTO pages (id) VALUES ($1)"
	if _, err := slow.Exec(ctx, insert, below); err != nil {
		t.Fatal(err)
	}
	// Another generator writes until it is above.
	const above = "SELECT id FROM pages WHERE id > $1 ORDER BY id DESC LIMIT 1"
	var last []T
	for len(last) == 0 {
		id, err := writers[1](ctx)
		if err != nil {
			t.Fatal(err)
		}
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
	if err := slow.Commit(ctx); err != nil {
		t.Fatal(err)
	}
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
	pool := openPages(t)
	newPages[idtype.DecimalID](t, pool)
	log, err := launchlog.New(memory.New(time.Now), nil)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := log.Start(t.Context(), launchlog.Request{
		Key: "paging", Service: "shop", Environment: "test", Initiator: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	var writers []func(context.Context) (idtype.DecimalID, error)
	for range pageWriters {
		g, err := generator.NewDecimal(log.Generators(launch.ID))
		if err != nil {
			t.Fatal(err)
		}
		writers = append(writers, g.Next)
	}
	w := startWriting(t, pool, writers)
	var safe follower[idtype.DecimalID]
	var followed []idtype.DecimalID
	above := map[string]int{"id": 0, "serial": 0} // how many rows a follower by such a column gets
	last := map[string]int64{}
	for deadline := time.Now().Add(patience); len(followed) < 4*walkFrom; {
		followed = append(followed, safe.next(t, pool)...)
		for column := range above {
			rows := idsOf[int64](t, pool, fmt.Sprintf(
				"SELECT %[1]s FROM pages WHERE %[1]s > $1 ORDER BY %[1]s", column), last[column])
			if above[column] += len(rows); len(rows) != 0 {
				last[column] = rows[len(rows)-1]
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d rows are read", len(followed))
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
	pool := openPages(t)
	newPages[idtype.DecimalID](t, pool)
	const low = idtype.MinDecimalID
	_, err := pool.Exec(t.Context(), fmt.Sprintf(
		"INSERT INTO pages (id, tx) VALUES (%d, '10'), (%d, '9'), (%d, '100')", low+1, low+2, low+3))
	if err != nil {
		t.Fatal(err)
	}
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
	pool := openPages(t)
	newPages[idtype.DecimalID](t, pool)
	const old, recent, late = idtype.MinDecimalID + 1, idtype.MinDecimalID + 2, idtype.MinDecimalID + 3
	_, err := pool.Exec(t.Context(), fmt.Sprintf("INSERT INTO pages (id, created_at) VALUES "+
		"(%d, now() - interval '61 s'), (%d, now())", old, recent))
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		ID idtype.DecimalID
		At time.Time
	}
	read, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	if err != nil || len(read) != 1 || read[0].ID != old {
		t.Errorf("read %v, %v", read, err)
	}
}
