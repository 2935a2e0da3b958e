package gorm_test

import (
	"database/sql"
	"flag"
	"fmt"
	"strings"
	"testing"

	"gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
)

// A setting is a database and how GORM talks to it.
type setting struct {
	Name   string
	Open   func(t *testing.T) gorm.Dialector
	Config gorm.Config
}

var whole = flag.Bool("whole", false,
	"run the matrix on all databases, which takes minutes: soak_test/gormmatrix does")

// settings are the databases, in each way in which GORM talks to them.
func settings() []setting {
	lite := func(t *testing.T) gorm.Dialector { return inSQLite.dialector(t) }
	pg := func(simple bool) func(t *testing.T) gorm.Dialector {
		return func(t *testing.T) gorm.Dialector { return inPostgres(t, simple).dialector(t) }
	}
	maria := func(options string) func(t *testing.T) gorm.Dialector {
		return func(t *testing.T) gorm.Dialector {
			return mysql.Open(dbtest.New(t, databases.MariaDB).Source() +
				"?parseTime=true&clientFoundRows=true" + options)
		}
	}
	prepared := gorm.Config{PrepareStmt: true}
	return []setting{
		{Name: "SQLite", Open: lite},
		{Name: "SQLite, PrepareStmt", Open: lite, Config: prepared},
		{Name: "PostgreSQL", Open: pg(false)},
		{Name: "PostgreSQL, PrepareStmt", Open: pg(false), Config: prepared},
		{Name: "PostgreSQL, simple protocol", Open: pg(true)},
		{Name: "MariaDB", Open: maria("")},
		{Name: "MariaDB, PrepareStmt", Open: maria(""), Config: prepared},
		{Name: "MariaDB, interpolateParams", Open: maria("&interpolateParams=true")},
	}
}

// Whatever an app does with keys of ours, it does with int64. Whatever differs, except the keys'
// values, is a failure.
func TestMatrix(t *testing.T) {
	some := settings()
	if !*whole {
		some = some[:2] // those of SQLite
	}
	for _, s := range some {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			want := twin(t, s)
			cells := 0
			for _, k := range keyTests {
				cells += k.matrix(t, s, want)
			}
			t.Logf("%d cells", cells)
		})
	}
}

// outcomes are what operations did with keys of one type.
type outcomes map[string]outcome

// twin is what they do with int64, by which all others are judged.
func twin(t *testing.T, s setting) outcomes {
	world := openWorld[int64, sql.NullInt64](t, s, numberApart)
	plain := form[int64]{
		Name: "int64", One: func(key int64, _ any) any { return key },
		List: func(keys []int64, _ []any) any { return keys },
	}
	outcomes := outcomes{}
	for _, op := range operations[int64, sql.NullInt64]() {
		world.form = plain
		outcomes[op.name] = world.run(op)
	}
	return outcomes
}

// numberApart has the database number each table from elsewhere on, so that no key is that of two
// rows.
func numberApart(db *gorm.DB) error {
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

// connect opens a database of its own, with the plugin.
func connect(t *testing.T, s setting) *gorm.DB {
	t.Helper()
	config := s.Config
	config.Logger = logger.Discard
	db, err := gorm.Open(s.Open(t), &config)
	try(t, err)
	pool := made(db.DB())
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { pool.Close() })
	try(t, db.Use(gormid.NewRules(append(rules, gormid.Lenient())...)))
	return db
}

// openWorld makes a seeded world in a database of its own.
func openWorld[K comparable, N any](t *testing.T, s setting, prepare func(*gorm.DB) error) *world[K, N] {
	t.Helper()
	db := connect(t, s)
	try(t, migrateWorld[K, N](db))
	if prepare != nil {
		try(t, prepare(db))
	}
	try(t, seedWorld[K, N](db))
	w := &world[K, N]{db: db}
	w.load(made(w.rows()))
	try(t, w.loadColumns())
	return w
}

// forms are the ways to write an ID in Go.
func forms[K idtype.ID]() []form[K] {
	each := func(name string, loose bool, one func(K, any) any) form[K] {
		return form[K]{Name: name, Loose: loose, One: one}
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
	given := each(fromMap, false, func(_ K, v any) any { return v })
	given.List = func(_ []K, columns []any) any { return columns }
	return []form[K]{
		value, text, pointer, given,
		each("sqlid.Null", false, func(key K, _ any) any { return sqlid.NullOf(key) }),
		each("sql.Null", false, func(key K, _ any) any { return sql.Null[K]{V: key, Valid: true} }),
		each("OrZero", false, func(key K, _ any) any { return idtype.OrZero[K]{ID: key} }),
	}
}

// runMatrix tries all operations with keys of a type, in each form, and compares what they do with
// what they do with int64. It returns how many it tried.
func runMatrix[K idtype.ID](t *testing.T, s setting, want outcomes) (cells int) {
	var zero K
	t.Run(strings.ReplaceAll(fmt.Sprintf("%s as %s", zero.Scheme(), zero.Storage()), "/", "_"),
		func(t *testing.T) {
			w := openWorld[K, sqlid.Null[K]](t, s, nil)
			for i, f := range forms[K]() {
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
func applies[K any](uses use, f form[K], first bool, storage idtype.Storage) bool {
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
		return f.Name != fromMap || storage != idtype.StorageBytes
	}
	return true
}

// fromMap is the name of the form that a key has where GORM reads it into a map.
const fromMap = "what a map is given"

// mayFail tells what is refused where an int64 would do.
func mayFail[K comparable, N any](op operation[K, N], f form[K], got outcome) bool {
	// A text by itself is SQL to GORM. It is never another condition, but it may be the name of a
	// column that is not there.
	return got.failed && f.Loose && op.uses == inline
}
