package gorm_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/utils"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

func nullOf[T any](v T) sql.Null[T] { return sql.Null[T]{V: v, Valid: true} }

// Sessions share GORM's callbacks, and nothing else of a plugin. One that the plugin did not get to
// is refused: its keys would be minted, and its conditions not looked at.
func testHalfInstalled(t *testing.T, d database) {
	d = d.with(t)
	full := d.open(t, gormid.Use(newSource()))
	migrate(t, full, &Item{})
	must(t, full.Create(&Item{ID: 5, Name: "a"}))
	open := func() *gorm.DB {
		db, err := gorm.Open(d.dialector(t), &gorm.Config{Logger: logger.Discard})
		try(t, err)
		t.Cleanup(func() { closeDatabase(t, db) })
		return db
	}
	use := func(db *gorm.DB) *gorm.DB {
		try(t, db.Use(gormid.New(newSource())))
		return db
	}
	early := open()
	session := early.Session(&gorm.Session{})
	use(early)
	late := open()
	used := use(late.WithContext(t.Context()))
	for name, db := range map[string]*gorm.DB{
		"a session from before": session, "the database of a session": late,
	} {
		for call, err := range map[string]error{
			"Create":      db.Create(&Item{}).Error,
			"Find":        db.Find(&[]Item{}).Error,
			"Delete":      db.Delete(&Item{}, "5\n").Error,
			"Update":      db.Model(&Item{}).Where("5\n").Update("name", "b").Error,
			"AutoMigrate": db.AutoMigrate(&Tag{}),
		} {
			var e *gormid.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), "the result of gorm.Open") {
				t.Errorf("%s: %s: %v", name, call, err)
			}
		}
	}
	for _, db := range []*gorm.DB{early, used, used.Session(&gorm.Session{NewDB: true})} {
		must(t, db.Find(&[]Item{}))
	}
	wantColumn(t, full, "SELECT name FROM items", "a")
}

// Lite is a part of a table that has another model.
type (
	Lite struct {
		ID   idtype.DecimalID
		Name string
	}
	Full struct {
		ID    idtype.DecimalID
		Name  string
		RefID *idtype.ShortID
	}
)

func (Full) TableName() string { return "full_rows" }

// A value for a column that the statement's model lacks is read by the model that has it.
func testSmallerModel(t *testing.T, d database) {
	db := d.open(t, gormid.Use(newSource()))
	migrate(t, db, &Full{})
	one, two := idtype.MustParse[idtype.ShortID]("xinaS8QBh"), idtype.MustParse[idtype.ShortID]("xinaS8QBi")
	must(t, db.Create([]Full{{Name: "one", RefID: &one}, {Name: "two", RefID: &two}}))
	err := db.Table("full_rows").Not("ref_id", "?").Delete(&Lite{}).Error
	var e *gormid.Error
	if !errors.As(err, &e) {
		t.Errorf("error %v", err)
	}
	must(t, db.Table("full_rows").Not("ref_id", one.String()).Delete(&Lite{}))
	wantColumn(t, db, "SELECT name FROM full_rows", "one")
}

// seeing is a value that looks at the type of the dialector, as those of gorm.io/datatypes do.
type seeing struct{ seen *[]string }

func (s seeing) GormValue(_ context.Context, db *gorm.DB) clause.Expr {
	*s.seen = append(*s.seen, fmt.Sprintf("%T", db.Dialector))
	return clause.Expr{SQL: "?", Vars: []any{"a"}}
}

// Values and callbacks of others see the database's own dialector. Migrations have the plugin's.
func testDialector(t *testing.T, d database) {
	d = d.with(t)
	dialector := d.dialector(t)
	db := openWith(t, dialector, &gorm.Config{}, gormid.Use(newSource()))
	migrate(t, db, &Item{}, &Author{}, &Book{})
	var seen []string
	v := seeing{&seen}
	see := func(db *gorm.DB) { seen = append(seen, fmt.Sprintf("%T", db.Dialector)) }
	for _, err := range []error{
		db.Callback().Create().Before("gorm:create").Register("test:see", see),
		db.Callback().Create().After("gorm:create").Register("test:saw", see),
		db.Callback().Query().Before("gorm:query").Register("test:see", see),
		db.Callback().Row().Before("gorm:row").Register("test:see", see),
		db.Callback().Raw().Before("gorm:raw").Register("test:see", see),
	} {
		try(t, err)
	}
	must(t, db.Where("name = ?", v).Find(&[]Item{}))
	if _, err := db.Model(&Item{}).Where("name = ?", v).Rows(); err != nil {
		t.Error(err)
	}
	scope := func(db *gorm.DB) *gorm.DB { return db.Session(&gorm.Session{}) }
	must(t, db.Scopes(scope).Where("name = ?", v).Find(&[]Item{}))
	must(t, db.Exec("SELECT 1"))
	if d.Kind != ClickHouse { // whose driver takes values alone
		must(t, db.Create(&Author{Name: "a", Books: []Book{{Title: "b"}}}))
		must(t, db.Model(&Item{}).Create(map[string]any{"name": v}))
		must(t, db.Model(&Item{}).Where("name = ?", v).Update("name", v))
		must(t, db.Where("name = ?", v).Delete(&Item{}))
	}
	if len(seen) < 7 {
		t.Errorf("seen %d times", len(seen))
	}
	for _, got := range seen {
		if want := fmt.Sprintf("%T", dialector); got != want {
			t.Errorf("seen %s, want %s", got, want)
		}
	}
	tx := db.Find(&[]Item{})
	for _, db := range []*gorm.DB{db, tx} {
		if _, ok := db.Dialector.(interface{ Unwrap() gorm.Dialector }); !ok {
			t.Errorf("migrations have a %T", db.Dialector)
		}
	}
}

