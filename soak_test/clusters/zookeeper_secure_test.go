package clusters_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/launchlog/zookeeper"
)

// A server asks for a certificate of the client's and for a user.
func TestZooKeeperSecure(t *testing.T) {
	server := dbtest.RunSecure(t, databases.ZooKeeper)
	tls, err := server.Access.TLS()
	if err != nil {
		t.Fatal(err)
	}
	config := zookeeper.Config{
		Servers: server.Addresses, TLS: tls,
		User: server.Access.User, Password: server.Access.Password,
	}
	store := openZooKeeper(t, config)
	launch, err := store.StartLaunch(t.Context(), launchlog.Launch{
		Namespace: "default", Request: storetest.Request("a"), RequestHash: "x",
	})
	if err != nil || launch.ID != 1 {
		t.Errorf("%+v, %v", launch, err)
	}
	other := config
	other.Password = "another"
	if _, err := zookeeper.Open(t.Context(), other); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("another password: %v", err)
	}
	plain := config
	plain.TLS = nil
	var attempt *launchlog.AttemptError
	if _, err := zookeeper.Open(t.Context(), plain); !errors.As(err, &attempt) ||
		!strings.Contains(err.Error(), server.Addresses[0]+": the server closed the connection") ||
		!strings.Contains(err.Error(), "TLS") {
		t.Errorf("without TLS: %v", err)
	}
}
