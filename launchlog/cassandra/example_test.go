package cassandra_test

import (
	"context"
	"fmt"
	"log"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/cassandra"
)

// An app mints decimal IDs for launch 65. An operator has prepared the log, by cassandra.Migrate or
// idmint migrate, and a deployment has started the launch.
func Example() {
	ctx := context.Background()
	store, err := cassandra.Open(ctx, cassandra.Config{
		Hosts:    []string{"cass1:9042", "cass2:9042", "cass3:9042"},
		Keyspace: "shop",
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
