package gorm_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

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
