package adapters_test

import (
	"context"
	"fmt"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/scramble"
	"github.com/idmint/idmint/sqlid"
)

type Account struct{ ID AccountID }

// AccountID is a scrambled key. It is not a Decimal, because its own digits mean nothing.
type AccountID = idtype.Sequence[Account]

// What docs/explain/distributed.md shows.
func Example_scrambledKeys() {
	ctx := context.Background()
	ids := must(idmint.Open(ctx, memory.New(nil), idmint.App{Service: "shop", Deployment: "1"}))
	secret := must(scramble.ParseKey("9f86d081884c7d659a2feaa0c55ad015")) // of the table, for ever
	network := must(scramble.NewNetwork(scramble.Int63, secret))
	for range 3 {
		id := must(ids.Next(ctx))
		ann := Account{ID: AccountID(must(network.Scramble(int64(id))))}
		minted := idtype.DecimalID(must(network.Unscramble(int64(ann.ID))))

		fmt.Println(ann.ID, minted)
	}
	fmt.Println(must(sqlid.Column[AccountID]{Name: "id"}.PrimaryKey(sqlid.Postgres)))
	// Output:
	// 5607393577600762875 10000000001
	// 2963317938132192018 20000000001
	// 3631929626084601224 30000000001
	// "id" BIGINT NOT NULL PRIMARY KEY CHECK ("id" > 0)
}
