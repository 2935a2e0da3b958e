package bunid

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"github.com/uptrace/bun"
	bundialect "github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/schema"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/internal/keys"
)

// A Source mints IDs of one scheme, as generator.Decimal does. Its method Fill mints len(dst) IDs
// and returns how many it minted, which is fewer only with an error, and must be safe for
// concurrent use.
type Source[T idtype.ID] = keys.Source[T]

// A Rule says which keys a source mints. Create it with [Use] or [For]. It is immutable.
type Rule struct {
	rule    keys.Rule
	noTests bool // from RefuseTestIDs
}

// Use returns the general rule of a scheme, by which the source mints every key of T's scheme, for
// all entities. A DB has one general rule per scheme.
func Use[T idtype.ID](s Source[T]) Rule { return Rule{rule: keys.Use[T](s)} }

// For returns the rule of one key type, K, which takes precedence over a general rule:
//
//	bunid.For[OrderID](orders)
func For[K, T idtype.ID](s Source[T]) Rule { return Rule{rule: keys.For[K, T](s)} }

// RefuseTestIDs makes CreateTable add a CHECK to primary keys of the decimal scheme, so that the
// database rejects test IDs, which have launch 0. Add it to the rules of a production database.
func RefuseTestIDs() Rule { return Rule{noTests: true} }

// NewDB is like [bun.NewDB], and returns a DB whose rows get their keys by the rules. The DB sets
// the types of columns of IDs, rejects values that are not IDs, and corrects keys after a conflict,
// as the package documentation describes. The dialect must be that of PostgreSQL or SQLite.
//
// Apply an option of bun to the DB: bun.WithDiscardUnknownColumns()(db).
//
// NewDB returns an error that joins everything that is wrong. The dialect may be of another
// database, rules may be missing or two may be for the same keys, and a rule may have no source or
// one for another scheme than its keys.
func NewDB(sqldb *sql.DB, d schema.Dialect, rules ...Rule) (*bun.DB, error) {
	ours := &dialectOfIDs{Dialect: d, refused: map[*schema.Table]error{}}
	var errs []error
	if sqldb == nil {
		errs = append(errs, errors.New("the *sql.DB is nil: open it first"))
	}
	switch {
	case d == nil:
		errs = append(errs,
			errors.New("the dialect is nil: pass pgdialect.New() or sqlitedialect.New()"))
	case d.Name() == bundialect.PG:
		ours.name = dialect.Postgres
	case d.Name() == bundialect.SQLite:
		ours.name = dialect.SQLite
	default:
		errs = append(errs, fmt.Errorf("the dialect is %q: want PostgreSQL or SQLite", d.Name()))
	}
	var plain []keys.Rule
	for _, r := range rules {
		if r.noTests {
			ours.noTests = true
			continue
		}
		plain = append(plain, r.rule)
	}
	var err error
	ours.rules, err = keys.NewRules(plain)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("bunid: %w", err)
	}
	ours.tables = schema.NewTables(ours)
	return bun.NewDB(sqldb, ours).WithQueryHook(guard{ours}), nil
}

// Check registers models, given as (*User)(nil), and reports what is wrong with them. Call it when
// the app starts, because otherwise only the first query of a bad model fails. The error joins an
// [*Error] for each model. For a DB that was not created by [NewDB] it is [ErrForeignDB].
func Check(db *bun.DB, models ...any) error {
	ours, ok := db.Dialect().(*dialectOfIDs)
	if !ok {
		return ErrForeignDB
	}
	var errs []error
	for _, model := range models {
		t := keys.TypeOf(model)
		if t == nil || t.Kind() != reflect.Struct {
			errs = append(errs, fmt.Errorf("bunid: %T is not a model: pass (*User)(nil)", model))
			continue
		}
		if err := ours.check(db.Table(t)); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// CheckTables calls [Check], and then asks the database about the tables of the models. It reports
// tables that do not exist, and tables that would number a row without a key. Call it if tables
// were created by other means, or before you used this package.
func CheckTables(ctx context.Context, db *bun.DB, models ...any) error {
	if err := Check(db, models...); err != nil {
		return err
	}
	var errs []error
	for _, model := range models {
		t := db.Table(keys.TypeOf(model))
		if !hasKey(t) {
			continue
		}
		d := db.Dialect().(*dialectOfIDs).name
		if err := keys.CheckTable(ctx, db.DB, d, string(t.SQLName)); err != nil {
			errs = append(errs, &Error{Table: t.Name, Err: err})
		}
	}
	return errors.Join(errs...)
}

// hasKey reports whether a table has a single key, which is an ID.
func hasKey(t *schema.Table) bool {
	if len(t.PKs) != 1 {
		return false
	}
	id, _ := keys.In(t.PKs[0].StructField.Type)
	return id != nil
}
