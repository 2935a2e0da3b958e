package gormid

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// A key is the primary key of a model, or of a table without one, with the source of its IDs. It is
// immutable.
type key struct {
	source keys.Minter // nil if nothing is assigned
	column string
	typ    reflect.Type  // of an ID, without a pointer
	field  *schema.Field // nil for a table without a model
	path   []int         // of the field, for reflect.Value.FieldByIndexErr
}

// keyOf returns the key of the statement's rows, or nil.
func (in *installed) keyOf(stmt *gorm.Statement) *key {
	if stmt.Schema == nil {
		return in.tableKey(stmt)
	}
	return in.model(stmt.Schema).key
}

// tableKey returns the key that a rule defines for a map without a model, by the name that was
// passed to [gorm.DB.Table]. The statement keeps that name in its quoted form.
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
	scheme, _ := schemeOf(field)
	general := in.general[scheme]
	switch explicit := in.models[s.ModelType]; {
	case explicit != nil:
		k.source = explicit
	case in.isForeign(s, field):
	case general != nil && general.Type().ConvertibleTo(k.typ):
		k.source = general
	}
	return k
}

// isForeign reports whether a primary key is the key of another model: by a relation, by the entity
// that its type names, or by a name such as UserID if another model has that name. The other model
// may not be known yet, but the type of the key may name it.
func (in *installed) isForeign(s *schema.Schema, field *schema.Field) bool {
	if referred(field) != "" {
		return true
	}
	entity := entityOf(field.IndirectFieldType)
	if entity == nameOf(s.ModelType) {
		return false
	}
	isNamed := func(other string) bool {
		return other != "" && other != s.Name && strings.EqualFold(field.Name, other+"ID")
	}
	found := isNamed(plainName(entity))
	in.known.Range(func(k, _ any) bool {
		other := k.(*schema.Schema)
		found = found || other.Table != s.Table &&
			(isNamed(other.Name) || entity == nameOf(other.ModelType))
		return !found
	})
	return found
}

// covers returns an error if rows of a model are to be created whose single primary key no rule
// assigns, unless [Lenient] allows it. Rows may still be read into such a struct, which may have
// some columns of another model. A model without a name is created by a library, such as one for
// migrations.
func (in *installed) covers(s *schema.Schema, k *key) error {
	if in.lenient || len(s.PrimaryFields) != 1 || s.ModelType.Name() == "" ||
		in.models[s.ModelType] != nil {
		return nil
	}
	field := s.PrimaryFields[0]
	if field.TagSettings["AUTOINCREMENT"] != "" || referred(field) != "" {
		return nil
	}
	if in.isForeign(s, field) {
		return fmt.Errorf("its primary key %s is the key of another model, by its type or its "+
			"name, but no relation says so: declare the relation, or give gormid.New a rule with "+
			"For(&%s{}) if the key is the model's own, or tag it with autoIncrement:false "+
			"if the app sets it",
			field.Name, s.Name)
	}
	if k.source != nil {
		return in.checkEntity(s, field)
	}
	_, err := keyField(s)
	scheme, ok := schemeOf(field)
	if !ok {
		return fmt.Errorf("%w, or tag the key with autoIncrement "+
			"or autoIncrement:false if that is intended, "+
			"or give gormid.New the rule Lenient()", err)
	}
	if err == nil {
		err = fmt.Errorf("no rule assigns its primary key %s: give gormid.New the rule Use(gen), "+
			"with a generator of %s IDs", field.Name, scheme)
	}
	return fmt.Errorf("%w, or tag the key with autoIncrement:false if the app sets it", err)
}

// checkEntity rejects a key whose type is for another entity, unless the entity stands for the
// model: by its name, as in a package of keys, or as a model of the same table. Otherwise the key
// may belong to a model that GORM does not know yet.
func (in *installed) checkEntity(s *schema.Schema, field *schema.Field) error {
	entity := entityOf(field.IndirectFieldType)
	isOwn := entity == "" || entity == nameOf(s.ModelType) ||
		strings.EqualFold(plainName(entity), s.Name)
	in.known.Range(func(k, _ any) bool {
		isOwn = isOwn || entity == nameOf(k.(*schema.Schema).ModelType)
		return !isOwn
	})
	if isOwn {
		return nil
	}
	return fmt.Errorf("its primary key %s of type %s is for another entity, whose model GORM has "+
		"not seen: migrate that model before, or in the same call, or give gormid.New a rule "+
		"with For(&%s{}) if the key is the model's own",
		field.Name, keys.TypeName(field.FieldType), s.Name)
}

