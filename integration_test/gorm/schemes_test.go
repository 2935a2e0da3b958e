package gorm_test

import (
	"context"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/testclock"
)

// event has a key of any scheme and storage form, and rows that refer to it.
type event[K, P idtype.ID] struct {
	ID    K
	Name  string       `gorm:"unique"`
	Parts []part[K, P] `gorm:"foreignKey:EventID"`
}

type part[K, P idtype.ID] struct {
	ID      P
	EventID K
}

func (event[K, P]) TableName() string { return "events" }
func (part[K, P]) TableName() string  { return "parts" }

func made[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type counter struct{ last int64 }

func (c *counter) Reserve(_ context.Context, floor, n int64) (int64, error) {
	first := max(floor, c.last+1)
	c.last = first + n - 1
	return first, nil
}

func (c *counter) Last(context.Context) (int64, error) { return c.last, nil }

// Every scheme's generator is a source, and every type and storage form a key and a foreign key.
func testSchemes(t *testing.T, d database) {
	s := newSchemes()
	type e struct{} // the entity of keys
	t.Run("trace", testScheme[idtype.Trace[e], idtype.TraceID](d, s.trace))
	t.Run("eightbyte", testScheme[idtype.EightByte[e], idtype.EightByteID](d, s.eight))
	t.Run(
		"eightbyte as bigint",
		testScheme[idtype.EightByte[idtype.AsBigint[e]], idtype.EightByteID](d, s.eight),
	)
	t.Run("short", testScheme[idtype.Short[e], idtype.ShortID](d, s.short))
	t.Run("sno", testScheme[idtype.Sno[e], idtype.SnoID](d, s.sno))
	t.Run("sno as text", testScheme[idtype.Sno[idtype.AsText[e]], idtype.SnoID](d, s.sno))
	t.Run("sno as UUID", testScheme[idtype.Sno[idtype.AsUUID[e]], idtype.SnoID](d, s.sno))
	t.Run("sequence", testScheme[idtype.Sequence[e], idtype.SequenceID](d, s.sequence))
	t.Run("two schemes", testScheme[idtype.Sno[e], idtype.TraceID](d, s.sno, s.trace))
}

// schemes has a general rule for each.
type schemes struct{ trace, eight, short, sno, sequence gormid.Rule }

func newSchemes() schemes {
	opts := &generator.Options{
		Clock: testclock.New(time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)),
	}
	short := func() *generator.Short {
		return made(generator.NewShort(generator.Given(struct{}{}), opts))
	}
	pair := generator.EightBytePair{Generator: 9, Cluster: 3}
	return schemes{
		trace: gormid.Use(made(generator.NewTrace(generator.Given(7), opts))),
		eight: gormid.Use(
			made(generator.NewEightByte(idtype.EightByteSpread, generator.Given(pair), opts)),
		),
		short:    gormid.Use(short()),
		sno:      gormid.Use(made(generator.NewSno(generator.Given(0), opts)).With(5)),
		sequence: gormid.Use(made(generator.NewSequence(&counter{}, 10))),
	}
}

func testScheme[K, P idtype.ID](d database, rules ...gormid.Rule) func(*testing.T) {
	return func(t *testing.T) {
		db := d.open(t, rules...)
		migrate(t, db, &event[K, P]{}, &part[K, P]{})

		ann := event[K, P]{Name: "ann", Parts: []part[K, P]{{}, {}}}
		events := []*event[K, P]{&ann, {Name: "bob"}, {Name: "cid"}}
		must(t, db.Create(events))
		m := map[string]any{"name": "dan"}
		must(t, db.Model(&event[K, P]{}).Create(m))
		id := m["id"].(K)
		seen := map[K]bool{id: true}
		for _, e := range events {
			seen[e.ID] = true
			if err := e.ID.Validate(); err != nil {
				t.Error(err)
			}
		}
		if len(seen) != 4 {
			t.Fatalf("keys are not distinct: %v", seen)
		}

		var back event[K, P]
		must(t, db.Preload("Parts").First(&back, "id = ?", ann.ID))
		if back.Name != "ann" || len(back.Parts) != 2 {
			t.Fatalf("found %+v", back)
		}

		// After an upsert the struct holds the key that is stored, or none.
		again := event[K, P]{Name: "bob"}
		must(t, db.Clauses(updateOnName).Create(&again))
		if again.ID != events[1].ID {
			t.Fatalf("upserted %v over %v", again.ID, events[1].ID)
		}
		both := []event[K, P]{{Name: "cid"}, {Name: "eve"}}
		must(t, db.Clauses(doNothing).Create(both))
		isKnown := both[0].ID == events[2].ID
		if !both[0].ID.IsZero() && (!d.returnsKnown() || !isKnown) || both[1].ID.IsZero() {
			t.Fatalf("after DO NOTHING the keys are %v and %v", both[0].ID, both[1].ID)
		}
		var count int64
		three := []K{id, both[1].ID, ann.ID}
		must(t, db.Model(&event[K, P]{}).Where("id IN ?", three).Count(&count))
		if count != 3 {
			t.Fatalf("found %d rows", count)
		}
	}
}

// rules are one of each scheme.
func (s schemes) rules() []gormid.Rule {
	return []gormid.Rule{s.trace, s.eight, s.short, s.sno, s.sequence, gormid.Use(newSource())}
}

// A small shop, with a relation of each kind and a key type per entity. ManagerID has UserID's long
// name: Go 1.25 does not compile *UserID there. docs/versions.md says why.
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
