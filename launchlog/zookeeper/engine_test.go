package zookeeper

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"
	"go.uber.org/goleak"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
	"github.com/idmint/idmint/launchlog/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// servers are those of the ensemble that the environment names.
func servers(t testing.TB) []string { return kvtest.NodesOf(t, "IDMINT_TEST_ZOOKEEPER") }

// place is a path of its own in the ensemble, which the test's end removes.
func place(t testing.TB) Config {
	t.Helper()
	c := Config{Servers: servers(t), Path: "/idmint-test-" + rand.Text()[:10]}
	t.Cleanup(func() {
		if err := removeAll(context.Background(), c); err != nil {
			t.Error(err)
		}
	})
	return c
}

// removeAll removes a path and all that is below.
func removeAll(ctx context.Context, c Config) error {
	conn, err := c.Session(ctx, c.Servers[0])
	if err != nil {
		return err
	}
	defer conn.Close()
	for {
		// Apps may still make znodes below those that are being deleted.
		if err := remove(ctx, conn, c.Path); !unmet(err) {
			return err
		}
	}
}

func remove(ctx context.Context, conn *zk.Conn, path string) error {
	names, _, err := conn.Children(path)
	if err == nil {
		err = kv.Parallel(ctx, len(names), width, func(ctx context.Context, i int) error {
			return remove(ctx, conn, path+"/"+names[i])
		})
	}
	if err == nil {
		err = conn.Delete(path, -1)
	}
	return orNone(err)
}

// client is an engine of the log of a path.
func client(t testing.TB, c Config) engine {
	t.Helper()
	c, err := c.Checked()
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(c)
	t.Cleanup(e.Close)
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
	}, func(store launchlog.Store, ref launchlog.Ref, next int) error {
		return kvtest.Jump(store.(*Store).engine(), ref, next)
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

// A log that is deleted and made anew is not the one that an app has opened.
func TestOtherLog(t *testing.T) {
	t.Parallel()
	c := place(t)
	kvtest.OtherLog(t, kvtest.Place{
		Migrate: func() (int, int, error) { return Migrate(t.Context(), c) },
		Drop:    func() error { return removeAll(t.Context(), c) },
		Open: func() (launchlog.Store, kv.Engine, error) {
			s := opened(t, c)
			return s, s.engine(), nil
		},
	})
}

// The clock is a znode of the log, so a log that is gone has none.
func TestClockOfOtherLog(t *testing.T) {
	e := client(t, prepared(t))
	e.root = e.rootPath(rand.Text())
	if now, err := e.Now(t.Context()); !errors.Is(err, launchlog.ErrOtherLog) {
		t.Errorf("%v, %v", now, err)
	}
}

// Logs are apart whose paths lie within each other. No path leads into a log.
func TestPathsAreApart(t *testing.T) {
	t.Parallel()
	c := prepared(t)
	kvtest.Apart(t, func(below string) launchlog.Store {
		c := c
		c.Path += below
		if _, _, err := Migrate(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		return opened(t, c)
	}, "", "/b", "/b/counters", "/00/default-launches")
	c.Path = client(t, c).root + "/b"
	var bad *launchlog.RequestError
	if _, err := Open(t.Context(), c); !errors.As(err, &bad) || bad.Field != "Path" {
		t.Errorf("a log at %s: %v", c.Path, err)
	}
}

// Open says of each node what is in the way.
func TestCauses(t *testing.T) {
	kvtest.Causes(t, func(ctx context.Context, n kvtest.Nodes) error {
		_, err := Open(ctx, Config{
			Servers: n.Addresses, User: n.User, Password: n.Password, TLS: n.TLS,
		})
		return err
	})
}
