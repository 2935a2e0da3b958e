package clickhouse_test

import (
	"fmt"
	"time"

	"github.com/idmint/idmint/clickhouse"
	"github.com/idmint/idmint/idtype"
)

type (
	User  struct{}
	Event struct{}

	UserID  = idtype.Decimal[User]
	EventID = idtype.Trace[Event]
)

// The columns of a table: the ID by which it is ordered, and a foreign key that may be none.
func ExampleColumn() {
	fmt.Println(clickhouse.Column[EventID]{Name: "id"}.PrimaryKey())
	fmt.Println(clickhouse.Column[UserID]{Name: "user_id"}.NotNull())
	fmt.Println(clickhouse.Column[UserID]{Name: "invited_by"}.Indexed())
	// Output:
	// `id` Int64 CODEC(Delta(8), ZSTD(6))
	// `user_id` Int64 CODEC(T64('bit'), ZSTD(1))
	// `invited_by` Int64 CODEC(T64('bit'), ZSTD(1)), INDEX `invited_by_minmax` `invited_by` TYPE minmax GRANULARITY 1
}

func ExampleColumn_Between() {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	condition, err := clickhouse.Column[EventID]{Name: "id"}.
		Between(noon, noon.Add(time.Hour-time.Second))
	fmt.Println(condition, err)
	// Output:
	// `id` BETWEEN 4639252973958987777 AND 4640242534423986175 <nil>
}

func ExampleParam() {
	id := idtype.MustParse[idtype.ShortID]("xinaS8QBh")
	query := "SELECT name FROM users WHERE id = {id:Int64}"
	// clickhouse.Named("id", …) of clickhouse-go
	fmt.Println(query, "with id as", clickhouse.Param(id))
	// Output:
	// SELECT name FROM users WHERE id = {id:Int64} with id as 11093174944930914
}
