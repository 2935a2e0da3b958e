package entid

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"entgo.io/ent"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// A Source mints IDs of one scheme, as generator.Decimal does. Its method Fill mints len(dst) IDs
// and returns how many it minted, which is fewer only with an error, and must be safe for
// concurrent use.
type Source[T idtype.ID] = keys.Source[T]

// A Rule says which keys a source mints. Create it with [Use] or [For]. It is immutable.
type Rule struct{ rule keys.Rule }

// Use returns the general rule of a scheme, by which the source mints every key of T's scheme, for
// all entities. A hook has one general rule per scheme.
func Use[T idtype.ID](s Source[T]) Rule { return Rule{keys.Use[T](s)} }

// For returns the rule of one key type, K, which takes precedence over a general rule:
//
//	entid.For[ids.OrderID](orders)
func For[K, T idtype.ID](s Source[T]) Rule { return Rule{keys.For[K, T](s)} }

// Assign returns the hook that mints the key of each row that is created, alone or in bulk. Add it
// to the client once:
//
//	assign, err := entid.Assign(entid.Use(gen))
//	…
//	client.Use(assign)
//
// A key that is already set stays, and types whose key is not an ID are ignored. Without the hook
// the database rejects the row.
//
// Assign returns an error that joins everything that is wrong. Rules may be missing or two may be
// for the same keys, and a rule may have no source or one for another scheme than its keys. Errors
// of the hook are of type [*Error].
func Assign(rules ...Rule) (ent.Hook, error) {
	var plain []keys.Rule
	for _, r := range rules {
		plain = append(plain, r.rule)
	}
	all, err := keys.NewRules(plain)
	if err != nil {
		return nil, fmt.Errorf("entid: %w", err)
	}
	return func(next ent.Mutator) ent.Mutator {
		return ent.MutateFunc(func(ctx context.Context, m ent.Mutation) (ent.Value, error) {
			if m.Op().Is(ent.OpCreate) {
				if err := assign(ctx, all, m); err != nil {
					return nil, &Error{Type: m.Type(), Err: err}
				}
			}
			return next.Mutate(ctx, m)
		})
	}, nil
}

// assign mints the key of a mutation that ent generated. The mutation has the methods ID() (T,
// bool) and SetID(T), for a T that is known only by reflection.
func assign(ctx context.Context, rules *keys.Rules, m ent.Mutation) error {
	v := reflect.ValueOf(m)
	get, set := v.MethodByName("ID"), v.MethodByName("SetID")
	if !get.IsValid() || !set.IsValid() || set.Type().NumIn() != 1 || get.Type().NumIn() != 0 ||
		get.Type().NumOut() != 2 {
		return nil // ent numbers the rows, or the key is composite
	}
	key := set.Type().In(0)
	if !key.Implements(reflect.TypeFor[keys.ID]()) || get.Call(nil)[1].Bool() {
		return nil
	}
	id, err := rules.Mint(ctx, key)
	if err == nil {
		set.Call([]reflect.Value{id})
	}
	return err
}

// CheckTables asks the database about ent's tables with the given names. The error joins an
// [*Error] for each table that does not exist or would number a row without a key, because ent's
// migration does not remove the numbering from an existing table. The dialect is given by ent's
// name:
//
//	err := entid.CheckTables(ctx, db, dialect.Postgres, user.Table, order.Table)
func CheckTables(ctx context.Context, db *sql.DB, dialect string, tables ...string) error {
	d, ok := dialects[dialect]
	if !ok {
		return fmt.Errorf("entid: the dialect is %q: want PostgreSQL or SQLite", dialect)
	}
	var errs []error
	for _, table := range tables {
		if err := keys.CheckTable(ctx, db, d, d.Quote(table)); err != nil {
			errs = append(errs, &Error{Type: table, Err: err})
		}
	}
	return errors.Join(errs...)
}

// An Error reports what was rejected, and why: a key cannot be minted, an upsert would leave wrong
// keys, or a table would number its rows. Nothing was stored.
type Error struct {
	Type string // ent's name of the type, or the table
	Err  error  // the reason; wraps the error of a source that cannot mint
}

func (e *Error) Error() string {
	return fmt.Sprintf("entid: %s: %s", e.Type, strings.TrimPrefix(e.Err.Error(), "entid: "))
}

func (e *Error) Unwrap() error { return e.Err }
