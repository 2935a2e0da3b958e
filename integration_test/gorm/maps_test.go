package gorm_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// Every form of map that GORM takes gets the ID, under the column's name.
func testCreateMaps(t *testing.T, d database) {
	db, s := newItems(t, d)
	one, many := M{"name": "a"}, []M{{"name": "a"}, {"Name": "b"}}
	for name, test := range map[string]struct {
		dest any
		maps []M
	}{
		"map":                     {one, []M{one}},
		"pointer to map":          {&one, []M{one}},
		"slice of maps":           {many, many},
		"pointer to slice of map": {&many, many},
	} {
		t.Run(name, func(t *testing.T) {
			for _, m := range test.maps {
				delete(m, "id")
			}
			empty(t, db, "items")
			must(t, db.Model(&Item{}).Create(test.dest))
			wantFills(t, s, len(test.maps))
			var ids []idtype.DecimalID
			for _, m := range test.maps {
				ids = append(ids, m["id"].(idtype.DecimalID))
				if len(m) != 2 {
					t.Errorf("the map is %v", m)
				}
			}
			wantMinted(t, ids...)
			wantColumn(t, db, selectItems+" ORDER BY name", ids...)
			wantColumn(t, db, "SELECT name FROM items", []string{"a", "b"}[:len(ids)]...)
		})
	}
}

func testMapSpellings(t *testing.T, d database) {
	db, _ := newItems(t, d)
	var null *idtype.DecimalID
	for name, test := range map[string]struct {
		m   M
		set bool // the value is the user's
	}{
		"absent":             {M{"name": "a"}, false},
		"nil":                {M{"id": nil}, false},
		"zero":               {M{"id": idtype.DecimalID(0)}, false},
		"zero int":           {M{"id": 0}, false},
		"nil pointer":        {M{"id": null}, false},
		"pointer to zero":    {M{"id": new(idtype.DecimalID)}, false},
		"field name":         {M{"ID": nil}, false},
		"other spelling":     {M{"Id": 0}, false},
		"twice, both zero":   {M{"ID": 0, "id": nil}, false},
		"set":                {M{"id": idtype.DecimalID(5)}, true},
		"set, by field name": {M{"ID": 5}, true},
		"set, as expression": {M{"id": clause.Expr{SQL: "2 + 3"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "set, as expression" && d.Kind == ClickHouse {
				return // whose driver takes values alone
			}
			empty(t, db, "items")
			before := maps.Clone(test.m)
			must(t, db.Model(&Item{}).Create(test.m))
			stored := column[idtype.DecimalID](t, db, selectItems)
			if test.set {
				if !slices.Equal(stored, []idtype.DecimalID{5}) ||
					fmt.Sprint(before) != fmt.Sprint(test.m) {
					t.Errorf("stored %v, the map is %v", stored, test.m)
				}
				return
			}
			wantMinted(t, stored...)
			if keys := len(test.m); test.m["id"] != stored[0] || keys != 1 &&
				before["name"] == nil {
				t.Errorf("stored %v, the map is %v", stored, test.m)
			}
		})
	}
}

// With no model there is nothing that could say what the key is, so nothing is assigned but by
// ForTable.
func testTableMaps(t *testing.T, d database) {
	s := newSource()
	d = d.with(t)
	db := d.open(t, gormid.Use(s).ForTable("items", "id").ForTable(d.schema+".companies", "id"),
		gormid.Lenient())
	migrate(t, db, &Item{}, &Company{}, &Tag{})

	m := map[string]any{"name": "a"}
	must(t, db.Table("items").Create(m))
	list := []map[string]any{{"name": "b", "id": 0}, {"name": "c"}}
	must(t, db.Table("items").Create(&list))
	qualified := map[string]any{"name": "d"}
	must(t, db.Table(d.schema+".companies").Create(qualified))
	wantFills(t, s, 1, 2, 1)
	wantColumn(t, db, selectItems, m["id"].(idtype.DecimalID), list[0]["id"].(idtype.DecimalID),
		list[1]["id"].(idtype.DecimalID))
	wantColumn(t, db, "SELECT id FROM companies", qualified["id"].(idtype.DecimalID))

	other := map[string]any{"name": "e"}
	isRefused := d.Kind != ClickHouse // as a key is not null there
	if err := db.Table("tags").Create(other).Error; (err != nil) != isRefused {
		t.Error(err)
	}
	// the rule names the schema as well
	must(t, db.Table("companies").Create(map[string]any{"name": "f", "id": 5}))
	wantFills(t, s)
	if _, ok := other["id"]; ok {
		t.Errorf("a table without a rule got %v", other)
	}
	// A rule with ForTable is not a general one.
	if err := db.Create(&Item{}).Error; !errors.Is(err, idtype.ErrZero) {
		t.Errorf("error %v, want ErrZero", err)
	}
}

func testNilMaps(t *testing.T, d database) {
	var m map[string]any
	db, s := newItems(t, d)
	for name, dest := range map[string]any{
		"nil map":            m,
		"pointer to nil map": &m,
		"nil map among maps": []map[string]any{{"name": "a"}, nil},
	} {
		if err := db.Model(&Item{}).Create(dest).Error; !errors.Is(err, gorm.ErrInvalidData) {
			t.Errorf("%s: error %v, want ErrInvalidData", name, err)
		}
	}
	// What GORM itself does not take is left to it.
	type named map[string]any
	err := db.Model(&Item{}).Create(named{"name": "a"}).Error
	if !errors.Is(err, gorm.ErrInvalidData) {
		t.Errorf("named type: error %v, want ErrInvalidData", err)
	}
	wantFills(t, s)
	wantColumn[string](t, db, "SELECT name FROM items")
}

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
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "is left out by Omit") {
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
	db := d.open(t, gormid.Use(newSource()).ForTable("items", "id"), gormid.Lenient())
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
