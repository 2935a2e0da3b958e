// Command claims mints eightbyte IDs with a generator number that the launch log lends.
// docs/use/claims.md describes it.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	store, err := sqlite.OpenOrCreate(ctx, "launches.db")
	if err != nil {
		return err
	}
	defer store.Close()
	launches, err := launchlog.New(store, nil)
	if err != nil {
		return err
	}
	pairs, err := claims.Pairs(launches, &claims.Options{
		Holder: "shop-0",
		Notify: func(e claims.Event) { log.Println(e) },
	})
	if err != nil {
		return err
	}
	ids, err := generator.NewEightByte(idtype.EightByteSpread, pairs, nil)
	if err != nil {
		return err
	}
	if err := ids.Ready(ctx); err != nil {
		return err
	}
	id, err := ids.Next(ctx)
	if err != nil {
		return err
	}
	fmt.Println(id, "of pair", pairs.Stats().Number)
	return nil
}
