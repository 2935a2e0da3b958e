package gorm_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

func newShop(t *testing.T, d database) (*gorm.DB, *source) {
	t.Helper()
	s := newSource()
	db := d.open(t, gormid.Use(s))
	migrate(t, db, allModels()...)
	return db, s
}

// One Create stores the whole graph. Every row gets a key, and every foreign key is the key of the
// row that it refers to. The database enforces foreign keys, and agrees.
func testAssociations(t *testing.T, d database) {
	db, s := newShop(t, d)
	u := User{
		Name:    "u",
		Company: &Company{Name: "c"},
		Profile: &Profile{Bio: "p"},
		Orders: []Order{
			{Positions: []Position{{Text: "1"}, {Text: "2"}}, Notes: []Note{{Text: "on order"}}},
			{Positions: []Position{{Text: "3"}}},
		},
		Tags:    []*Tag{{Name: "a"}, {Name: "b"}},
		Friends: []*User{{Name: "f", Company: &Company{Name: "d"}}},
		Notes:   []Note{{Text: "on user"}},
		Manager: &User{Name: "m"},
		Team:    []User{{Name: "t"}},
	}
	must(t, db.Create(&u))
	for _, n := range s.asked() {
		if n < 1 {
			t.Error("Fill was called for no rows")
		}
	}
	wantMinted(t, u.ID, u.Manager.ID, u.Friends[0].ID, u.Team[0].ID)
	wantMinted(t, u.Orders[0].ID, u.Orders[1].ID)
	wantMinted(t, u.Orders[0].Positions[0].ID, u.Orders[0].Positions[1].ID,
		u.Orders[1].Positions[0].ID)
	wantMinted(t, u.Tags[0].ID, u.Tags[1].ID)

	wantColumn(t, db, "SELECT company_id FROM users WHERE name = 'u'", u.Company.ID)
	wantColumn(t, db, "SELECT id FROM companies WHERE name = 'c'", u.Company.ID)
	wantColumn(t, db, "SELECT user_id FROM profiles", u.ID)
	wantColumn(t, db, "SELECT user_id FROM orders", u.ID, u.ID)
	wantColumn(t, db, "SELECT order_id FROM positions ORDER BY text", u.Orders[0].ID,
		u.Orders[0].ID, u.Orders[1].ID)
	wantColumn(t, db, "SELECT owner_id FROM notes WHERE owner_type = 'users'", u.ID)
	wantColumn(t, db, "SELECT owner_id FROM notes WHERE owner_type = 'orders'", u.Orders[0].ID)
	wantColumn(
		t, db,
		"SELECT tag_id FROM user_tags WHERE user_id = (SELECT id FROM users WHERE name = 'u')",
		u.Tags[0].ID, u.Tags[1].ID,
	)
	wantColumn(t, db, "SELECT friend_id FROM user_friends", u.Friends[0].ID)
	wantColumn(t, db, "SELECT manager_id FROM users WHERE name = 'u'", u.Manager.ID)
	wantColumn(t, db, "SELECT manager_id FROM users WHERE name = 't'", u.ID)

	var back User
	must(t, db.Preload(clause.Associations).Preload("Orders.Positions").First(&back, u.ID))
	if back.Profile.UserID != u.ID || len(back.Orders) != 2 || len(back.Orders[0].Positions) != 2 ||
		len(back.Tags) != 2 || back.Manager.ID != u.Manager.ID {
		t.Errorf("read %+v", back)
	}
}

// The rows of one kind that belong to a slice are one statement, and one reservation.
func testAssociationsOfSlice(t *testing.T, d database) {
	db, s := newShop(t, d)
	company := &Company{Name: "shared"}
	users := []User{
		{Name: "a", Company: company, Orders: []Order{{}, {}}},
		{Name: "b", Company: company, Orders: []Order{{Positions: []Position{{}}}}},
		{Name: "c"},
	}
	must(t, db.Create(&users))
	wantFills(t, s, 3, 2, 3, 1) // users, the company twice, orders, lines
	wantColumn(t, db, "SELECT id FROM companies", company.ID)
	wantColumn(t, db, "SELECT count(*) FROM users WHERE company_id = (SELECT id FROM companies)", 2)
	wantColumn(t, db, "SELECT user_id FROM orders", users[0].ID, users[0].ID, users[1].ID)
}

