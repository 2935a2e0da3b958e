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

// servers are those of the ensemble that the environment names.
func servers(t testing.TB) []string {
	t.Helper()
	const variable = "IDMINT_TEST_ZOOKEEPER"
	servers := os.Getenv(variable)
	if servers == "" {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s names no ensemble", variable)
		}
		t.Skipf("SKIPPED: %s names no ensemble", variable)
	}
	return strings.Split(servers, ",")
}

// place is a path of its own in the ensemble, which the test's end removes.
func place(t testing.TB) Config {
	t.Helper()
	c := Config{Servers: servers(t), Path: "/idmint-test-" + rand.Text()[:10]}
	t.Cleanup(func() {
		e := unbound(t, c)
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

// unbound is an engine that the test's end closes. It may be of a path without a log. Its calls go
// on until they are answered, however busy the machine is.
func unbound(t testing.TB, c Config) engine {
	t.Helper()
	s, err := c.settings()
	if err != nil {
		t.Fatal(err)
	}
	s.budget = time.Hour
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
func prepared(t testing.TB) Config {
	t.Helper()
	c := place(t)
	if _, _, err := Migrate(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEngine(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) func() kv.Engine {
		t.Parallel()
		c := prepared(t)
		return func() kv.Engine { return client(t, c) }
	})
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) launchlog.Store {
		t.Parallel()
		return opened(t, prepared(t))
	}, jump)
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
