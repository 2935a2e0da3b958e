package gorm_test

import (
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
)

func testBadRules(t *testing.T, d database) {
	s := newSource()
	type keyless struct{ Name string }
	use := gormid.Use(s)
	const noSource = "rule 0: no source was given: New and Use need a generator"
	for name, test := range map[string]struct {
		rules []gormid.Rule
		want  string // in the error, which tells all that is wrong, each on a line here
	}{
		"none":      {nil, "gormid: NewRules was given no rules: give it at least one, or call New(gen)"},
		"zero rule": {[]gormid.Rule{{}}, noSource},
		"no source": {[]gormid.Rule{gormid.Use[idtype.DecimalID](nil)}, noSource},
		"nil generator": {
			[]gormid.Rule{gormid.Use((*generator.Decimal)(nil))}, noSource,
		},
		"two general": {
			[]gormid.Rule{use, gormid.Use(newSource())},
			"rule 1: a second general rule for decimal IDs: limit one of them with For or ForTable",
		},
		"two for a model": {
			[]gormid.Rule{use.For(&Item{}), use.For(Item{})},
			"rule 1: For(gorm_test.Item): another rule names the model already",
		},
		"twice in a rule": {
			[]gormid.Rule{use.For(&Item{}, []Item{})},
			"For([]gorm_test.Item): another rule names the model already",
		},
		"nothing": {
			[]gormid.Rule{use.For()},
			"rule 0: For was given no models: name them, as in For(&User{})",
		},
		"no model": {
			[]gormid.Rule{use.For("items", 5, nil, map[string]any{})},
			"For(string): unsupported data type\nFor(int): unsupported data type\n" +
				"For(<nil>): unsupported data type\n" +
				"For(map[string]interface {}): unsupported data type",
		},
		"integer key": {
			[]gormid.Rule{use.For(&PlainInt{})},
			"For(*gorm_test.PlainInt): its primary key ID of type uint is not an ID: declare it with a " +
				"type of package idtype",
		},
		"key without methods": {
			[]gormid.Rule{use.For(&NotAlias{})}, "type gorm_test.notAlias, which has no methods",
		},
		"composite": {
			[]gormid.Rule{use.For(&Composite{})},
			"its primary key is composite: rules do not assign such keys, so set its parts",
		},
		"no key": {
			[]gormid.Rule{use.For(&keyless{})},
			"it has no primary key: add a field ID of an ID type",
		},
		"read only": {
			[]gormid.Rule{use.For(&ReadOnly{})},
			"its primary key ID is never written: its tag forbids it",
		},
		"pointers to pointers": {
			[]gormid.Rule{use.For(&Deep{})},
			"its primary key ID of type **idtype.DecimalID is not an ID: declare it with a type of " +
				"package idtype",
		},
		"wrapped": {
			[]gormid.Rule{use.For(&WrappedKey{})},
			"its primary key ID of type gorm_test.wrapped cannot hold decimal IDs: use a generator " +
				"of the key's scheme and layout, or declare another key type",
		},
		"another layout": {
			[]gormid.Rule{gormid.Use(&counting[idtype.SnowflakeID]{}).For(&Channel{})},
			"cannot hold snowflake IDs: use a generator of the key's scheme and layout",
		},
		"no column": {
			[]gormid.Rule{use.ForTable("items", "")},
			`ForTable("items", ""): name a table and the column of its key`,
		},
		"table twice": {
			[]gormid.Rule{use.ForTable("items", "id"), use.ForTable("items", "x")},
			`rule 1: ForTable("items", "x"): another rule names the table already`,
		},
		"several": {
			[]gormid.Rule{{}, use.For(5, &Composite{})},
			noSource + "\nrule 1: For(int)\nrule 1: For(*gorm_test.Composite)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := gorm.Open(d.dialector(t), &gorm.Config{Logger: logger.Discard})
			try(t, err)
			err = db.Use(gormid.NewRules(test.rules...))
			for want := range strings.SplitSeq(test.want, "\n") {
				if err == nil || !strings.HasPrefix(err.Error(), "gormid: ") ||
					strings.Count(err.Error(), "gormid: ") != 1 ||
					!strings.Contains(err.Error(), want) {
					t.Errorf("error %v\nwant %s", err, want)
				}
			}
			try(t, db.Use(gormid.New(s))) // what was refused left nothing behind
		})
	}
}

