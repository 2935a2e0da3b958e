package cassandra

import (
	"context"
	"testing"

	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
)

// Open says of each node what is in the way.
func TestCauses(t *testing.T) {
	kvtest.Causes(t, func(ctx context.Context, n kvtest.Nodes) error {
		c := Config{
			Hosts: n.Addresses, Keyspace: "shop", User: n.User, Password: n.Password,
		}
		if n.TLS != nil {
			c.TLS = &TLS{CA: n.CA, ServerName: n.TLS.ServerName}
		}
		_, err := Open(ctx, c)
		return err
	})
}