// lines notes whose lines a log names.
type lines struct {
	logger.Interface
	seen []string
}

func (l *lines) Trace(context.Context, time.Time, func() (string, int64), error) {
	l.seen = append(l.seen, utils.FileWithLineNum())
}

// The log names the caller's line, and not one of the plugin's.
func testLoggedLines(t *testing.T, d database) {
	log := &lines{Interface: logger.Discard}
	db := openWith(t, d.dialector(t), &gorm.Config{Logger: log}, gormid.Use(newSource()))
	migrate(t, db, &Member{})
	must(t, db.Create(&Member{Email: "a", Code: "x"}))
	if d.Kind != ClickHouse {
		migrate(t, db, &Member{})
		must(t, db.Clauses(doNothing).Create(&[]Member{{Email: "a"}, {Email: "b"}}))
		must(t, db.Clauses(updateOdd).Create(&[]Member{{Email: "a"}, {Email: "c"}}))
	}
	for _, line := range log.seen {
		if strings.Contains(line, "/gormid/") {
			t.Errorf("the log names %s", line)
		}
	}
	if len(log.seen) < 3 {
		t.Errorf("logged %d lines", len(log.seen))
	}
}

// A zero in SQL of the caller's is an error that names it, and not a forgotten plugin.
func testZeroInSQL(t *testing.T, d database) {
	db, _ := newItems(t, d)
	zero := idtype.DecimalID(0)
	for name, tx := range map[string]*gorm.DB{
		"value":    db.Where("id = ?", zero),
		"pointer":  db.Where("id = ?", &zero),
		"list":     db.Where("id IN ?", []idtype.DecimalID{5, 0}),
		"pointers": db.Where("id IN (?)", []*idtype.DecimalID{&zero}),
		"any":      db.Where("id IN ?", []any{5, zero}),
		"name":     db.Where("id = @id", sql.Named("id", zero)),
		"map":      db.Where("id = @id", map[string]any{"id": zero}),
		"inline":   db.Where("name = ? OR id = ?", "a", zero),
	} {
		err := tx.Find(&[]Item{}).Error
		var e *gormid.Error
		if !errors.As(err, &e) || !errors.Is(err, idtype.ErrZero) ||
			!strings.Contains(err.Error(), ": it contains a zero ID: set the ID first") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	var none []Item
	must(t, db.Where("id IN ?", []idtype.OrZero[idtype.DecimalID]{{}}).Find(&none))
}

// A key that is NULL says why nobody set it.
func testNullKeys(t *testing.T, d database) {
	type PairOfPointers struct {
		A *idtype.DecimalID `gorm:"primaryKey"`
		B *idtype.DecimalID `gorm:"primaryKey"`
	}
	db := d.open(t, ruleOf[idtype.TraceID](), gormid.Lenient())
	migrate(t, db, &PointerKey{}, &PairOfPointers{}, &Item{})
	five := idtype.DecimalID(5)
	for want, err := range map[string]error{
		"row 0: ID of type *idtype.DecimalID is zero: no rule assigns this primary key, and " +
			"a general rule leaves the key of another model alone: set it, " +
			"or give gormid.New a rule with For(&PointerKey{})": db.Create(&PointerKey{}).Error,
		"row 0: B of type *idtype.DecimalID is zero: it is part of a composite primary " +
			"key, which no rule assigns": db.Create(&PairOfPointers{A: &five}).Error,
		"gormid: table items: ": db.Table("items").Create(map[string]any{"name": "a"}).Error,
		`(no rule assigns keys of this table: if its key is missing, give gormid.New a rule with ` +
			`ForTable("items", column), or name a model)`: db.Table("items").
			Create(map[string]any{"name": "a"}).Error,
	} {
		var e *gormid.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v\nwant  %s", err, want)
		}
	}
}
