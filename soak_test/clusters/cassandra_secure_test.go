package clusters_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/cassandra"
	"github.com/idmint/idmint/launchlog/storetest"
)

// A node that lets only those in who have its certificates and a password.
func TestCassandraSecure(t *testing.T) {
	server := dbtest.RunSecure(t, databases.Cassandra)
	config := cassandra.Config{
		Hosts: server.Addresses, Keyspace: "shop",
		User: server.Access.User, Password: server.Access.Password,
		TLS: &cassandra.TLS{
			CA: server.Access.CA, Cert: server.Access.Certificate, Key: server.Access.Key,
		},
		Replication: map[string]string{"class": "SimpleStrategy", "replication_factor": "1"},
	}
	if _, _, err := cassandra.Migrate(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	store, err := cassandra.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	launch, err := logOf(t, store).Start(t.Context(), storetest.Request("a"))
	if err != nil || launch.ID != 1 {
		t.Fatalf("launch %d, %v", launch.ID, err)
	}
	var opening sync.WaitGroup
	for name, change := range map[string]func(c *cassandra.Config){
		"a wrong password":      func(c *cassandra.Config) { c.Password += "x" },
		"no encryption":         func(c *cassandra.Config) { c.TLS = nil },
		"unknown authority":     func(c *cassandra.Config) { c.TLS.CA = "" },
		"no client certificate": func(c *cassandra.Config) { c.TLS.Cert, c.TLS.Key = "", "" },
		"another server's name": func(c *cassandra.Config) { c.TLS.ServerName = "x.invalid" },
	} {
		opening.Go(func() { // at once: some wait for 10 s
			c, tls := config, *config.TLS
			c.TLS = &tls
			change(&c)
			start := time.Now()
			s, err := cassandra.Open(t.Context(), c)
			if err == nil {
				_ = s.Close()
				t.Errorf("%s: opened", name)
				return
			}
			var node *launchlog.NodeError
			if !strings.HasPrefix(err.Error(), "launchlog/cassandra: ") || !errors.As(err, &node) {
				t.Errorf("%s: %v", name, err)
			}
			t.Logf("%s, after %v: %v", name, time.Since(start).Round(time.Millisecond), err)
		})
	}
	opening.Wait()
}
