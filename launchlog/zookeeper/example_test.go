package zookeeper_test

import (
	"context"
	"fmt"
	"log"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/zookeeper"
)

// An app mints decimal IDs for launch 65. An operator has prepared the log, by zookeeper.Migrate or
// idmint migrate, and a deployment has started the launch.
func Example() {
	ctx := context.Background()
	store, err := zookeeper.Open(ctx, zookeeper.Config{
		Servers: []string{"zoo1:2181", "zoo2:2181", "zoo3:2181"},
		Path:    "/shop",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	launches, err := launchlog.New(store, nil)
	if err != nil {
		log.Fatal(err)
	}
	ids, err := generator.NewDecimal(launches.Generators(65))
	if err != nil {
		log.Fatal(err)
	}
	defer ids.Close(ctx)
	id, err := ids.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}
