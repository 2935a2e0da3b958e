package gormid

import (
	"slices"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// A Source mints IDs of one scheme, as generator.Decimal does: its method Fill mints len(dst) IDs
// and returns how many it minted, which is fewer only with an error. Goroutines may call it at the
// same time.
type Source[T idtype.ID] = keys.Source[T]

// A Rule says whose keys a source mints. [New] makes a general one, and [Use] further ones. It is
// immutable.
type Rule struct {
	source  keys.Minter
	named   bool // For or ForTable was called: the rule is not a general one
	lenient bool // made by Lenient
	noTests bool // made by RefuseTestIDs
	models  []any
	tables  []tableKey
}

type tableKey struct{ table, column string }

// Use makes the general rule of a scheme. The source mints the primary key of every model whose key
// is an ID of T's scheme, unless it is the key of another model: see the package documentation. A
// plugin has one general rule per scheme. [New] makes the first of them.
func Use[T idtype.ID](s Source[T]) Rule { return Rule{source: keys.Of(s)} }

// Lenient makes the plugin leave models to GORM and the database that it would refuse. It stands
// beside the rules, for an app that moves to IDs model by model:
//
//	db.Use(gormid.New(gen, gormid.Lenient()))
//
// Without it a single primary key is an [*Error] if no rule assigns it: an ID whose scheme or model
// has no rule, or a key of another type, such as uint or string. So is a key that a general rule
// assigns although its type is for another entity, unless that has the model's name: it may be the
// key of a model that GORM has not seen. The error comes from AutoMigrate and Create. A struct that
// rows are only read into may have any key. Allowed are keys of other models, composite keys,
// models without a name, which libraries make, and keys whose tag says that it is meant. That tag
// is autoIncrement:false, or autoIncrement if the key is not an ID.
func Lenient() Rule { return Rule{lenient: true} }

// RefuseTestIDs makes AutoMigrate and CreateTable give primary keys of the decimal scheme a CHECK, by
// which the database refuses test IDs, those of launch 0. It stands beside the rules of a database in
// production. A key whose tag has a check keeps that one. Nobody needs it for columns that package
// sqlid has defined.
func RefuseTestIDs() Rule { return Rule{noTests: true} }

// For limits the rule to these models, given as &User{}. For them it wins over a general rule. It
// also assigns a key that is another model's.
func (r Rule) For(models ...any) Rule {
	r.named = true
	r.models = slices.Concat(r.models, models)
	return r
}

// ForTable limits the rule to maps that are created by a table's name alone, as in
// db.Table("events").Create(m). Nothing but this rule says what the key is there. Name the table as
// in the call to Table. The map gets a value of type T.
func (r Rule) ForTable(table, column string) Rule {
	r.named = true
	r.tables = slices.Concat(r.tables, []tableKey{{table, column}})
	return r
}