func newKey(field *schema.Field) *key {
	k := &key{column: field.DBName, typ: field.IndirectFieldType, field: field}
	for _, i := range field.StructField.Index {
		if i < 0 { // by which GORM marks the field at -i-1 as a pointer to an embedded struct
			i = -i - 1
		}
		k.path = append(k.path, i)
	}
	return k
}

// fits returns the reason why a source cannot mint the keys of a model.
func fits(s keys.Minter, model *schema.Schema) error {
	field, err := keyField(model)
	if err != nil {
		return err
	}
	scheme, _ := schemeOf(field)
	if scheme != s.Scheme() || !s.Type().ConvertibleTo(field.IndirectFieldType) {
		return fmt.Errorf("its primary key %s of type %s cannot hold %s IDs: "+
			"use a generator of the key's scheme and layout, or declare another key type",
			field.Name, keys.TypeName(field.FieldType), s.Scheme())
	}
	return nil
}

// keyField returns the field to which the keys of a model may be assigned.
func keyField(s *schema.Schema) (*schema.Field, error) {
	field := s.PrioritizedPrimaryField
	switch {
	case len(s.PrimaryFields) > 1:
		return nil, errors.New("its primary key is composite: " +
			"rules do not assign such keys, so set its parts")
	case field == nil:
		return nil, errors.New("it has no primary key: add a field ID of an ID type")
	case !field.Creatable:
		return nil, fmt.Errorf("its primary key %s is never written: its tag forbids it",
			field.Name)
	}
	if _, ok := schemeOf(field); !ok {
		return nil, fmt.Errorf("its primary key %s of type %s is not an ID: "+
			"declare it with a type of package idtype", field.Name, keys.TypeName(field.FieldType))
	}
	return field, nil
}

// schemeOf returns the scheme and layout of a field that holds an ID or a pointer to one.
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
	return idtype.LayoutOf(id), true
}

// entityOf returns the name of the entity that an ID's type is for, with its package. It returns ""
// for IDs of any entity, and for other types.
func entityOf(t reflect.Type) string {
	typ, entity, _ := strings.Cut(strings.TrimSuffix(t.Name(), "]"), "[")
	if typ == "SnowflakeIn" {
		entity = beforeLayout(entity)
	}
	if strings.HasPrefix(entity, keys.Package+".As") { // a form, such as AsText[User]
		_, entity, _ = strings.Cut(strings.TrimSuffix(entity, "]"), "[")
	}
	if t.PkgPath() != keys.Package || entity == "interface {}" {
		return ""
	}
	return unescaped(entity)
}

// beforeLayout returns the first of a type's two parameters, each of which may have parameters
// itself.
func beforeLayout(parameters string) string {
	depth := 0
	for i, c := range parameters {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			return parameters[:i]
		}
	}
	return parameters
}

// plainName returns the name of an entity without its package and its own entity.
func plainName(entity string) string {
	plain, _, _ := strings.Cut(entity, "[")
	return plain[strings.LastIndexByte(plain, '.')+1:]
}

// differ reports whether two types are IDs of different entities.
func differ(a, b reflect.Type) bool {
	return a != b && entityOf(a) != "" && entityOf(b) != "" && entityOf(a) != entityOf(b)
}

// nameOf returns a type's name as entityOf does.
func nameOf(t reflect.Type) string { return unescaped(t.PkgPath() + "." + t.Name()) }

// unescaped reverts what the compiler does to paths with dots, and to types within functions.
func unescaped(name string) string {
	return local().ReplaceAllString(strings.ReplaceAll(name, "%2e", "."), "")
}

var local = pattern(`·\d+`)
