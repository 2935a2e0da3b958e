package gorm_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/driver/clickhouse"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// source is a test generator that notes what it is asked for, and fails when told to.
type source struct {
	gen *generator.Decimal

	mu    sync.Mutex
	fills []int // the lengths of dst
	seen  []context.Context
	err   error
	mints int // at most, if err is set or lies is
	lies  bool
}

func newSource() *source { return &source{gen: generator.NewTestDecimal(nil)} }

func (s *source) Fill(ctx context.Context, dst []idtype.DecimalID) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fills = append(s.fills, len(dst))
	s.seen = append(s.seen, ctx)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if s.err != nil || s.lies {
		dst = dst[:min(s.mints, len(dst))]
	}
	n, err := s.gen.Fill(ctx, dst)
	return n, cmp.Or(s.err, err)
}

// asked returns the fills since the last call.
func (s *source) asked() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	fills := s.fills
	s.fills = nil
	return fills
}

func wantFills(t *testing.T, s *source, want ...int) {
	t.Helper()
	if got := s.asked(); !slices.Equal(got, want) {
		t.Errorf("Fill was called for %v rows, want %v", got, want)
	}
}

// A Kind is a kind of database.
type Kind string

// The databases on which the suite knows what to expect.
const (
	SQLite     Kind = "SQLite"
	Postgres   Kind = "PostgreSQL"
	MariaDB    Kind = "MariaDB"
	ClickHouse Kind = "ClickHouse"
)

// A database is what the suite runs on.
type database struct {
	Kind  Kind
	Plain bool // GORM takes the database for one that has no RETURNING

	New  func(testing.TB) (schema, source string) // makes a schema for a test
	Open func(source string) gorm.Dialector
	Over func(gorm.ConnPool) gorm.Dialector // for a pool that is open; nil where no test needs it

	schema, source string // of the test
}

// returnsKnown reports whether DO NOTHING returns the rows that were there: to MariaDB it is an
// update.
func (d database) returnsKnown() bool { return d.Kind == MariaDB && !d.Plain }

// with is the database with a schema for the test.
func (d database) with(t testing.TB) database {
	t.Helper()
	d.schema, d.source = d.New(t)
	return d
}

// dialector is GORM's for the test's schema.
func (d database) dialector(t testing.TB) gorm.Dialector {
	t.Helper()
	if d.schema == "" {
		d = d.with(t)
	}
	return d.Open(d.source)
}

// open opens a database of its own, which enforces foreign keys if it can.
func (d database) open(t testing.TB, rules ...gormid.Rule) *gorm.DB {
	t.Helper()
	return openWith(t, d.dialector(t), &gorm.Config{}, rules...)
}

func openWith(
	t testing.TB, dialector gorm.Dialector, config *gorm.Config, rules ...gormid.Rule,
) *gorm.DB {
	t.Helper()
	if config.Logger == nil {
		config.Logger = logger.Discard
	}
	db, err := gorm.Open(dialector, config)
	try(t, err)
	t.Cleanup(func() { closeDatabase(t, db) })
	try(t, db.Use(gormid.NewRules(rules...)))
	return db
}

func migrate(t testing.TB, db *gorm.DB, models ...any) {
	t.Helper()
	try(t, db.AutoMigrate(models...))
}

