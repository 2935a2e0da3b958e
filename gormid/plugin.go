package gormid

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
)

// A Plugin assigns IDs when rows are created. It holds rules and nothing else, so several databases
// may use one Plugin.
type Plugin struct {
	rules []Rule // immutable
}

var _ gorm.Plugin = (*Plugin)(nil)

// New makes a plugin of rules. [gorm.DB.Use] reports what is wrong with them.
func New(rules ...Rule) *Plugin { return &Plugin{slices.Clone(rules)} }

// Name returns the plugin's name. A database takes each name once.
func (p *Plugin) Name() string { return "idmint" }

// Initialize adds the plugin's callbacks to a database. [gorm.DB.Use] calls it. The error joins all
// that is wrong with the rules:
//
//   - a rule without a source, or two rules for the same scheme, model or table;
//   - a model that is none, or whose key is no ID of the source's scheme, or is composite;
//   - a table without a name or a column.
func (p *Plugin) Initialize(db *gorm.DB) error {
	in := &installed{
		all:     &models{prepared: map[*schema.Schema]bool{}},
		general: map[idtype.Scheme]source{},
		models:  map[reflect.Type]source{},
		tables:  map[string]*key{},
	}
	var errs []error
	if len(p.rules) == 0 {
		errs = append(errs, errors.New("New was given no rules: "+
			"give it at least one, as in New(Use(gen))"))
	}
	for i, r := range p.rules {
		for _, err := range in.add(db, r) {
			errs = append(errs, fmt.Errorf("rule %d: %w", i, err))
		}
	}
	if in.strict { // which knows all rules only now
		in.all.also = in.covers
	}
	if len(errs) == 0 {
		errs = append(errs, in.register(db))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("gormid: %w", err)
	}
	if name := db.Dialector.Name(); knows(name) {
		db.Dialector = dialector{db.Dialector, &columns{dialect: name}, in.all}
	}
	return nil
}

// installed is a plugin in one database.
type installed struct {
	all *models

	// The rules, by what they are found by. Immutable once callbacks run.
	general map[idtype.Scheme]source
	models  map[reflect.Type]source
	tables  map[string]*key
	strict  bool

	keys sync.Map // *schema.Schema → *key: what was decided for the models seen so far
}

func (in *installed) add(db *gorm.DB, r Rule) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch {
	case r.strict && r.named:
		bad("Strict is for all models: limit the other rules")
		return errs
	case r.strict:
		in.strict = true
		return nil
	case r.source == nil || r.source.missing():
		bad("Use was given no source: give it a generator")
		return errs
	}
	scheme := r.source.scheme()
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
		} else if err := in.all.see(stmt.Schema); err != nil {
			bad("For(%T): %w", model, within{err})
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
			in.tables[t.table] = &key{source: r.source, column: t.column, typ: r.source.idType()}
		}
	}
	return errs
}

// register adds the plugin's callbacks, and its builders of clauses.
func (in *installed) register(db *gorm.DB) error {
	var errs []error
	create, query, row := db.Callback().Create(), db.Callback().Query(), db.Callback().Row()
	update, del := db.Callback().Update(), db.Callback().Delete()
	// GORM puts a callback last, without an error, if it is to come before one that is not there.
	for name, there := range map[string]func(*gorm.DB){
		"gorm:before_create":           create.Get("gorm:before_create"),
		"gorm:create":                  create.Get("gorm:create"),
		"gorm:save_after_associations": create.Get("gorm:save_after_associations"),
		"gorm:query":                   query.Get("gorm:query"),
		"gorm:row":                     row.Get("gorm:row"),
		"gorm:update":                  update.Get("gorm:update"),
		"gorm:before_update":           update.Get("gorm:before_update"),
		"gorm:delete":                  del.Get("gorm:delete"),
		"gorm:before_delete":           del.Get("gorm:before_delete"),
	} {
		if there == nil {
			errs = append(errs, fmt.Errorf("the database has no callback %s: "+
				"call db.Use on what gorm.Open returned, "+
				"before anything removes GORM's own callbacks", name))
		}
	}
	if len(errs) != 0 {
		return errors.Join(errs...)
	}
	// IDs are minted before the transaction begins, while no connection is held. A source may wait
	// for a number from the same database. With a pool of one connection it would wait for ever.
	const transaction = "gorm:begin_transaction" // is not there with SkipDefaultTransaction
	firstOf := func(has func(string) func(*gorm.DB), other string) string {
		if has(transaction) == nil {
			return other
		}
		return transaction
	}
	registerBuilders(db)
	return errors.Join(
		create.Before(firstOf(create.Get, "gorm:before_create")).
			Register("idmint:assign", in.assign),
		create.Before("gorm:create").Register("idmint:prepare", in.prepare),
		create.Before("gorm:save_after_associations").Register("idmint:settle", in.settle),
		query.Before("gorm:query").Register("idmint:see", in.seeRead),
		query.Before("gorm:query").After("idmint:see").Register("idmint:joined", seeJoined),
		query.Before("gorm:query").After("idmint:see").Register("idmint:single", single),
		query.Before("gorm:preload").After("gorm:query").Register("idmint:unwrap", unwrapSingle),
		row.Before("gorm:row").Register("idmint:see", in.see),
		row.Before("gorm:row").After("idmint:see").Register("idmint:joined", seeJoined),
		update.Before(firstOf(update.Get, "gorm:before_update")).Register("idmint:see", in.see),
		del.Before(firstOf(del.Get, "gorm:before_delete")).Register("idmint:see", in.see),
	)
}
