package gorm_test

import (
	"context"
	"encoding/binary"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// event has a key of any scheme and storage form.
type event[K idtype.ID] struct {
	ID   K
	Name string `gorm:"unique"`
}

func (event[K]) TableName() string { return "events" }

func made[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// ruleOf is a general rule for a type, whose source counts.
func ruleOf[T idtype.ID]() gormid.Rule { return gormid.Use(&counting[T]{}) }

type counting[T idtype.ID] struct{ last atomic.Uint64 }

func (c *counting[T]) Fill(_ context.Context, dst []T) (int, error) {
	for i := range dst {
		b := idtype.AppendBytes(nil, *new(T))
		binary.BigEndian.PutUint64(b, 1<<40|c.last.Add(1))
		dst[i] = made(idtype.FromBytes[T](b))
	}
	return len(dst), nil
}

type anyRule = gormid.Rule

//idmint:schemes rules []anyRule: ruleOf[idtype.TYPE]()

// A keyTest has the tests of a type of keys.
type keyTest struct {
	name       string
	columns    func(*testing.T, database)
	matrix     func(*testing.T, setting, outcomes) int
	clickHouse func(*testing.T, map[string]string) int
}

//idmint:keys keyTests []keyTest: {NAME, testColumn[KEY[entity]], runMatrix[KEY[any]], clickHouse[KEY[any]]}

type entity struct{}

// checkUpserts: a map gets its key, and after an upsert the struct holds the key that is stored, or
// none.
func checkUpserts[K idtype.ID](t *testing.T, d database, db *gorm.DB) {
	migrate(t, db, &event[K]{})
	bob, m, again := event[K]{Name: "bob"}, M{"name": "dan"}, event[K]{Name: "bob"}
	must(t, db.Create(&bob))
	must(t, db.Model(&event[K]{}).Create(m))
	must(t, db.Clauses(updateOnName).Create(&again))
	both := []event[K]{{Name: "bob"}, {Name: "eve"}}
	must(t, db.Clauses(doNothing).Create(both))
	isKnown := both[0].ID == bob.ID
	if again.ID != bob.ID || !both[0].ID.IsZero() && (!d.returnsKnown() || !isKnown) {
		t.Errorf("upserts over %v left the keys %v and %v", bob.ID, again.ID, both[0].ID)
	}
	var count int64
	three := []K{m["id"].(K), both[1].ID, bob.ID}
	must(t, db.Model(&event[K]{}).Where("id IN ?", three).Count(&count))
	if count != 3 {
		t.Errorf("found %d rows of %v", count, three)
	}
}

// A small shop, with a relation of each kind and a key type per entity. ManagerID has UserID's long
// name: Go 1.25 does not compile *UserID there. docs/reference/versions.md says why.
type (
	CompanyID = idtype.Decimal[Company]
	UserID    = idtype.Decimal[User]
	OrderID   = idtype.Decimal[Order]
	TagID     = idtype.Decimal[Tag]

	Company struct {
		ID   CompanyID
		Name string `gorm:"unique"`
	}
	User struct {
		ID        UserID
		Name      string
		CompanyID *CompanyID // belongs to
		Company   *Company
		Profile   *Profile              // has one
		Orders    []Order               // has many
		Tags      []*Tag                `gorm:"many2many:user_tags"`
		Friends   []*User               `gorm:"many2many:user_friends"`
		Notes     []Note                `gorm:"polymorphic:Owner"`
		ManagerID *idtype.Decimal[User] // self-referencing
		Manager   *User
		Team      []User `gorm:"foreignKey:ManagerID"`
	}
	// Profile's primary key is a foreign key.
	Profile struct {
		UserID UserID `gorm:"primaryKey"`
		Bio    string
	}
	Order struct {
		ID        OrderID
		UserID    UserID
		Positions []Position
		Notes     []Note `gorm:"polymorphic:Owner"`
		DeletedAt gorm.DeletedAt
	}
	Position struct {
		ID      idtype.Decimal[Position]
		OrderID OrderID
		Text    string
	}
	Tag struct {
		ID   TagID
		Name string `gorm:"unique"`
	}
	Note struct {
		ID        idtype.Decimal[Note]
		OwnerID   idtype.DecimalID
		OwnerType string
		Text      string
	}
)

func allModels() []any {
	return []any{&Company{}, &User{}, &Profile{}, &Order{}, &Position{}, &Tag{}, &Note{}}
}

// Author and Book are two entities without anything else.
type (
	Author struct {
		ID    idtype.Decimal[Author]
		Name  string `gorm:"unique"`
		Books []Book
	}
	Book struct {
		ID       idtype.Decimal[Book]
		AuthorID idtype.Decimal[Author]
		Title    string
	}
)
