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
// the model's first query. No other part of bun sees both all models and the DB.
type dialectOfIDs struct {
	schema.Dialect
	name  dialect.Dialect
	rules *keys.Rules
	// keys get a CHECK
	noTests bool
	tables  *schema.Tables // its own, because the driver's tables would call the driver's OnTable

	mu      sync.Mutex // guards refused
	refused map[*schema.Table]error
}

// Tables returns the models that the DB has seen.
func (d *dialectOfIDs) Tables() *schema.Tables { return d.tables }

// OnTable sets the columns of fields of IDs.
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

// refuse makes all SQL for a model invalid. The guard stops its statements with a better error, but
// over a bun.Conn only the driver may see that the context has ended, and SQLite's driver executes
// first. Fields are made invalid too, because a query may name the table itself.
func (d *dialectOfIDs) refuse(t *schema.Table, err error) {
	invalid := bundialect.AppendError(nil, err)
	t.SQLName, t.SQLNameForSelects = schema.Safe(invalid), schema.Safe(invalid)
	for _, f := range t.FieldMap {
		f.Append = func(_ schema.QueryGen, b []byte, _ reflect.Value) []byte {
			return append(b, invalid...)
		}
		// If any of these is set, bun writes NULL or DEFAULT without calling Append.
		f.IsPtr, f.NullZero, f.SQLDefault = false, false, ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused[t] = err
}

// check returns what is wrong with a model that the DB has seen.
func (d *dialectOfIDs) check(t *schema.Table) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused[t]
}

// named returns the error of a refused model by its text, which is in a query that joins or refers
// to the model.
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
			return errors.New("a type without methods cannot be a key: declare it with =, " +
				"as in type UserID = idtype.Decimal[User]")
		}
		return nil
	}
	if f.AutoIncrement || f.Identity {
		return errors.New("the database would number it: " +
			"remove autoincrement or identity from the tag")
	}
	if f.SQLDefault != "" && f.IsPK {
		return fmt.Errorf("the database would give it the default %s: remove it from the tag",
			f.SQLDefault)
	}
	if f.NullZero && f.IsPK {
		return errors.New("NULL cannot be a primary key: remove nullzero from the tag")
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
	// bun casts values to this type, which must not have the collation of the column.
	f.UserSQLType, _, _ = strings.Cut(create, " COLLATE ")
	f.DiscoveredSQLType = f.UserSQLType
	return nil
}

// lostMethods reports whether a type may be meant as the type of an ID. A type that is declared
// without "=" is an integer or an array of bytes, and has no methods.
func lostMethods(t reflect.Type) bool {
	if t.PkgPath() == "" || t.NumMethod() != 0 || reflect.PointerTo(t).NumMethod() != 0 {
		return false
	}
	return t.Kind() == reflect.Int64 || t.ConvertibleTo(reflect.TypeFor[[8]byte]()) ||
		t.ConvertibleTo(reflect.TypeFor[[10]byte]()) || t.ConvertibleTo(reflect.TypeFor[[16]byte]())
}

// nullIsZero reads NULL as zero for a plain ID with nullzero, and as nil for a pointer. Without it,
// bun cannot read what nullzero writes, and sets a pointer that is not nil to a zero ID.
func nullIsZero(scan schema.ScannerFunc) schema.ScannerFunc {
	return func(dest reflect.Value, src any) error {
		if src == nil && dest.CanSet() {
			dest.SetZero()
			return nil
		}
		return scan(dest, src)
	}
}

// fitting are the column types that hold a form of IDs. Some have several names in both databases.
var fitting = map[idtype.Storage][]string{
	idtype.StorageBigint: {"bigint", "int8", "int", "integer"},
	idtype.StorageBytes:  {"bytea", "blob"},
	idtype.StorageText:   {"text", "char(16)", "character(16)", "varchar(16)", "varchar"},
	idtype.StorageUUID:   {"uuid"},
}

// others are types that cannot hold IDs, or truncate them.
var others = []string{
	"smallint", "int2", "int4", "serial", "bigserial", "smallserial", "serial4", "serial8", "real",
	"float4", "float8", "double precision", "numeric", "decimal", "boolean", "bool", "date", "time",
	"timestamp", "timestamptz", "json", "jsonb", "char", "character", "hstore",
}

// accepts returns an error if a type in a tag cannot hold the IDs. It accepts an unknown type as a
// domain of the user's.
func (d *dialectOfIDs) accepts(given string, f *schema.Field, id keys.ID) error {
	want := keys.Column(d.name, id, f.IsPK)
	name := strings.ToLower(strings.TrimSpace(given))
	integer := name == "integer" || name == "int"
	switch {
	case integer && d.name == dialect.Postgres: // has 32 bits
	case integer && name == "integer" && f.IsPK && id.Storage() == idtype.StorageBigint:
		return errors.New("SQLite numbers INTEGER keys itself: remove type:integer from the tag")
	case slices.Contains(fitting[id.Storage()], name),
		name == "text" && id.Storage() == idtype.StorageUUID && d.name == dialect.SQLite:
		return nil
	case !known(name):
		return nil
	}
	return fmt.Errorf("type:%[2]s cannot hold %[1]s IDs: want type:%[3]s, or no type at all",
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
