package gormid

import (
	"slices"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// A Source mints IDs of one scheme, as generator.Decimal does: its method Fill mints len(dst) IDs
// and returns how many it minted, which are fewer only if there is an error. It must be safe for
// use by many goroutines.
type Source[T idtype.ID] = keys.Source[T]

// A Rule says which keys a source mints. [New] creates a general rule, and [Use] creates further
// ones. It is immutable.
type Rule struct {
	source  keys.Minter
	named   bool // For or ForTable was called: the rule is not general
	lenient bool // created by Lenient
	noTests bool // created by RefuseTestIDs
	models  []any
	tables  []tableKey
}

type tableKey struct{ table, column string }

// Use returns the general rule of a scheme. The source mints the primary key of every model whose
// key is an ID of T's scheme, unless it is the key of another model: see the package documentation.
// A plugin has at most one general rule per scheme. [New] adds the first of them.
func Use[T idtype.ID](s Source[T]) Rule { return Rule{source: keys.Of(s)} }

// Lenient returns a rule that leaves models to GORM and the database that the plugin would
// otherwise reject. Add it to the other rules if an app moves to IDs model by model:
//
//	db.Use(gormid.New(gen, gormid.Lenient()))
//
// Without it, a single primary key that no rule assigns is an [*Error]: an ID whose scheme or model
// has no rule, or a key of another type, such as uint or string. The same applies if a general rule
// assigns a key whose type is for another entity, unless the entity has the model's name, because
// the key may belong to a model that GORM has not seen. The error comes from AutoMigrate and
// Create; a struct that rows are only read into may have any key. Keys of other models are allowed,
// and so are composite keys, and models without a name, which libraries create. A tag allows a key
// explicitly: autoIncrement:false, or autoIncrement if the key is not an ID.
func Lenient() Rule { return Rule{lenient: true} }

// RefuseTestIDs returns a rule for databases in production: it makes AutoMigrate and CreateTable
// add a CHECK to primary keys of the decimal scheme, by which the database rejects test IDs, which
// have launch 0. Add it to the other rules. A key whose tag has a check keeps that check. Columns
// defined by package sqlid do not need the rule.
func RefuseTestIDs() Rule { return Rule{noTests: true} }

// For limits the rule to these models, given as &User{}. For them it takes precedence over a
// general rule, and it also assigns a key that is the key of another model.
func (r Rule) For(models ...any) Rule {
	r.named = true
	r.models = slices.Concat(r.models, models)
	return r
}

// ForTable limits the rule to maps that are created with only a table's name, as in
// db.Table("events").Create(m), where no other rule says what the key is. Name the table as in the
// call to Table. The map gets a value of type T.
func (r Rule) ForTable(table, column string) Rule {
	r.named = true
	r.tables = slices.Concat(r.tables, []tableKey{{table, column}})
	return r
}
