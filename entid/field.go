package entid

import (
	"fmt"
	"go/token"
	"path"
	"reflect"
	"strings"

	"entgo.io/ent"
	entdialect "entgo.io/ent/dialect"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema"
	"entgo.io/ent/schema/field"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/keys"
)

// A Field is a field of IDs in a schema. Create it with [Key] or [Of]. Its methods behave like
// those of ent's own fields.
type Field struct{ desc *field.Descriptor }

var _ ent.Field = (*Field)(nil)

// Key returns the field id, the primary key, of type T with the given alias, as in [Of]. The
// database does not number rows, and updates cannot change the key.
func Key[T idtype.ID](alias string) *Field {
	f := of[T]("id", alias, true)
	f.desc.Immutable = true
	return f
}

// Of returns a field of type T, such as a foreign key. Generated code uses the type's alias:
//
//	package ids // example.com/shop/ids
//
//	type user struct{}
//
//	type UserID = idtype.Decimal[user]
//
// Then Of[ids.UserID]("user_id", "UserID") is a field of type ids.UserID. The name of the alias
// must be given because reflection does not see aliases. Its package is the package of the entity,
// user. For an alias in another package, give "example.com/shop/keys.UserID".
//
// If the alias is not an exported name, or the entity has no package, ent's generator returns an
// error.
func Of[T idtype.ID](name, alias string) *Field { return of[T](name, alias, false) }

func of[T idtype.ID](name, alias string, primary bool) *Field {
	if t := reflect.TypeFor[T](); !keys.IsID(t) {
		err := fmt.Errorf("entid: %s is not an ID: use the type that it points to or embeds",
			keys.TypeName(t))
		return &Field{&field.Descriptor{Name: name, Info: &field.TypeInfo{}, Err: err}}
	}
	var zero T
	// ent's own field finds the methods of the type, but has the wrong names.
	desc := field.Other(name, zero).Descriptor()
	desc.Err = nil
	types := map[string]string{}
	for entName, d := range dialects {
		column, _, _ := strings.Cut(keys.Column(d, zero, primary), " COLLATE ")
		types[entName] = strings.ToLower(column)
	}
	desc.SchemaType = types
	if primary {
		desc.Annotations = append(desc.Annotations, entsql.Annotation{Incremental: new(bool)})
	}
	pkg, ident := packageOf(reflect.TypeFor[T]()), alias
	if i := strings.LastIndex(alias, "."); i >= 0 {
		pkg, ident = alias[:i], alias[i+1:]
	}
	switch {
	case !token.IsIdentifier(ident) || !token.IsExported(ident):
		desc.Err = fmt.Errorf("entid: the alias %q must be an exported name, such as \"UserID\"",
			alias)
	case pkg == "":
		desc.Err = fmt.Errorf("entid: the package of %s is not known: "+
			"give the alias as \"example.com/shop/ids.%s\"",
			keys.TypeName(reflect.TypeFor[T]()), ident)
	}
	info := desc.Info
	info.PkgPath, info.PkgName = pkg, path.Base(pkg)
	info.Ident = info.PkgName + "." + ident
	info.RType.Name, info.RType.Ident, info.RType.PkgPath = ident, info.Ident, pkg
	return &Field{desc}
}

// RefuseTestIDs returns an annotation for a schema whose [Key] is a decimal ID. The migration adds
// a CHECK to the table, so that the database rejects test IDs, which have launch 0. For other
// schemes it does nothing, because they have no test IDs.
//
//	func (User) Annotations() []schema.Annotation {
//		return []schema.Annotation{entid.RefuseTestIDs[shopid.UserID]()}
//	}
func RefuseTestIDs[T idtype.ID]() schema.Annotation {
	var zero T
	checks := map[string]string{}
	if check := keys.NoTests(zero, `"id"`); check != "" {
		checks["id_is_no_test_id"] = check
	}
	return entsql.Annotation{Checks: checks}
}

// dialects are the supported dialects, by ent's names.
var dialects = map[string]dialect.Dialect{
	entdialect.Postgres: dialect.Postgres, entdialect.SQLite: dialect.SQLite,
}

// packageOf finds the package of a key's entity, which is in the innermost brackets of the type's
// name: Sno[…/idtype.AsText[example.com/shop/ids.user]].
func packageOf(t reflect.Type) string {
	name := t.Name()
	name, _, _ = strings.Cut(name[strings.LastIndex(name, "[")+1:], ",") // a layout follows
	name = strings.TrimRight(name, "]")
	// An entity that is declared in a function ends with a middle dot and a number.
	i := strings.LastIndex(name, ".")
	if i < 0 || strings.ContainsAny(name, " {") {
		return ""
	}
	return name[:i]
}

// Optional makes the field optional on create, and the column nullable.
func (f *Field) Optional() *Field { f.desc.Optional = true; return f }

// Nillable makes the struct's field a pointer, which is nil for NULL. If a field is optional but
// not nillable, NULL is read as zero.
func (f *Field) Nillable() *Field { f.desc.Nillable = true; return f }

// Immutable prevents updates of the field.
func (f *Field) Immutable() *Field { f.desc.Immutable = true; return f }

// Unique creates a unique index on the field.
func (f *Field) Unique() *Field { f.desc.Unique = true; return f }

// StorageKey sets the name of the column.
func (f *Field) StorageKey(column string) *Field { f.desc.StorageKey = column; return f }

// StructTag sets the tag of the struct's field.
func (f *Field) StructTag(tag string) *Field { f.desc.Tag = tag; return f }

// Comment sets the comment of the struct's field.
func (f *Field) Comment(text string) *Field { f.desc.Comment = text; return f }

// SchemaType sets another type of the column, by ent's names of dialects, such as a domain over the
// original type.
func (f *Field) SchemaType(types map[string]string) *Field { f.desc.SchemaType = types; return f }

// Annotations adds annotations for ent's extensions.
func (f *Field) Annotations(annotations ...schema.Annotation) *Field {
	f.desc.Annotations = append(f.desc.Annotations, annotations...)
	return f
}

// Descriptor returns the field as ent reads it.
func (f *Field) Descriptor() *field.Descriptor { return f.desc }
