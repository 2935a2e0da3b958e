package gorm_test

import (
	"errors"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// The models of a company, whose keys are of type K and whose optional keys are of type N, such as
// sql.NullInt64.
type (
	// Person lies in a table of another name, refers to itself, and has hooks.
	Person[K, N any] struct {
		ID      K `gorm:"primaryKey"`
		Name    string
		BossID  *K
		Boss    *Person[K, N]  `gorm:"foreignKey:BossID"`
		Reports []Person[K, N] `gorm:"foreignKey:BossID"`
		Mentor  N
		Things  []Thing[K, N] `gorm:"foreignKey:OwnerID"`
		Card    *Card[K, N]   `gorm:"foreignKey:HolderID"`
		Notes   []Remark[K]   `gorm:"polymorphic:Parent;polymorphicValue:person"`
		Seen    int           `gorm:"-"` // how often AfterFind ran
	}
	// Thing belongs to somebody at all times, is deleted softly, and has notes.
	Thing[K, N any] struct {
		ID        K `gorm:"primaryKey"`
		Name      string
		OwnerID   K
		Owner     *Person[K, N] `gorm:"foreignKey:OwnerID"`
		Notes     []Remark[K]   `gorm:"polymorphic:Parent;polymorphicValue:thing"`
		DeletedAt gorm.DeletedAt
	}
	// Card is one of a kind, with a key within an embedded struct.
	Card[K, N any] struct {
		CardBase[K] `gorm:"embedded"`
		HolderID    K `gorm:"unique"`
	}
	CardBase[K any] struct {
		ID   K `gorm:"primaryKey"`
		Name string
	}
	Remark[K any] struct {
		ID         K `gorm:"primaryKey"`
		Name       string
		ParentID   K
		ParentType string
	}
)

func (Person[K, N]) TableName() string { return "staff" }
func (Thing[K, N]) TableName() string  { return "things" }
func (Card[K, N]) TableName() string   { return "cards" }
func (Remark[K]) TableName() string    { return "notes" }

var errHook = errors.New("a hook refuses the name")

// The hooks count, refuse, and rewrite a name.
func (p *Person[K, N]) BeforeSave(tx *gorm.DB) error {
	if strings.HasPrefix(p.Name, "bad") {
		return errHook
	}
	return nil
}

func (p *Person[K, N]) BeforeCreate(tx *gorm.DB) error {
	if p.Name == "hooked" {
		tx.Statement.SetColumn("Name", "by a hook")
	}
	return nil
}

func (p *Person[K, N]) BeforeUpdate(tx *gorm.DB) error {
	if tx.Statement.Changed("BossID") {
		tx.Statement.SetColumn("Name", p.Name+" moved")
	}
	return nil
}

func (p *Person[K, N]) AfterFind(*gorm.DB) error {
	p.Seen++
	return nil
}

// tables are those that hold a name, in an order in which they can be filled.
var tables = []string{"staff", "things", "cards", "notes"}

// references are two columns of each that hold keys.
var references = map[string]string{
	"staff": "boss_id, mentor", "things": "owner_id, NULL", "cards": "holder_id, NULL",
	"notes": "parent_id, NULL",
}

func migrateWorld[K, N any](db *gorm.DB) error {
	return db.AutoMigrate(&Person[K, N]{}, &Thing[K, N]{}, &Card[K, N]{}, &Remark[K]{})
}

// seedWorld stores: ann leads bob and cem, bob leads dan; eve is alone.
func seedWorld[K, N any](db *gorm.DB) error {
	person := func(name string) *Person[K, N] { return &Person[K, N]{Name: name} }
	ann, bob, cem, dan, eve := person("ann"), person("bob"), person("cem"), person("dan"),
		person("eve")
	for _, p := range []*Person[K, N]{ann, bob, cem, dan, eve} {
		boss := map[*Person[K, N]]*Person[K, N]{bob: ann, cem: ann, dan: bob}[p]
		if boss != nil {
			p.BossID = &boss.ID
		}
		if err := db.Create(p).Error; err != nil {
			return err
		}
	}
	things := []Thing[K, N]{
		{Name: "axe", OwnerID: ann.ID},
		{Name: "box", OwnerID: bob.ID},
		{Name: "cup", OwnerID: bob.ID},
	}
	card := &Card[K, N]{CardBase: CardBase[K]{Name: "card of ann"}, HolderID: ann.ID}
	for _, rows := range []any{&things, card} {
		if err := db.Create(rows).Error; err != nil {
			return err
		}
	}
	notes := []Remark[K]{
		{Name: "on ann", ParentID: ann.ID, ParentType: "person"},
		{Name: "on axe", ParentID: things[0].ID, ParentType: "thing"},
	}
	return db.Create(&notes).Error
}

func names[K, N any](people []Person[K, N]) []string {
	var all []string
	for _, p := range people {
		all = append(all, p.Name)
	}
	slices.Sort(all)
	return all
}
