package gorm_test

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

// Models that are refused, and models that are taken.
type (
	Forgotten struct {
		ID idtype.Trace[Forgotten]
	}
	ByTheDatabase struct {
		gorm.Model
		Name string
	}
	Named struct {
		Name string `gorm:"primaryKey"`
	}
	NeverWritten struct {
		ID idtype.Decimal[NeverWritten] `gorm:"<-:false"`
	}

	OnPurpose struct {
		ID uint `gorm:"autoIncrement"`
	}
	NamedOnPurpose struct {
		Name string `gorm:"primaryKey;autoIncrement:false"`
	}
	Covered struct {
		ID     idtype.Decimal[Covered]
		Tags   []Covered `gorm:"many2many:covered_tags"`
		Detail CoveredDetail
	}
	CoveredDetail struct {
		CoveredID idtype.Decimal[Covered] `gorm:"primaryKey"`
		Text      string
	}
	Pair struct {
		Left  uint `gorm:"primaryKey;autoIncrement:false"`
		Right uint `gorm:"primaryKey;autoIncrement:false"`
	}
	NoKey struct {
		Name string
	}
	ByModel struct {
		ID idtype.Trace[ByModel]
	}
)

// PartOfCovered is read into, as by GROUP BY, before GORM has seen Covered.
type PartOfCovered struct {
	ID idtype.Decimal[Covered]
	N  int
}

// testUnassigned: a key that nobody assigns is an error as soon as rows or a table are made. Lenient
// leaves it to GORM.
func testUnassigned(t *testing.T, d database) {
	rules := []gormid.Rule{gormid.Use(newSource())}
	lax := d.open(t, append(rules, gormid.Lenient())...)
	for model, reason := range map[any]string{
		&Forgotten{}: "gormid: gorm_test.Forgotten (table forgottens): no rule assigns its primary " +
			"key ID: give gormid.New the rule Use(gen), with a generator of trace IDs, or tag the " +
			"key with autoIncrement:false if the app sets it",
		&ByTheDatabase{}: "gormid: gorm_test.ByTheDatabase (table by_the_databases): its primary key ID of type uint " +
			"is not an ID: declare it with a type of package idtype, or tag the key with autoIncrement " +
			"or autoIncrement:false if that is intended, or give gormid.New the rule Lenient()",
		&Named{}:        "its primary key Name of type string is not an ID",
		&NeverWritten{}: "its primary key ID is never written: its tag forbids it, or tag the key",
		&NotAlias{}:     "which has no methods",
	} {
		db := d.open(t, rules...)
		for call, err := range map[string]error{
			"AutoMigrate": db.AutoMigrate(model),
			"Create":      db.Create(model).Error,
			"Save":        db.Save(model).Error,
		} {
			var refused *gormid.Error
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), reason) {
				t.Errorf("%T, %s: %v, want %q", model, call, err, reason)
			}
		}
		if _, defined := model.(*NotAlias); !defined {
			if err := lax.AutoMigrate(model); err != nil {
				t.Errorf("%T, lenient: %v", model, err)
			}
		}
	}
	gen, err := generator.NewTrace(generator.Given(7), nil)
	try(t, err)
	traces := gormid.Use(gen).For(&ByModel{})
	db := d.open(t, append(rules, traces)...)
	for _, model := range []any{
		&Covered{}, &CoveredDetail{}, &OnPurpose{}, &NamedOnPurpose{}, &Pair{}, &NoKey{}, &ByModel{},
	} {
		if err := db.AutoMigrate(model); err != nil {
			t.Errorf("%T: %v", model, err)
		}
	}
	const ofCovered = "SELECT id, count(*) AS n FROM covereds GROUP BY id"
	other := d.open(t, rules...)
	must(t, other.Exec("CREATE TABLE covereds (id bigint)"))
	must(t, other.Raw(ofCovered).Find(&[]PartOfCovered{}))
	must(t, other.Table("covereds").Find(&[]PartOfCovered{}))
	if err := other.Create(&PartOfCovered{}).Error; !errors.As(err, new(*gormid.Error)) {
		t.Errorf("rows of a part: %v", err)
	}
	row := Covered{Tags: []Covered{{}}, Detail: CoveredDetail{Text: "x"}}
	if err := db.Create(&row).Error; err != nil || row.ID.IsZero() || row.Tags[0].ID.IsZero() ||
		row.Detail.CoveredID != row.ID {
		t.Errorf("%+v, %v", row, err)
	}
	for _, rule := range []gormid.Rule{gormid.Lenient(), gormid.RefuseTestIDs()} {
		bad := gormid.NewRules(rule.For(&Covered{})).Initialize(lax)
		if bad == nil || !strings.Contains(bad.Error(), "Lenient and RefuseTestIDs are for all models") {
			t.Error(bad)
		}
	}
}
