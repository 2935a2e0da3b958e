package gorm_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// An association that is there already is not inserted: what refers to it must not get an ID that
// is nowhere.
func testPhantomAssociation(t *testing.T, d database) {
	db, _ := newShop(t, d)
	must(t, db.Create(&Company{Name: "known"}))
	u := User{Name: "u", Company: &Company{Name: "known"}}
	err := db.Create(&u).Error
	if d.returnsKnown() {
		wantColumn(t, db, "SELECT company_id FROM users",
			column[CompanyID](t, db, "SELECT id FROM companies")...)
		return
	}
	if err == nil {
		t.Fatalf("stored a user of company %v", u.CompanyID)
	}
	if u.Company.ID != 0 {
		t.Errorf("the company has ID %d", u.Company.ID)
	}
	must(t, db.Create(&Tag{Name: "known"}))
	u = User{Name: "u", Tags: []*Tag{{Name: "new"}, {Name: "known"}}}
	if err := db.Create(&u).Error; !errors.Is(err, idtype.ErrZero) {
		t.Errorf("error %v, want ErrZero", err)
	}
	wantColumn[int](t, db, "SELECT 1 FROM users")
}

// Rows that are there already are linked in MariaDB, which returns their keys.
func testAppendOfKnown(t *testing.T, d database) {
	db, _ := newShop(t, d)
	must(t, db.Create(&Company{Name: "known"}))
	users := []User{{Name: "a"}, {Name: "b"}}
	must(t, db.Create(&users))
	known, other := Company{Name: "known"}, Company{Name: "new"}
	try(t, db.Model(&users).Association("Company").Append(&known, &other))
	wantColumn(t, db, "SELECT c.name FROM users u JOIN companies c ON c.id = u.company_id "+
		"ORDER BY u.name", "known", "new")
}

// What belongs to a row that was not stored has nothing to refer to.
func testChildOfSkippedRow(t *testing.T, d database) {
	db := d.open(t, gormid.Use(newSource()))
	migrate(t, db, &Author{}, &Book{})
	must(t, db.Create(&Author{Name: "known"}))
	authors := []Author{{Name: "new", Books: []Book{{}}}, {Name: "known", Books: []Book{{}}}}
	if d.returnsKnown() {
		must(t, db.Clauses(doNothing).Create(&authors))
		wantColumn(t, db, "SELECT author_id FROM books",
			column[idtype.Decimal[Author]](t, db, "SELECT id FROM authors")...)
		return
	}
	if err := db.Clauses(doNothing).Create(&authors).Error; !errors.Is(err, idtype.ErrZero) {
		t.Errorf("error %v, want ErrZero", err)
	}
	wantColumn[int](t, db, "SELECT 1 FROM books")
	must(t, db.Clauses(doNothing).Create(authors[:1]))
	wantColumn(t, db, "SELECT author_id FROM books", authors[0].ID)
}

// What was assigned to a row is not taken for what its associations were assigned, nor for what is
// created later.
func testAssignedIsOfOneCreate(t *testing.T, d database) {
	db, _ := newShop(t, d)
	must(t, db.Create(&Company{ID: 5, Name: "known"}))
	u := User{Name: "u", Company: &Company{ID: 5, Name: "known"}, Tags: []*Tag{{ID: 6, Name: "t"}}}
	must(t, db.Clauses(doNothing).Create(&u))
	wantColumn(t, db, "SELECT id FROM users", u.ID)

	tag := Tag{Name: "a"}
	tx := must(t, db.Clauses(doNothing).Create(&tag))
	minted := tag.ID
	must(t, db.Model(&Tag{}).Where("id = ?", tag.ID).Update("id", 7))
	must(t, tx.Create(&tag)) // set by now, though it conflicts
	wantColumn(t, db, "SELECT id FROM tags WHERE name = 'a'", TagID(7))
	if tag.ID != minted && (!d.returnsKnown() || tag.ID != 7) {
		t.Errorf("the key is %d, was set to %d", tag.ID, minted)
	}
}

// A row that GORM deleted softly is still there, and a hook may be what adds the clause.
type Soft struct {
	ID        idtype.DecimalID
	Name      string `gorm:"unique"`
	DeletedAt gorm.DeletedAt
}

func (s *Soft) BeforeCreate(tx *gorm.DB) error {
	tx.Statement.AddClause(clause.OnConflict{DoNothing: true})
	return nil
}

func testSoftDeleted(t *testing.T, d database) {
	db := d.open(t, gormid.Use(newSource()))
	migrate(t, db, &Soft{})
	first := Soft{Name: "a"}
	must(t, db.Create(&first))
	must(t, db.Delete(&first))
	rows := []Soft{
		{Name: "a"},
		{Name: "b", DeletedAt: gorm.DeletedAt{Time: first.DeletedAt.Time, Valid: true}},
	}
	must(t, db.Create(&rows))
	if rows[0].ID != 0 && (!d.returnsKnown() || rows[0].ID != first.ID) {
		t.Errorf("%d is not stored", rows[0].ID)
	}
	wantColumn(t, db, selectSofts, first.ID, rows[1].ID)
	must(t, db.Unscoped().Create(&Soft{Name: "c"}))
	wantMinted(t, column[idtype.DecimalID](t, db, selectSofts)...)
}

