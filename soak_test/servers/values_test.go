package servers_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/idmint/idmint/integration_test/databases"
)

// values is a client of one node, which it stays with. Both ask a majority of the cluster.
type values interface {
	put(ctx context.Context, key, value string) error
	get(ctx context.Context, key string) (string, error)
}

// open opens a client of the node by the official library of its kind.
func open(t *testing.T, s *databases.Server) (v values) {
	t.Helper()
	eventually(t, "a client", func(context.Context) (err error) {
		v, err = connect(t, s)
		return err
	})
	return v
}

func connect(t *testing.T, s *databases.Server) (values, error) {
	t.Helper()
	return map[databases.Kind]func(*testing.T, *databases.Server) (values, error){
		databases.Etcd: connectEtcd, databases.ZooKeeper: connectZooKeeper,
		databases.Cassandra: connectCassandra,
	}[s.Kind](t, s)
}

type etcdValues struct{ *clientv3.Client }

func connectEtcd(t *testing.T, s *databases.Server) (values, error) {
	tls, err := s.Access.TLS()
	if err != nil {
		return nil, err
	}
	config := clientv3.Config{
		Endpoints: s.Addresses, TLS: tls, DialTimeout: opening, Logger: zap.NewNop(),
	}
	if s.Access != nil {
		config.Username, config.Password = s.Access.User, s.Access.Password
	}
	c, err := clientv3.New(config)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { c.Close() })
	return etcdValues{c}, nil
}

func (v etcdValues) put(ctx context.Context, key, value string) error {
	_, err := v.Put(ctx, key, value)
	return err
}

func (v etcdValues) get(ctx context.Context, key string) (string, error) {
	r, err := v.Get(ctx, key)
	if err != nil || len(r.Kvs) == 0 {
		return "", err
	}
	return string(r.Kvs[0].Value), nil
}

type zookeeperValues struct{ *zk.Conn }

type quiet struct{}

func connectZooKeeper(t *testing.T, s *databases.Server) (values, error) {
	c, _, err := zk.Connect(s.Addresses, 10*time.Second, zk.WithLogger(quiet{}),
		zk.WithDialer(func(_, address string, timeout time.Duration) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			return s.Access.Dial(ctx, address)
		}))
	if err != nil {
		return nil, err
	}
	t.Cleanup(c.Close)
	if s.Access != nil && s.Access.User != "" {
		ctx, cancel := context.WithTimeout(t.Context(), opening)
		defer cancel()
		if _, err := within(ctx, func() (struct{}, error) { // it waits for a connection
			return struct{}{}, c.AddAuth("digest", []byte(s.Access.User+":"+s.Access.Password))
		}); err != nil {
			return nil, err
		}
	}
	return zookeeperValues{c}, nil
}

// within gives a call that takes no context its time.
func within[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := call()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func (v zookeeperValues) put(ctx context.Context, key, value string) error {
	_, err := within(ctx, func() (*zk.Stat, error) {
		_, err := v.Create("/"+key, []byte(value), 0, zk.WorldACL(zk.PermAll))
		if errors.Is(err, zk.ErrNodeExists) {
			return v.Set("/"+key, []byte(value), -1)
		}
		return nil, err
	})
	return err
}

func (v zookeeperValues) get(ctx context.Context, key string) (string, error) {
	return within(ctx, func() (string, error) {
		if _, err := v.Sync("/" + key); err != nil {
			return "", err
		}
		value, _, err := v.Get("/" + key)
		return string(value), err
	})
}

type cassandraValues struct{ *gocql.Session }

func connectCassandra(t *testing.T, s *databases.Server) (values, error) {
	host, port, err := net.SplitHostPort(s.Addresses[0])
	if err != nil {
		return nil, err
	}
	c := gocql.NewCluster(host)
	if c.Port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	c.ConnectTimeout, c.Timeout = opening, opening
	c.DisableInitialHostLookup = true // it stays with this node
	c.ReconnectInterval = time.Second
	if s.Access != nil {
		tls, err := s.Access.TLS()
		if err != nil {
			return nil, err
		}
		c.SslOpts = &gocql.SslOptions{Config: tls}
	}
	if s.Access != nil && s.Access.User != "" {
		c.Authenticator = gocql.PasswordAuthenticator{
			Username: s.Access.User, Password: s.Access.Password,
		}
	}
	session, err := c.CreateSession()
	if err != nil {
		return nil, err
	}
	t.Cleanup(session.Close)
	return cassandraValues{session}, nil
}

// prepare makes what values are written to: Cassandra wants a table.
func prepare(t *testing.T, s *databases.Server, nodes int) {
	t.Helper()
	if s.Kind != databases.Cassandra {
		return
	}
	session := open(t, s).(cassandraValues)
	for _, statement := range []string{
		"CREATE KEYSPACE IF NOT EXISTS t WITH replication = " +
			"{'class': 'SimpleStrategy', 'replication_factor': " + strconv.Itoa(nodes) + "}",
		"CREATE TABLE IF NOT EXISTS t.t (key text PRIMARY KEY, value text)",
	} {
		if err := session.Query(statement).ExecContext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func (v cassandraValues) put(ctx context.Context, key, value string) error {
	return v.Query("INSERT INTO t.t (key, value) VALUES (?, ?)", key, value).
		Consistency(gocql.Quorum).ExecContext(ctx)
}

func (v cassandraValues) get(ctx context.Context, key string) (value string, err error) {
	err = v.Query("SELECT value FROM t.t WHERE key = ?", key).
		Consistency(gocql.Quorum).ScanContext(ctx, &value)
	return value, err
}
