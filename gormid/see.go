package gormid

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// A model is what the plugin found out about a model of GORM's, and decided about it, before the
// first statement that uses it. GORM has no callback for that. It is immutable.
type model struct {
	key *key
	// The errors of the model, and, without Lenient, of creating its rows or its table.
	err, makeErr error

	// The decision may change when these do, as other models are parsed.
	relations int   // number of the model's relations
	known     int64 // number of known models
}

// model examines a model, and prepares its fields and the fields of related models.
func (in *installed) model(s *schema.Schema) *model {
	s.Relationships.Mux.RLock()
	relations := len(s.Relationships.Relations)
	s.Relationships.Mux.RUnlock()
	if v, ok := in.seen.Load(s); ok {
		if m := v.(*model); m.relations == relations && m.known == in.count.Load() {
			return m
		}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.prepareFields(s, map[*schema.Schema]bool{})
	m := &model{key: in.decide(s), relations: relations, known: in.count.Load()}
	wrong := check(s, m.key)
	if wrong != nil {
		m.err = newError(s, s.Table, wrong)
	}
	if wrong = errors.Join(wrong, in.covers(s, m.key)); wrong != nil {
		m.makeErr = newError(s, s.Table, wrong)
	}
	in.seen.Store(s, m)
	return m
}

// prepareFields wraps the fields of a model, and of all models that its rows may be read with.
func (in *installed) prepareFields(s *schema.Schema, visited map[*schema.Schema]bool) {
	if s == nil || visited[s] {
		return
	}
	visited[s] = true
	if _, known := in.known.Load(s); !known {
		for _, field := range s.Fields {
			wrapSet(field)
		}
		in.known.Store(s, true)
		in.count.Add(1)
	}
	for _, rel := range relationsOf(s) {
		in.prepareFields(rel.FieldSchema, visited)
		in.prepareFields(rel.JoinTable, visited)
	}
}

func relationsOf(s *schema.Schema) []*schema.Relationship {
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	all := make([]*schema.Relationship, 0, len(s.Relationships.Relations))
	for _, rel := range s.Relationships.Relations {
		all = append(all, rel)
	}
	return all
}

// check returns an error for a model that GORM would store wrongly without an error.
func check(s *schema.Schema, k *key) error {
	var errs []error
	for _, field := range s.PrimaryFields {
		if len(s.PrimaryFields) == 1 && isDefined(field) {
			errs = append(errs, fmt.Errorf("the primary key %s is of type %v, "+
				"which has no methods: the database would number it. "+
				"Declare a key type of IDs as an alias, type %s = idtype.…; "+
				"tag an integer of your own with autoIncrement, or with autoIncrement:false",
				field.Name, field.IndirectFieldType, field.IndirectFieldType.Name()))
		}
	}
	for _, field := range s.Fields {
		if t, ok := targetOf(field); ok {
			errs = append(errs, checkTag(field, t.form), checkNumbered(field, k))
		}
	}
	for _, rel := range relationsOf(s) {
		for _, ref := range rel.References {
			if ref.PrimaryKey != nil && ref.ForeignKey != nil {
				errs = append(errs, checkReference(rel, ref))
			}
		}
	}
	return errors.Join(errs...)
}

// checkNumbered rejects IDs that the database would number, except for a sequence that no rule
// assigns.
func checkNumbered(field *schema.Field, k *key) error {
	scheme, _ := schemeOf(field)
	isAssigned := k.field == field && k.source != nil
	if !field.AutoIncrement || scheme == idtype.SchemeSequence && !isAssigned {
		return nil
	}
	return fmt.Errorf("%s of type %s is tagged autoIncrement, "+
		"so the database would number it: drop the tag, and a rule of the plugin assigns it; "+
		"only an idtype.Sequence without a rule may be numbered",
		fieldName(field), keys.TypeName(field.FieldType))
}

// idSizes are the sizes of IDs that are bytes.
var idSizes = []int{8, 10, 16}

// isDefined recognizes a type such as Key idtype.DecimalID, which looks like an integer to
// everyone.
func isDefined(field *schema.Field) bool {
	t := field.IndirectFieldType
	hasMethods := reflect.PointerTo(t).NumMethod() != 0
	if t.PkgPath() == "" || hasMethods || field.TagSettings["AUTOINCREMENT"] != "" {
		return false
	}
	if t.Kind() != reflect.Array {
		return t.Kind() == reflect.Int64
	}
	return t.Elem().Kind() == reflect.Uint8 && slices.Contains(idSizes, t.Len())
}

// unfit lists words of column types that change what is stored, or whose values cannot be read
// back.
var unfit = map[idtype.Storage][]string{
	idtype.StorageBigint: {"float", "double", "real", "uuid", "char", "text", "string"},
	idtype.StorageBytes:  append([]string{"uuid", "char", "text"}, numeric...),
	idtype.StorageText:   append([]string{"uuid"}, numeric...),
	idtype.StorageUUID:   append([]string{"bytea", "blob", "binary"}, numeric...),
}

var numeric = []string{"int", "numeric", "decimal", "float", "double", "real", "json"}

// checkTag checks the type that a field's tag asks for.
func checkTag(field *schema.Field, form idtype.Storage) error {
	tag := strings.ToLower(field.TagSettings["TYPE"])
	for _, word := range unfit[form] {
		if strings.Contains(tag, word) {
			return fmt.Errorf("%s, whose IDs are stored as %s, is tagged type:%s: "+
				"declare the key with another form, see idtype.Storage, or leave the tag out",
				fieldName(field), form, field.TagSettings["TYPE"])
		}
	}
	return nil
}

// checkReference compares how a key and a reference to it are stored, if one of them is an ID.
func checkReference(rel *schema.Relationship, ref *schema.Reference) error {
	id, ofKey := targetOf(ref.PrimaryKey)
	foreignID, ofForeign := targetOf(ref.ForeignKey)
	key, foreign := formsOf(ref.PrimaryKey), formsOf(ref.ForeignKey)
	isForeign := func(form string) bool { return slices.Contains(foreign, form) }
	switch {
	case !ofKey && !ofForeign:
		return nil
	case ofKey && ofForeign && differ(id.typ, foreignID.typ):
	case ofKey && isDefined(ref.ForeignKey): // a zero would be stored in it
	case key == nil || foreign == nil || slices.ContainsFunc(key, isForeign):
		return nil
	}
	return fmt.Errorf("relation %s: %s.%s of type %v cannot hold %s.%s of type %v: "+
		"declare it as the key, or as idtype.DecimalID and the like for keys of several entities",
		rel.Name,
		ref.ForeignKey.Schema.Name, ref.ForeignKey.Name, keys.TypeName(ref.ForeignKey.FieldType),
		ref.PrimaryKey.Schema.Name, ref.PrimaryKey.Name, keys.TypeName(ref.PrimaryKey.FieldType))
}

// formsOf returns the ways in which a field's values may be stored, or nil if that is unknown.
// Bytes of two lengths are two forms.
func formsOf(field *schema.Field) []string {
	if t, ok := targetOf(field); ok {
		if t.form == idtype.StorageBytes {
			return []string{strconv.Itoa(t.typ.Len())}
		}
		return []string{string(t.form)}
	}
	t := field.IndirectFieldType
	for t.Kind() == reflect.Struct && t.NumField() != 0 && t.Implements(valuerType) {
		t = t.Field(0).Type // of a wrapper such as sql.NullInt64
	}
	switch t.Kind() {
	case reflect.Int64, reflect.Uint64, reflect.Int, reflect.Uint:
		return []string{string(idtype.StorageBigint)}
	case reflect.String:
		return []string{string(idtype.StorageText), string(idtype.StorageUUID)}
	case reflect.Slice:
		return []string{"8", "10", "16"}
	case reflect.Struct, reflect.Array, reflect.Interface:
		return nil
	}
	return []string{t.String()}
}

var errHalfInstalled = errors.New("this *gorm.DB was created before db.Use added the plugin, " +
	"or Use was called on a session: " +
	"call Use on the result of gorm.Open, before sessions are created from it")

// see is the first callback of every statement.
func (in *installed) see(db *gorm.DB) {
	in.refuse(db, func(m *model) error { return m.err })
}

func (in *installed) refuse(db *gorm.DB, wrong func(*model) error) {
	stmt := db.Statement
	in.unwrap(db)
	b := in.builderOf(stmt)
	var err error
	switch {
	case db.ClauseBuilders[marker] == nil:
		err = errHalfInstalled
	case stmt.Schema != nil:
		err = wrong(in.model(stmt.Schema))
	}
	if i := b.rawSlice(stmt); i >= 0 && db.Error == nil {
		stmt.Vars[i] = b.refuse(errSlice)
	}
	if err == nil || db.Error != nil {
		return
	}
	refused := b.refuse(err)
	// A subquery's error is lost, and without SQL the subquery would be an empty list.
	if (db.DryRun || db.Error == nil) && stmt.SQL.Len() == 0 {
		stmt.AddVar(stmt, refused)
	}
}

// unwrap gives the statement the database's own dialector, because expressions and other plugins
// look at its type. Sessions share a configuration, so the statement gets a copy.
func (in *installed) unwrap(db *gorm.DB) {
	config := *db.Config
	config.Dialector = in.own
	db.Config, db.Statement.DB.Config = &config, &config // a scope may have replaced db
}

// done is the last callback of every statement, after which GORM logs the statement.
func (in *installed) done(db *gorm.DB) { db.Config.Dialector = in.wrapped }

var errOneID = errors.New("GORM cannot read into a single ID: " +
	"read it with Row().Scan(&id), or Pluck a list of IDs")

// seeRead also prepares the struct that is read into, which may be smaller than the model. It
// rejects a single ID, because GORM would read an integer before there is a row, and would take an
// array for a list.
func (in *installed) seeRead(db *gorm.DB) {
	in.see(db)
	stmt := db.Statement
	if db.Error != nil || stmt.Schema == nil || !stmt.ReflectValue.IsValid() {
		return
	}
	in.seeJoined(db)
	t := stmt.ReflectValue.Type()
	if t.Implements(reflect.TypeFor[column]()) {
		fail(db, errOneID)
	}
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == stmt.Schema.ModelType || t.Kind() != reflect.Struct {
		return
	}
	read := gorm.Statement{DB: db}
	if err := read.Parse(stmt.Dest); err == nil {
		in.model(read.Schema) // its errors do not affect the database
	}
}

// seeJoined rewrites the conditions of joined relations, which GORM builds separately.
func (in *installed) seeJoined(db *gorm.DB) {
	stmt := db.Statement
	b := in.builderOf(stmt)
	for i, join := range stmt.Joins {
		if join.On == nil {
			continue
		}
		joined := b.related(join.Name)
		if joined == nil {
			continue
		}
		relation := &gorm.Statement{DB: db, Schema: joined, Table: joined.Table}
		on := &builder{in: in, stmt: relation, silent: b.silent}
		stmt.Joins[i].On = &clause.Where{Exprs: on.expressions(join.On.Exprs)}
	}
}
