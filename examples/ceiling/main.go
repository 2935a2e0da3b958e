// Command ceiling mints sno IDs that repeat neither after a crash nor if the clock was set back.
// docs/reference/schemes.md describes it.
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
	counter, err := launches.Counter("sno/7")
	if err != nil {
		return err
	}
	ids, err := generator.NewSno(generator.Ceiling(7, counter, 3*time.Second), nil)
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
	event := Event{ID: EventID(id), What: "started"}
	fmt.Println("Event", event.ID, "at", event.ID.Time())
	return nil
}