// A general rule is for a layout, too: Twitter's would give these keys times nine years ahead.
func testLayouts(t *testing.T, d database) {
	twitter := gormid.Use(&counting[idtype.SnowflakeID]{})
	err := d.open(t, twitter).Create(&Channel{}).Error
	if err == nil || !strings.Contains(err.Error(), "with a generator of snowflake epoch=1577836800000,") {
		t.Errorf("a key of TSID is minted by Twitter's layout: %v", err)
	}
	db := d.open(t, twitter, gormid.Use(&counting[idtype.SnowflakeIn[any, idtype.TSID]]{}))
	migrate(t, db, &Channel{})
	channel := Channel{}
	must(t, db.Create(&channel))
	if channel.ID.IsZero() {
		t.Error("a key of TSID was not assigned")
	}
}

// Channel has a key of another layout than Twitter's.
type Channel struct {
	ID   idtype.SnowflakeIn[Channel, idtype.TSID]
	Name string
}

type (
	// wrapped has the methods of an ID, but is a struct.
	wrapped    struct{ idtype.DecimalID }
	WrappedKey struct {
		ID   wrapped `gorm:"primaryKey"`
		Name string
	}
	Deep struct {
		ID **idtype.DecimalID `gorm:"primaryKey"`
	}
)

func (w *wrapped) Scan(src any) error { return w.DecimalID.Scan(src) }

// Two entities may have generators of their own, beside a general one, and a rule for a model wins.
func testTwoGenerators(t *testing.T, d database) {
	users, orders, others := newSource(), newSource(), newSource()
	db := d.open(t, gormid.Use(others), gormid.Use(users).For(&User{}),
		gormid.Use(orders).For(&Order{}, Position{}))
	migrate(t, db, allModels()...)
	u := User{
		Name: "u", Orders: []Order{{Positions: []Position{{}, {}}}},
		Company: &Company{Name: "c"},
	}
	must(t, db.Create(&u))
	wantFills(t, users, 1)
	wantFills(t, orders, 1, 2)
	wantFills(t, others, 1)
}

// One plugin serves several databases, whatever their naming.
func testSeveralDatabases(t *testing.T, d database) {
	s := newSource()
	plugin := gormid.NewRules(gormid.Use(s).For(&Item{}))
	var ids []idtype.DecimalID
	for range 2 {
		db, err := gorm.Open(
			d.dialector(t), &gorm.Config{Plugins: map[string]gorm.Plugin{"idmint": plugin}},
		)
		try(t, err)
		if err := db.Use(plugin); !errors.Is(err, gorm.ErrRegistered) {
			t.Errorf("error %v, want ErrRegistered", err)
		}
		migrate(t, db, &Item{})
		item := Item{}
		must(t, db.Create(&item))
		wantColumn(t, db, selectItems, item.ID)
		ids = append(ids, item.ID)
	}
	wantMinted(t, ids...)
}

// A rule is a value: what is derived from it does not change it, nor what else is derived from it.
func testRulesAreImmutable(t *testing.T, d database) {
	base := gormid.Use(newSource()).For(&Item{})
	base = base.For(&Position{}).For(&Order{}) // a slice with room for more, were it appended to
	company, tag := base.For(&Company{}), base.For(&Tag{})
	for _, test := range []struct {
		rule gormid.Rule
		want bool
	}{{base, false}, {company, true}, {tag, false}} {
		db := d.open(t, test.rule, gormid.Lenient())
		migrate(t, db, &Company{})
		if err := db.Create(&Company{}).Error; errors.Is(err, idtype.ErrZero) == test.want {
			t.Errorf("error %v", err)
		}
	}
}

func testDialectWithoutCallbacks(t *testing.T, d database) {
	db, err := gorm.Open(nil, &gorm.Config{})
	try(t, err)
	if err := db.Use(gormid.New(newSource())); err == nil ||
		!strings.Contains(err.Error(), "no callback gorm:create") {
		t.Errorf("error %v", err)
	}
}
