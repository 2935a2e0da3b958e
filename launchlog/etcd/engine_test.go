package etcd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
	"github.com/idmint/idmint/launchlog/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// clusters names the clusters that the environment has.
func clusters(t testing.TB) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for name, variable := range map[string]string{
		"OneNode": "IDMINT_TEST_ETCD", "ThreeNodes": "IDMINT_KV_ETCD3",
	} {
		if text := os.Getenv(variable); text != "" {
			found[name] = strings.Split(text, ",")
		}
	}
	if len(found) == 0 {
		t.Skip("IDMINT_TEST_ETCD and IDMINT_KV_ETCD3 name no cluster")
	}
	return found
}

// place is a prefix of its own.
func place(endpoints ...string) Config {
	return Config{
		Endpoints: endpoints, Prefix: fmt.Sprintf("/idmint-test/%016x", rand.Uint64()),
	}
}

func TestEngine(t *testing.T) {
	for name, endpoints := range clusters(t) {
		t.Run(name, func(t *testing.T) {
			kvtest.Run(t, func(t *testing.T) func() kv.Engine {
				t.Parallel()
				config := place(endpoints...)
				return func() kv.Engine {
					e := newEngine(config)
					t.Cleanup(e.close)
					return e
				}
			})
		})
	}
}

func open(t testing.TB, config Config) *Store {
	t.Helper()
	if _, _, err := Migrate(ctx, config); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	for name, endpoints := range clusters(t) {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) launchlog.Store {
				t.Parallel()
				return open(t, place(endpoints...))
			}, func(store launchlog.Store, ref launchlog.Ref, next int) error {
				return kvtest.Jump(store.(*Store).engine, ref, next)
			})
		})
	}
}
