package gormid

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"gorm.io/gorm"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// A Plugin assigns IDs when rows are created. It holds only rules, so several databases may share
// one Plugin.
type Plugin struct {
	rules []Rule // immutable
}

var _ gorm.Plugin = (*Plugin)(nil)

// New returns a plugin that assigns IDs of s, such as an *idmint.IDs or a generator: its general
// rule is Use(s). Further rules are for other schemes and for particular models. [gorm.DB.Use]
// returns the errors of the rules.
func New[T idtype.ID](s Source[T], rules ...Rule) *Plugin {
	return NewRules(append([]Rule{Use(s)}, rules...)...)
}

// NewRules returns a plugin with the given rules only, for an app that limits each of them to
// models.
func NewRules(rules ...Rule) *Plugin { return &Plugin{slices.Clone(rules)} }

// Name returns the plugin's name. A database accepts each name once.
func (p *Plugin) Name() string { return "idmint" }

// Initialize adds the plugin's callbacks to a database. It is called by [gorm.DB.Use]. The error
// joins the errors of all rules.
func (p *Plugin) Initialize(db *gorm.DB) error {
	in := &installed{
		general: map[idtype.Scheme]keys.Minter{},
		models:  map[reflect.Type]keys.Minter{},
		tables:  map[string]*key{},
	}
	var errs []error
	if len(p.rules) == 0 {
		errs = append(errs, errors.New("NewRules was given no rules: "+
			"give it at least one, or call New(gen)"))
	}
	for i, r := range p.rules {
		for _, err := range in.add(db, r) {
			errs = append(errs, fmt.Errorf("rule %d: %w", i, err))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, in.register(db))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("gormid: %w", err)
	}
	in.own, in.wrapped = db.Dialector, db.Dialector
	if literals[in.own.Name()] != nil {
		in.wrapped = in.wrap(in.own)
		db.Dialector = in.wrapped
	}
	return nil
}

// installed is a plugin in a database.
type installed struct {
	// The rules, by what they apply to. Immutable once callbacks run.
	general map[idtype.Scheme]keys.Minter
	models  map[reflect.Type]keys.Minter
	tables  map[string]*key
	lenient bool
	noTests bool

	// The database's own dialector, and the plugin's dialector if it knows the dialect. Immutable
	// as well.
	own, wrapped gorm.Dialector

	seen  sync.Map     // *schema.Schema → *model
	mu    sync.Mutex   // guards changes of the fields below
	known sync.Map     // *schema.Schema → true: models whose fields have the plugin's Set
	count atomic.Int64 // size of known
}

func (in *installed) add(db *gorm.DB, r Rule) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch {
	case (r.lenient || r.noTests) && r.named:
		bad("Lenient and RefuseTestIDs are for all models: limit the other rules")
		return errs
	case r.noTests:
		in.noTests = true
		return nil
	case r.lenient:
		in.lenient = true
		return nil
	case r.source == nil || r.source.IsMissing():
		bad("no source was given: New and Use need a generator")
		return errs
	}
	scheme := r.source.Scheme()
	if scheme == "" {
		bad("%s is not an ID: use the type that it points to or embeds",
			keys.TypeName(r.source.Type()))
		return errs
	}
	if !r.named {
		if in.general[scheme] != nil {
			bad("a second general rule for %s IDs: limit one of them with For or ForTable", scheme)
		}
		in.general[scheme] = r.source
		return errs
	}
	if len(r.models)+len(r.tables) == 0 {
		bad("For was given no models: name them, as in For(&User{})")
	}
	for _, model := range r.models {
		stmt := gorm.Statement{DB: db}
		if err := stmt.Parse(model); err != nil {
			bad("For(%T): %w", model, err)
		} else if err := check(stmt.Schema, &key{}); err != nil {
			bad("For(%T): %w", model, err)
		} else if err := fits(r.source, stmt.Schema); err != nil {
			bad("For(%T): %w", model, err)
		} else if t := stmt.Schema.ModelType; in.models[t] != nil {
			bad("For(%T): another rule names the model already", model)
		} else {
			in.models[t] = r.source
		}
	}
	for _, t := range r.tables {
		switch {
		case t.table == "" || t.column == "":
			bad("ForTable(%q, %q): name a table and the column of its key", t.table, t.column)
		case in.tables[t.table] != nil:
			bad("ForTable(%q, %q): another rule names the table already", t.table, t.column)
		default:
			in.tables[t.table] = &key{source: r.source, column: t.column, typ: r.source.Type()}
		}
	}
	return errs
}

// register adds the plugin's callbacks, and its clause builders.
//
// The first callback of a create runs before GORM's transaction begins, while no connection is
// held. A source may wait for a number from the same database, and would wait forever if the pool
// had only one connection.
func (in *installed) register(db *gorm.DB) error {
	create, query, row := db.Callback().Create(), db.Callback().Query(), db.Callback().Row()
	update, del, raw := db.Callback().Update(), db.Callback().Delete(), db.Callback().Raw()
	// If the other callback of a Before is missing, GORM puts the callback last, without an error.
	for _, name := range []string{"gorm:create", "gorm:save_after_associations"} {
		if create.Get(name) == nil {
			return fmt.Errorf("the database has no callback %s: call db.Use on the result of "+
				"gorm.Open, before anything removes GORM's own callbacks", name)
		}
	}
	in.registerBuilders(db)
	return errors.Join(
		create.Before("*").Register("idmint:assign", in.assign),
		create.Before("gorm:create").Register("idmint:prepare", in.prepare),
		create.Before("gorm:save_after_associations").Register("idmint:settle", in.settle),
		create.After("*").Register("idmint:done", in.done),
		query.Before("*").Register("idmint:see", in.seeRead),
		query.After("*").Register("idmint:done", in.done),
		row.Before("*").Register("idmint:see", in.seeRead),
		row.After("*").Register("idmint:done", in.done),
		update.Before("*").Register("idmint:see", in.see),
		update.After("*").Register("idmint:done", in.done),
		del.Before("*").Register("idmint:see", in.see),
		del.After("*").Register("idmint:done", in.done),
		raw.Before("*").Register("idmint:see", in.see),
		raw.After("*").Register("idmint:done", in.done),
	)
}
