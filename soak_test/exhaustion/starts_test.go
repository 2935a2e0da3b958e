package exhaustion_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog/etcd"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/migrations"
)

// TestThousandStarts starts the processes of a deployment within a moment, each with connections of
// its own, on servers with default settings and data in memory: PostgreSQL has 100 connections, MariaDB
// 151. All go on to run. They have one launch, and a generator number each, and none fails.
func TestThousandStarts(t *testing.T) {
	for kind, prepare := range map[databases.Kind]func(*testing.T) func() (closer, error){
		databases.Postgres: func(t *testing.T) func() (closer, error) {
			d := dbtest.RunOn(t, databases.Postgres, databases.InMemory).DSN
			migrate(t, d.Driver(), d.Source(), migrations.Postgres)
			return func() (closer, error) { return postgres.Open(ctx, d.Source()) }
		},
		databases.MariaDB: func(t *testing.T) func() (closer, error) {
			d := dbtest.RunOn(t, databases.MariaDB, databases.InMemory).DSN
			migrate(t, d.Driver(), d.Source(), migrations.MySQL)
			return func() (closer, error) { return mysql.Open(ctx, d.Source()) }
		},
		databases.Etcd: func(t *testing.T) func() (closer, error) {
			d := dbtest.New(t, databases.Etcd)
			c := etcd.Config{Endpoints: d.Nodes(), Prefix: d.Prefix()}
			if _, _, err := etcd.Migrate(ctx, c); err != nil {
				t.Fatal(err)
			}
			return func() (closer, error) { return etcd.Open(ctx, c) }
		},
	} {
		t.Run(string(kind), func(t *testing.T) {
			open := prepare(t)
			var mu sync.Mutex
			var took []time.Duration
			numbers := map[[2]int]bool{}
			start := func() error {
				began := time.Now()
				store, err := open()
				if err != nil {
					return err
				}
				t.Cleanup(func() { store.Close() })
				ids, err := idmint.Open(ctx, store, idmint.App{Service: "shop", Deployment: "one"})
				if err != nil {
					return err
				}
				id, err := ids.Next(ctx)
				mu.Lock()
				defer mu.Unlock()
				took = append(took, time.Since(began))
				numbers[[2]int{id.Parts().Launch, id.Parts().Generator}] = true
				return err
			}
			const processes = 1000
			var group sync.WaitGroup
			for range processes {
				group.Go(func() {
					if err := start(); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			slices.Sort(took)
			for pair := range numbers {
				if pair[0] != 1 {
					t.Errorf("launch %d", pair[0])
				}
			}
			if len(numbers) != processes {
				t.Fatalf("%d of %d have a number", len(numbers), processes)
			}
			t.Logf("half within %v, the slowest in %v", took[processes/2].Round(time.Millisecond),
				took[processes-1].Round(time.Millisecond))
		})
	}
}
