package gorm_test

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

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
	db := d.open(t, newSchemes().rules()...)
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
