package gorm_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

const selectItems = "SELECT id FROM items"

// Whatever the rows come in, each gets an ID, from one reservation, and the database holds it.
func testCreateStructs(t *testing.T, d database) {
	db, s := newItems(t, d)
	create, save := (*gorm.DB).Create, (*gorm.DB).Save
	a, b, pointer := &Item{Name: "a"}, &Item{Name: "b"}, &Item{Name: "a"}
	for name, test := range map[string]struct {
		do   func(*gorm.DB, any) *gorm.DB
		db   *gorm.DB
		rows any
	}{
		"struct":                      {create, db, &Item{Name: "a"}},
		"pointer to pointer":          {create, db, &pointer},
		"slice":                       {create, db, []Item{{Name: "a"}, {Name: "b"}, {Name: "c"}}},
		"pointer to slice":            {create, db, &[]Item{{Name: "a"}, {Name: "b"}, {Name: "c"}}},
		"slice of pointers":           {create, db, []*Item{a, b}},
		"array":                       {create, db, &[2]Item{{Name: "a"}, {Name: "b"}}},
		"array of pointers, by value": {create, db, [2]*Item{{Name: "a"}, {Name: "b"}}},
		"another table":               {create, db.Table("items"), &[]Item{{Name: "a"}, {Name: "b"}}},
		"model":                       {create, db.Model(&Item{}), &[]Item{{Name: "a"}, {Name: "b"}}},
		"unscoped":                    {create, db.Unscoped(), &[]Item{{Name: "a"}}},
		"save":                        {save, db, &Item{Name: "a"}},
		"save a slice":                {save, db, &[]Item{{Name: "a"}, {Name: "b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			empty(t, db, "items")
			result := must(t, test.do(test.db, test.rows))
			items := itemsOf(reflect.ValueOf(test.rows))
			wantMinted(t, itemIDs(items)...)
			wantFills(t, s, len(items))
			wantColumn(t, db, selectItems+" ORDER BY name", itemIDs(items)...)
			// which does not tell
			if want := len(items); int(result.RowsAffected) != want && d.Kind != ClickHouse {
				t.Errorf("RowsAffected is %d, want %d", result.RowsAffected, want)
			}
		})
	}
}

// itemsOf are the items in a struct, a pointer, a slice or an array.
func itemsOf(rows reflect.Value) (all []Item) {
	switch rows.Kind() {
	case reflect.Pointer:
		return itemsOf(rows.Elem())
	case reflect.Slice, reflect.Array:
		for i := range rows.Len() {
			all = append(all, itemsOf(rows.Index(i))...)
		}
		return all
	}
	return []Item{rows.Interface().(Item)}
}

func testSetValuesStay(t *testing.T, d database) {
	db, s := newItems(t, d)
	items := []Item{{ID: 7, Name: "seven"}, {Name: "new"}, {ID: 8, Name: "eight"}, {Name: "newer"}}
	must(t, db.Create(&items))
	wantFills(t, s, 2)
	wantMinted(t, items[1].ID, items[3].ID)
	wantColumn(t, db, "SELECT id FROM items WHERE name IN ('seven', 'eight')", idtype.DecimalID(7),
		8)
	wantColumn(t, db, "SELECT id FROM items WHERE name LIKE 'new%'", items[1].ID, items[3].ID)

	must(t, db.Create(&Item{ID: 9}))
	must(t, db.Save(&Item{ID: 10, Name: "saved"})) // not there: GORM updates, then inserts
	wantFills(t, s)
	wantColumn(t, db, "SELECT name FROM items WHERE id = 10", "saved")
}

func testCreateInBatches(t *testing.T, d database) {
	db, s := newItems(t, d)
	items := make([]Item, 25)
	must(t, db.CreateInBatches(&items, 10))
	wantFills(t, s, 10, 10, 5)
	wantMinted(t, itemIDs(items)...)
	wantColumn(t, db, selectItems, itemIDs(items)...)

	pointers := []*Item{{}, {}, {}}
	must(t, db.CreateInBatches(pointers, 2))
	wantMinted(t, pointers[0].ID, pointers[1].ID, pointers[2].ID)

	s.asked()
	must(t, db.Session(&gorm.Session{CreateBatchSize: 4}).Create(make([]Item, 6)))
	wantFills(t, s, 4, 2)
}

func testGenericAPI(t *testing.T, d database) {
	ctx := t.Context()
	db, s := newItems(t, d)
	item := Item{Name: "a"}
	try(t, gorm.G[Item](db).Create(ctx, &item))
	items := []Item{{}, {}, {}}
	try(t, gorm.G[Item](db).CreateInBatches(ctx, &items, 2))
	set := clause.Assignment{Column: clause.Column{Name: "name"}, Value: "set"}
	try(t, gorm.G[Item](db).Set(set).Create(ctx))
	wantFills(t, s, 1, 2, 1, 1)
	stored := column[idtype.DecimalID](t, db, selectItems)
	wantMinted(t, stored...)
	want := append([]idtype.DecimalID{item.ID}, itemIDs(items)...)
	if !slices.Equal(stored[:4], want) {
		t.Errorf("stored %v, want %v", stored, want)
	}
	got, err := gorm.G[Item](db).Where("id = ?", item.ID).First(ctx)
	if err != nil || got != item {
		t.Errorf("First: %v, %v", got, err)
	}
}

func testFirstOrCreate(t *testing.T, d database) {
	db, s := newItems(t, d)
	var item, same, assigned, init Item
	must(t, db.Where(Item{Name: "a"}).Attrs(Item{Name: "b"}).FirstOrCreate(&item))
	wantFills(t, s, 1)
	must(t, db.Where(Item{Name: "b"}).FirstOrCreate(&same))
	wantFills(t, s)
	if same != item {
		t.Errorf("found %v, want %v", same, item)
	}
	must(t, db.Where(Item{Name: "c"}).Assign(Item{Name: "d"}).FirstOrCreate(&assigned))
	wantFills(t, s, 1)
	must(t, db.Where(Item{Name: "d"}).Assign(map[string]any{"name": "e"}).FirstOrCreate(&assigned))
	wantFills(t, s)
	must(t, db.Where(Item{Name: "f"}).FirstOrInit(&init))
	wantFills(t, s)
	if init.ID != 0 {
		t.Errorf("FirstOrInit, which stores nothing, assigned %d", init.ID)
	}
	wantColumn(t, db, "SELECT name FROM items", "b", "e")
	wantColumn(t, db, selectItems, item.ID, assigned.ID)
}

func testDryRun(t *testing.T, d database) {
	db, _ := newItems(t, d)
	item := Item{Name: "a"}
	stmt := db.Session(&gorm.Session{DryRun: true}).Create(&item).Statement
	wantMinted(t, item.ID)
	if len(stmt.Vars) != 2 || stmt.Vars[0] != item.ID {
		t.Errorf("%s with %v", stmt.SQL.String(), stmt.Vars)
	}
	sql := db.ToSQL(func(tx *gorm.DB) *gorm.DB {
		item = Item{}
		return tx.Clauses(doNothing).Create(&item)
	})
	wantMinted(t, item.ID)
	if !strings.Contains(sql, item.ID.String()) {
		t.Errorf("%s, want %d in it", sql, item.ID)
	}
	wantColumn[idtype.DecimalID](t, db, selectItems)
}

// Hooked sets its key in a hook, as models did before they had the plugin.
type Hooked struct {
	ID     idtype.DecimalID
	Before idtype.DecimalID `gorm:"-"`
}

func (h *Hooked) BeforeCreate(*gorm.DB) error {
	h.Before, h.ID = h.ID, 5
	return nil
}

func testHooks(t *testing.T, d database) {
	s := newSource()
	db := d.open(t, gormid.Use(s))
	migrate(t, db, &Hooked{})
	h := Hooked{}
	must(t, db.Create(&h))
	wantMinted(t, h.Before) // hooks see the ID
	wantColumn(t, db, "SELECT id FROM hookeds", idtype.DecimalID(5))

	skipped := Hooked{}
	must(t, db.Session(&gorm.Session{SkipHooks: true}).Create(&skipped))
	wantMinted(t, skipped.ID)
	wantColumn(t, db, "SELECT id FROM hookeds WHERE id <> 5", skipped.ID)
}

// A statement that is used again does not take what was assigned before for its own.
func testSessions(t *testing.T, d database) {
	db, s := newItems(t, d)
	first, second := Item{Name: "a"}, Item{Name: "b"}
	tx := must(t, db.Create(&first))
	tx.Statement.Model = nil
	must(t, tx.Create(&second))
	must(t, tx.Session(&gorm.Session{NewDB: true}).Create(&Item{ID: 5}))
	must(t, db.Session(&gorm.Session{NewDB: true, Context: t.Context()}).Create(&Item{}))
	wantFills(t, s, 1, 1, 1)
	wantMinted(t, first.ID, second.ID)
	if got := column[int](t, db, selectItems); len(got) != 4 {
		t.Errorf("stored %v", got)
	}
}

func testContext(t *testing.T, d database) {
	type name struct{}
	db, s := newItems(t, d)
	ctx := context.WithValue(t.Context(), name{}, "mine")
	must(t, db.WithContext(ctx).Create(&Item{}))
	if s.seen[0].Value(name{}) != "mine" {
		t.Error("Fill got another context than the statement's")
	}
}

// Goroutines may be the first to use a model at once: GORM parses it, and the plugin decides about
// it, once or more often.
func testFirstUse(t *testing.T, d database) {
	d = d.with(t)
	s := newSource()
	warm := openWith(t, d.dialector(t), &gorm.Config{}, gormid.Use(s))
	migrate(t, warm, allModels()...)
	for range 5 {
		db := openWith(t, d.dialector(t), &gorm.Config{}, gormid.Use(s))
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				if g%2 == 0 {
					if err := db.Create(&Profile{}).Error; err == nil {
						t.Error("a profile of nobody")
					}
					return
				}
				u := User{Profile: &Profile{}, Orders: []Order{{Positions: []Position{{}, {}}}}}
				if err := db.Create(&u).Error; err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	wantColumn(t, warm, "SELECT count(*) FROM profiles p JOIN users u ON u.id = p.user_id", 20)
}
