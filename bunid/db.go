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

// A Source mints IDs of one scheme, as generator.Decimal does: its method Fill mints len(dst) IDs
// and returns how many it minted, which is fewer only with an error. Goroutines may call it at the
// same time.
type Source[T idtype.ID] = keys.Source[T]

// A Rule says which keys a source mints. [Use] and [For] make it. It is immutable.
type Rule struct {
	rule    keys.Rule
	noTests bool // made by RefuseTestIDs
}

// Use makes the general rule of a scheme. The source mints every key of T's scheme, whatever entity
// the key type names. A DB has one general rule per scheme.
func Use[T idtype.ID](s Source[T]) Rule { return Rule{rule: keys.Use[T](s)} }

// For makes the rule of one key type, K. It wins over a general rule:
//
//	bunid.For[OrderID](orders)
func For[K, T idtype.ID](s Source[T]) Rule { return Rule{rule: keys.For[K, T](s)} }

// RefuseTestIDs makes CreateTable give primary keys of the decimal scheme a CHECK, by which the
// database refuses test IDs, those of launch 0. It stands beside the rules of a database in production.
func RefuseTestIDs() Rule { return Rule{noTests: true} }

// NewDB is [bun.NewDB] for a DB whose rows get their keys by the rules. It gives columns of IDs
// their types, refuses values that are no IDs, and corrects keys after a conflict: see the package
// documentation. The dialect is that of PostgreSQL or of SQLite.
//
// Options of bun are functions of the DB: bun.WithDiscardUnknownColumns()(db).
//
// The error joins all that is wrong. The dialect is of another database. There are no rules, or two
// for the same keys. A rule has no source, or one that mints other IDs than its keys are.
func NewDB(sqldb *sql.DB, d schema.Dialect, rules ...Rule) (*bun.DB, error) {
	ours := &dialectOfIDs{Dialect: d, refused: map[*schema.Table]error{}}
	var errs []error
	if sqldb == nil {
		errs = append(errs, errors.New("the *sql.DB is nil: open it first"))
	}
	switch {
	case d == nil:
		errs = append(errs, errors.New("the dialect is nil: give pgdialect.New() or its like"))
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

// Check registers models, given as (*User)(nil), and says what is wrong with them. Call it as the
// app starts. Without it the first query of such a model fails. The error joins an [*Error] for
// each model. Of a DB that [NewDB] did not make it is [ErrForeignDB].
func Check(db *bun.DB, models ...any) error {
	ours, ok := db.Dialect().(*dialectOfIDs)
	if !ok {
		return ErrForeignDB
	}
	var errs []error
	for _, model := range models {
		t := keys.TypeOf(model)
		if t == nil || t.Kind() != reflect.Struct {
			errs = append(errs, fmt.Errorf("bunid: %T is no model: give (*User)(nil)", model))
			continue
		}
		if err := ours.check(db.Table(t)); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// CheckTables is [Check], and then asks the database about the tables of the models. The error
// tells of tables that are not there, and of those that would number a row that comes without a
// key. Call it where tables were made by other means, or before this package was used.
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
