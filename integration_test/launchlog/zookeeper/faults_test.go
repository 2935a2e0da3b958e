package zookeeper_test

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

// open opens the launch log in a cluster, which is made where it is missing.
func open(t *testing.T, config zookeeper.Config) *zookeeper.Store {
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

func signal(t *testing.T, s *databases.Server, signal string) {
	t.Helper()
	if err := s.Signal(t.Context(), signal); err != nil {
		t.Fatal(err)
	}
}

// A leader is stopped while another one is elected, and reads wait for it. It goes on, and does not
// know yet that it leads no more. It answers Sync, and then a read by what it has, which is the
// past. The store's reads do not see it.
func TestDeposedLeader(t *testing.T) {
	c := dbtest.RunCluster(t, databases.ZooKeeper, 3, quick...)
	all := open(t, zookeeper.Config{Servers: c.Addresses()})
	counter := launchlog.CounterRef{Namespace: "default", Name: "a"}
	stale := 0
	const rounds = 4
	for round := range int64(rounds) {
		first, err := all.ReserveNumbers(t.Context(), counter, 0, 1)
		if err != nil || first != 2*round+1 {
			t.Fatalf("%d, %v", first, err)
		}
		leader, err := c.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		node := c.Nodes[leader]
		others := slices.Delete(slices.Clone(c.Addresses()), leader, leader+1)
		old := open(t, zookeeper.Config{Servers: node.Addresses, SessionTimeout: time.Minute})
		if n, err := old.LastNumber(t.Context(), counter); err != nil || n != first {
			t.Fatalf("before: %d, %v", n, err)
		}
		raw := connect(t, node.Addresses)
		path, before := find(t, raw, "/idmint")
		signal(t, node, "STOP")
		rest := open(t, zookeeper.Config{Servers: others})
		for second := int64(0); second != 2*round+2; {
			second, err = rest.ReserveNumbers(t.Context(), counter, 0, 1)
			var attempt *launchlog.AttemptError
			if errors.As(err, &attempt) && !attempt.Ambiguous {
				continue
			}
			if err != nil || second != 2*round+2 {
				t.Fatalf("%d, %v", second, err)
			}
		}
		var group sync.WaitGroup
		group.Go(func() {
			for {
				n, err := old.LastNumber(t.Context(), counter)
				if err == nil && n != 2*round+2 {
					t.Errorf("round %d: the deposed leader's number is %d", round, n)
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
				stale++
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
	if stale == 0 {
		t.Error("no read behind a Sync was of the past: the test shows too little")
	}
	t.Logf("a read behind a Sync was of the past in %d of %d rounds", stale, rounds)
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
