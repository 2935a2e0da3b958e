package zookeeper

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
	"github.com/idmint/idmint/launchlog/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ensembles are those that the environment names.
var ensembles = map[string]string{
	"one_node": "IDMINT_TEST_ZOOKEEPER", "three_nodes": "IDMINT_KV_ZOOKEEPER3",
}

// onEach runs a test on each ensemble that the environment names. Package
// integration_test/launchlog/zookeeper starts ensembles, and runs the tests of this one on them.
func onEach(t *testing.T, test func(t *testing.T, servers []string)) {
	found := false
	for name, variable := range ensembles {
		if servers := os.Getenv(variable); servers != "" {
			found = true
			t.Run(name, func(t *testing.T) { test(t, strings.Split(servers, ",")) })
		}
	}
	if !found && os.Getenv("CI") == "" {
		t.Skip("IDMINT_TEST_ZOOKEEPER and IDMINT_KV_ZOOKEEPER3 name no ensemble")
	}
}

// place is a path of an ensemble of its own, which the test's end removes.
func place(t testing.TB, servers []string) Config {
	t.Helper()
	c := Config{Servers: servers, Path: "/idmint-test-" + rand.Text()[:10]}
	t.Cleanup(func() {
		e := unbound(t, c)
		e.budget = time.Minute // for thousands of znodes
		err := e.with(context.Background(), func(ctx context.Context, l *link) error {
			return remove(ctx, l, e.path)
		})
		if err != nil {
			t.Error(err)
		}
	})
	return c
}

func remove(ctx context.Context, l *link, path string) error {
	names, err := children(ctx, l, path)
	if err != nil {
		return err
	}
	err = each(ctx, len(names), func(ctx context.Context, i int) error {
		return remove(ctx, l, path+"/"+names[i])
	})
	if err != nil {
		return err
	}
	_, err = ask(ctx, l, func(conn *zk.Conn) (struct{}, error) {
		err := conn.Delete(path, -1)
		if errors.Is(err, zk.ErrNoNode) {
			err = nil
		}
		return struct{}{}, err
	})
	return err
}

// unbound is an engine that the test's end closes. It may be of a path without a log.
func unbound(t testing.TB, c Config) engine {
	t.Helper()
	s, err := c.settings()
	if err != nil {
		t.Fatal(err)
	}
	l := newLinks(s)
	t.Cleanup(l.close)
	return newEngine(l)
}

// client is an engine of the log of a path.
func client(t testing.TB, c Config) engine {
	t.Helper()
	e := unbound(t, c)
	schema, err := kv.Find(context.Background(), e)
	if err == nil {
		e, err = e.bound(schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// prepared is a place that was migrated.
func prepared(t testing.TB, servers []string) Config {
	t.Helper()
	c := place(t, servers)
	if _, _, err := Migrate(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEngine(t *testing.T) {
	onEach(t, func(t *testing.T, servers []string) {
		kvtest.Run(t, func(t *testing.T) func() kv.Engine {
			t.Parallel()
			c := prepared(t, servers)
			return func() kv.Engine { return client(t, c) }
		})
	})
}

func TestStore(t *testing.T) {
	onEach(t, func(t *testing.T, servers []string) {
		storetest.Run(t, func(t *testing.T) launchlog.Store {
			t.Parallel()
			return opened(t, prepared(t, servers))
		}, jump)
	})
}

func opened(t testing.TB, c Config) *Store {
	t.Helper()
	s, err := Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// jump sets the next generator number of a launch.
func jump(store launchlog.Store, ref launchlog.Ref, next int) error {
	return kvtest.Jump(store.(*Store).engine, ref, next)
}
