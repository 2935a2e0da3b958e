package gorm_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

type (
	// Passport's key is a foreign key by a relation of its own.
	Passport struct {
		HolderID UserID `gorm:"primaryKey"`
		Holder   *User
	}
	// Badge's key is a foreign key by a relation of Guard only, and its name does not say so.
	Badge struct {
		ID   idtype.Decimal[Guard]
		Text string
	}
	Guard struct {
		ID    idtype.Decimal[Guard]
		Badge *Badge `gorm:"foreignKey:ID"`
	}
	PointerProfile struct {
		UserID *UserID `gorm:"primaryKey"`
		Bio    string
	}
	OldSpelling struct {
		UserId UserID `gorm:"primaryKey"`
	}
)

func testForeignKeysAreNotInvented(t *testing.T, d database) {
	s := newSource()
	db := d.open(t, gormid.Use(s), gormid.Lenient())
	migrate(t, db, allModels()...)
	migrate(t, db, &Passport{}, &Guard{}, &Badge{}, &PointerProfile{}, &OldSpelling{})
	const profile = "Profile (table profiles): row 0: UserID"
	for name, test := range map[string]struct {
		model, dest any
		row         string
	}{
		"relation elsewhere": {nil, &Profile{}, profile},
		"own relation":       {nil, &Passport{}, "Passport (table passports): row 0: HolderID"},
		"plain name":         {nil, &Badge{}, "Badge (table badges): row 0: ID"},
		"name only":          {nil, &OldSpelling{}, "OldSpelling (table old_spellings): row 0: UserId"},
		"pointer": {
			nil, &PointerProfile{}, "PointerProfile (table pointer_profiles): row 0: UserID",
		},
		"slice": {nil, []*Profile{{UserID: 5}, {}}, "Profile (table profiles): row 1: UserID"},
		"map":   {&Profile{}, M{"bio": "b"}, profile},
	} {
		t.Run(name, func(t *testing.T) {
			tx := db
			if test.model != nil {
				tx = db.Model(test.model)
			}
			err := tx.Create(test.dest).Error
			var typed *gormid.Error
			if !errors.Is(err, idtype.ErrZero) || !errors.As(err, &typed) ||
				!strings.HasPrefix(err.Error(), "gormid: gorm_test."+test.row+" of type ") ||
				!strings.Contains(err.Error(), " is zero: ") {
				t.Errorf("error %v", err)
			}
			wantFills(t, s)
		})
	}
	wantColumn[int](t, db, "SELECT 1 FROM profiles UNION ALL SELECT 1 FROM pointer_profiles")

	// With the row that it refers to, all is well.
	p := Passport{Holder: &User{Name: "h"}}
	must(t, db.Create(&p))
	wantColumn(t, db, "SELECT holder_id FROM passports", p.Holder.ID)
	g := Guard{Badge: &Badge{Text: "b"}}
	must(t, db.Create(&g))
	wantColumn(t, db, "SELECT id FROM badges", g.ID)
}

// Pass's key names its model and no entity.
type (
	Pass struct {
		VisitorID idtype.DecimalID `gorm:"primaryKey"`
	}
	Visitor struct {
		ID   idtype.Decimal[Visitor]
		Pass *Pass
	}
)

// A relation may come to be known after its foreign key was used. It is asked for before, if the
// key's type is for another entity. Nothing says so of a key for any entity.
func testForeignKeyKnownLater(t *testing.T, d database) {
	for _, test := range []struct {
		one, other any
		refused    bool // the one alone
	}{
		{&Badge{}, &Guard{}, true}, {&Pass{}, &Visitor{}, false},
	} {
		s := newSource()
		for _, rules := range [][]gormid.Rule{{gormid.Use(s)}, {gormid.Use(s), gormid.Lenient()}} {
			db := d.open(t, rules...)
			if test.refused && len(rules) == 1 {
				for call, err := range map[string]error{
					"AutoMigrate": db.AutoMigrate(test.one), "Create": db.Create(test.one).Error,
				} {
					var e *gormid.Error
					if !errors.As(err, &e) || !strings.Contains(err.Error(), "for another entity") {
						t.Errorf("%s of %T: error %v", call, test.one, err)
					}
				}
			} else {
				migrate(t, db, test.one)
				must(t, db.Create(newRow(test.one))) // nothing says that this is wrong
				wantFills(t, s, 1)
				must(t, db.Where("1 = 1").Delete(test.one))
			}
			migrate(t, db, test.other)
			migrate(t, db, test.one)
			wantNotInvented(t, db, test.one)
		}
		for _, models := range [][]any{{test.one, test.other}, {test.other, test.one}} {
			db := d.open(t, gormid.Use(s))
			migrate(t, db, models...)
			wantNotInvented(t, db, test.one)
		}
		wantFills(t, s)
	}
	db := d.open(t, gormid.Use(newSource()).For(&Badge{}))
	migrate(t, db, &Badge{})
	must(t, db.Create(&Badge{}))
}

func newRow(model any) any { return reflect.New(reflect.TypeOf(model).Elem()).Interface() }

func wantNotInvented(t *testing.T, db *gorm.DB, model any) {
	t.Helper()
	if err := db.Create(newRow(model)).Error; !errors.Is(err, idtype.ErrZero) {
		t.Errorf("%T: error %v, want ErrZero", model, err)
	}
}

