package adapters_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

// What docs/use/paging.md says of walks through a table while rows are written. Its statements are run.

// ofPage is the statement of the page that begins so.
func ofPage(t *testing.T, begins string) string {
	t.Helper()
	page := string(must(os.ReadFile("../../docs/use/paging.md")))
	_, rest, found := strings.Cut(page, "```sql\n"+begins)
	statement, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("docs/use/paging.md has no %s", begins)
	}
	return begins + statement
}

func openPages(t *testing.T) *pgxpool.Pool {
	t.Helper()
	config := must(pgxpool.ParseConfig(dbtest.New(t, databases.Postgres).Source()))
	config.AfterConnect = pgxid.AfterConnect
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec // tables come and go
	pool := must(pgxpool.NewWithConfig(t.Context(), config))
	t.Cleanup(pool.Close)
	return pool
}

// A minter returns the next ID of a generator.
type minter[T any] func(context.Context) (T, error)

// pages is a table of keys of a type, with the transaction that wrote each row, and two generators.
type pages[T interface {
	idtype.ID
	comparable
}] struct {
	*pgxpool.Pool
	writers [2]minter[T]
}

func newPages[T interface {
	idtype.ID
	comparable
}](t *testing.T, pool *pgxpool.Pool, writers ...minter[T]) pages[T] {
	t.Helper()
	key := must(sqlid.Column[T]{Name: "id"}.PrimaryKey(sqlid.Postgres))
	must(pool.Exec(t.Context(), "DROP TABLE IF EXISTS pages; CREATE TABLE pages ("+key+
		", created_at timestamptz DEFAULT now()); "+ofPage(t, "ALTER TABLE pages")))
	p := pages[T]{Pool: pool}
	copy(p.writers[:], writers)
	return p
}

// write stores a row of each generator.
func (p pages[T]) write(t *testing.T) (ids []T) {
	t.Helper()
	for _, next := range p.writers {
		ids = append(ids, must(next(t.Context())))
		must(p.Exec(t.Context(), "INSERT INTO pages (id) VALUES ($1)", ids[len(ids)-1]))
	}
	return ids
}

// withKeys runs a test with keys that count in several generators, with keys without any order, and
// with a sequence of PostgreSQL's, as bigserial has one.
func withKeys(
	t *testing.T, decimal func(pages[idtype.DecimalID], *testing.T),
	spread func(pages[idtype.EightByteID], *testing.T), serial func(pages[idtype.SequenceID], *testing.T),
) {
	pool := openPages(t)
	t.Run("decimal", func(t *testing.T) {
		log := must(launchlog.New(memory.New(time.Now), nil))
		launch := must(log.Start(t.Context(), launchlog.Request{
			Key: "paging", Service: "shop", Environment: "test", Initiator: "test",
		}))
		first := must(generator.NewDecimal(log.Generators(launch.ID)))
		second := must(generator.NewDecimal(log.Generators(launch.ID)))
		decimal(newPages(t, pool, first.Next, second.Next), t)
	})
	t.Run("eightbyte, SPREAD", func(t *testing.T) {
		of := func(i int) minter[idtype.EightByteID] {
			pair := generator.EightBytePair{Generator: i}
			return must(generator.NewEightByte(idtype.EightByteSpread, generator.Given(pair), nil)).Next
		}
		spread(newPages(t, pool, of(0), of(1)), t)
	})
	t.Run("bigserial", func(t *testing.T) {
		must(pool.Exec(t.Context(), "CREATE SEQUENCE serial"))
		next := func(ctx context.Context) (id idtype.SequenceID, err error) {
			err = pool.QueryRow(ctx, "SELECT nextval('serial')").Scan(&id)
			return id, err
		}
		serial(newPages[idtype.SequenceID](t, pool, next, next), t)
	})
}

// Every row that was there as a walk began is seen once, in either direction. Within one snapshot no
// other row is.
func TestWalks(t *testing.T) {
	t.Parallel()
	withKeys(t, pages[idtype.DecimalID].testWalk, pages[idtype.EightByteID].testWalk,
		pages[idtype.SequenceID].testWalk)
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

const pageSize = 10

// newestFirst walks down from the newest row, by pages.
func (p pages[T]) newestFirst(t *testing.T, q querier) (all []T) {
	page := idsOf[T](t, q, ofPage(t, "SELECT id FROM pages ORDER"), pageSize)
	for next := ofPage(t, "SELECT id FROM pages WHERE id <"); len(page) != 0; {
		all = append(all, page...)
		p.write(t)
		page = idsOf[T](t, q, next, page[len(page)-1], pageSize)
	}
	return all
}

// oldestFirst walks up to the row that was the newest as it began. Else it would go on for as long
// as rows are written.
func (p pages[T]) oldestFirst(t *testing.T, q querier) (all []T) {
	top := idsOf[T](t, q, "SELECT id FROM pages ORDER BY id DESC LIMIT 1")[0]
	page := idsOf[T](t, q, "SELECT id FROM pages WHERE id <= $1 ORDER BY id LIMIT $2", top, pageSize)
	for len(page) != 0 {
		all = append(all, page...)
		p.write(t)
		page = idsOf[T](t, q, "SELECT id FROM pages WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3",
			page[len(page)-1], top, pageSize)
	}
	return all
}

func (p pages[T]) testWalk(t *testing.T) {
	var before []T
	for range 50 {
		before = append(before, p.write(t)...)
	}
	for name, walk := range map[string]func(*testing.T, querier) []T{
		"newest first": p.newestFirst, "oldest first": p.oldestFirst,
	} {
		seen := once(t, name, walk(t, p))
		for _, id := range before {
			if !seen[id] {
				t.Errorf("%s: %v was there before, and is not seen", name, id)
			}
		}
		tx := must(p.BeginTx(t.Context(), pgx.TxOptions{
			IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly,
		}))
		before = idsOf[T](t, tx, "SELECT id FROM pages")
		if seen := once(t, name, walk(t, tx)); len(seen) != len(before) {
			t.Errorf("%s in a snapshot: %d rows of %d", name, len(seen), len(before))
		}
		try(t, tx.Rollback(t.Context()))
	}
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

// What docs/use/paging.md says of readers that follow a table.

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
