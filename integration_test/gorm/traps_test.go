package gorm_test

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// What the package documentation says about lists, and that a condition without a value is none.
func testTraps(t *testing.T, d database) {
	db, _ := newItems(t, d)
	items := []Item{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	must(t, db.Create(&items))
	id := items[1].ID

	// An empty list as the condition of Find is none; in Where it is an empty list.
	var all []Item
	for condition, tx := range map[string]*gorm.DB{
		"an empty list": db.Find(&all, []idtype.DecimalID{}), "a string": db.Find(&all, "1 = 1"),
		"a struct whose key is zero": db.Where(&Item{}).Find(&all),
	} {
		if must(t, tx); tx.RowsAffected != 3 {
			t.Errorf("%s: read %d rows", condition, tx.RowsAffected)
		}
	}
	must(t, db.Where("id IN ?", []idtype.DecimalID{}).Find(&all))
	if len(all) != 0 {
		t.Errorf("IN an empty list read %d rows", len(all))
	}
	err := db.Delete(&Item{}, []idtype.DecimalID{}).Error
	if !errors.Is(err, gorm.ErrMissingWhereClause) {
		t.Errorf("Delete with an empty list: %v", err)
	}

	// GORM takes a list of sql.Null by itself for the columns of a struct.
	nulls := []sql.Null[idtype.DecimalID]{{V: id, Valid: true}}
	for name, err := range map[string]error{
		"Find": db.Find(&all, nulls).Error, "Delete": db.Delete(&Item{}, nulls).Error,
	} {
		if err == nil {
			t.Errorf("%s takes a list of sql.Null", name)
		}
	}
	must(t, db.Where("id IN ?", nulls).Find(&all))
	if len(all) != 1 || all[0] != items[1] {
		t.Errorf("IN a list of sql.Null read %v", all)
	}

	// A list is spread over as many parameters as it has IDs, which = ANY does not take. Slice is
	// one parameter.
	text := db.ToSQL(func(tx *gorm.DB) *gorm.DB {
		return tx.Where("id = ANY(?)", []idtype.DecimalID{1, 2}).Find(&all)
	})
	if !strings.Contains(text, "= ANY(1,2)") {
		t.Error(text)
	}
	list := map[Kind]string{
		SQLite:     "SELECT value FROM json_each(?)",
		Postgres:   "SELECT value::bigint FROM jsonb_array_elements_text(?)",
		MariaDB:    "SELECT value FROM JSON_TABLE(?, '$[*]' COLUMNS (value bigint PATH '$')) AS t",
		ClickHouse: "SELECT arrayJoin(JSONExtract(?, 'Array(Int64)'))",
	}[d.Kind]
	must(t, db.Where("id IN ("+list+")", idtype.Slice[idtype.DecimalID]{id}).Find(&all))
	if len(all) != 1 || all[0] != items[1] {
		t.Errorf("Slice read %v", all)
	}
}

// GORM cannot read into one ID, which is refused where the plugin sees it.
func testOneID(t *testing.T, d database) {
	db, papers := newPapers(t, d)
	of := func() *gorm.DB { return db.Model(&Paper{}).Where("name = ?", "a").Select("id") }
	var id idtype.SnoID
	for name, err := range map[string]error{
		"Pluck": of().Pluck("id", &id).Error, "Take": of().Take(&id).Error,
		"Find": of().Find(&id).Error,
	} {
		var e *gormid.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "Row().Scan(&id)") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if err := of().Row().Scan(&id); err != nil || id != papers[0].ID {
		t.Errorf("Row reads %v, %v", id, err)
	}
	var ids []idtype.SnoID
	if must(t, of().Pluck("id", &ids)); len(ids) != 1 || ids[0] != id {
		t.Errorf("Pluck reads %v", ids)
	}
}

// The plugin's dialector hands over what GORM finds in the database's own.
func testTranslatedErrors(t *testing.T, d database) {
	db := openWith(t, d.dialector(t), &gorm.Config{TranslateError: true}, gormid.Use(newSource()))
	migrate(t, db, &Tag{})
	must(t, db.Create(&Tag{Name: "a"}))
	if err := db.Create(&Tag{Name: "a"}).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
		t.Errorf("error %v", err)
	}
	if wrapped, ok := db.Dialector.(interface{ Unwrap() gorm.Dialector }); !ok ||
		wrapped.Unwrap().Name() != db.Name() {
		t.Errorf("the dialector is a %T", db.Dialector)
	}
	tx := db.Begin()
	must(t, tx.SavePoint("s"))
	if err := tx.Create(&Tag{Name: "a"}).Error; !errors.Is(err, gorm.ErrDuplicatedKey) {
		t.Errorf("error %v", err)
	}
	must(t, tx.RollbackTo("s"))
	must(t, tx.Create(&Tag{Name: "b"}))
	must(t, tx.Commit())
	wantColumn(t, db, "SELECT name FROM tags", "a", "b")
}

