package bunid

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	bundialect "github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/keys"
)

// dialectOfIDs is bun's dialect with columns for IDs. bun calls OnTable once for each model, before
// the model's first query. Nothing else of bun sees all models, and the DB.
type dialectOfIDs struct {
	schema.Dialect
	name  dialect.Dialect
	rules *keys.Rules
	// Keys get a CHECK.
	noTests bool
	tables  *schema.Tables // its own: those of the driver's dialect would call that one's OnTable

	mu      sync.Mutex // guards refused
	refused map[*schema.Table]error
}

// Tables returns the models that the DB has met.
func (d *dialectOfIDs) Tables() *schema.Tables { return d.tables }

// OnTable gives fields of IDs their columns.
func (d *dialectOfIDs) OnTable(t *schema.Table) {
	d.Dialect.OnTable(t)
	var errs []error
	for _, f := range t.FieldMap {
		if err := d.prepare(t, f); err != nil {
			errs = append(errs, fmt.Errorf("column %s of type %s: %w",
				f.Name, keys.TypeName(f.StructField.Type), err))
		}
	}
	if len(errs) > 0 {
		slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		d.refuse(t, &Error{Table: t.Name, Err: errors.Join(errs...)})
	}
}

// refuse leaves no valid SQL for a model. The guard stops its statements with a better error. But
// over a bun.Conn only the driver may hear of that, and SQLite's executes first. A query may name
// the table itself, so fields are made invalid too.
func (d *dialectOfIDs) refuse(t *schema.Table, err error) {
	invalid := bundialect.AppendError(nil, err)
	t.SQLName, t.SQLNameForSelects = schema.Safe(invalid), schema.Safe(invalid)
	for _, f := range t.FieldMap {
		f.Append = func(_ schema.QueryGen, b []byte, _ reflect.Value) []byte {
			return append(b, invalid...)
		}
		// With these bun writes NULL or DEFAULT, and does not ask Append.
		f.IsPtr, f.NullZero, f.SQLDefault = false, false, ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused[t] = err
}

// check returns what is wrong with a model that the DB has met.
func (d *dialectOfIDs) check(t *schema.Table) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused[t]
}

// named returns the error of a refused model whose text stands in a query: the query joins the
// model, or refers to it.
func (d *dialectOfIDs) named(text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, err := range d.refused {
		if err.Error() == text {
			return err
		}
	}
	return nil
}

func (d *dialectOfIDs) prepare(t *schema.Table, f *schema.Field) error {
	id, _ := keys.In(f.StructField.Type)
	if id == nil {
		if f.IsPK && len(t.PKs) == 1 && !f.AutoIncrement && lostMethods(f.IndirectType) {
			return errors.New("a type without methods is no key: declare it with =, " +
				"as in type UserID = idtype.Decimal[User]")
		}
		return nil
	}
	if f.AutoIncrement || f.Identity {
		return errors.New("the database would number it: " +
			"take autoincrement or identity out of the tag")
	}
	if f.SQLDefault != "" && f.IsPK {
		return fmt.Errorf("the database would give it the default %s: take it out of the tag",
			f.SQLDefault)
	}
	if f.NullZero && f.IsPK {
		return errors.New("NULL is no primary key: take nullzero out of the tag")
	}
	if f.NullZero || f.IsPtr {
		f.Scan = nullIsZero(f.Scan)
	}
	if given, ok := f.Tag.Option("type"); ok {
		return d.accepts(given, f, id)
	}
	f.CreateTableSQLType = keys.Column(d.name, id, f.IsPK && len(t.PKs) == 1)
	create := f.CreateTableSQLType
	if check := keys.NoTests(id, d.name.Quote(f.Name)); d.noTests && f.IsPK && check != "" {
		f.CreateTableSQLType += " CHECK (" + check + ")"
	}
	// bun casts values to this one. A collation belongs to the column alone.
	f.UserSQLType, _, _ = strings.Cut(create, " COLLATE ")
	f.DiscoveredSQLType = f.UserSQLType
	return nil
}

// lostMethods reports whether a type may be an ID's by mistake. One that is declared without "=" is
// an integer or an array of bytes, and has no methods.
func lostMethods(t reflect.Type) bool {
	if t.PkgPath() == "" || t.NumMethod() != 0 || reflect.PointerTo(t).NumMethod() != 0 {
		return false
	}
	return t.Kind() == reflect.Int64 || t.ConvertibleTo(reflect.TypeFor[[8]byte]()) ||
		t.ConvertibleTo(reflect.TypeFor[[10]byte]()) || t.ConvertibleTo(reflect.TypeFor[[16]byte]())
}

// nullIsZero reads NULL as zero, for a plain ID with nullzero, and as nil for a pointer. bun alone
// cannot read what nullzero writes. To a pointer that is set it gives a zero in place of nil.
func nullIsZero(scan schema.ScannerFunc) schema.ScannerFunc {
	return func(dest reflect.Value, src any) error {
		if src == nil && dest.CanSet() {
			dest.SetZero()
			return nil
		}
		return scan(dest, src)
	}
}

// fitting are the types of columns that hold a form of IDs. Both databases know some of them by
// several names.
var fitting = map[idtype.Storage][]string{
	idtype.StorageBigint: {"bigint", "int8", "int", "integer"},
	idtype.StorageBytes:  {"bytea", "blob"},
	idtype.StorageText:   {"text", "char(16)", "character(16)", "varchar(16)", "varchar"},
	idtype.StorageUUID:   {"uuid"},
}

// others are types that hold no IDs, or cut them.
var others = []string{
	"smallint", "int2", "int4", "serial", "bigserial", "smallserial", "serial4", "serial8", "real",
	"float4", "float8", "double precision", "numeric", "decimal", "boolean", "bool", "date", "time",
	"timestamp", "timestamptz", "json", "jsonb", "char", "character", "hstore",
}

// accepts says whether a type in a tag holds the IDs. What it does not know is a domain of the
// user's.
func (d *dialectOfIDs) accepts(given string, f *schema.Field, id keys.ID) error {
	want := keys.Column(d.name, id, f.IsPK)
	name := strings.ToLower(strings.TrimSpace(given))
	integer := name == "integer" || name == "int"
	switch {
	case integer && d.name == dialect.Postgres: // of 32 bits
	case integer && name == "integer" && f.IsPK && id.Storage() == idtype.StorageBigint:
		return errors.New("SQLite numbers INTEGER keys itself: take type:integer out of the tag")
	case slices.Contains(fitting[id.Storage()], name),
		name == "text" && id.Storage() == idtype.StorageUUID && d.name == dialect.SQLite:
		return nil
	case !known(name):
		return nil
	}
	return fmt.Errorf("it holds no %s IDs as type:%s: want type:%s, or no type at all",
		id.Scheme(), given, strings.ToLower(want))
}

func known(name string) bool {
	base, _, _ := strings.Cut(name, "(")
	base = strings.TrimSpace(base)
	for _, names := range fitting {
		if slices.Contains(names, name) || slices.Contains(names, base) {
			return true
		}
	}
	return slices.Contains(others, base)
}
