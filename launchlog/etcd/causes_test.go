package etcd

import (
	"context"
	"testing"

	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
)

// Open says of each node what is in the way.
func TestCauses(t *testing.T) {
	kvtest.Causes(t, func(ctx context.Context, n kvtest.Nodes) error {
		_, err := Open(ctx, Config{
			Endpoints: n.Addresses, User: n.User, Password: n.Password, TLS: n.TLS,
		})
		return err
	})
}
