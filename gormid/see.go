package gormid

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
)

// models are the models of a database that GORM has parsed. The plugin checks each, and prepares
// its fields, before the first statement that uses it. GORM has no callback for that.
type models struct {
	also func(*schema.Schema) error // a further check, or nil; immutable once callbacks run
	seen sync.Map                   // *schema.Schema → *seenModel

	mu       sync.Mutex              // of what follows
	prepared map[*schema.Schema]bool // whose fields have their Set
}

// A seenModel is what check found. It is immutable.
type seenModel struct {
	relations int // how many the model had; another model that is parsed may add some
	err       error
}

// see prepares the model of a statement, and those that it is related to. It returns what is wrong
// with the model.
func (m *models) see(s *schema.Schema) error {
	if s == nil {
		return nil
	}
	s.Relationships.Mux.RLock()
	relations := len(s.Relationships.Relations)
	s.Relationships.Mux.RUnlock()
	if seen, ok := m.seen.Load(s); ok && seen.(*seenModel).relations == relations {
		return seen.(*seenModel).err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.prepare(s, map[*schema.Schema]bool{})
	err := check(s)
	if err == nil && m.also != nil {
		err = m.also(s)
	}
	seen := &seenModel{relations, err}
	m.seen.Store(s, seen)
	return seen.err
}

// prepare wraps the fields of a model, and of all models that its rows may be read with.
func (m *models) prepare(s *schema.Schema, visited map[*schema.Schema]bool) {
	if s == nil || visited[s] {
		return
	}
	visited[s] = true
	if !m.prepared[s] {
		m.prepared[s] = true
		for _, field := range s.Fields {
			wrapSet(field)
		}
	}
	for _, rel := range relationsOf(s) {
		m.prepare(rel.FieldSchema, visited)
		m.prepare(rel.JoinTable, visited)
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

// check says what GORM would store wrongly without an error.
func check(s *schema.Schema) error {
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
			if err := checkTag(field, t.form); err != nil {
				errs = append(errs, err)
			}
		}
	}
	for _, rel := range relationsOf(s) {
		for _, ref := range rel.References {
			if ref.PrimaryKey != nil && ref.ForeignKey != nil {
				if err := checkReference(rel, ref); err != nil {
					errs = append(errs, err)
				}
			}
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return newError(s, s.Table, errors.Join(errs...))
}

// isDefined recognises type Key idtype.DecimalID, which is an integer to all that look at it.
func isDefined(field *schema.Field) bool {
	t := field.IndirectFieldType
	hasMethods := reflect.PointerTo(t).NumMethod() != 0
	if t.PkgPath() == "" || hasMethods || field.TagSettings["AUTOINCREMENT"] != "" {
		return false
	}
	if t.Kind() != reflect.Array {
		return t.Kind() == reflect.Int64
	}
	return t.Elem().Kind() == reflect.Uint8 && (t.Len() == 8 || t.Len() == 10)
}

// unfit are words of column types that change what is stored in them, or cannot be read back.
var unfit = map[idtype.Storage][]string{
	idtype.StorageBigint: {"float", "double", "real", "uuid", "char", "text", "string"},
	idtype.StorageBytes:  append([]string{"uuid", "char", "text"}, numeric...),
	idtype.StorageText:   append([]string{"uuid"}, numeric...),
	idtype.StorageUUID:   append([]string{"bytea", "blob", "binary"}, numeric...),
}

var numeric = []string{"int", "numeric", "decimal", "float", "double", "real", "json"}

// checkTag looks at a type that the tag of a field asks for.
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

// checkReference compares how a key and what refers to it are stored, where one of them is an ID.
func checkReference(rel *schema.Relationship, ref *schema.Reference) error {
	_, ofKey := targetOf(ref.PrimaryKey)
	_, ofForeign := targetOf(ref.ForeignKey)
	if !ofKey && !ofForeign {
		return nil
	}
	if t := ref.ForeignKey.IndirectFieldType; ofKey && isDefined(ref.ForeignKey) {
		return fmt.Errorf("relation %s: %s.%s is of type %v, which has no methods: "+
			"a zero would be stored. Declare it as the key, %v",
			rel.Name, ref.ForeignKey.Schema.Name, ref.ForeignKey.Name, t,
			typeName(ref.PrimaryKey.FieldType))
	}
	key, foreign := formsOf(ref.PrimaryKey), formsOf(ref.ForeignKey)
	isForeign := func(form string) bool { return slices.Contains(foreign, form) }
	if key == nil || foreign == nil || slices.ContainsFunc(key, isForeign) {
		return nil
	}
	return fmt.Errorf("relation %s: %s.%s of type %v cannot hold %s.%s of type %v: "+
		"declare it as the key, or as idtype.DecimalID and the like for keys of several entities",
		rel.Name,
		ref.ForeignKey.Schema.Name, ref.ForeignKey.Name, typeName(ref.ForeignKey.FieldType),
		ref.PrimaryKey.Schema.Name, ref.PrimaryKey.Name, typeName(ref.PrimaryKey.FieldType))
}

// formsOf is how a field's values may be stored, or nil where nothing here tells. Bytes of two
// lengths are two forms.
func formsOf(field *schema.Field) []string {
	if t, ok := targetOf(field); ok {
		if t.form == idtype.StorageBytes {
			return []string{strconv.Itoa(t.typ.Len())}
		}
		return []string{string(t.form)}
	}
	t := field.IndirectFieldType
	isWrapper := true // as sql.NullInt64 is
	for isWrapper && t.Kind() == reflect.Struct && t.NumField() != 0 {
		if _, isWrapper = reflect.Zero(t).Interface().(driver.Valuer); isWrapper {
			t = t.Field(0).Type
		}
	}
	switch t.Kind() {
	case reflect.Int64, reflect.Uint64, reflect.Int, reflect.Uint:
		return []string{string(idtype.StorageBigint)}
	case reflect.String:
		return []string{string(idtype.StorageText), string(idtype.StorageUUID)}
	case reflect.Slice:
		return []string{"8", "10"}
	case reflect.Struct, reflect.Array, reflect.Interface:
		return nil
	}
	return []string{t.String()}
}

// see is the first callback of every statement.
func (in *installed) see(db *gorm.DB) {
	stmt := db.Statement
	err := in.all.see(stmt.Schema)
	if err == nil || db.Error != nil {
		return
	}
	b := builderOf(stmt)
	refused := b.refuse(err)
	// A subquery's error is lost, and without SQL it would be an empty list.
	if (db.DryRun || db.Error == nil) && stmt.SQL.Len() == 0 {
		_, _ = stmt.WriteString("SELECT ") // which a server prepares
		stmt.AddVar(stmt, refused)
	}
}

// seeRead also prepares what is read into: it may be a smaller struct than the model.
func (in *installed) seeRead(db *gorm.DB) {
	in.see(db)
	stmt := db.Statement
	if db.Error != nil || stmt.Schema == nil || !stmt.ReflectValue.IsValid() {
		return
	}
	t := stmt.ReflectValue.Type()
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == stmt.Schema.ModelType || t.Kind() != reflect.Struct {
		return
	}
	read := gorm.Statement{DB: db}
	if err := read.Parse(stmt.Dest); err == nil {
		_ = in.all.see(read.Schema) // no model: what is wrong with it does no harm to the database
	}
}

// seeJoined rewrites the conditions of joined relations, which GORM builds by themselves.
func seeJoined(db *gorm.DB) {
	stmt := db.Statement
	if db.Error != nil || stmt.Schema == nil {
		return
	}
	b := builderOf(stmt)
	for i, join := range stmt.Joins {
		if join.On == nil {
			continue
		}
		joined := b.related(join.Name)
		if joined == nil {
			continue
		}
		relation := &gorm.Statement{DB: db, Schema: joined, Table: joined.Table}
		on := &builder{stmt: relation, silent: b.silent}
		stmt.Joins[i].On = &clause.Where{Exprs: on.expressions(join.On.Exprs)}
	}
}
