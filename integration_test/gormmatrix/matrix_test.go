package gormmatrix_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
	"github.com/idmint/idmint/sqlid"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// A setting is a database and how GORM talks to it.
type setting struct {
	name   string
	open   func(t *testing.T) gorm.Dialector
	config gorm.Config
}

func settings() []setting {
	lite := func(t *testing.T) gorm.Dialector {
		return sqlite.Open("file:" + filepath.Join(t.TempDir(), "test.db") +
			"?_foreign_keys=on&_journal_mode=WAL&_synchronous=OFF")
	}
	pg := func(simple bool) func(t *testing.T) gorm.Dialector {
		return func(t *testing.T) gorm.Dialector {
			return postgres.New(postgres.Config{
				DSN: dbtest.New(t, databases.Postgres).Source(), PreferSimpleProtocol: simple,
			})
		}
	}
	maria := func(options string) func(t *testing.T) gorm.Dialector {
		return func(t *testing.T) gorm.Dialector {
			return mysql.Open(dbtest.New(t, databases.MariaDB).Source() +
				"?parseTime=true&clientFoundRows=true" + options)
		}
	}
	prepared := gorm.Config{PrepareStmt: true}
	return []setting{
		{"SQLite", lite, gorm.Config{}},
		{"SQLite, PrepareStmt", lite, prepared},
		{"PostgreSQL", pg(false), gorm.Config{}},
		{"PostgreSQL, PrepareStmt", pg(false), prepared},
		{"PostgreSQL, simple protocol", pg(true), gorm.Config{}},
		{"MariaDB", maria(""), gorm.Config{}},
		{"MariaDB, PrepareStmt", maria(""), prepared},
		{"MariaDB, interpolateParams", maria("&interpolateParams=true"), gorm.Config{}},
	}
}

// twin is the world of int64, by which all others are judged.
func twin(t *testing.T, s setting) map[string]outcome {
	world := open[int64, sql.NullInt64](t, s, apart)
	plain := form[int64]{
		name: "int64", one: func(key int64, _ any) any { return key },
		list: func(keys []int64, _ []any) any { return keys },
	}
	outcomes := map[string]outcome{}
	for _, op := range operations[int64, sql.NullInt64]() {
		world.form = plain
		outcomes[op.name] = world.run(op)
	}
	return outcomes
}

// apart has the database number each table from elsewhere on, so that no key is that of two rows.
func apart(db *gorm.DB) error {
	for i, table := range tables {
		statement := map[string]string{
			"sqlite":   "INSERT INTO sqlite_sequence (name, seq) VALUES ('%s', %d)",
			"postgres": "ALTER SEQUENCE %s_id_seq RESTART WITH %d",
			"mysql":    "ALTER TABLE %s AUTO_INCREMENT = %d",
		}[db.Name()]
		if err := db.Exec(fmt.Sprintf(statement, table, 1000*(i+1))).Error; err != nil {
			return err
		}
	}
	return nil
}

func operations[K comparable, N any]() (all []operation[K, N]) {
	for _, ops := range [][]operation[K, N]{
		conditions[K, N](), writes[K, N](), lists[K, N](), relations[K, N](), stale[K, N](),
		single[K, N](), pasted[K, N](),
	} {
		all = append(all, ops...)
	}
	return all
}

var cells atomic.Int64

func TestMatrix(t *testing.T) {
	t.Cleanup(func() { t.Logf("%d cells", cells.Load()) })
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			want := twin(t, s)
			matrix[idtype.DecimalID](t, s, want)
			matrix[idtype.TraceID](t, s, want)
			matrix[idtype.ShortID](t, s, want)
			matrix[idtype.SequenceID](t, s, want)
			matrix[idtype.EightByteID](t, s, want)
			matrix[idtype.EightByte[idtype.AsBigint[any]]](t, s, want)
			matrix[idtype.SnoID](t, s, want)
			matrix[idtype.Sno[idtype.AsText[any]]](t, s, want)
			matrix[idtype.Sno[idtype.AsUUID[any]]](t, s, want)
		})
	}
}

func rules() []gormid.Rule {
	opts := &generator.Options{
		Clock: generator.NewTestClock(time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)),
	}
	var partitions generator.Partitions
	pair := generator.EightBytePair{Generator: 9, Cluster: 3}
	return []gormid.Rule{
		gormid.Use(generator.NewTestDecimal(new(numbers))),
		gormid.Use(must(generator.NewTrace(generator.Given(7), opts))),
		gormid.Use(
			must(generator.NewEightByte(idtype.EightByteSpread, generator.Given(pair), opts)),
		),
		gormid.Use(must(generator.NewShort(generator.Given(struct{}{}), opts))),
		gormid.Use(must(generator.NewSno(&partitions, opts))),
		gormid.Use(must(generator.NewSequence(new(numbers), 10))),
	}
}

