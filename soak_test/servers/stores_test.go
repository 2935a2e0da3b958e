package servers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/dialect"
)

func (quiet) Printf(string, ...any) {}

const (
	opening = 10 * time.Second // before a node is asked again
	refused = 3 * time.Second  // that one which cannot answer is given
	patient = 10 * time.Minute // until what must happen has happened, on a machine however busy
)

// eventually repeats what must succeed in the end.
func eventually(t *testing.T, what string, do func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	var err error
	for range dialect.Attempts(ctx, 100*time.Millisecond) {
		attempt, cancel := context.WithTimeout(ctx, opening)
		err = do(attempt)
		cancel()
		if err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}

func mustPut(t *testing.T, v values, key, value string) {
	t.Helper()
	eventually(t, "put "+key, func(ctx context.Context) error { return v.put(ctx, key, value) })
}

func mustGet(t *testing.T, v values, key, want string) {
	t.Helper()
	eventually(t, "get "+key, func(ctx context.Context) error {
		value, err := v.get(ctx, key)
		if err == nil && value != want {
			err = errors.New(strconv.Quote(value) + ", not " + strconv.Quote(want))
		}
		return err
	})
}

// mustNotPut is a write through a node that has no majority, or that this client cannot reach.
func mustNotPut(t *testing.T, v values, key string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), refused)
	defer cancel()
	if err := v.put(ctx, key, "lost"); err == nil {
		t.Errorf("put %s succeeds", key)
	}
}

