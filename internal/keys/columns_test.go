package keys_test

import (
	"database/sql"
	"database/sql/driver"
	"reflect"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

// A node is a Valuer that begins with a pointer to its own type. A chain points to itself.
type (
	node  struct{ Next *node }
	left  struct{ Right *right }
	right struct{ Left *left }
	chain *chain
)

func (node) Value() (driver.Value, error)  { return nil, nil }
func (left) Value() (driver.Value, error)  { return nil, nil }
func (right) Value() (driver.Value, error) { return nil, nil }

func TestIn(t *testing.T) {
	for _, c := range []struct {
		holder any
		want   bool
	}{
		{idtype.DecimalID(0), true},
		{(*idtype.DecimalID)(nil), true},
		{sql.Null[idtype.SnoID]{}, true},
		{sql.Null[*idtype.SnoID]{}, true},
		{sql.NullInt64{}, false},
		{struct{ ID idtype.DecimalID }{}, false},
		{struct{}{}, false},
		{int64(0), false},
		{node{}, false},
		{&left{}, false},
		{chain(nil), false},
		{[]any{nil}, false},
	} {
		if got, _ := keys.In(reflect.TypeOf(c.holder)); (got != nil) != c.want {
			t.Errorf("%T holds the ID %v, want one: %t", c.holder, got, c.want)
		}
	}
}
