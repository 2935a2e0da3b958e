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

// A Source mints IDs of one scheme, as generator.Decimal does: its method Fill mints len(dst) IDs
// and returns how many it minted, which is fewer only with an error. Goroutines may call it at the
// same time.
type Source[T idtype.ID] = keys.Source[T]

// A Rule says which keys a source mints. [Use] and [For] make it. It is immutable.
type Rule struct{ rule keys.Rule }

// Use makes the general rule of a scheme. The source mints every key of T's scheme, whatever entity
// the key type names. A hook has one general rule per scheme.
func Use[T idtype.ID](s Source[T]) Rule { return Rule{keys.Use[T](s)} }

// For makes the rule of one key type, K. It wins over a general rule:
//
//	entid.For[ids.OrderID](orders)
func For[K, T idtype.ID](s Source[T]) Rule { return Rule{keys.For[K, T](s)} }

// Assign makes the hook that mints the key of each row that is created, alone and in bulk. Give it
// to the client, once:
//
//	assign, err := entid.Assign(entid.Use(gen))
//	…
//	client.Use(assign)
//
// A key that was set stays. Types whose key is no ID are left alone. Without the hook the database
// refuses the row.
//
// The error joins all that is wrong. There are no rules, or two for the same keys. A rule has no
// source, or one that mints other IDs than its keys are. The hook's error is an [*Error].
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

// assign mints the key of a mutation that ent generated. Its methods are ID() (T, bool) and
// SetID(T), for a T that only reflection knows here.
func assign(ctx context.Context, rules *keys.Rules, m ent.Mutation) error {
	v := reflect.ValueOf(m)
	get, set := v.MethodByName("ID"), v.MethodByName("SetID")
	if !get.IsValid() || !set.IsValid() || set.Type().NumIn() != 1 || get.Type().NumIn() != 0 ||
		get.Type().NumOut() != 2 {
		return nil // ent numbers it, or the key is composite
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

// CheckTables asks the database about tables of ent's, by their names. The error tells of tables
// that are not there, and of those that would number a row that comes without a key. It joins an
// [*Error] for each. ent's migration does not take the numbering away from a table that exists. The dialect is ent's name of
// it:
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

// An Error says what was refused, and why. A key cannot be minted, an upsert would leave wrong
// keys, or a table would number its rows. Nothing was stored.
type Error struct {
	Type string // ent's name of the type, or the table
	Err  error  // the reason; of a source that cannot mint it wraps the source's error
}

func (e *Error) Error() string {
	return fmt.Sprintf("entid: %s: %s", e.Type, strings.TrimPrefix(e.Err.Error(), "entid: "))
}

func (e *Error) Unwrap() error { return e.Err }
