package gormid

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
)

// A key is the primary key of a model, or of a table without one, with the source of its IDs. It is
// immutable.
type key struct {
	source  source // nil where nothing is assigned
	foreign bool   // left alone by a general rule for being a foreign key; an error if zero

	column string
	typ    reflect.Type  // of an ID, without a pointer
	field  *schema.Field // nil for a table without a model
	path   []int         // of the field, for reflect.Value.FieldByIndexErr

	relations int // how many relations of the schema the decision knew of
}

// keyOf returns the key that the statement's rows have, or nil.
func (in *installed) keyOf(stmt *gorm.Statement) *key {
	s := stmt.Schema
	if s == nil {
		return in.tableKey(stmt)
	}
	// A model that was parsed since may have a relation to this one, and a relation makes foreign
	// keys.
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	if k, ok := in.keys.Load(s); ok && k.(*key).relations == len(s.Relationships.Relations) {
		return k.(*key)
	}
	k := in.decide(s)
	k.relations = len(s.Relationships.Relations)
	in.keys.Store(s, k)
	return k
}

// tableKey finds the rule for a map without a model, by the name that [gorm.DB.Table] was given.
// The statement keeps the quoted form of that name.
func (in *installed) tableKey(stmt *gorm.Statement) *key {
	if len(in.tables) == 0 || stmt.TableExpr == nil {
		return nil
	}
	for table, k := range in.tables {
		if sql := stmt.TableExpr.SQL; sql == table || sql == stmt.Quote(table) {
			return k
		}
	}
	return nil
}

// decide applies the rules to a model.
func (in *installed) decide(s *schema.Schema) *key {
	field, err := keyField(s)
	if err != nil {
		return &key{}
	}
	k := newKey(field)
	if explicit := in.models[s.ModelType]; explicit != nil {
		k.source = explicit
		return k
	}
	scheme, _ := schemeOf(field)
	general := in.general[scheme]
	switch {
	case general == nil || !general.idType().ConvertibleTo(k.typ) || field.AutoIncrement:
	case isForeignKey(s, field) || looksForeign(s, field):
		k.foreign = true
	default:
		k.source = general
	}
	return k
}

// covers refuses a model whose single primary key no rule assigns, for [Strict].
func (in *installed) covers(s *schema.Schema) error {
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	if len(s.PrimaryFields) != 1 {
		return nil
	}
	field := s.PrimaryFields[0]
	if field.TagSettings["AUTOINCREMENT"] != "" || in.decide(s).source != nil ||
		isForeignKey(s, field) || looksForeign(s, field) {
		return nil
	}
	_, err := keyField(s)
	if scheme, ok := schemeOf(field); ok && err == nil {
		err = fmt.Errorf("no rule assigns its primary key %s: give gormid.New the rule Use(gen), "+
			"with a generator of %s IDs", field.Name, scheme)
	}
	return newError(s, s.Table, fmt.Errorf("%w (Strict refuses this: tag the key with "+
		"autoIncrement or autoIncrement:false if it is meant)", err))
}

func newKey(field *schema.Field) *key {
	k := &key{column: field.DBName, typ: field.IndirectFieldType, field: field}
	for _, i := range field.StructField.Index {
		if i < 0 { // how GORM notes that the field at -i-1 is a pointer to an embedded struct
			i = -i - 1
		}
		k.path = append(k.path, i)
	}
	return k
}

// fits says why a source cannot mint the keys of a model.
func fits(s source, model *schema.Schema) error {
	field, err := keyField(model)
	if err != nil {
		return err
	}
	scheme, _ := schemeOf(field)
	if scheme != s.scheme() || !s.idType().ConvertibleTo(field.IndirectFieldType) {
		return fmt.Errorf("its primary key %s of type %s holds no %s IDs: "+
			"take a generator of the key's scheme, or declare another key type",
			field.Name, typeName(field.FieldType), s.scheme())
	}
	return nil
}

// keyField returns the field that the keys of a model may be assigned to.
func keyField(s *schema.Schema) (*schema.Field, error) {
	field := s.PrioritizedPrimaryField
	switch {
	case len(s.PrimaryFields) > 1:
		return nil, errors.New("its primary key is composite: " +
			"rules assign no such key, so set its parts")
	case field == nil:
		return nil, errors.New("it has no primary key: add a field ID of an ID type")
	case !field.Creatable:
		return nil, fmt.Errorf("its primary key %s is never written: its tag forbids it",
			field.Name)
	}
	if _, ok := schemeOf(field); !ok {
		return nil, fmt.Errorf("its primary key %s of type %s is no ID: "+
			"declare it with a type of package idtype", field.Name, typeName(field.FieldType))
	}
	return field, nil
}

// schemeOf returns the scheme of a field whose type is an ID or a pointer to one.
func schemeOf(field *schema.Field) (idtype.Scheme, bool) {
	t := field.FieldType
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Pointer || field.DBName == "" {
		return "", false
	}
	id, ok := reflect.Zero(t).Interface().(interface{ Scheme() idtype.Scheme })
	if !ok {
		return "", false
	}
	return id.Scheme(), true
}

// isForeignKey looks at the relations that GORM has seen so far. These are the model's own, and
// those of other models that have one or many of it.
func isForeignKey(s *schema.Schema, key *schema.Field) bool {
	for _, rel := range s.Relationships.Relations {
		for _, ref := range rel.References {
			if ref.ForeignKey == key {
				return true
			}
		}
	}
	return false
}

// looksForeign reports whether a key is named like a foreign key to another model, by GORM's
// convention. Profile.UserID is: GORM may not have seen the model User yet, with the relation that
// says so. User.UserID is not.
func looksForeign(s *schema.Schema, key *schema.Field) bool {
	other, ok := strings.CutSuffix(key.Name, "ID")
	if !ok {
		other, ok = strings.CutSuffix(key.Name, "Id")
	}
	return ok && other != "" && !strings.EqualFold(other, s.Name)
}
