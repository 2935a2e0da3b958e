package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/launchlog/enginetest"
	"github.com/idmint/idmint/integration_test/launchlog/serversuite"
	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/etcd"
)

var ctx = context.Background()

// TestMain runs the tests, or what they run as processes: those open a log by its name.
func TestMain(m *testing.M) {
	subprocess.Work(storesuite.Workers(func(source string) (launchlog.Store, error) {
		d, err := dsn.Parse(source)
		if err != nil {
			return nil, err
		}
		return etcd.Open(ctx, etcd.Config{Endpoints: d.Nodes(), Prefix: d.Prefix()})
	}))
	dbtest.Main(m)
}

var places int

// place is a prefix of its own in a cluster.
func place(addresses []string) etcd.Config {
	places++
	return etcd.Config{
		Endpoints: addresses, Prefix: fmt.Sprintf("/test/%d-%d", time.Now().UnixNano(), places),
	}
}

func open(t testing.TB, config etcd.Config) *etcd.Store {
	t.Helper()
	if _, _, err := etcd.Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	return reopen(t, config)
}

func reopen(t testing.TB, config etcd.Config) *etcd.Store {
	t.Helper()
	s, err := etcd.Open(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// The suite itself is in TestPackage.
func TestStore(t *testing.T) {
	t.Run("OneNode", func(t *testing.T) { suite(t, dbtest.Server(t, databases.Etcd).Addresses) })
	t.Run("ThreeNodes", func(t *testing.T) {
		suite(t, dbtest.RunCluster(t, databases.Etcd, 3).Addresses())
	})
}

func suite(t *testing.T, addresses []string) {
	t.Run("Tour", func(t *testing.T) {
		config := place(addresses)
		serversuite.Tour(t, open(t, config), "a", 1)
		serversuite.Tour(t, reopen(t, config), "b", 2)
	})
	t.Run("ManyProcesses", func(t *testing.T) {
		storesuite.ManyProcesses(t, func(t *testing.T) (string, launchlog.Store) {
			config := place(addresses)
			return "etcd://" + strings.Join(addresses, ",") + config.Prefix, open(t, config)
		}, 4, 25)
	})
	t.Run("Migrate", func(t *testing.T) {
		config := place(addresses)
		var schema *launchlog.SchemaError
		if _, err := etcd.Open(ctx, config); !errors.As(err, &schema) || schema.Have != 0 {
			t.Errorf("a prefix that is not prepared: %v", err)
		} else {
			storesuite.BeginsWith(t, err, "launchlog/etcd: ")
		}
		for range 2 {
			open(t, config)
		}
	})
}

// The tests of the package itself know its engine.
func TestPackage(t *testing.T) { enginetest.Run(t, databases.Etcd, "etcd", 12) }

// Steps beside bare transactions of the same servers.
func BenchmarkPackage(b *testing.B) { enginetest.Bench(b, databases.Etcd, "etcd") }
