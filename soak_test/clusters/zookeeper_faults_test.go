package clusters_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/zookeeper"
)

// quick are settings by which followers miss their leader after 2 s.
var quick = []string{"tickTime=500", "syncLimit=4"}

// openZooKeeper opens the launch log in a cluster, which is made where it is missing.
func openZooKeeper(t *testing.T, config zookeeper.Config) *zookeeper.Store {
	t.Helper()
	if _, _, err := zookeeper.Migrate(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	s, err := zookeeper.Open(t.Context(), config)
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

// A leader is stopped while another one is elected, and reads wait for it. It goes on, and does not
// know yet that it leads no more. It answers Sync, and then a read by what it has, which is the
// past. The store's reads do not see it. That is done until a read behind a Sync was of the past.
func TestZooKeeperDeposedLeader(t *testing.T) {
	c := dbtest.RunCluster(t, databases.ZooKeeper, 3, quick...)
	all := openZooKeeper(t, zookeeper.Config{Servers: c.Addresses()})
	counter := launchlog.CounterRef{Namespace: "default", Name: "a"}
	rounds, stale := 0, false
	for ; !stale && !t.Failed(); rounds++ {
		first := take(t, all, counter)
		leader, err := c.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		node := c.Nodes[leader]
		others := slices.Delete(slices.Clone(c.Addresses()), leader, leader+1)
		old := openZooKeeper(t, zookeeper.Config{
			Servers: node.Addresses, SessionTimeout: time.Minute,
		})
		if n, err := old.LastNumber(t.Context(), counter); err != nil || n != first {
			t.Fatalf("before: %d, %v", n, err)
		}
		raw := connect(t, node.Addresses)
		path, before := find(t, raw, "/idmint")
		signal(t, node, "STOP")
		rest := openZooKeeper(t, zookeeper.Config{Servers: others})
		second := take(t, rest, counter)
		if second <= first {
			t.Fatalf("%d after %d", second, first)
		}
		var group sync.WaitGroup
		group.Go(func() {
			for {
				n, err := old.LastNumber(t.Context(), counter)
				if err == nil && n != second {
					t.Errorf("the deposed leader's number is %d, want %d", n, second)
				}
				if attempt := (*launchlog.AttemptError)(nil); !errors.As(err, &attempt) {
					if err != nil {
						t.Error(err)
					}
					return
				}
			}
		})
		group.Go(func() {
			if _, err := raw.Sync(path); err != nil {
				return
			}
			if _, stat, err := raw.Get(path); err == nil && stat.Version == before {
				stale = true
			}
		})
		signal(t, node, "CONT")
		group.Wait()
		raw.Close()
		// until all have come back
		if err := c.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("a read behind a Sync was of the past in the last of %d rounds", rounds)
}

// take takes a number of a counter. An attempt that fails may have taken one as well.
func take(t *testing.T, s *zookeeper.Store, counter launchlog.CounterRef) int64 {
	t.Helper()
	for {
		n, err := s.ReserveNumbers(t.Context(), counter, 0, 1)
		if err == nil {
			return n
		}
		if attempt := (*launchlog.AttemptError)(nil); !errors.As(err, &attempt) {
			t.Fatal(err)
		}
	}
}

// connect is a client that stays with its server.
func connect(t *testing.T, servers []string) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect(servers, 20*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	return conn
}

// find returns the znode of the counter's state, and its version.
func find(t *testing.T, conn *zk.Conn, path string) (string, int32) {
	t.Helper()
	names, _, err := conn.Children(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		below := path + "/" + name
		if name == "default:counter:a" {
			_, stat, err := conn.Get(below + "/state")
			if err != nil {
				t.Fatal(err)
			}
			return below + "/state", stat.Version
		}
		if found, version := find(t, conn, below); found != "" {
			return found, version
		}
	}
	return "", 0
}