func try(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// empty deletes all rows, for cases that share a database.
func empty(t testing.TB, db *gorm.DB, tables ...string) {
	t.Helper()
	for _, table := range tables {
		must(t, db.Exec("DELETE FROM "+table+" WHERE 1 = 1"))
	}
}

func must(t testing.TB, db *gorm.DB) *gorm.DB {
	t.Helper()
	if db.Error != nil {
		t.Fatal(db.Error)
	}
	return db
}

// column reads one column with plain SQL.
func column[T any](t testing.TB, db *gorm.DB, query string, args ...any) []T {
	t.Helper()
	rows, err := db.Session(&gorm.Session{NewDB: true}).Raw(query, args...).Rows()
	try(t, err)
	defer rows.Close()
	got := []T{}
	for rows.Next() {
		var v T
		try(t, rows.Scan(&v))
		got = append(got, v)
	}
	try(t, rows.Err())
	return got
}

// wantColumn compares a column in the database: in the query's order, or in any.
func wantColumn[T cmp.Ordered](t testing.TB, db *gorm.DB, query string, want ...T) {
	t.Helper()
	got := column[T](t, db, query)
	if !strings.Contains(query, "ORDER BY") {
		slices.Sort(got)
		want = slices.Sorted(slices.Values(want))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\ngot  %v\nwant %v", query, got, want)
	}
}

// wantMinted checks that all are IDs of the test source, and no two the same.
func wantMinted[E any](t testing.TB, ids ...idtype.Decimal[E]) {
	t.Helper()
	seen := map[idtype.Decimal[E]]bool{}
	for i, id := range ids {
		if !id.IsTest() || id.Validate() != nil || seen[id] {
			t.Errorf("%d: %d is not a new ID, in %v", i, id, ids)
		}
		seen[id] = true
	}
}

// Item is a model with nothing but a key and a value.
type Item struct {
	ID   idtype.DecimalID
	Name string
}

func itemIDs(items []Item) (ids []idtype.DecimalID) {
	for _, item := range items {
		ids = append(ids, item.ID)
	}
	return ids
}

func newItems(t testing.TB, d database) (*gorm.DB, *source) {
	t.Helper()
	s := newSource()
	db := d.open(t, gormid.Use(s))
	migrate(t, db, &Item{})
	return db, s
}

// inSQLite is a database in a file of the test's own.
var inSQLite = database{
	Kind: SQLite,
	New: func(t testing.TB) (schema, source string) {
		file := filepath.Join(t.TempDir(), "test.db")
		return "main", "file:" + file +
			"?_foreign_keys=on&_journal_mode=WAL&_synchronous=OFF&_busy_timeout=600000"
	},
	Open: sqlite.Open,
	Over: func(pool gorm.ConnPool) gorm.Dialector { return sqlite.New(sqlite.Config{Conn: pool}) },
}

// inPostgres is a database of the test's own; simple is the simple protocol, for poolers.
func inPostgres(t testing.TB, simple bool) database {
	server, _, source := newDatabase(t, databases.Postgres)
	return database{
		Kind: Postgres,
		New: func(t testing.TB) (string, string) {
			schema := newSchema(t, server, "SCHEMA", " CASCADE")
			return schema, source + "&search_path=" + schema
		},
		Open: func(source string) gorm.Dialector {
			return postgres.New(postgres.Config{DSN: source, PreferSimpleProtocol: simple})
		},
		Over: func(pool gorm.ConnPool) gorm.Dialector {
			return postgres.New(postgres.Config{Conn: pool})
		},
	}
}

// inMariaDB is a database of the test's own; plain is one without RETURNING, as MySQL is.
func inMariaDB(t testing.TB, plain bool) database {
	server, name, source := newDatabase(t, databases.MariaDB)
	return database{
		Kind:  MariaDB,
		Plain: plain,
		New: func(t testing.TB) (string, string) {
			schema := newSchema(t, server, "DATABASE", "")
			return schema, strings.Replace(source, "/"+name, "/"+schema, 1) + "?parseTime=true"
		},
		Open: func(source string) gorm.Dialector {
			return mysql.New(mysql.Config{DSN: source, DisableWithReturning: plain})
		},
		Over: func(pool gorm.ConnPool) gorm.Dialector {
			return mysql.New(mysql.Config{Conn: pool, DisableWithReturning: plain})
		},
	}
}

func inClickHouse(t testing.TB) database {
	server, name, source := newDatabase(t, databases.ClickHouse)
	return database{
		Kind: ClickHouse,
		New: func(t testing.TB) (string, string) {
			schema := newSchema(t, server, "DATABASE", "")
			return schema, strings.Replace(source, "/"+name, "/"+schema, 1)
		},
		Open: clickhouse.Open,
	}
}

// newDatabase makes a database for the test on the shared server.
func newDatabase(t testing.TB, kind databases.Kind) (server *sql.DB, name, source string) {
	t.Helper()
	d := dbtest.New(t, kind)
	return dbtest.Open(t, d), d.Database(), d.Source()
}

// newSchema makes a schema, in the server's word for it, until the test ends.
func newSchema(t testing.TB, server *sql.DB, word, drop string) string {
	t.Helper()
	schema := "s" + strings.ToLower(rand.Text())
	exec := func(query string) {
		if _, err := server.ExecContext(context.Background(), query); err != nil {
			t.Error(err)
		}
	}
	exec("CREATE " + word + " " + schema)
	t.Cleanup(func() { exec("DROP " + word + " " + schema + drop) })
	return schema
}
