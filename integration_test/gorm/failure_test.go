package gorm_test

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// When the source fails, wholly or half-way, nothing is inserted and no row is changed.
func testSourceFails(t *testing.T, d database) {
	away := errors.New("the launch log is away")
	for name, fail := range map[string]func(*source){
		"at once":       func(s *source) { s.err = away },
		"half-way":      func(s *source) { s.err, s.mints = away, 2 },
		"at the end":    func(s *source) { s.err, s.mints = away, 3 },
		"without error": func(s *source) { s.lies, s.mints = true, 2 },
	} {
		t.Run(name, func(t *testing.T) {
			db, s := newItems(t, d)
			fail(s)
			items := []Item{{Name: "a"}, {ID: 5}, {Name: "b"}, {Name: "c"}}
			result := db.Create(&items)
			var typed *gormid.Error
			if !errors.As(result.Error, &typed) || typed.Table != "items" ||
				typed.Model != "gorm_test.Item" {
				t.Fatalf("error %v", result.Error)
			}
			if s.err != nil && !errors.Is(result.Error, away) {
				t.Errorf("error %v, want %v in it", result.Error, away)
			}
			if s.lies && !strings.Contains(result.Error.Error(), "minted 2 of 3 IDs") {
				t.Error(result.Error)
			}
			for i, item := range items {
				if item.ID != 0 && i != 1 {
					t.Errorf("row %d holds %d", i, item.ID)
				}
			}
			m := map[string]any{"ID": 0}
			if err := db.Model(&Item{}).Create(m).Error; s.err != nil && !errors.Is(err, away) ||
				s.lies && err != nil {
				t.Errorf("error %v", err)
			}
			if s.err != nil && m["ID"] != 0 {
				t.Errorf("the map is %v", m)
			}
			wantColumn(t, db, "SELECT count(*) FROM items WHERE id <> 0",
				map[bool]int{false: 0, true: 1}[s.lies])

			s.err, s.lies = nil, false
			must(t, db.Create(&items)) // once it is back, the same rows go in
			wantMinted(t, items[0].ID, items[2].ID, items[3].ID)
		})
	}
}

func testErrorOfTable(t *testing.T, d database) {
	s := newSource()
	db := d.open(t, gormid.Use(s).ForTable("items", "id"))
	s.err = errors.New("away")
	if err := db.Table("items").Create(map[string]any{}).Error; err == nil ||
		err.Error() != "gormid: table items: the source of decimal IDs failed: away" {
		t.Error(err)
	}
}

// A failure for an association takes the whole Create back.
func testSourceFailsForAssociation(t *testing.T, d database) {
	lines := newSource()
	db := d.open(t, gormid.Use(newSource()), gormid.Use(lines).For(&Position{}))
	migrate(t, db, allModels()...)
	lines.err = errors.New("away")
	err := db.Create(&User{Name: "u", Orders: []Order{{Positions: []Position{{}}}}}).Error
	if !errors.Is(err, lines.err) || strings.Count(err.Error(), "gormid:") != 1 {
		t.Error(err)
	}
	wantColumn[int](t, db, "SELECT 1 FROM users UNION ALL SELECT 1 FROM orders")
}

