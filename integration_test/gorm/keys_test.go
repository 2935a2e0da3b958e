package gorm_test

import (
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// Keys that the database would number.
type (
	NumberedKey struct {
		ID   idtype.Decimal[NumberedKey] `gorm:"autoIncrement"`
		Name string
	}
	NumberedPart struct {
		ID   idtype.DecimalID `gorm:"primaryKey;autoIncrement"`
		Part idtype.DecimalID `gorm:"primaryKey"`
	}
	NumberedSequence struct {
		ID   idtype.Sequence[NumberedSequence] `gorm:"autoIncrement"`
		Name string
	}
)

// An ID that the database numbers is none of a launch log, and would be that of another launch. So
// a tag that asks for it is refused, with a rule and without. The numbers of a sequence may be the
// database's, as long as no rule assigns them.
func testNumberedKeys(t *testing.T, d database) {
	for name, rules := range map[string][]gormid.Rule{
		"a rule": {gormid.Use(newSource()), ruleOf[idtype.SequenceID]()},
		"a rule, lenient": {
			gormid.Use(newSource()), ruleOf[idtype.SequenceID](), gormid.Lenient(),
		},
		"no rule": {ruleOf[idtype.TraceID](), gormid.Lenient()},
	} {
		for _, model := range []any{
			&NumberedKey{}, &NumberedPart{}, &NumberedSequence{},
		} {
			if _, ok := model.(*NumberedSequence); ok && name == "no rule" {
				continue
			}
			db := d.open(t, rules...)
			for call, err := range map[string]error{
				"AutoMigrate": db.AutoMigrate(model),
				"Create":      db.Create(model).Error,
				"Find":        db.Find(model).Error,
			} {
				var e *gormid.Error
				if !errors.As(err, &e) || !strings.Contains(err.Error(), "drop the tag") {
					t.Errorf("%s: %s of %T: %v", name, call, model, err)
				}
			}
			if db.Migrator().HasTable(model) {
				t.Errorf("%s: %T has a table", name, model)
			}
		}
	}
	plain := d.open(t, ruleOf[idtype.TraceID]())
	err := gormid.NewRules(gormid.Use(newSource()).For(&NumberedKey{})).Initialize(plain)
	if err == nil || !strings.Contains(err.Error(), "rule 0: For(*gorm_test.NumberedKey): ID") {
		t.Errorf("error %v", err)
	}
	if d.Kind == SQLite || d.Kind == ClickHouse {
		return // which number no bigint
	}
	db := d.open(t, ruleOf[idtype.TraceID]())
	migrate(t, db, &NumberedSequence{})
	rows := []NumberedSequence{{Name: "a"}, {Name: "b"}}
	must(t, db.Create(&rows))
	if rows[0].ID != 1 || rows[1].ID != 2 {
		t.Errorf("numbered %v", rows)
	}
}

// Keys of the model's own, by names that end in ID.
type (
	ByUUID struct {
		UUID idtype.Decimal[ByUUID] `gorm:"primaryKey"`
		Name string
	}
	ByRowID struct {
		RowID idtype.Decimal[ByRowID] `gorm:"primaryKey"`
		Name  string
	}
	ByGlobalID struct {
		GlobalID *idtype.Decimal[ByGlobalID] `gorm:"primaryKey"`
		Name     string
	}
	// The keys of these two name no entity.
	AnyByUUID struct {
		UUID idtype.DecimalID `gorm:"primaryKey"`
		Name string
	}
	AnyByPublicID struct {
		PublicID idtype.DecimalID `gorm:"primaryKey"`
		Name     string
	}
	// ByTag's key is of an entity that stands for the model, as in a package of keys.
	ByTag struct {
		ID   idtype.Decimal[byTag]
		Name string
	}
	byTag struct{}
	// SmallUser is the table of User with fewer columns.
	SmallUser struct {
		ID   UserID
		Name string
	}
)

func (SmallUser) TableName() string { return "users" }

// A key is assigned whatever its name is, unless it is another model's.
func testKeysOfAnyName(t *testing.T, d database) {
	s := newSource()
	db := d.open(t, gormid.Use(s))
	migrate(t, db, allModels()...)
	for _, model := range []any{
		&ByUUID{}, &ByRowID{}, &ByGlobalID{}, &AnyByUUID{}, &AnyByPublicID{},
		&ByTag{}, &SmallUser{},
	} {
		migrate(t, db, model)
		if err := db.Create(model).Error; err != nil {
			t.Errorf("%T: %v", model, err)
		}
		wantFills(t, s, 1)
	}
}

// Keys of other models, which no relation names.
type (
	Passenger struct {
		UserID UserID `gorm:"primaryKey;autoIncrement:false"` // by its name and its type
		Seat   string
	}
	Crewman struct {
		ID   UserID `gorm:"autoIncrement:false"` // by its type
		Rank string
	}
	Captain struct {
		UserID idtype.DecimalID `gorm:"primaryKey;autoIncrement:false"` // by its name
		Ship   string
	}
	Ticket struct {
		OrderID idtype.Decimal[Ticket] `gorm:"primaryKey"` // its own, by its type
		Text    string
	}
	Untagged struct {
		UserID idtype.DecimalID `gorm:"primaryKey"` // by its name
		Text   string
	}
)

// A key of another model is not made up. The plugin refuses it when the model is migrated, unless a
// relation or the tag says who sets it. That is known by a relation, by the entity of its type, or
// by its name where the model of that name is known.
func testKeysOfOthers(t *testing.T, d database) {
	s := newSource()
	refused := func(db *gorm.DB, model any) {
		t.Helper()
		err := db.Create(model).Error
		var e *gormid.Error
		if !errors.As(err, &e) || !errors.Is(err, idtype.ErrZero) ||
			!strings.Contains(err.Error(), "leaves the key of another model alone") {
			t.Errorf("%T: error %v", model, err)
		}
	}
	db := d.open(t, gormid.Use(s))
	migrate(t, db, &Passenger{}, &Captain{}) // GORM knows no User yet
	refused(db, &Passenger{})
	migrate(t, db, append(allModels(), &Crewman{}, &Ticket{})...)
	for _, model := range []any{&Passenger{}, &Crewman{}, &Captain{}} {
		refused(db, model)
	}
	err := db.AutoMigrate(&Untagged{})
	if !errors.As(err, new(*gormid.Error)) || !strings.Contains(err.Error(),
		"its primary key UserID is the key of another model, by its type or its name") {
		t.Errorf("AutoMigrate: %v", err)
	}
	wantFills(t, s)
	must(t, db.Create(&Passenger{UserID: 5}))
	must(t, db.Create(&Ticket{}))
	wantFills(t, s, 1)

	other := d.open(t, gormid.Use(s))
	migrate(t, other, append([]any{&Crewman{}, &Captain{}}, allModels()...)...)
	refused(other, &Captain{})
}

// A library may make up a model, such as gormigrate's table, which is left to it.
func testModelsOfLibraries(t *testing.T, d database) {
	db := d.open(t, gormid.Use(newSource()))
	made := reflect.New(reflect.StructOf([]reflect.StructField{{
		Name: "ID", Type: reflect.TypeFor[string](), Tag: `gorm:"primaryKey;column:id;size:255"`,
	}}))
	try(t, db.Table("migrations").AutoMigrate(made.Interface()))
	made.Elem().Field(0).SetString("1")
	must(t, db.Table("migrations").Create(made.Interface()))
	wantColumn(t, db, "SELECT id FROM migrations", "1")
}

// Orders of a shop whose keys have the same form.
type (
	Basket struct {
		ID      idtype.Decimal[Basket]
		UserID  UserID
		OwnerID idtype.DecimalID
		Next    *idtype.Decimal[Basket]
	}
	WrongBasket struct {
		ID     idtype.Decimal[WrongBasket]
		UserID OrderID
		User   *User
	}
)

// An ID of another entity is refused, as a condition, as a value, and as a foreign key. An ID that
// names no entity fits all.
func testEntities(t *testing.T, d database) {
	db := d.open(t, gormid.Use(newSource()))
	migrate(t, db, append(allModels(), &Basket{})...)
	next := idtype.Decimal[Basket](6)
	must(t, db.Create(&Basket{ID: 7, UserID: 8, OwnerID: 9, Next: &next}))
	wrong, right := OrderID(7), idtype.DecimalID(7)
	where := func(query any, args ...any) error {
		return db.Where(query, args...).Delete(&Basket{}).Error
	}
	for name, err := range map[string]error{
		"First": db.First(&Basket{}, wrong).Error, "pointer": db.First(&Basket{}, &wrong).Error,
		"list": db.Find(&[]Basket{}, []OrderID{wrong}).Error, "Delete": db.Delete(&Basket{}, wrong).Error,
		"column": where("user_id", wrong), "map": where(M{"user_id": wrong}),
		"SQL": where("user_id = ?", wrong), "wrapper": where("next", nullOf(wrong)),
		"SQL, pointer": where("owner_id = 1 OR baskets.user_id <> ?", &wrong),
		"SQL, list":    where("user_id not in (?)", []OrderID{wrong}),
		"SQL, name":    where("(id=@id)", sql.Named("id", wrong)),
		"inline":       db.Delete(&Basket{}, "id = ?", wrong).Error,
		"Not":          db.Not("id", wrong).Delete(&Basket{}).Error,
		"Updates":      db.Model(&Basket{}).Where("id = ?", right).Updates(M{"user_id": wrong}).Error,
		"Create":       db.Model(&Basket{}).Create(M{"user_id": wrong}).Error,
		"BETWEEN":      where("id BETWEEN ? AND 9", wrong),
		"Expr": db.Model(&Basket{}).Where("id = ?", right).
			Updates(M{"user_id": gorm.Expr("?", wrong)}).Error,
	} {
		var e *gormid.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), " of type ") ||
			!strings.Contains(err.Error(), "does not fit: the field holds idtype.Decimal[") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	const subquery = "id NOT IN (SELECT id FROM orders WHERE id = ?)"
	for _, tx := range []*gorm.DB{
		db.Where("owner_id = ? AND user_id > ?", OrderID(9), right), db.Where("id = ?", nil),
		db.Where("user_id IN ?", []UserID{8}), db.Where(subquery, wrong), db.Where("7 = ?", wrong),
	} {
		must(t, tx.Find(&[]Basket{}))
	}
	var found Basket
	must(t, db.Where("owner_id", OrderID(9)).Where("user_id", idtype.DecimalID(8)).
		First(&found, right))
	wantColumn(t, db, "SELECT id FROM baskets", right)
	var e *gormid.Error
	if err := db.AutoMigrate(&WrongBasket{}); !errors.As(err, &e) || !strings.Contains(err.Error(),
		"relation User: WrongBasket.UserID of type idtype.Decimal[gorm_test.Order] cannot hold "+
			"User.ID of type idtype.Decimal[gorm_test.User]") {
		t.Errorf("error %v", err)
	}
}
