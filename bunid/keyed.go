package bunid

import (
	"context"
	"reflect"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// Keyed is a primary key in the column id. It is assigned when the row is inserted. Embed it in a
// model:
//
//	type User struct {
//		bunid.Keyed[UserID]
//		Name string
//	}
//
// The ID is then user.ID, and a literal is User{Name: "Ann"}.
//
// A model with a method BeforeAppendModel of its own hides Keyed's. Call [Assign] there.
type Keyed[T idtype.ID] struct {
	ID T `bun:"id,pk"`
}

var _ schema.BeforeAppendModelHook = (*Keyed[idtype.DecimalID])(nil)

// BeforeAppendModel is [Assign]. bun calls it for each row, before it writes the statement.
func (k *Keyed[T]) BeforeAppendModel(ctx context.Context, query bun.Query) error {
	return Assign(ctx, query, &k.ID)
}

// Assign mints the key of a row that is inserted, if it is zero. It leaves all other queries alone.
// Models that do not embed [Keyed] call it:
//
//	func (u *User) BeforeAppendModel(ctx context.Context, query bun.Query) error {
//		return bunid.Assign(ctx, query, &u.ID)
//	}
//
// The error is an [*Error]. It wraps the source's. Of a DB that [NewDB] did not make it is
// [ErrForeignDB]. Nothing is inserted then. Rows before this one may have their keys already.
func Assign[T idtype.ID](ctx context.Context, query bun.Query, key *T) error {
	insert, ok := query.(*bun.InsertQuery)
	keyType := reflect.TypeFor[T]()
	if !ok || keys.IsID(keyType) && !(*key).IsZero() {
		return nil
	}
	ours, ok := insert.DB().Dialect().(*dialectOfIDs)
	if !ok {
		return &Error{Table: query.GetTableName(), Err: ErrForeignDB}
	}
	id, err := ours.rules.Mint(ctx, keyType)
	if err != nil {
		return &Error{Table: query.GetTableName(), Err: err}
	}
	*key = id.Interface().(T)
	return nil
}
