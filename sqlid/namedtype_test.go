package sqlid_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

func ExampleNamedType() {
	create, err := sqlid.NamedType[UserID]{Name: "user_id"}.Create(sqlid.Postgres)
	fmt.Println(create, err)
	// Output: CREATE DOMAIN "user_id" AS BIGINT CHECK (VALUE BETWEEN 10000000000 AND 9223372029999999999 AND VALUE % 100000 <> 0) <nil>
}

func TestNamedTypeErrors(t *testing.T) {
	type text = idtype.Sno[idtype.AsUUID[User]]
	for want, create := range map[string]func() (string, error){
		"sqlid: the type has no name: set the field Name": func() (string, error) {
			return sqlid.NamedType[UserID]{}.Create(sqlid.Postgres)
		},
		"sqlid: sqlite has no named types: use Column in each table": func() (string, error) {
			return sqlid.NamedType[UserID]{Name: "user_id"}.Create(sqlid.SQLite)
		},
		"sqlid: mariadb has no named types: use Column in each table": func() (string, error) {
			return sqlid.NamedType[text]{Name: "event_id"}.Create(sqlid.MariaDB)
		},
		`sqlid: unknown dialect "oracle"`: func() (string, error) {
			return sqlid.NamedType[UserID]{Name: "user_id"}.Create("oracle")
		},
		`sqlid: type "user_id": unknown domain 99: want Production, Layout, Positive or Number`: func() (string, error) {
			return sqlid.NamedType[UserID]{Name: "user_id", Domain: 99}.Create(sqlid.Postgres)
		},
	} {
		if got, err := create(); err == nil || err.Error() != want || got != "" {
			t.Errorf("got %q, %v\nwant %s", got, err, want)
		}
	}
	var named *sqlid.NamedTypeError
	_, err := sqlid.NamedType[UserID]{Name: "user_id"}.Create(sqlid.MySQL)
	if !errors.As(err, &named) || named.Dialect != sqlid.MySQL {
		t.Errorf("got %v", err)
	}
}