// numbers count up: they are those of generators, and blocks of a sequence.
type numbers struct{ last int64 }

func (*numbers) Launch() int { return 0 }

func (n *numbers) NextGenerator(context.Context) (int, error) {
	n.last++
	return int(n.last), nil
}

func (n *numbers) Reserve(_ context.Context, floor, count int64) (int64, error) {
	first := max(floor, n.last+1)
	n.last = first + count - 1
	return first, nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// connect opens a database of its own, with the plugin.
func connect(t *testing.T, s setting) *gorm.DB {
	t.Helper()
	config := s.config
	config.Logger = logger.Discard
	db, err := gorm.Open(s.open(t), &config)
	if err != nil {
		t.Fatal(err)
	}
	pool := must(db.DB())
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { pool.Close() })
	if err := db.Use(gormid.New(rules()...)); err != nil {
		t.Fatal(err)
	}
	return db
}

// open makes a seeded world in a database of its own.
func open[K comparable, N any](t *testing.T, s setting, prepare func(*gorm.DB) error) *world[K, N] {
	t.Helper()
	db := connect(t, s)
	if err := migrate[K, N](db); err != nil {
		t.Fatal(err)
	}
	if prepare != nil {
		if err := prepare(db); err != nil {
			t.Fatal(err)
		}
	}
	if err := seed[K, N](db); err != nil {
		t.Fatal(err)
	}
	w := &world[K, N]{db: db}
	w.load(must(w.rows()))
	if err := w.loadColumns(); err != nil {
		t.Fatal(err)
	}
	return w
}

// forms are the ways to write an ID in Go.
func forms[K idtype.ID]() []form[K] {
	each := func(name string, loose bool, one func(K, any) any) form[K] {
		return form[K]{name: name, loose: loose, one: one}
	}
	value := each("value", false, func(key K, _ any) any { return key })
	value.list = func(keys []K, _ []any) any { return keys }
	text := each("text", true, func(key K, _ any) any { return key.String() })
	text.list = func(keys []K, _ []any) any {
		texts := make([]string, len(keys))
		for i, key := range keys {
			texts[i] = key.String()
		}
		return texts
	}
	pointer := each("pointer", false, func(key K, _ any) any { return &key })
	pointer.list = func(keys []K, _ []any) any {
		pointers := make([]*K, len(keys))
		for i := range keys {
			pointers[i] = &keys[i]
		}
		return pointers
	}
	given := each(column, false, func(_ K, v any) any { return v })
	given.list = func(_ []K, columns []any) any { return columns }
	return []form[K]{
		value, text, pointer, given,
		each("sqlid.Null", false, func(key K, _ any) any { return sqlid.NullOf(key) }),
		each("sql.Null", false, func(key K, _ any) any { return sql.Null[K]{V: key, Valid: true} }),
		each("OrZero", false, func(key K, _ any) any { return idtype.OrZero[K]{ID: key} }),
	}
}

func matrix[K idtype.ID](t *testing.T, s setting, want map[string]outcome) {
	var zero K
	t.Run(strings.ReplaceAll(fmt.Sprintf("%s as %s", zero.Scheme(), zero.Storage()), "/", "_"),
		func(t *testing.T) {
			if zero.Storage() == idtype.StorageUUID && strings.HasPrefix(s.name, "MySQL") {
				t.Skip("MySQL has no UUIDs")
			}
			w := open[K, sqlid.Null[K]](t, s, nil)
			for i, f := range forms[K]() {
				w.form = f
				for _, op := range operations[K, sqlid.Null[K]]() {
					if !applies(op.uses, f, i == 0, zero.Storage()) {
						continue
					}
					cells.Add(1)
					got := w.run(op)
					if !got.same(want[op.name]) && !mayFail(op, f, got) {
						t.Errorf("%s by %s: %v\n%v\nan int64 has %v", op.name, f.name, got.err, got,
							want[op.name])
					}
				}
			}
			for _, op := range zeros[K, sqlid.Null[K]]() {
				cells.Add(1)
				if got := w.run(op); !got.failed {
					t.Errorf("%s: %v", op.name, got)
				}
			}
		})
}

// applies tells whether an operation is tried with a form.
func applies[K any](uses use, f form[K], first bool, storage idtype.Storage) bool {
	switch uses {
	case nothing:
		return first
	case aList:
		return f.list != nil
	case aListInSQL:
		return f.list != nil && !f.loose
	case inSQL:
		return !f.loose
	case noBytes:
		return f.name != column || storage != idtype.StorageBytes
	}
	return true
}

const column = "what a map is given"

// mayFail tells what is refused where an int64 would do.
func mayFail[K comparable, N any](op operation[K, N], f form[K], got outcome) bool {
	// A text by itself is SQL to GORM. It is never another condition, but it may be the name of a
	// column that is not there.
	return got.failed && f.loose && op.uses == inline
}
