package gorm_test

import (
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"gorm.io/gorm"

	"github.com/idmint/idmint/idtype"
)

// GORM names the fields of a join table after the models, and a generic type's name is no name of a
// field. So the models of many2many stand here once per type of key. Each has a join table of its
// own, with a key of two parts and a column more.
type (
	intMember struct {
		ID     int64
		Name   string
		Badges []intBadge `gorm:"many2many:badged"`
	}
	intBadge struct {
		ID   int64
		Name string `gorm:"unique"`
	}
	intBadged struct {
		IntMemberID int64  `gorm:"primaryKey"`
		IntBadgeID  int64  `gorm:"primaryKey"`
		Color       string `gorm:"default:red"`
	}

	snoMember struct {
		ID     idtype.Sno[snoMember]
		Name   string
		Badges []snoBadge `gorm:"many2many:badged"`
	}
	snoBadge struct {
		ID   idtype.Sno[idtype.AsUUID[snoBadge]]
		Name string `gorm:"unique"`
	}
	snoBadged struct {
		SnoMemberID idtype.Sno[snoMember]               `gorm:"primaryKey"`
		SnoBadgeID  idtype.Sno[idtype.AsUUID[snoBadge]] `gorm:"primaryKey"`
		Color       string                              `gorm:"default:red"`
	}

	textMember struct {
		ID     idtype.Sno[idtype.AsText[textMember]]
		Name   string
		Badges []textBadge `gorm:"many2many:badged"`
	}
	textBadge struct {
		ID   idtype.Short[textBadge]
		Name string `gorm:"unique"`
	}
	textBadged struct {
		TextMemberID idtype.Sno[idtype.AsText[textMember]] `gorm:"primaryKey"`
		TextBadgeID  idtype.Short[textBadge]               `gorm:"primaryKey"`
		Color        string                                `gorm:"default:red"`
	}
)

func TestMatrixMany2Many(t *testing.T) {
	for _, s := range settings() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			want := badges[intMember, intBadge, intBadged](t, s)
			for name, got := range map[string]string{
				"sno, as bytes and UUID": badges[snoMember, snoBadge, snoBadged](t, s),
				"sno as text, and short": badges[textMember, textBadge, textBadged](t, s),
			} {
				if got != want {
					t.Errorf("%s:\n%s\nan int64 has\n%s", name, got, want)
				}
			}
		})
	}
}

// badges does what is done with many2many, and tells what there is after each step.
func badges[M, B, J any](t *testing.T, s setting) (log string) {
	t.Helper()
	db := connect(t, s)
	try(t, db.SetupJoinTable(new(M), "Badges", new(J)))
	try(t, db.AutoMigrate(new(M), new(B), new(J)))
	member := func(name string, badges ...string) *M {
		m := new(M)
		v := reflect.ValueOf(m).Elem()
		v.FieldByName("Name").SetString(name)
		for _, badge := range badges {
			b := new(B)
			reflect.ValueOf(b).Elem().FieldByName("Name").SetString(badge)
			v.FieldByName(
				"Badges").Set(reflect.Append(v.FieldByName("Badges"), reflect.ValueOf(b).Elem()))
		}
		return m
	}
	load := func(name string) *M {
		m := new(M)
		made(0, db.Preload("Badges").First(m, "name = ?", name).Error)
		return m
	}
	of := func(m *M) *[]B {
		return reflect.ValueOf(m).Elem().FieldByName("Badges").Addr().Interface().(*[]B)
	}
	tell := func(step string, err error) {
		log += fmt.Sprintf("%s: %t", step, err == nil)
		var members []M
		if err := db.Preload("Badges", func(db *gorm.DB) *gorm.DB {
			return db.Order("name")
		}).Order("name").Find(&members).Error; err != nil {
			t.Fatal(err)
		}
		for i := range members {
			log += fmt.Sprintf(" %v", reflect.ValueOf(members[i]).FieldByName("Name"))
			for _, b := range *of(&members[i]) {
				log += fmt.Sprintf("-%v", reflect.ValueOf(b).FieldByName("Name"))
			}
		}
		var colors []sql.NullString
		try(t, db.Model(new(J)).Pluck("color", &colors).Error)
		log += fmt.Sprintf(" %d labels, %d badges\n", len(colors), made(count[B](db)))
	}
	tell("create", db.Create([]*M{member("ann", "blue", "tall"), member("bob", "red")}).Error)
	tell("create another", db.Create(member("cem", "new")).Error)
	ann, bob := load("ann"), load("bob")
	tell("append one that is there", db.Model(bob).Association("Badges").Append(&(*of(ann))[0]))
	tell("append again", db.Model(bob).Association("Badges").Append(&(*of(ann))[0]))
	tell("save", db.Save(load("ann")).Error)
	tell("delete", db.Model(ann).Association("Badges").Delete(&(*of(ann))[0]))
	log += fmt.Sprintf("%d left, %d counted\n", len(*of(ann)),
		db.Model(bob).Association("Badges").Count())
	tell("replace", db.Model(bob).Association("Badges").Replace(of(member("", "fresh"))))
	one := slices.Clone(*of(load("bob")))
	id := reflect.ValueOf(one[0]).FieldByName("ID").Interface()
	var found []B
	err := db.Model(bob).Association("Badges").Find(&found, id)
	log += fmt.Sprintf("found %d, %v\n", len(found), err)
	tell("select, delete", db.Select("Badges").Delete(load("bob")).Error)
	tell("clear", db.Model(ann).Association("Badges").Clear())
	tell("delete one that is referred to", db.Delete(load("cem")).Error)
	return log
}

func count[T any](db *gorm.DB) (n int64, err error) {
	err = db.Model(new(T)).Count(&n).Error
	return n, err
}
