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

type Account struct {
	ID   AccountID
	Name string
}

// AccountID is a scrambled key. It is not a Decimal, because its own digits mean nothing.
type AccountID = idtype.Sequence[Account]

// Spread mints the keys of one table, spread over all ranges.
type Spread struct {
	ids     *idmint.IDs
	network scramble.Network
}

func (s Spread) Next(ctx context.Context) (AccountID, error) {
	minted, err := s.ids.Next(ctx)
	if err != nil {
		return 0, err
	}
	key, err := s.network.Scramble(int64(minted))
	return AccountID(key), err
}

// Minted is the decimal ID that a key was made of.
func (s Spread) Minted(id AccountID) (idtype.DecimalID, error) {
	minted, err := s.network.Unscramble(int64(id))
	return idtype.DecimalID(minted), err
}

// What docs/distributed.md shows.
func Example_scrambledKeys() {
	ctx := context.Background()
	secret, err := scramble.ParseKey("9f86d081884c7d659a2feaa0c55ad015") // of this table, for ever
	if err != nil {
		panic(err)
	}
	network, err := scramble.NewNetwork(scramble.Int63, secret)
	if err != nil {
		panic(err)
	}
	ids, err := idmint.Open(ctx, memory.New(nil), idmint.App{Service: "shop", Deployment: "1"})
	if err != nil {
		panic(err)
	}
	defer ids.Close(ctx)
	accounts := Spread{ids, network}
	for range 3 {
		key, err := accounts.Next(ctx)
		if err != nil {
			panic(err)
		}
		minted, err := accounts.Minted(key)
		fmt.Println(key, minted, minted.Parts().Launch, err)
	}
	fmt.Println(sqlid.Column[AccountID]{Name: "id"}.PrimaryKey(sqlid.Postgres))
	// Output:
	// 5607393577600762875 10000000001 1 <nil>
	// 2963317938132192018 20000000001 1 <nil>
	// 3631929626084601224 30000000001 1 <nil>
	// "id" BIGINT NOT NULL PRIMARY KEY CHECK ("id" > 0) <nil>
}