// AutoMigrate makes the column a bigint, and finds nothing to change the next time.
func testAutoMigrate(t *testing.T, d database) {
	db := d.open(t, gormid.Use(newSource()))
	models := append(allModels(), &Item{}, &IntegerKey{}, &PointerKey{})
	migrate(t, db, models...)
	const tables = "SELECT sql FROM sqlite_master WHERE sql <> '' ORDER BY name"
	before := column[string](t, db, tables)
	must(t, db.Create(&User{Name: "u", Orders: []Order{{Positions: []Position{{}}}}}))
	migrate(t, db, models...)
	wantColumn(t, db, tables, before...)
	wantColumn(t, db, "SELECT sql FROM sqlite_master WHERE name = 'items'",
		"CREATE TABLE `items` (`id` bigint NOT NULL,`name` text,PRIMARY KEY (`id`))")
	wantColumn(
		t, db, "SELECT type FROM pragma_table_info('orders') WHERE name IN ('id', 'user_id')",
		"bigint", "bigint",
	)
}

// In SQLite a bigint key is a unique index beside the table. The tag makes it the row's number,
// without an index.
func testIntegerKeyInSQLite(t *testing.T, d database) {
	db := d.open(t, gormid.Use(newSource()))
	migrate(t, db, &Item{}, &IntegerKey{})
	wantColumn(t, db, "SELECT sql FROM sqlite_master WHERE name = 'integer_keys'",
		"CREATE TABLE `integer_keys` (`id` integer NOT NULL,`name` text,PRIMARY KEY (`id`))")
	wantColumn(t, db, "SELECT name FROM pragma_index_list('items')", "sqlite_autoindex_items_1")
	wantColumn[string](t, db, "SELECT name FROM pragma_index_list('integer_keys')")
	row := IntegerKey{Name: "a"}
	must(t, db.Create(&row))
	wantColumn(t, db, "SELECT rowid FROM integer_keys", row.ID)
	for table, want := range map[string]string{
		"items":        "SEARCH items USING INDEX sqlite_autoindex_items_1 (id=?)",
		"integer_keys": "SEARCH integer_keys USING INTEGER PRIMARY KEY (rowid=?)",
	} {
		var plan struct{ Detail string }
		must(t, db.Raw("EXPLAIN QUERY PLAN SELECT * FROM "+table+" WHERE id = 5").Scan(&plan))
		if plan.Detail != want {
			t.Errorf("%s: %s, want %s", table, plan.Detail, want)
		}
	}
	// What the plugin is not asked for, SQLite numbers by itself there, and refuses in a bigint
	// key.
	must(t, db.Table("integer_keys").Create(map[string]any{"name": "b"}))
	if err := db.Table("items").Create(map[string]any{"name": "b"}).Error; err == nil ||
		!strings.Contains(err.Error(), "NOT NULL") {
		t.Errorf("error %v", err)
	}
	wantColumn(t, db, "SELECT id FROM integer_keys WHERE name = 'b'", row.ID+1)
}

// What apps have beside IDs, and the plugin leaves to them.
type (
	// Own has a key of the app's own type, and relations of all kinds.
	Own struct {
		ID    ownID  `gorm:"autoIncrement"`
		Crews []Crew `gorm:"many2many:own_crews"`
		Seats []Seat `gorm:"foreignKey:OwnID"`
	}
	ownID int64
	Crew  struct {
		ID   ownID `gorm:"autoIncrement"`
		Name string
	}
	Seat struct {
		OwnID ownID `gorm:"primaryKey"`
		Row   ownID `gorm:"primaryKey"`
	}

	// Ref is a value of the app's own that begins with an ID.
	Ref struct {
		ID   idtype.DecimalID
		Kind string
	}
	// NullRef is an optional ID of another library.
	NullRef struct{ sql.NullInt64 }
	// IDs is a list of the app's own.
	IDs []idtype.DecimalID
	// Pointed is a value whose methods are on the pointer.
	Pointed struct{ id idtype.DecimalID }

	Mixed struct {
		ID       idtype.DecimalID
		Ref      Ref `gorm:"type:text"`
		ParentID NullRef
		Parent   *Mixed
		List     IDs `gorm:"type:text"`
		Boss     *idtype.DecimalID
	}
)

