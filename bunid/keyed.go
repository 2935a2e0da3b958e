package bunid

import (
	"context"
	"reflect"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// Keyed is a primary key in the column id, which is assigned when the row is inserted. Embed it in
// a model:
//
//	type User struct {
//		bunid.Keyed[UserID]
//		Name string
//	}
//
// The key is then user.ID, and a literal is User{Name: "Ann"}.
//
// If a model has its own method BeforeAppendModel, which hides Keyed's, call [Assign] there.
type Keyed[T idtype.ID] struct {
	ID T `bun:"id,pk"`
}

var _ schema.BeforeAppendModelHook = (*Keyed[idtype.DecimalID])(nil)

// BeforeAppendModel calls [Assign]. bun calls it for each row before it writes the statement.
func (k *Keyed[T]) BeforeAppendModel(ctx context.Context, query bun.Query) error {
	return Assign(ctx, query, &k.ID)
}

// Assign mints the key of a row that is inserted, if the key is zero, and does nothing for other
// queries. Models that do not embed [Keyed] call it:
//
//	func (u *User) BeforeAppendModel(ctx context.Context, query bun.Query) error {
//		return bunid.Assign(ctx, query, &u.ID)
//	}
//
// The error is an [*Error] that wraps the source's error, or [ErrForeignDB] for a DB that was not
// created by [NewDB]. After an error nothing is inserted, but rows before this one may already have
// their keys.
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
