// Command ceiling mints sno IDs that do not repeat after a crash, nor where the clock was set back:
// what docs/schemes.md shows.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
)

type Event struct {
	ID   EventID
	What string
}

type EventID = idtype.Sno[Event]

func main() {
	ctx := context.Background()
	store := must(sqlite.Open(ctx, "shop.db"))
	launches := must(launchlog.New(store, nil))
	counter := must(launches.Counter("sno/7"))
	ids := must(generator.NewSno(generator.Ceiling(7, counter, 3*time.Second), nil))
	check(ids.Ready(ctx))
	id := must(ids.Next(ctx))
	event := Event{ID: EventID(id), What: "started"}
	fmt.Println("Event", event.ID, "at", event.ID.Time())
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
