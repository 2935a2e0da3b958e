package gorm_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

// Models that GORM would store wrongly without a word.
type (
	NotAlias struct {
		ID notAlias
	}
	notAlias idtype.DecimalID

	TextOwner struct {
		ID    idtype.Decimal[TextOwner]
		Notes []TextNote `gorm:"polymorphic:Owner"`
	}
	TextNote struct {
		ID        idtype.Decimal[TextNote]
		OwnerID   string
		OwnerType string
	}

	NullTextChild struct {
		ID       idtype.EightByte[NullTextChild]
		ParentID sql.NullString
		Parent   BytesParent
	}
	BytesParent struct {
		ID idtype.EightByte[BytesParent]
	}

	NarrowChild struct {
		ID       idtype.Trace[NarrowChild]
		ParentID int32
		Parent   NarrowParent
	}
	NarrowParent struct {
		ID idtype.Trace[NarrowParent]
	}

	MixedParent struct {
		ID idtype.Sno[idtype.AsText[MixedParent]]
	}
	MixedChild struct {
		ID       idtype.SnoID
		ParentID idtype.SnoID
		Parent   MixedParent
	}

	TextKeyed struct {
		ID string
	}
	RefersToText struct {
		ID          idtype.SequenceID
		TextKeyedID idtype.SequenceID
		TextKeyed   TextKeyed
	}

	DefinedChild struct {
		ID       idtype.DecimalID
		ParentID notAlias
		Parent   *DefinedParent
	}
	DefinedParent struct {
		ID idtype.DecimalID
	}

	TaggedText struct {
		ID idtype.DecimalID `gorm:"type:varchar(20)"`
	}
	TaggedUUID struct {
		ID idtype.SnoID `gorm:"type:uuid"`
	}
)

// Models that look alike, and are right.
type (
	Wide struct {
		ID     idtype.Short[Wide]
		Wide1s []Wide1
		Wide2s []Wide2
		Wide3s []Wide3
		Wide4s []Wide4
	}
	Wide1 struct {
		ID     idtype.DecimalID
		WideID int64
	}
	Wide2 struct {
		ID     idtype.DecimalID
		WideID sql.NullInt64
	}
	Wide3 struct {
		ID     idtype.DecimalID
		WideID *idtype.DecimalID
	}
	Wide4 struct {
		ID     idtype.DecimalID
		WideID sqlid.Null[idtype.Short[Wide]]
	}
	TextsParent struct {
		ID       idtype.Sno[idtype.AsText[TextsParent]]
		Children []TextsChild `gorm:"foreignKey:ParentID"`
	}
	TextsChild struct {
		ID       idtype.Sno[idtype.AsText[TextsChild]]
		ParentID string
	}
)

func testRefusedModels(t *testing.T, d database) {
	for _, test := range []struct {
		model any
		want  string
	}{
		{&NotAlias{}, "the primary key ID is of type gorm_test.notAlias, which has no methods"},
		{
			&TextOwner{},
			"relation Notes: TextNote.OwnerID of type string cannot hold TextOwner.ID of type " +
				"idtype.Decimal",
		},
		{
			&NullTextChild{},
			"relation Parent: NullTextChild.ParentID of type sql.NullString cannot hold " +
				"BytesParent.ID",
		},
		{
			&NarrowChild{},
			"relation Parent: NarrowChild.ParentID of type int32 cannot hold NarrowParent.ID",
		},
		{&MixedChild{}, "relation Parent: MixedChild.ParentID of type idtype.Sno"},
		{&RefersToText{}, "relation TextKeyed: RefersToText.TextKeyedID of type idtype.Sequence"},
		{
			&DefinedChild{},
			"relation Parent: DefinedChild.ParentID of type gorm_test.notAlias cannot hold " +
				"DefinedParent.ID",
		},
		{&TaggedText{}, "ID, whose IDs are stored as bigint, is tagged type:varchar(20)"},
		{&TaggedUUID{}, "ID, whose IDs are stored as bytes, is tagged type:uuid: declare the key with"},
	} {
		db := d.open(t, rules...)
		for name, err := range map[string]error{
			"AutoMigrate": db.AutoMigrate(test.model),
			"CreateTable": db.Migrator().CreateTable(test.model),
			"Create":      db.Create(test.model).Error,
			"First":       db.First(test.model).Error,
			"Rows":        errorOf(db.Model(test.model).Rows()),
			"Update":      db.Model(test.model).Where("1 = 1").Update("id", 5).Error,
			"Delete":      db.Where("1 = 1").Delete(test.model).Error,
		} {
			var e *gormid.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v\nwant %s", name, err, test.want)
			}
		}
		if tables := column[string](t, db, "SELECT name FROM sqlite_master"); len(tables) != 0 {
			t.Errorf("%T: tables %v were made", test.model, tables)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

func testModelsOfTheSameForm(t *testing.T, d database) {
	db := d.open(t, rules...)
	migrate(t, db, &Wide{}, &Wide1{}, &Wide2{}, &Wide3{}, &Wide4{}, &TextsParent{}, &TextsChild{})
	w := Wide{
		Wide1s: make([]Wide1, 2), Wide2s: make([]Wide2, 1), Wide3s: make([]Wide3, 1),
		Wide4s: make([]Wide4, 1),
	}
	must(t, db.Create(&w))
	var back Wide
	must(t, db.Preload("Wide1s").Preload("Wide2s").Preload("Wide3s").Preload("Wide4s").
		First(&back, w.ID))
	if len(back.Wide1s) != 2 || len(back.Wide2s) != 1 || len(back.Wide3s) != 1 ||
		len(back.Wide4s) != 1 || back.Wide4s[0].WideID.V != w.ID {
		t.Errorf("read %+v", back)
	}
	p := TextsParent{Children: make([]TextsChild, 2)}
	must(t, db.Create(&p))
	var parent TextsParent
	must(t, db.Preload("Children").First(&parent, p.ID))
	if len(parent.Children) != 2 || parent.Children[0].ParentID != p.ID.String() {
		t.Errorf("read %+v", parent)
	}
}

// A relation that another model brings is looked at as well.
func testRefusedRelationOfAnother(t *testing.T, d database) {
	db := d.open(t, rules...)
	type Loose struct {
		ID      idtype.DecimalID
		OwnerID string
	}
	migrate(t, db, &Loose{})
	var e *gormid.Error
	if err := db.AutoMigrate(&struct {
		gorm.DeletedAt
		ID     idtype.DecimalID
		Looses []Loose `gorm:"foreignKey:OwnerID"`
	}{}); !errors.As(err, &e) || !strings.Contains(err.Error(),
		"Loose.OwnerID of type string cannot hold") {
		t.Error(err)
	}
}
