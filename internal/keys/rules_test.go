package keys_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/keys"
)

type ones[T ~int64] struct{}

func (ones[T]) Fill(_ context.Context, dst []T) (int, error) {
	for i := range dst {
		dst[i] = 1
	}
	return len(dst), nil
}

type user struct{}

// A source mints no keys of another layout of its scheme: they would be of another time.
func TestLayoutsOfRules(t *testing.T) {
	type tsid = idtype.SnowflakeIn[user, idtype.TSID]
	twitter := ones[idtype.SnowflakeID]{}
	rules, err := keys.NewRules([]keys.Rule{keys.Use[idtype.SnowflakeID](twitter)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rules.Mint(t.Context(), reflect.TypeFor[idtype.Snowflake[user]]()); err != nil {
		t.Error(err)
	}
	if id, err := rules.Mint(t.Context(), reflect.TypeFor[tsid]()); err == nil ||
		!strings.Contains(err.Error(), "snowflake epoch=1577836800000") {
		t.Errorf("a key of TSID is %v, %v", id, err)
	}
	_, err = keys.NewRules([]keys.Rule{keys.For[tsid, idtype.SnowflakeID](twitter)})
	if err == nil || !strings.Contains(err.Error(), "scheme and layout") {
		t.Errorf("a rule for a key of TSID: %v", err)
	}
	two := []keys.Rule{
		keys.Use[idtype.SnowflakeID](twitter),
		keys.Use[idtype.SnowflakeIn[any, idtype.TSID]](ones[idtype.SnowflakeIn[any, idtype.TSID]]{}),
	}
	if rules, err = keys.NewRules(two); err != nil {
		t.Fatal(err)
	}
	if _, err := rules.Mint(t.Context(), reflect.TypeFor[tsid]()); err != nil {
		t.Error(err)
	}
}
