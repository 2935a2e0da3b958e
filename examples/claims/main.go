// Command claims mints eightbyte IDs with a number that nobody has chosen: what docs/claims.md
// shows.
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
	ctx := context.Background()
	store := must(sqlite.Open(ctx, "shop.db"))
	launches := must(launchlog.New(store, nil))
	pairs := must(claims.Pairs(launches, &claims.Options{
		Holder: "shop-0",
		Notify: func(e claims.Event) { log.Println(e) },
	}))
	ids := must(generator.NewEightByte(idtype.EightByteSpread, pairs, nil))
	check(ids.Ready(ctx))
	id := must(ids.Next(ctx))
	fmt.Println(id, "of pair", pairs.Stats().Number)
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