// What comes as a map gets its key as well, and so does the row of the join table.
func testAssociationsOfMaps(t *testing.T, d database) {
	db, _ := newShop(t, d)
	u := User{Name: "u"}
	must(t, db.Create(&u))
	try(t, db.Model(&u).Association("Tags").Append(map[string]any{"name": "b"}))
	try(t, db.Model(&u).Association("Team").Append(map[string]any{"name": "t"}))
	wantMinted(t, column[UserID](t, db, "SELECT id FROM users")...)
	wantColumn(t, db, "SELECT tag_id FROM user_tags", u.Tags[0].ID)
	wantColumn(t, db, "SELECT name FROM users WHERE manager_id IS NOT NULL", "t")
}

// Membership is a join table with a key of its own.
type (
	Membership struct {
		ID      idtype.Decimal[Membership]
		UserID  UserID `gorm:"uniqueIndex:both"`
		GroupID idtype.Decimal[Group]
		Role    string `gorm:"default:guest"`
	}
	// Grant is a join table whose key is composite.
	Grant struct {
		GroupID idtype.Decimal[Group] `gorm:"primaryKey"`
		TagID   TagID                 `gorm:"primaryKey"`
		Role    string
	}
	Group struct {
		ID    idtype.Decimal[Group]
		Users []User `gorm:"many2many:memberships"`
		Tags  []Tag  `gorm:"many2many:grants"`
	}
)

func testCustomJoinTables(t *testing.T, d database) {
	db, s := newShop(t, d)
	for field, join := range map[string]any{"Users": &Membership{}, "Tags": &Grant{}} {
		try(t, db.SetupJoinTable(&Group{}, field, join))
	}
	migrate(t, db, &Group{}, &Membership{}, &Grant{})
	g := Group{Users: []User{{Name: "a"}, {Name: "b"}}, Tags: []Tag{{Name: "t"}}}
	must(t, db.Create(&g))
	wantMinted(t, column[idtype.Decimal[Membership]](t, db, "SELECT id FROM memberships")...)
	wantColumn(t, db, "SELECT user_id FROM memberships", g.Users[0].ID, g.Users[1].ID)
	wantColumn(t, db, "SELECT group_id FROM grants", g.ID)
	wantColumn(t, db, "SELECT tag_id FROM grants", g.Tags[0].ID)
	s.asked()

	// A join table's rows are created like others, and no part of a composite key is invented.
	late := User{Name: "late"}
	must(t, db.Create(&late))
	must(t, db.Create(&Membership{UserID: late.ID, GroupID: g.ID}))
	wantFills(t, s, 1, 1)
	err := db.Create(&Grant{GroupID: g.ID}).Error
	if !errors.Is(err, idtype.ErrZero) || !strings.Contains(err.Error(),
		"gorm_test.Grant (table grants): row 0: TagID of type idtype.Decimal[gorm_test.Tag] is "+
			"zero: it is part of a composite primary key") {
		t.Error(err)
	}
	wantFills(t, s)
}

type (
	Base struct {
		ID        idtype.DecimalID
		CreatedAt time.Time
		DeletedAt gorm.DeletedAt
	}
	Audited struct {
		Base
		By string
	}

	Anonymous struct {
		Base
		Name string
	}
	AnonymousPointer struct {
		*Base
		Name string
	}
	TwoLevels struct {
		Audited
		Name string
	}
	TwoLevelPointers struct {
		*TwoLevels
		Extra string
	}
	Tagged struct {
		Common Base `gorm:"embedded"`
		Name   string
	}
	TaggedPointer struct {
		Common *Base `gorm:"embedded"`
		Name   string
	}
	Prefixed struct {
		Common Base `gorm:"embedded;embeddedPrefix:base_"`
		Name   string
	}
)