func (r Ref) Value() (driver.Value, error) { return r.ID.String() + ":" + r.Kind, nil }

func (r *Ref) Scan(src any) error {
	id, kind, _ := strings.Cut(src.(string), ":")
	r.Kind = kind
	return r.ID.UnmarshalText([]byte(id))
}

func (l IDs) Value() (driver.Value, error) { return "{}", nil }

func (l *IDs) Scan(any) error { return nil }

func (p *Pointed) Value() (driver.Value, error) { return int64(p.id), nil }

func testValuesOfTheApp(t *testing.T, d database) {
	db := d.open(t, rules...)
	migrate(t, db, &Own{}, &Crew{}, &Seat{}, &Mixed{})
	must(t, db.Create(&Own{Crews: []Crew{{Name: "a"}, {Name: "b"}}, Seats: []Seat{{Row: 5}}}))
	var own Own
	must(t, db.Preload("Crews").Preload("Seats").First(&own))
	if own.ID != 1 || len(own.Crews) != 2 || len(own.Seats) != 1 {
		t.Errorf("read %+v", own)
	}

	boss := idtype.DecimalID(7)
	row := Mixed{Ref: Ref{5, "k"}, Boss: &boss}
	must(t, db.Create(&row))
	must(t, db.Create(&Mixed{Ref: Ref{6, "z"}, Parent: &row}))
	for name, where := range map[string][]any{
		"a value by its text":    {map[string]any{"ref": "5:k"}},
		"a value":                {"ref", Ref{5, "k"}},
		"a pointer with methods": {"boss", &Pointed{7}},
		"a list of its own":      {"list = ? AND boss = 7", IDs{5}},
	} {
		var n int64
		if err := db.Model(&Mixed{}).Where(where[0], where[1:]...).Count(&n).Error; err != nil {
			t.Errorf("%s: %v", name, err)
		} else if n != 1 {
			t.Errorf("%s: %d rows", name, n)
		}
	}
	must(t, db.Model(&row).Updates(map[string]any{"ref": "8:q", "boss": &Pointed{9}}))
	wantColumn(t, db, "SELECT ref || boss FROM mixeds WHERE id = "+row.ID.String(), "8:q9")
	var child Mixed
	must(t, db.Preload("Parent").First(&child, "parent_id IS NOT NULL"))
	if child.Parent == nil || child.Parent.ID != row.ID {
		t.Errorf("read %+v", child)
	}

	// NULL by a wrapper, and into a smaller struct that is used again.
	must(t, db.First(&row, row.ID))
	must(t, db.Model(&row).Updates(map[string]any{"boss": sql.Null[idtype.DecimalID]{}}))
	if row.Boss != nil {
		t.Errorf("boss is %v after NULL", *row.Boss)
	}
	var small struct {
		ID   idtype.DecimalID
		Boss *idtype.DecimalID
	}
	small.Boss = &boss
	must(t, db.Model(&Mixed{}).Where("id = ?", row.ID).Take(&small))
	if small.Boss != nil {
		t.Errorf("boss is %v after NULL", *small.Boss)
	}
	var nothing *idtype.DecimalID
	var n int64
	must(t, db.Table("mixeds").Where("boss", nothing).Count(&n))
	if n != 2 {
		t.Errorf("%d rows without a boss", n)
	}

	var e *gormid.Error
	for name, err := range map[string]error{
		"two keys":        db.Delete(&KeyPair{}, "39706634-1111-4222-8333-123456789012").Error,
		"a refused model": db.Model(&NotAlias{}).Select("count(*)").Row().Scan(&n),
		"raw SQL": db.Raw("SELECT count(*) FROM mixeds WHERE id = ANY(?)",
			idtype.Slice[idtype.DecimalID]{5}).Row().Scan(&n),
	} {
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// KeyPair has a key of two IDs.
type KeyPair struct {
	A idtype.DecimalID `gorm:"primaryKey"`
	B idtype.DecimalID `gorm:"primaryKey"`
}