const selectSofts = "SELECT id FROM softs"

// The IDs of one INSERT fit one query, however many.
func testManySkipped(t *testing.T, d database) {
	db, _ := newMembers(t, d)
	members := make([]Member, 6000)
	for i := range members {
		members[i] = Member{Email: fmt.Sprint(i / 2), Code: "x"}
	}
	must(t, db.Clauses(doNothing).Create(&members))
	var held []memberID
	for _, m := range members {
		if m.ID != 0 {
			held = append(held, m.ID)
		}
	}
	if d.returnsKnown() && len(held) == 6000 {
		slices.Sort(held)
		held = slices.Compact(held)
	}
	wantMinted(t, held...)
	wantColumn(t, db, "SELECT id FROM members", held...)
	if len(held) != 3000 {
		t.Errorf("%d rows hold an ID, want 3000", len(held))
	}
}

// trace notes the statements that GORM tells its logger of.
type trace struct {
	logger.Interface
	sql []string
}

func (l *trace) Trace(_ context.Context, _ time.Time, f func() (string, int64), _ error) {
	sql, _ := f()
	l.sql = append(l.sql, sql)
}

// discreet does not let IDs into the log.
type discreet struct{ trace }

func (*discreet) ParamsFilter(_ context.Context, sql string, _ ...any) (string, []any) {
	return sql, nil
}

func testLogWithoutParameters(t *testing.T, d database) {
	db, _ := newMembers(t, d)
	log := &discreet{trace{Interface: logger.Discard}}
	members := []Member{{Email: "a", Code: "x"}, {Email: "b", Code: "x"}}
	must(t, db.Session(&gorm.Session{Logger: log}).Clauses(updateOdd).Create(&members))
	look := regexp.MustCompile(`^SELECT .id. FROM .members. WHERE .id. IN \([?$12,]+\)$`)
	if !slices.ContainsFunc(log.sql, look.MatchString) {
		t.Errorf("logged %q", log.sql)
	}
}

// The look-up of keys that are bytes is logged as what may be run.
func testLoggedLookUp(t *testing.T, d database) {
	db := d.open(t, rules...)
	migrate(t, db, &event[idtype.SnoID]{})
	log := &trace{Interface: logger.Discard}
	update := updateOnName
	update.Where = clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "1 = 1"}}}
	must(t, db.Session(&gorm.Session{Logger: log}).Clauses(update).
		Create(&[]event[idtype.SnoID]{{Name: "a"}, {Name: "b"}}))
	last := log.sql[len(log.sql)-2]
	if !strings.HasPrefix(last, "SELECT") || strings.Contains(last, "<binary>") {
		t.Errorf("logged %q", log.sql)
	}
}

// What is stored is looked up where it must be, and there only; and GORM's logger is told.
func testStatements(t *testing.T, d database) {
	db := d.open(t, gormid.Use(newSource()))
	migrate(t, db, allModels()...)
	log := &trace{Interface: logger.Discard}
	db = db.Session(&gorm.Session{Logger: log})
	updateA := updateOnName
	updateA.Where.Exprs = []clause.Expression{clause.Expr{SQL: "tags.name = 'a'"}}
	must(t, db.Clauses(doNothing).Create(&[]Tag{{Name: "a"}, {Name: "b"}}))
	must(t, db.Clauses(doNothing).Create(&[]Tag{{Name: "a"}, {Name: "c"}}))
	must(t, db.Clauses(updateOnName).Create(&[]Tag{{Name: "a"}, {Name: "d"}}))
	must(t, db.Clauses(updateA).Create(&[]Tag{{Name: "a"}, {Name: "e"}}))
	must(
		t,
		db.Create(
			&User{
				Name: "u", Company: &Company{Name: "c"}, Notes: []Note{{}},
				Orders: []Order{{Positions: []Position{{}, {}}}},
			},
		),
	)
	dry := db.Session(&gorm.Session{DryRun: true}).Clauses(updateOnName).Create(&Tag{}).Statement
	if _, given := dry.Clauses["RETURNING"]; given == d.Plain {
		t.Errorf("the clause RETURNING is there: %t", given)
	}
	looks := 0
	for _, sql := range log.sql {
		if regexp.MustCompile("^SELECT .id. FROM").MatchString(sql) {
			looks++
		}
	}
	want := 2 // of the DO NOTHING with a conflict, and the update WHERE
	switch {
	case d.Plain:
		want = 4 + 4 // all, and of the graph the company, orders, positions and notes
	case d.Kind == MariaDB:
		want = 1 // the update WHERE, which it does not have
	}
	if looks != want {
		t.Errorf("looked %d times, want %d:\n%s", looks, want, strings.Join(log.sql, "\n"))
	}
}