func testCanceledContext(t *testing.T, d database) {
	db, _ := newItems(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	item := Item{}
	if err := db.WithContext(ctx).Create(&item).Error; !errors.Is(err, context.Canceled) ||
		item.ID != 0 {
		t.Errorf("error %v, item %v", err, item)
	}
	if err := gorm.G[Item](db).Create(ctx, &item); !errors.Is(err, context.Canceled) ||
		item.ID != 0 {
		t.Errorf("error %v, item %v", err, item)
	}
}

// A scope may hand back another *gorm.DB, with the statement of the one that it got. GORM's own
// transaction, which it keeps in a copy of the statement then, would never end.
func testScopes(t *testing.T, d database) {
	s := newSource()
	db := openWith(t, d.dialector(t), &gorm.Config{SkipDefaultTransaction: true}, gormid.Use(s))
	migrate(t, db, &Member{})
	scope := func(db *gorm.DB) *gorm.DB {
		return db.Session(&gorm.Session{AllowGlobalUpdate: true})
	}
	members := []Member{{Email: "a", Code: "x"}, {Email: "a", Code: "x"}}
	must(t, db.Scopes(scope).Clauses(doNothing).Create(&members))
	wantColumn(t, db, "SELECT id FROM members", members[0].ID)
	if members[1].ID != 0 && (!d.returnsKnown() || members[1].ID != members[0].ID) {
		t.Errorf("%d is not stored", members[1].ID)
	}
	s.err = errors.New("away")
	if err := db.Scopes(scope).Create(&Member{Email: "b"}).Error; err == nil ||
		err.Error() != "gormid: gorm_test.Member (table members): the source of decimal IDs "+
			"failed: away" {
		t.Error(err)
	}
}

// What cannot be written to is an error that says so, before any ID is minted.
func testNotAddressable(t *testing.T, d database) {
	db, s := newItems(t, d)
	for _, dest := range []any{Item{}, [2]Item{}} {
		if err := db.Create(dest).Error; !errors.Is(err, gorm.ErrInvalidValue) {
			t.Errorf("%T: error %v, want ErrInvalidValue", dest, err)
		}
	}
	if err := db.Create([]*Item{{}, nil}).Error; !errors.Is(err, gorm.ErrInvalidData) {
		t.Errorf("error %v, want ErrInvalidData", err)
	}
	must(t, db.Create(Item{ID: 5}))
	s.asked()
	// GORM finds the fields of another struct than the model's by their position only: nothing is
	// assigned by such luck.
	type other struct{ ID idtype.DecimalID }
	err := db.Model(&Item{}).Select("ID").Create(&other{}).Error
	if !errors.Is(err, idtype.ErrZero) && (err == nil || d.Kind != ClickHouse) {
		t.Errorf("error %v, want ErrZero", err)
	}
	wantFills(t, s)
	wantColumn(t, db, selectItems, idtype.DecimalID(5))
}

// numbersIn keeps generator numbers in the database that the rows go to.
type numbersIn struct{ db *gorm.DB }

func (n numbersIn) NextGenerator(ctx context.Context) (launch, number int, err error) {
	err = n.db.WithContext(ctx).Raw("SELECT 1").Scan(&number).Error
	return 1, number, err
}

// A pool of one connection is common with SQLite. A create that held it while the source asks the
// same pool for a number would wait for ever.
func testPoolOfOneConnection(t *testing.T, d database) {
	db, err := gorm.Open(d.dialector(t), &gorm.Config{})
	try(t, err)
	conn, err := db.DB()
	try(t, err)
	conn.SetMaxOpenConns(1)
	try(t, db.Use(gormid.New(generator.NewTestDecimal(numbersIn{db}))))
	migrate(t, db, &Item{})
	item, same := Item{Name: "a"}, []Item{{Name: "b"}}
	must(t, db.Create(&item))
	must(t, db.Clauses(doNothing).Create(&same))
	wantColumn(t, db, selectItems, item.ID, same[0].ID)
}

// blind is a pool that cannot look up keys.
type blind struct {
	*sql.DB
	err error
}

func (p *blind) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if regexp.MustCompile("^SELECT .id. FROM").MatchString(query) {
		return nil, p.err
	}
	return p.DB.QueryContext(ctx, query, args...)
}

// If what is stored cannot be looked up, the create fails.
func testLookUpFails(t *testing.T, d database) {
	d = d.with(t)
	db, _ := newMembers(t, d)
	conn, err := db.DB()
	try(t, err)
	pool := &blind{conn, errors.New("blind")}
	db, err = gorm.Open(
		d.Over(pool), &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true},
	)
	try(t, err)
	try(t, db.Use(gormid.New(newSource())))
	var typed *gormid.Error
	members := []Member{{Email: "a"}, {Email: "b"}}
	if err := db.Clauses(updateOdd).Create(&members).Error; !errors.Is(err, pool.err) ||
		!errors.As(err, &typed) {
		t.Errorf("error %v", err)
	}
}

// After a forgotten db.Use the driver passes on the ID's own error, which names it.
func testWithoutUse(t *testing.T, d database) {
	db, err := gorm.Open(d.dialector(t), &gorm.Config{Logger: logger.Discard})
	try(t, err)
	var typed *gormid.Error
	try(t, db.AutoMigrate(&Item{}))
	if err := db.Create(&Item{}).Error; !errors.Is(err, idtype.ErrZero) || errors.As(err, &typed) ||
		!strings.Contains(err.Error(), `idtype: "0" as DecimalID: zero means not assigned: `) ||
		!strings.Contains(err.Error(), "db.Use") {
		t.Errorf("error %v, want ErrZero", err)
	}
}
