package gormmatrix

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

// A Setting is a database and how GORM talks to it.
type Setting struct {
	Name   string
	Open   func(t *testing.T) gorm.Dialector
	Config gorm.Config
}

// InSQLite is a database in a file of the test's own.
var InSQLite = Setting{Name: "SQLite", Open: func(t *testing.T) gorm.Dialector {
	return sqlite.Open("file:" + filepath.Join(t.TempDir(), "test.db") +
		"?_foreign_keys=on&_journal_mode=WAL&_synchronous=OFF")
}}

// Outcomes are what operations did with keys of one type.
type Outcomes map[string]outcome

// Twin is what they do with int64, by which all others are judged.
func Twin(t *testing.T, s Setting) Outcomes {
	world := open[int64, sql.NullInt64](t, s, apart)
	plain := Form[int64]{
		Name: "int64", One: func(key int64, _ any) any { return key },
		List: func(keys []int64, _ []any) any { return keys },
	}
	outcomes := Outcomes{}
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

// Rules are those of all schemes.
func Rules() []gormid.Rule {
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

// Connect opens a database of its own, with the plugin.
func Connect(t *testing.T, s Setting) *gorm.DB {
	t.Helper()
	config := s.Config
	config.Logger = logger.Discard
	db, err := gorm.Open(s.Open(t), &config)
	if err != nil {
		t.Fatal(err)
	}
	pool := must(db.DB())
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { pool.Close() })
	if err := db.Use(gormid.New(Rules()...)); err != nil {
		t.Fatal(err)
	}
	return db
}

// open makes a seeded world in a database of its own.
func open[K comparable, N any](t *testing.T, s Setting, prepare func(*gorm.DB) error) *world[K, N] {
	t.Helper()
	db := Connect(t, s)
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

// Forms are the ways to write an ID in Go.
func Forms[K idtype.ID]() []Form[K] {
	each := func(name string, loose bool, one func(K, any) any) Form[K] {
		return Form[K]{Name: name, Loose: loose, One: one}
	}
	value := each("value", false, func(key K, _ any) any { return key })
	value.List = func(keys []K, _ []any) any { return keys }
	text := each("text", true, func(key K, _ any) any { return key.String() })
	text.List = func(keys []K, _ []any) any {
		texts := make([]string, len(keys))
		for i, key := range keys {
			texts[i] = key.String()
		}
		return texts
	}
	pointer := each("pointer", false, func(key K, _ any) any { return &key })
	pointer.List = func(keys []K, _ []any) any {
		pointers := make([]*K, len(keys))
		for i := range keys {
			pointers[i] = &keys[i]
		}
		return pointers
	}
	given := each(Column, false, func(_ K, v any) any { return v })
	given.List = func(_ []K, columns []any) any { return columns }
	return []Form[K]{
		value, text, pointer, given,
		each("sqlid.Null", false, func(key K, _ any) any { return sqlid.NullOf(key) }),
		each("sql.Null", false, func(key K, _ any) any { return sql.Null[K]{V: key, Valid: true} }),
		each("OrZero", false, func(key K, _ any) any { return idtype.OrZero[K]{ID: key} }),
	}
}

// Run tries all operations with keys of a type, in each form, and compares what they do with what
// they do with int64. It returns how many it tried.
func Run[K idtype.ID](t *testing.T, s Setting, want Outcomes) (cells int) {
	var zero K
	t.Run(strings.ReplaceAll(fmt.Sprintf("%s as %s", zero.Scheme(), zero.Storage()), "/", "_"),
		func(t *testing.T) {
			w := open[K, sqlid.Null[K]](t, s, nil)
			for i, f := range Forms[K]() {
				w.form = f
				for _, op := range operations[K, sqlid.Null[K]]() {
					if !applies(op.uses, f, i == 0, zero.Storage()) {
						continue
					}
					cells++
					got := w.run(op)
					if !got.same(want[op.name]) && !mayFail(op, f, got) {
						t.Errorf("%s by %s: %v\n%v\nan int64 has %v", op.name, f.Name, got.err, got,
							want[op.name])
					}
				}
			}
			for _, op := range zeros[K, sqlid.Null[K]]() {
				cells++
				if got := w.run(op); !got.failed {
					t.Errorf("%s: %v", op.name, got)
				}
			}
		})
	return cells
}

// applies tells whether an operation is tried with a form.
func applies[K any](uses use, f Form[K], first bool, storage idtype.Storage) bool {
	switch uses {
	case nothing:
		return first
	case aList:
		return f.List != nil
	case aListInSQL:
		return f.List != nil && !f.Loose
	case inSQL:
		return !f.Loose
	case noBytes:
		return f.Name != Column || storage != idtype.StorageBytes
	}
	return true
}

// Column is the name of the form that a key has where GORM reads it into a map.
const Column = "what a map is given"

// mayFail tells what is refused where an int64 would do.
func mayFail[K comparable, N any](op operation[K, N], f Form[K], got outcome) bool {
	// A text by itself is SQL to GORM. It is never another condition, but it may be the name of a
	// column that is not there.
	return got.failed && f.Loose && op.uses == inline
}
