package gorm_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sort"
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

// An outcome is what an operation did. Keys stand in it as the names of their rows, so that those
// of two types of keys compare.
type outcome struct {
	failed   bool
	err      error
	affected int64
	found    string
	state    string // all rows, afterwards
}

func (o outcome) String() string {
	if o.failed {
		return "an error"
	}
	return fmt.Sprintf("%d rows affected, found %s\n%s", o.affected, o.found, o.state)
}

// same compares all but the texts of errors.
func (o outcome) same(other outcome) bool {
	return o.failed == other.failed && (o.failed || o.affected == other.affected &&
		o.found == other.found && o.state == other.state)
}

// A world is a seeded database with keys of type K, for one operation.
type world[K comparable, N any] struct {
	db   *gorm.DB // a transaction
	keys map[string]K
	name map[K]string
	form form[K]

	columns map[string]any // the keys of people as a map gets them from the database
}

// A Form is how a key is written in Go.
type form[K any] struct {
	Name  string
	One   func(key K, column any) any
	List  func(keys []K, columns []any) any // nil where there is none
	Loose bool                              // it is no ID: not for SQL of the caller's own
}

// of is the key of a row in the form that is tried.
func (w *world[K, N]) of(name string) any { return w.form.One(w.key(name), w.columns[name]) }

// list is a list of keys in the form that is tried.
func (w *world[K, N]) list(names ...string) any {
	keys, columns := make([]K, len(names)), make([]any, len(names))
	for i, name := range names {
		keys[i], columns[i] = w.key(name), w.columns[name]
	}
	return w.form.List(keys, columns)
}

func (w *world[K, N]) key(name string) K {
	key, ok := w.keys[name]
	if !ok {
		panic("no row " + name)
	}
	return key
}

// A row is one of any table: its key, and those that it holds.
type row[K any] struct {
	table, name string
	key         K
	holds       [2]sql.Null[K]
}

// rows reads all rows of all tables, by plain SQL.
func (w *world[K, N]) rows() (all []row[K], err error) {
	var selects []string
	for _, table := range tables {
		selects = append(selects,
			fmt.Sprintf("SELECT '%s', name, id, %s FROM %[1]s", table, references[table]))
	}
	result, err := w.db.Session(&gorm.Session{NewDB: true}).Raw(
		strings.Join(selects, " UNION ALL "),
	).Rows()
	if err != nil {
		return nil, err
	}
	defer result.Close()
	for result.Next() {
		var r row[K]
		if err := result.Scan(&r.table, &r.name, &r.key, &r.holds[0], &r.holds[1]); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, result.Err()
}

// load notes the keys of all rows.
func (w *world[K, N]) load(all []row[K]) {
	w.keys, w.name = map[string]K{}, map[K]string{}
	for _, r := range all {
		w.keys[r.name], w.name[r.key] = r.key, r.table+" "+r.name
	}
}

// loadColumns reads the keys of people into maps.
func (w *world[K, N]) loadColumns() error {
	w.columns = map[string]any{}
	for _, name := range []string{"ann", "bob", "cem", "dan", "eve"} {
		row := map[string]any{}
		if err := w.db.Model(&Person[K, N]{}).Where("name = ?", name).Take(&row).Error; err != nil {
			return err
		}
		w.columns[name] = row["id"]
	}
	return nil
}

// state is all rows, in which a key that is no row's is a question mark.
func (w *world[K, N]) state() (string, error) {
	all, err := w.rows()
	if err != nil {
		return "", err
	}
	w.load(all)
	lines := make([]string, len(all))
	for i, r := range all {
		lines[i] = fmt.Sprintf("%s %s: %s, %s", r.table, r.name, w.named(r.holds[0]),
			w.named(r.holds[1]))
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n"), nil
}

func (w *world[K, N]) named(key sql.Null[K]) string {
	switch name, ok := w.name[key.V]; {
	case !key.Valid:
		return "NULL"
	case !ok:
		return "?"
	default:
		return name
	}
}

// nameOf is the name of a row by its key.
func (w *world[K, N]) nameOf(key K) string { return w.named(sql.Null[K]{V: key, Valid: true}) }

func (w *world[K, N]) nameOfPointer(key *K) string {
	if key == nil {
		return "nil"
	}
	return w.nameOf(*key)
}

// run tries an operation, and takes back what it did.
func (w *world[K, N]) run(op operation[K, N]) (got outcome) {
	undo := fmt.Errorf("undo")
	outer, keys, name := w.db, w.keys, w.name
	_ = outer.Transaction(func(tx *gorm.DB) error {
		w.db = tx
		// What fails is undone by itself, as PostgreSQL takes no statement after it.
		err := tx.Transaction(func(tx *gorm.DB) error {
			w.db = tx
			got = op.do(w)
			if got.err == nil {
				got.err = tx.Error
			}
			return got.err
		})
		w.db = tx
		if got.failed = err != nil; !got.failed {
			got.state, got.err = w.state()
			if got.err != nil { // what was stored cannot be read
				got.state = got.err.Error()
			}
		}
		return undo
	})
	w.db, w.keys, w.name = outer, keys, name
	return got
}
