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

// place is a prefix of its own in the cluster that the environment names. The tests begin there.
func place(t testing.TB) Config {
	t.Helper()
	const variable = "IDMINT_TEST_ETCD"
	nodes := os.Getenv(variable)
	if nodes == "" {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s names no cluster", variable)
		}
		t.Skipf("SKIPPED: %s names no cluster", variable)
	}
	return Config{
		Endpoints: strings.Split(nodes, ","),
		Prefix:    fmt.Sprintf("/idmint-test/%016x", rand.Uint64()),
	}
}

func TestEngine(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) func() kv.Engine {
		t.Parallel()
		config := place(t)
		return func() kv.Engine {
			e := newEngine(config)
			t.Cleanup(e.close)
			return e
		}
	})
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
	storetest.Run(t, func(t *testing.T) launchlog.Store {
		t.Parallel()
		return open(t, place(t))
	}, func(store launchlog.Store, ref launchlog.Ref, next int) error {
		return kvtest.Jump(store.(*Store).engine, ref, next)
	})
}