func testEmbedded(t *testing.T, d database) {
	s := newSource()
	db := d.open(t, gormid.Use(s))
	for name, model := range map[string]any{
		"anonymous":           &Anonymous{},
		"nil pointer":         &AnonymousPointer{},
		"pointer":             &AnonymousPointer{Base: &Base{}, Name: "filled"},
		"two levels":          &TwoLevels{},
		"two levels, pointer": &TwoLevelPointers{},
		"tag":                 &Tagged{},
		"tag, nil pointer":    &TaggedPointer{},
		"prefix":              &Prefixed{},
	} {
		t.Run(name, func(t *testing.T) {
			migrate(t, db, model)
			sc := must(t, db.Create(model)).Statement.Schema
			wantFills(t, s, 1)
			key := sc.PrioritizedPrimaryField
			id, _ := key.ValueOf(t.Context(), reflect.ValueOf(model))
			wantMinted(t, id.(idtype.DecimalID))
			wantColumn(t, db, "SELECT "+key.DBName+" FROM "+sc.Table, id.(idtype.DecimalID))
			empty(t, db, sc.Table)
		})
	}

	t.Run("set", func(t *testing.T) {
		set := []AnonymousPointer{
			{Base: &Base{ID: 5}, Name: "set"},
			{Name: "set"},
			{Base: &Base{}, Name: "set"},
		}
		must(t, db.Create(&set))
		wantFills(t, s, 2)
		wantMinted(t, set[1].ID, set[2].ID)
		wantColumn(t, db, "SELECT id FROM anonymous_pointers WHERE name = 'set'", 5, set[1].ID,
			set[2].ID)
	})
	t.Run("map", func(t *testing.T) {
		m := map[string]any{"ID": 0, "name": "map"}
		must(t, db.Model(&Prefixed{}).Create(m))
		wantFills(t, s, 1)
		wantColumn(t, db, "SELECT base_id FROM prefixeds WHERE name = 'map'",
			m["base_id"].(idtype.DecimalID))
	})
	t.Run("failure", func(t *testing.T) {
		s.err = errors.New("away")
		defer func() { s.err = nil }()
		rows := []AnonymousPointer{{}, {Base: &Base{}}}
		if err := db.Create(&rows).Error; !errors.Is(err, s.err) {
			t.Fatal(err)
		}
		if rows[0].Base != nil || rows[1].ID != 0 {
			t.Errorf("changed: %v", rows)
		}
	})
}

// Twice gives a model two fields named ID; GORM takes the last one for the primary key, and the
// other is a plain column.
type Twice struct {
	A Base `gorm:"embedded;embeddedPrefix:a_"`
	B Base `gorm:"embedded;embeddedPrefix:b_"`
}

func testTwoKeysEmbedded(t *testing.T, d database) {
	db := d.open(t, gormid.Use(newSource()))
	migrate(t, db, &Twice{})
	row := Twice{A: Base{ID: 5}}
	must(t, db.Create(&row))
	wantMinted(t, row.B.ID)
	wantColumn(t, db, "SELECT b_id FROM twices WHERE a_id = 5", row.B.ID)

	err := db.Create(&Twice{}).Error
	if !errors.Is(err, idtype.ErrZero) || !strings.Contains(err.Error(),
		"gorm_test.Twice (table twices): row 0: A.ID (column a_id) of type idtype.DecimalID "+
			"is zero") {
		t.Error(err)
	}
}

type (
	PointerKey struct {
		ID   *idtype.DecimalID
		Name string
	}
	TypedPointerKey struct {
		Code *idtype.Decimal[TypedPointerKey] `gorm:"primaryKey"`
		Name string
	}
	OwnName struct {
		OwnNameID idtype.DecimalID `gorm:"primaryKey"`
	}
	OtherColumn struct {
		ID idtype.DecimalID `gorm:"column:customer_id"`
	}
	IntegerKey struct {
		ID   idtype.DecimalID `gorm:"type:integer"`
		Name string
	}
)

func testKeyTypes(t *testing.T, d database) {
	s := newSource()
	db := d.open(t, gormid.Use(s))
	migrate(t, db, &PointerKey{}, &TypedPointerKey{}, &OwnName{}, &OtherColumn{})

	shared, five := new(idtype.DecimalID), idtype.DecimalID(5)
	pointers := []PointerKey{{}, {ID: shared}, {ID: shared}, {ID: &five}}
	must(t, db.Create(&pointers))
	wantFills(t, s, 3)
	wantMinted(t, *pointers[0].ID, *pointers[1].ID, *pointers[2].ID)
	wantColumn(t, db, "SELECT id FROM pointer_keys", *pointers[0].ID, *pointers[1].ID,
		*pointers[2].ID, 5)

	var typedPointer TypedPointerKey
	must(t, db.Create(&typedPointer))
	wantColumn(t, db, "SELECT code FROM typed_pointer_keys", *typedPointer.Code)
	var own OwnName
	must(t, db.Create(&own))
	wantColumn(t, db, "SELECT own_name_id FROM own_names", own.OwnNameID)
	var other OtherColumn
	must(t, db.Create(&other))
	wantColumn(t, db, "SELECT customer_id FROM other_columns", other.ID)
}