func testForAssignsForeignKeys(t *testing.T, d database) {
	s := newSource()
	config := &gorm.Config{DisableForeignKeyConstraintWhenMigrating: true}
	db := openWith(t, d.dialector(t), config, gormid.Use(s).For(&Profile{}, &Passport{}),
		gormid.Use(newSource()))
	migrate(t, db, &Company{}, &User{}, &Profile{}, &Passport{})
	p := Profile{}
	must(t, db.Create(&p))
	wantFills(t, s, 1)
	wantColumn(t, db, "SELECT user_id FROM profiles", p.UserID)
	// A relation still has the last word.
	q := Passport{Holder: &User{Name: "h"}}
	must(t, db.Create(&q))
	wantColumn(t, db, "SELECT holder_id FROM passports", q.Holder.ID)
}

// Zero in a foreign key that is no primary key is an error as well, which names it once. What Select
// and Omit take out is not to blame.
func testZeroForeignKey(t *testing.T, d database) {
	db, _ := newShop(t, d)
	migrate(t, db, &Passport{})
	u := User{Name: "u"}
	must(t, db.Create(&u))
	must(t, db.Create(&Tag{Name: "a"}))
	zero := UserID(0)
	two := func() *User { return &User{ManagerID: &zero, CompanyID: new(CompanyID)} }
	const user = " of type idtype.Decimal[gorm_test.User] is zero: set it to the ID of an existing " +
		"User (if the User met a conflict, look it up first)"
	const order = "gormid: gorm_test.Order (table orders): row 1: UserID" + user
	manager := "row 0: ManagerID" + strings.Replace(user, "type ", "type *", 1) + ", or to nil for NULL"
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"a struct": {db.Create(&[]Order{{UserID: u.ID}, {}}).Error, order + ifOptional},
		"a map": {
			db.Model(&Order{}).Create([]M{{"user_id": u.ID}, {"user_id": zero}}).Error,
			"row 1: UserID of type idtype.Decimal[gorm_test.User] is zero: set it, or give nil for NULL",
		},
		"a pointer":      {db.Create(&User{ManagerID: &zero}).Error, manager},
		"an association": {db.Create(&Passport{Holder: &User{ManagerID: &zero}}).Error, manager},
		"beside Omit":    {db.Omit("CompanyID").Create(two()).Error, manager},
		"beside Select":  {db.Select("ManagerID").Create(two()).Error, manager},
	} {
		if !errors.Is(test.err, idtype.ErrZero) || !strings.Contains(test.err.Error(), test.want) ||
			strings.Count(test.err.Error(), "gormid:") != 1 {
			t.Errorf("%s: error %v\nwant %s", name, test.err, test.want)
		}
	}
	wantColumn(t, db, "SELECT count(*) FROM orders", 0)

	// A join table that GORM made up has no name but the table's. What it refers to met a conflict.
	err := db.Create(&User{Name: "v", Tags: []*Tag{{Name: "a"}}}).Error
	const join = "gormid: table user_tags: row 0: TagID of type idtype.Decimal[gorm_test.Tag] is zero: "
	if d.returnsKnown() != (err == nil) ||
		err != nil && (!errors.Is(err, idtype.ErrZero) || !strings.HasPrefix(err.Error(), join)) {
		t.Error(err)
	}
}

type (
	PlainInt struct {
		ID   uint
		Name string
	}
	PlainText struct {
		ID   string
		Name string
	}
	// Numbered has an integer of the app's own, which the database is to number: the tag says so.
	Numbered struct {
		ID number `gorm:"autoIncrement"`
	}
	number    int64
	Composite struct {
		ID     idtype.DecimalID `gorm:"primaryKey"`
		Tenant idtype.DecimalID `gorm:"primaryKey"`
	}
	ReadOnly struct {
		ID   idtype.DecimalID `gorm:"->"`
		Name string
	}
	ByDatabase struct {
		ID idtype.SequenceID `gorm:"type:integer;autoIncrement"`
	}
	OrZeroKey struct {
		ID idtype.OrZero[idtype.DecimalID] `gorm:"primaryKey"`
	}
	Keyless struct{ Name string }
)

func testOtherKeysAreLeftAlone(t *testing.T, d database) {
	s := newSource()
	db := d.open(t, gormid.Use(s), gormid.Lenient())
	migrate(t, db, &PlainInt{}, &PlainText{}, &Numbered{}, &Composite{}, &ReadOnly{}, &ByDatabase{},
		&OrZeroKey{}, &Keyless{})
	plain := []PlainInt{{}, {}}
	must(t, db.Create(&plain))
	must(t, db.Create(&PlainText{ID: "x"}))
	var numbered Numbered
	must(t, db.Create(&numbered))
	var byDatabase ByDatabase
	must(t, db.Create(&byDatabase))
	if err := db.Create(&ReadOnly{Name: "r"}).Error; err == nil ||
		!strings.Contains(err.Error(), "NOT NULL") {
		t.Errorf("a row without its key: %v", err)
	}
	must(t, db.Create(&OrZeroKey{}))
	must(t, db.Create(&Keyless{}))
	if plain[1].ID != 2 || numbered.ID != 1 || byDatabase.ID != 1 {
		t.Errorf("got %v, %v, %v", plain, numbered, byDatabase)
	}
	for _, c := range []Composite{{}, {ID: 5}, {Tenant: 5}} {
		if err := db.Create(&c).Error; !errors.Is(err, idtype.ErrZero) {
			t.Errorf("%v: error %v, want ErrZero", c, err)
		}
	}
	must(t, db.Create(&Composite{ID: 5, Tenant: 6}))
	wantFills(t, s)
	if err := db.Clauses(clause.OnConflict{UpdateAll: true}).
		Create(&Composite{ID: 5, Tenant: 6}).Error; err != nil {
		t.Error(err)
	}
}
