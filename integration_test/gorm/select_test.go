package gorm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// An ID that was assigned is inserted, whatever Select and Omit name, and the rest of what they say
// holds.
func testSelectAndOmit(t *testing.T, d database) {
	db, _ := newShop(t, d)
	type names = []string
	for name, test := range map[string]struct {
		selects, omits names
		company        bool // is saved
		stored         string
	}{
		"select":             {names{"Name"}, nil, false, "u"},
		"select all":         {names{"*"}, nil, true, "u"},
		"select key":         {names{"ID", "Name"}, nil, false, "u"},
		"select association": {names{"Name", "Company", "CompanyID"}, nil, true, "u"},
		"select associations": {
			names{"name", clause.Associations, "CompanyID"}, nil, true, "u",
		},
		"select part of company": {
			names{"Name", "Company.Name", "Company", "CompanyID"}, nil, true, "u",
		},
		"omit":              {nil, names{"Name"}, true, ""},
		"omit associations": {nil, names{clause.Associations}, false, "u"},
	} {
		t.Run(name, func(t *testing.T) {
			scope := func(db *gorm.DB) *gorm.DB {
				if len(test.selects) > 0 {
					db = db.Select(test.selects)
				}
				if len(test.omits) > 0 {
					db = db.Omit(test.omits...)
				}
				return db
			}
			empty(t, db, "users", "companies")
			u := User{Name: "u", Company: &Company{Name: "c"}}
			must(t, scope(db).Create(&u))
			wantMinted(t, u.ID)
			wantColumn(t, db, "SELECT id FROM users", u.ID)
			wantColumn(t, db, "SELECT coalesce(name, '') FROM users", test.stored)
			var companies []CompanyID
			if test.company {
				companies = []CompanyID{u.Company.ID}
			}
			wantColumn(t, db, "SELECT id FROM companies", companies...)
			wantColumn(t, db, "SELECT company_id FROM users WHERE company_id IS NOT NULL",
				companies...)

			many := []User{{Name: "v"}, {Name: "w"}}
			must(t, scope(db).Create(&many))
			wantColumn(t, db, "SELECT id FROM users", u.ID, many[0].ID, many[1].ID)
			m := map[string]any{"name": "m"}
			must(t, scope(db).Model(&User{}).Create(m))
			wantColumn(t, db, "SELECT id FROM users", u.ID, many[0].ID, many[1].ID,
				m["id"].(UserID))
		})
	}
}

// To omit a key that a rule assigns is an error: the row would have none.
func testOmitOfAssignedKey(t *testing.T, d database) {
	db, _ := newShop(t, d)
	for _, tx := range []*gorm.DB{
		db.Omit("ID"), db.Omit("id", clause.Associations), db.Omit("users.id", "Name"),
		db.Omit("*"), db.Select("Name").Omit("ID"), db.Select("*").Omit("ID"),
		db.Omit("Company.ID"),
	} {
		u := User{Name: "u", Company: &Company{Name: "c"}}
		err := tx.Create(&u).Error
		var e *gormid.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "the primary key is left out by Omit") {
			t.Errorf("error %v", err)
		}
	}
	wantColumn[int](t, db, "SELECT 1 FROM users UNION ALL SELECT 1 FROM companies")
}

// The user's slices are not written to, nor is a *gorm.DB that others use as well.
func testSelectIsNotShared(t *testing.T, d database) {
	db, _ := newItems(t, d)
	spare := append(make([]string, 0, 4), "Name")
	selects := db.Session(&gorm.Session{}).Select(spare).Session(&gorm.Session{})
	must(t, selects.Create(&Item{Name: "a"}))
	must(t, selects.Create(&Item{Name: "b"}))
	if got := selects.Statement.Selects; !slices.Equal(got, spare) ||
		got[:cap(got)][len(got):][0] != "" {
		t.Errorf("selects are %v", got[:cap(got)])
	}
	wantMinted(t, column[idtype.DecimalID](t, db, selectItems)...)
}

func testSelectOnTable(t *testing.T, d database) {
	db := d.open(t, gormid.Use(newSource()).ForTable("items", "id"))
	migrate(t, db, &Item{})
	m := map[string]any{"name": "a", "other": 1}
	must(t, db.Table("items").Select("name").Create(m))
	n := map[string]any{"name": "b", "other": 1}
	must(t, db.Table("items").Omit("other").Create(n))
	wantColumn(t, db, selectItems, m["id"].(idtype.DecimalID), n["id"].(idtype.DecimalID))
}

// A key that the user set and omitted is the user's decision.
func testOmitOfSetKey(t *testing.T, d database) {
	db, s := newItems(t, d)
	if err := db.Omit("ID").Create(&Item{ID: 5}).Error; err == nil ||
		!strings.Contains(err.Error(), "NOT NULL") {
		t.Errorf("error %v", err)
	}
	wantFills(t, s)
	if err := db.Select("Name").Create(&[]Item{}).Error; !errors.Is(err, gorm.ErrEmptySlice) {
		t.Errorf("error %v, want ErrEmptySlice", err)
	}
}
