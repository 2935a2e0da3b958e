package adapters_test

import (
	"context"
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
	page, err := os.ReadFile("../../docs/paging.md")
	try(t, err)
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
			try(t, err)
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
	try(t, err)
	launch, err := log.Start(t.Context(), launchlog.Request{
		Key: "paging", Service: "shop", Environment: "test", Initiator: "test",
	})
	try(t, err)
	counter, err := log.Counter("sequence")
	try(t, err)
	short, err := generator.NewShort(generator.Given(struct{}{}), nil) // one for all: it has no number
	try(t, err)
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
	t.Parallel()
	pool := openPages(t)
	for _, k := range pagedKeys(t, pool) {
		t.Run(k.name, func(t *testing.T) { k.walk(t, pool) })
	}
}

func openPages(t *testing.T) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(dbtest.New(t, databases.Postgres).Source())
	try(t, err)
	config.AfterConnect = pgxid.AfterConnect
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec // tables come and go
	config.ConnConfig.RuntimeParams["synchronous_commit"] = "off"          // which takes most of the time
	config.MaxConns = 2*pageWriters + 2
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	try(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// newPages makes the table pages of keys of a type, with the transaction that wrote each row.
func newPages[T idtype.ID](t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	key, err := sqlid.Column[T]{Name: "id"}.PrimaryKey(sqlid.Postgres)
	try(t, err)
	_, err = pool.Exec(t.Context(), "DROP TABLE IF EXISTS pages; CREATE TABLE pages ("+key+
		", serial bigserial, created_at timestamptz DEFAULT now()); "+ofPage(t, "ALTER TABLE pages"))
	try(t, err)
}

// writing is writers that write until they are told to stop.
type writing[T any] struct {
	mu        sync.Mutex
	committed []T
	many      chan struct{} // closed once there are as many as a walk needs

	end   context.CancelFunc
	ended chan struct{} // closed when all writers have ended
}

const walkFrom = 200

func startWriting[T idtype.ID](
	t *testing.T, pool *pgxpool.Pool, writers []func(context.Context) (T, error),
) *writing[T] {
	ctx, end := context.WithCancel(t.Context())
	w := &writing[T]{many: make(chan struct{}), end: end, ended: make(chan struct{})}
	var all sync.WaitGroup
	for i, next := range writers {
		all.Go(func() {
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
	go func() {
		all.Wait()
		close(w.ended)
	}()
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
	<-w.ended
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func idsOf[T any](t *testing.T, q querier, query string, args ...any) []T {
	t.Helper()
	rows, err := q.Query(t.Context(), query, args...)
	try(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[T])
	try(t, err)
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
	case <-w.ended:
		t.Fatal("the writers have failed")
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
		try(t, err)
		all := idsOf[T](t, tx, "SELECT id FROM pages")
		if seen := once(t, name, walk(t, tx)); len(seen) != len(all) {
			t.Errorf("%s in a snapshot: %d rows of %d", name, len(seen), len(all))
		}
		try(t, tx.Rollback(t.Context()))
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