// signal sends a node a signal.
func signal(t *testing.T, s *databases.Server, name string) {
	t.Helper()
	if err := s.Signal(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

func eachStore(t *testing.T, test func(t *testing.T, k databases.Kind)) {
	for _, k := range databases.Stores() {
		t.Run(string(k), func(t *testing.T) { test(t, k) })
	}
}

// The tests of a program share a node of each store, under the addresses that it has.
func TestStore(t *testing.T) {
	eachStore(t, func(t *testing.T, k databases.Kind) {
		s := dbtest.Server(t, k)
		t.Log(s.Version)
		if dbtest.Server(t, k) != s {
			t.Error("the tests do not share it")
		}
		prepare(t, s, 1)
		v := open(t, s)
		mustPut(t, v, "k", "v")
		mustGet(t, v, "k", "v")
	})
}

// Each test has a place to itself, which is gone after it.
func TestNewPlace(t *testing.T) {
	eachStore(t, func(t *testing.T, k databases.Kind) {
		s := dbtest.Server(t, k)
		var place string
		t.Run("made", func(t *testing.T) {
			d := dbtest.New(t, k)
			if !d.IsKeyValue() || !slices.Equal(d.Nodes(), s.Addresses) {
				t.Fatalf("%v: nodes %v, not %v", d, d.Nodes(), s.Addresses)
			}
			if r := d.Setting("replication"); (k == databases.Cassandra) != (r != "") {
				t.Errorf("%v: replication %q", d, r)
			}
			place = d.Database()
			fill(t, s, place)
			if n := count(t, s, place); n == 0 {
				t.Fatalf("%s is empty", place)
			}
		})
		if n := count(t, s, place); n != 0 {
			t.Errorf("%s still has %d entries", place, n)
		}
	})
}

const many = 450 // children: more than one request removes

// fill writes to a place, in two levels where there are levels.
func fill(t *testing.T, s *databases.Server, place string) {
	t.Helper()
	switch v := open(t, s).(type) {
	case etcdValues:
		mustPut(t, v, "/"+place, "1")
		mustPut(t, v, "/"+place+"/a/b", "1")
	case zookeeperValues:
		mustPut(t, v, place, "1")
		mustPut(t, v, place+"/a", "1")
		mustPut(t, v, place+"/a/b", "1")
		for i := range many {
			mustPut(t, v, place+"/"+strconv.Itoa(i), "1")
		}
	case cassandraValues:
		if err := v.Query("CREATE KEYSPACE " + place + " WITH replication = " +
			"{'class': 'SimpleStrategy', 'replication_factor': 1}").
			ExecContext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// count counts what is at a place.
func count(t *testing.T, s *databases.Server, place string) (n int) {
	t.Helper()
	var err error
	switch v := open(t, s).(type) {
	case etcdValues:
		var r *clientv3.GetResponse
		r, err = v.Get(t.Context(), "/"+place, clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err == nil {
			n = int(r.Count)
		}
	case zookeeperValues:
		var exists bool
		if exists, _, err = v.Exists("/" + place); exists {
			n = 1
		}
	case cassandraValues:
		err = v.Query("SELECT count(*) FROM system_schema.keyspaces WHERE keyspace_name = ?",
			place).ScanContext(t.Context(), &n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A store that a variable names is used as it is, and is there afterwards.
func TestNamedStore(t *testing.T) {
	eachStore(t, func(t *testing.T, k databases.Kind) {
		running := dbtest.Server(t, k)
		t.Setenv(k.Variable(), running.Addresses[0])
		s, err := databases.Start(t.Context(), k, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Addresses) != 1 || s.Addresses[0] != running.Addresses[0] {
			t.Errorf("addresses %v, not %v", s.Addresses, running.Addresses)
		}
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		if again, err := databases.Start(t.Context(), k, ""); err != nil {
			t.Errorf("after Stop: %v", err)
		} else if again.Version != s.Version {
			t.Errorf("it says %q, and then %q", s.Version, again.Version)
		}
	})
}

// settings are one of each store that its default is not, and how a client sees it.
var settings = map[databases.Kind]struct {
	setting string
	check   func(ctx context.Context, t *testing.T, s *databases.Server) error
}{
	databases.Etcd: {"--max-txn-ops=1", func(
		ctx context.Context, t *testing.T, s *databases.Server,
	) error {
		two := []clientv3.Op{clientv3.OpPut("a", "1"), clientv3.OpPut("b", "1")}
		_, err := open(t, s).(etcdValues).Txn(ctx).Then(two...).Commit()
		if errors.Is(err, rpctypes.ErrTooManyOps) {
			return nil
		}
		return fmt.Errorf("two operations: %w", err)
	}},
	databases.ZooKeeper: {"4lw.commands.whitelist=srvr,isro", func(
		ctx context.Context, t *testing.T, s *databases.Server,
	) error {
		conn, err := s.Access.Dial(ctx, s.Addresses[0])
		if err != nil {
			return err
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "isro"); err != nil {
			return err
		}
		answer, err := io.ReadAll(conn)
		if err == nil && string(answer) != "rw" {
			err = fmt.Errorf("isro: %q", answer)
		}
		return err
	}},
	databases.Cassandra: {"read_request_timeout: 4321ms", func(
		ctx context.Context, t *testing.T, s *databases.Server,
	) error {
		var value string
		err := open(t, s).(cassandraValues).Query("SELECT value FROM system_views.settings "+
			"WHERE name = 'read_request_timeout'").ScanContext(ctx, &value)
		if err == nil && value != "4321ms" {
			err = errors.New(value)
		}
		return err
	}},
}

// A node that is killed comes back at the same address, with its settings and with what it
// acknowledged. Its data are in the directory that it was given.
func TestStoreKill(t *testing.T) {
	eachStore(t, func(t *testing.T, k databases.Kind) {
		disk := ""
		if os.Geteuid() == 0 { // else the test could not remove the server's files
			disk = t.TempDir()
			if err := os.Chmod(disk, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		s := dbtest.RunOn(t, k, disk, settings[k].setting)
		prepare(t, s, 1)
		address := s.Addresses[0]
		mustPut(t, open(t, s), "k", "v")
		signal(t, s, "KILL")
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.Addresses[0] != address {
			t.Errorf("it was at %s and is at %s", address, s.Addresses[0])
		}
		mustGet(t, open(t, s), "k", "v")
		eventually(t, settings[k].setting, func(ctx context.Context) error {
			return settings[k].check(ctx, t, s)
		})
		if disk == "" {
			return
		}
		if files, err := os.ReadDir(disk); err != nil || len(files) == 0 {
			t.Errorf("%d files in its directory, %v", len(files), err)
		}
		if err := s.Cut(t.Context(), databases.Peers); err == nil {
			t.Error("a node without peers is cut off from them")
		}
	})
}

// A secure node lets in who has its access, and nobody else.
func TestSecureStore(t *testing.T) {
	eachStore(t, func(t *testing.T, k databases.Kind) {
		s := dbtest.RunSecure(t, k)
		prepare(t, s, 1)
		v := open(t, s)
		mustPut(t, v, "k", "v")
		mustGet(t, v, "k", "v")
		place, err := s.Place("place")
		if err != nil {
			t.Fatal(err)
		}
		user, password := place.User()
		config, err := place.TLS()
		if err != nil || config == nil || len(config.Certificates) != 1 || config.RootCAs == nil ||
			user != s.Access.User || password != s.Access.Password {
			t.Errorf("%v: user %q, TLS %+v, %v", place, user, config, err)
		}
		for name, spoil := range map[string]func(a *databases.Access){
			"no certificate": func(a *databases.Access) { a.Certificate = "" },
			"no user":        func(a *databases.Access) { a.User, a.Password = "", "" },
			"wrong password": func(a *databases.Access) { a.Password = "wrong" },
			"default user": func(a *databases.Access) {
				a.User, a.Password = "cassandra", "cassandra"
			},
		} {
			if k == databases.ZooKeeper && (name == "wrong password" || name == "default user") {
				continue // it takes any user
			}
			access := *s.Access
			spoil(&access)
			outsider := *s
			outsider.Access = &access
			if err := tryPut(t, &outsider, "outsider"); err == nil {
				t.Errorf("%s: it lets one in", name)
			} else {
				t.Logf("%s: %v", name, err)
			}
		}
		outsider := *s
		outsider.Access = nil
		if err := tryPut(t, &outsider, "outsider"); err == nil {
			t.Error("no TLS: it lets one in")
		}
		mustGet(t, v, "k", "v")
	})
}

// tryPut writes as a client that connects first.
func tryPut(t *testing.T, s *databases.Server, key string) error {
	t.Helper()
	v, err := connect(t, s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), refused)
	defer cancel()
	return v.put(ctx, key, "v")
}

// A cluster works on while a node is stopped or cut off, and that node catches up.
func TestCluster(t *testing.T) {
	eachStore(t, func(t *testing.T, k databases.Kind) {
		const n = 3
		c := dbtest.RunCluster(t, k, n)
		if len(c.Nodes) != n || len(c.Addresses()) != n {
			t.Fatalf("%d nodes, addresses %v", len(c.Nodes), c.Addresses())
		}
		t.Setenv(k.Variable(), strings.Join(c.Addresses(), ","))
		if s, err := databases.Start(t.Context(), k, ""); err != nil {
			t.Errorf("%s=%v: %v", k.Variable(), c.Addresses(), err)
		} else if !slices.Equal(s.Addresses, c.Addresses()) {
			t.Errorf("addresses %v, not %v", s.Addresses, c.Addresses())
		}
		if d, err := c.Place("place"); err != nil || !slices.Equal(d.Nodes(), c.Addresses()) {
			t.Errorf("%v, %v: not the nodes %v", d, err, c.Addresses())
		} else if r := d.Setting("replication"); (k == databases.Cassandra) != (r == "3") {
			t.Errorf("%v: replication %q", d, r)
		}
		prepare(t, c.Nodes[0], n)
		v := make([]values, n)
		for i, s := range c.Nodes {
			v[i] = open(t, s)
		}
		mustPut(t, v[0], "all", "1")
		mustGet(t, v[1], "all", "1")
		mustGet(t, v[2], "all", "1")

		t.Run("stopped", func(t *testing.T) {
			stopped := 0
			if k != databases.Cassandra { // which has no leader
				eventually(t, "a leader", func(ctx context.Context) (err error) {
					stopped, err = c.Leader(ctx)
					return err
				})
			}
			signal(t, c.Nodes[stopped], "STOP")
			other := (stopped + 1) % n
			mustPut(t, v[other], "stopped", "1")
			if k != databases.Cassandra {
				eventually(t, "another leader", func(ctx context.Context) error {
					leader, err := c.Leader(ctx)
					if err == nil && leader == stopped {
						err = fmt.Errorf("node %d leads, which is stopped", leader)
					}
					return err
				})
			}
			mustNotPut(t, v[stopped], "through the stopped one")
			signal(t, c.Nodes[stopped], "CONT")
			mustGet(t, v[stopped], "stopped", "1")
		})

		cuts := map[string]databases.Links{"others": databases.Peers}
		if k == databases.Etcd { // one is as good as another
			cuts["packets from others"] = databases.FromPeers
			cuts["packets to others"] = databases.ToPeers
		}
		for name, links := range cuts {
			t.Run("cut off from the "+name, func(t *testing.T) {
				dbtest.Cut(t, c.Nodes[0], links)
				mustPut(t, v[1], name, "1")
				mustNotPut(t, v[0], "through the one that is cut off")
				if err := c.Nodes[0].Heal(t.Context()); err != nil {
					t.Fatal(err)
				}
				mustGet(t, v[0], name, "1")
				mustPut(t, v[0], "healed", name)
				mustGet(t, v[1], "healed", name)
			})
		}

		for name, links := range map[string]databases.Links{
			"requests": databases.FromClients, "answers": databases.ToClients,
		} {
			t.Run("cut off from clients, "+name, func(t *testing.T) {
				dbtest.Cut(t, c.Nodes[2], links)
				mustNotPut(t, v[2], "through the one that is out of reach")
				mustPut(t, v[0], name, "1")
				if err := c.Nodes[2].Heal(t.Context()); err != nil {
					t.Fatal(err)
				}
				mustGet(t, v[2], name, "1")
			})
		}

		t.Run("all killed", func(t *testing.T) {
			for _, s := range c.Nodes {
				signal(t, s, "KILL")
			}
			for _, s := range c.Nodes {
				eventually(t, "its end", func(ctx context.Context) error {
					running, err := s.Running(ctx)
					if running {
						return errors.New("it runs")
					}
					return err
				})
			}
			if err := c.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i := range v {
				mustGet(t, open(t, c.Nodes[i]), "stopped", "1")
			}
		})
	})
}
