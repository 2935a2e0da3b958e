package etcd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
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
	return Config{
		Endpoints: kvtest.NodesOf(t, "IDMINT_TEST_ETCD"),
		Prefix:    fmt.Sprintf("/idmint-test/%016x", rand.Uint64()),
	}
}

func TestEngine(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) func() kv.Engine {
		t.Parallel()
		config := place(t)
		return func() kv.Engine {
			e := newEngine(config)
			t.Cleanup(e.Close)
			return e
		}
	})
}

// insist repeats a call whose time was over before the cluster answered.
func insist(call func() error) error {
	for {
		err := call()
		over := errors.As(err, new(*launchlog.AttemptError)) || errors.Is(err, context.DeadlineExceeded)
		if !over || errors.Is(err, launchlog.ErrOtherLog) {
			return err
		}
	}
}

func open(t testing.TB, config Config) (s *Store) {
	t.Helper()
	err := insist(func() error { _, _, err := Migrate(ctx, config); return err })
	if err == nil {
		err = insist(func() (err error) { s, err = Open(ctx, config); return err })
	}
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

func TestFaults(t *testing.T) {
	kvtest.Faults(t, func(t *testing.T) func(kvtest.Dial) kvtest.Client {
		config := place(t)
		for n := len(config.Endpoints); n < 3; n++ { // each has a connection of its own
			config.Endpoints = append(config.Endpoints, config.Endpoints[0])
		}
		return func(dial kvtest.Dial) kvtest.Client {
			c := config
			c.dialer = dial
			e := newEngine(c)
			t.Cleanup(e.Close)
			return e
		}
	})
}

// A name in Endpoints may lead to another cluster, which has a log of its own or none. Nothing is
// handed out twice.
func TestOtherCluster(t *testing.T) {
	for _, migrated := range []bool{false, true} {
		s := open(t, place(t))
		c := s.engine.config
		c.Prefix += "/elsewhere" // has the rows of that cluster
		other := newEngine(c)
		t.Cleanup(other.Close)
		if migrated {
			if _, _, err := kv.Migrate(ctx, other); err != nil {
				t.Fatal(err)
			}
		}
		other.schema = s.engine.schema
		err := insist(func() error { _, err := other.Read(ctx, "n/p", "a"); return err })
		if !errors.Is(err, launchlog.ErrOtherLog) {
			t.Errorf("migrated %v: a read: %v", migrated, err)
		}
		done := false
		err = insist(func() (err error) {
			done, err = other.Commit(ctx, "n/p", kv.Change{Name: "a"})
			return err
		})
		if done || !errors.Is(err, launchlog.ErrOtherLog) {
			t.Errorf("migrated %v: a commit is done: %v, %v", migrated, done, err)
		}
	}
}

// A log that is deleted and made anew is not the one that an app has opened.
func TestOtherLog(t *testing.T) {
	t.Parallel()
	config := place(t)
	kvtest.OtherLog(t, kvtest.Place{
		Migrate: func() (int, int, error) { return Migrate(ctx, config) },
		Drop: func() error {
			client, err := config.Client(ctx, config.Endpoints[0])
			if err != nil {
				return err
			}
			defer client.Close()
			_, err = client.Delete(ctx, config.Prefix+":", clientv3.WithPrefix())
			return err
		},
		Open: func() (launchlog.Store, kv.Engine, error) {
			s, err := Open(ctx, config)
			if err != nil {
				return nil, nil, err
			}
			t.Cleanup(func() { s.Close() })
			return s, s.engine, nil
		},
	})
}

// Logs are apart whose prefixes, and a namespace of the one, make the same words.
func TestPrefixesAreApart(t *testing.T) {
	t.Parallel()
	config := place(t)
	kvtest.Apart(t, func(below string) launchlog.Store {
		c := config
		c.Prefix += below
		return open(t, c)
	}, "", "/b", "/b/counters", "b")
}

// Open says of each node what is in the way.
func TestCauses(t *testing.T) {
	kvtest.Causes(t, func(ctx context.Context, n kvtest.Nodes) error {
		_, err := Open(ctx, Config{
			Endpoints: n.Addresses, User: n.User, Password: n.Password, TLS: n.TLS,
		})
		return err
	})
}

// Processes stand in line, one after another. One that is killed leaves the line with its lease,
// which here it gives up. A process that stands still for as long as its lease lasts has lost its
// turn, so a round counts only if it took less.
func TestLine(t *testing.T) {
	t.Parallel()
	config := place(t)
	for crowded, began := true, time.Now(); crowded; began = time.Now() {
		crowded = crowds(config)
		if crowded && time.Since(began) < lineTTL*time.Second {
			t.Fatal("two had their turn at once")
		}
	}
	e := newEngine(config)
	defer e.Close()
	defer e.Wait(ctx, "n/launches")()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	e.Wait(ended, "n/launches")() // who gives up does not wait
	e.Wait(ctx, "other/launches")()
}

// crowds has ten processes stand in line, and reports whether two had their turn at once.
func crowds(config Config) bool {
	var turns atomic.Int32
	var crowded atomic.Bool
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			e := newEngine(config)
			defer e.Close()
			leave := e.Wait(ctx, "n/launches")
			if turns.Add(1) > 1 {
				crowded.Store(true)
			}
			time.Sleep(10 * time.Millisecond) // another one that has its turn would come in here
			turns.Add(-1)
			leave()
		})
	}
	group.Wait()
	return crowded.Load()
}
