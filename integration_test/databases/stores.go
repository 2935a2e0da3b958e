package databases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/go-zookeeper/zk"
	"github.com/testcontainers/testcontainers-go"

	"github.com/idmint/idmint/cmd/idmint/dsn"
)

// The key-value stores, which clients reach by the addresses of their nodes.
const (
	Etcd      Kind = "etcd"
	ZooKeeper Kind = "ZooKeeper"
	Cassandra Kind = "Cassandra"
)

// Stores lists the key-value stores.
func Stores() []Kind { return []Kind{Etcd, ZooKeeper, Cassandra} }

// A store says how nodes of a kind are set up and queried.
type store struct {
	configure func(n node) []testcontainers.ContainerCustomizer
	// ask sends the node at an address a request that needs the majority of its cluster.
	ask func(ctx context.Context, s *Server, address string) (answer, error)
	// secure admits only the user of the server's access; nil if its settings do so.
	secure func(ctx context.Context, s *Server) error
	// drop removes everything under a name.
	drop   func(ctx context.Context, s *Server, name string) error
	scheme string // in names of package dsn
}

// An answer is what a node reports about itself.
type answer struct {
	version string
	leads   bool
}

// A node holds what is needed to start a container of a store.
type node struct {
	kind     Kind
	index    int      // in ips
	ips      []string // of all nodes, and constant
	settings []string // from the test
	access   *Access  // nil if clients need nothing
}

// ip returns the address of the node.
func (n node) ip() string { return n.ips[n.index] }

// write copies a file into the container.
func (n node) write(path string, lines ...string) testcontainers.CustomizeRequestOption {
	return testcontainers.WithFiles(testcontainers.ContainerFile{
		Reader:            strings.NewReader(strings.Join(lines, "\n") + "\n"),
		ContainerFilePath: path, FileMode: 0o644,
	})
}

// Place returns the name of a place on the store, in the form of package dsn: a prefix of etcd, a
// path of ZooKeeper, or a keyspace of Cassandra. The keyspace is to have a replica on each node,
// and at most three. It does not create the place. The name contains the access of a secure server.
// It returns an error if the server is not a store.
func (s *Server) Place(name string) (dsn.DSN, error) {
	return place(s.Kind, s.Addresses, s.Access, name)
}

// Place is like [Server.Place], for all nodes.
func (c *Cluster) Place(name string) (dsn.DSN, error) {
	return place(c.Kind, c.Addresses(), nil, name)
}

func place(k Kind, addresses []string, access *Access, name string) (dsn.DSN, error) {
	if known[k].store == nil {
		return dsn.DSN{}, fmt.Errorf("%s is not a store with places: %q", k, name)
	}
	settings := url.Values{}
	u := url.URL{
		Scheme: known[k].store.scheme, Host: strings.Join(addresses, ","), Path: "/" + name,
	}
	if k == Cassandra {
		settings.Set("replication", strconv.Itoa(min(3, len(addresses))))
	}
	if access != nil {
		u.User = url.UserPassword(access.User, access.Password)
		settings.Set("ca", access.CA)
		settings.Set("cert", access.Certificate)
		settings.Set("key", access.Key)
	}
	u.RawQuery = settings.Encode()
	return dsn.Parse(u.String())
}

// askTime limits how long a node may take to answer. A stopped node does not answer.
const askTime = 5 * time.Second

// askAll queries every node of the server, and returns the version of the first.
func (s *Server) askAll(ctx context.Context) (string, error) {
	var version string
	for i, address := range s.Addresses {
		a, err := s.ask(ctx, address)
		if err != nil {
			return "", fmt.Errorf("%s: %w", address, err)
		}
		if i == 0 {
			version = a.version
		}
	}
	return version, nil
}

// Ask sends every node of a store a request that needs the majority of its cluster.
func (s *Server) Ask(ctx context.Context) error {
	_, err := s.askAll(ctx)
	return err
}

func (s *Server) ask(ctx context.Context, address string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return known[s.Kind].store.ask(ctx, s, address)
}

// By default, etcd writes to the disk before it acknowledges.
var etcd = store{
	configure: func(n node) []testcontainers.ContainerCustomizer {
		scheme := "http"
		if n.access != nil {
			scheme = "https"
		}
		name := func(i int) string { return "node" + strconv.Itoa(i) }
		peer := func(i int) string { return "http://" + n.ips[i] + ":2380" }
		client := scheme + "://" + n.ip() + ":2379"
		members := make([]string, len(n.ips))
		for i := range n.ips {
			members[i] = name(i) + "=" + peer(i)
		}
		cmd := append([]string{
			"/usr/local/bin/etcd", "--name=" + name(n.index), "--data-dir=/var/lib/etcd",
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
			"--listen-peer-urls=" + peer(n.index),
			"--initial-advertise-peer-urls=" + peer(n.index),
			"--initial-cluster=" + strings.Join(members, ","), "--initial-cluster-state=new",
			"--auto-compaction-mode=revision", "--auto-compaction-retention=1000",
		}, n.settings...)
		if n.access == nil {
			return []testcontainers.ContainerCustomizer{testcontainers.WithCmd(cmd...)}
		}
		return append(n.files(), testcontainers.WithCmd(append(cmd, etcdTLS()...)...))
	},
	secure: secureEtcd, drop: dropEtcd, scheme: "etcd",
	ask: func(ctx context.Context, s *Server, address string) (answer, error) {
		var health struct{ Health, Reason string }
		// etcd answers it after a linearizable read
		if err := s.etcd(ctx, address, "GET", "/health", "", &health); err != nil {
			return answer{}, err
		} else if health.Health != "true" {
			return answer{}, errors.New("not healthy: " + health.Reason)
		}
		var status struct {
			Version string
			Leader  string
			Header  struct {
				MemberID string `json:"member_id"`
			}
		}
		err := s.etcd(ctx, address, "POST", "/v3/maintenance/status", "{}", &status)
		return answer{status.Version, status.Leader == status.Header.MemberID}, err
	},
}

// etcd sends a request to an etcd node over HTTP.
func (s *Server) etcd(ctx context.Context, address, method, path, body string, result any) error {
	config, err := s.Access.TLS()
	if err != nil {
		return err
	}
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	scheme := "http"
	if config != nil {
		scheme = "https"
	}
	r, err := http.NewRequestWithContext(ctx, method, scheme+"://"+address+path,
		strings.NewReader(body))
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", path, response.Status, text)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

// dropEtcd removes a prefix without authentication, which a secure server rejects.
func dropEtcd(ctx context.Context, s *Server, name string) error {
	from := []byte("/" + name)
	to := slices.Clone(from)
	to[len(to)-1]++ // the first key that does not begin with it
	body, err := json.Marshal(map[string][]byte{"key": from, "range_end": to})
	if err != nil {
		return err
	}
	var ignored struct{}
	return s.etcd(ctx, s.Addresses[0], "POST", "/v3/kv/deleterange", string(body), &ignored)
}

// By default, ZooKeeper writes to the disk before it acknowledges (forceSync).
var zookeeper = store{
	configure: func(n node) []testcontainers.ContainerCustomizer {
		lines := append([]string{
			"dataDir=/data", "tickTime=2000", "initLimit=10", "syncLimit=5",
			"maxClientCnxns=0", "admin.enableServer=false",
			"4lw.commands.whitelist=srvr,mntr,ruok",
		}, n.settings...)
		var files []testcontainers.ContainerCustomizer
		if n.access == nil {
			lines = append(lines, "clientPort=2181")
		} else {
			lines, files = append(lines, zookeeperTLS()...), n.files()
		}
		for i, ip := range n.ips {
			if len(n.ips) != 1 {
				lines = append(lines, fmt.Sprintf("server.%d=%s:2888:3888", i+1, ip))
			}
		}
		return append(files,
			testcontainers.WithEnv(map[string]string{"ZOO_MY_ID": strconv.Itoa(n.index + 1)}),
			n.write("/conf/zoo.cfg", lines...))
	},
	drop: dropZooKeeper, scheme: "zookeeper",
	// A node without a majority answers that it is not serving.
	ask: func(ctx context.Context, s *Server, address string) (answer, error) {
		conn, err := s.Access.Dial(ctx, address)
		if err != nil {
			return answer{}, err
		}
		defer conn.Close()
		if deadline, ok := ctx.Deadline(); ok {
			if err := conn.SetDeadline(deadline); err != nil {
				return answer{}, err
			}
		}
		if _, err := io.WriteString(conn, "srvr"); err != nil {
			return answer{}, err
		}
		text, err := io.ReadAll(conn)
		if err != nil {
			return answer{}, err
		}
		_, rest, ok := strings.Cut(string(text), "Zookeeper version: ")
		if !ok {
			return answer{}, fmt.Errorf("srvr: %q", text)
		}
		version, rest, _ := strings.Cut(rest, "-")
		return answer{version, strings.Contains(rest, "Mode: leader")}, nil
	},
}

// dropZooKeeper removes a node and all nodes below it.
func dropZooKeeper(ctx context.Context, s *Server, name string) error {
	c, _, err := zk.Connect(s.Addresses, askTime, zk.WithLogger(silent),
		zk.WithDialer(func(_, address string, _ time.Duration) (net.Conn, error) {
			return s.Access.Dial(ctx, address)
		}))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, c.Close)()
	defer c.Close()
	var drop func(path string) error
	drop = func(path string) error {
		children, _, err := c.Children(path)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		for some := range slices.Chunk(children, 200) { // there may be 100,000
			var all []any
			for _, child := range some {
				all = append(all, &zk.DeleteRequest{Path: path + "/" + child, Version: -1})
			}
			if _, more := c.Multi(all...); more == nil {
				continue
			}
			for _, child := range some { // may have children too
				if err = errors.Join(err, drop(path+"/"+child)); err != nil {
					break
				}
			}
		}
		if err != nil {
			return err
		}
		return c.Delete(path, -1)
	}
	return drop("/" + name)
}

const cassandraConfig = "/idmint/cassandra.yaml"

var cassandra = store{
	configure: func(n node) []testcontainers.ContainerCustomizer {
		// Nodes can start at the same time if all are seeds and know their tokens.
		token := int64(-1 << 63)
		for range n.index {
			token += int64(^uint64(0) / uint64(len(n.ips)))
		}
		lines := append([]string{
			"cluster_name: idmint", "num_tokens: 1", fmt.Sprintf("initial_token: %d", token),
			"partitioner: org.apache.cassandra.dht.Murmur3Partitioner",
			"endpoint_snitch: SimpleSnitch",
			"data_file_directories: [/var/lib/cassandra/data]",
			"commitlog_directory: /var/lib/cassandra/commitlog",
			"saved_caches_directory: /var/lib/cassandra/saved_caches",
			"hints_directory: /var/lib/cassandra/hints",
			// Acknowledged writes are on the disk. By default they could be up to 10 s later.
			"commitlog_sync: batch",
			"paxos_variant: v2",
			"auto_snapshot: false",
			"listen_address: " + n.ip(), "rpc_address: " + n.ip(), "native_transport_port: 9042",
			"seed_provider:",
			"  - class_name: org.apache.cassandra.locator.SimpleSeedProvider",
			fmt.Sprintf("    parameters: [{seeds: %q}]", strings.Join(n.ips, ",")),
		}, n.settings...)
		if n.access != nil {
			lines = append(lines, n.cassandraTLS()...)
		}
		return []testcontainers.ContainerCustomizer{n.write(cassandraConfig, lines...)}
	},
	secure: secureCassandra, scheme: "cassandra",
	drop: func(ctx context.Context, s *Server, name string) error {
		return s.cql(ctx, "DROP KEYSPACE IF EXISTS "+name)
	},
	ask: func(ctx context.Context, s *Server, address string) (a answer, err error) {
		session, err := s.cassandra(address)
		if err != nil {
			return answer{}, err
		}
		defer session.Close()
		var schema, other gocql.UUID
		err = session.Query("SELECT release_version, schema_version FROM system.local").
			Consistency(gocql.One).ScanContext(ctx, &a.version, &schema)
		if err != nil {
			return answer{}, err
		}
		peers := session.Query("SELECT schema_version FROM system.peers_v2").
			Consistency(gocql.One).IterContext(ctx)
		agree := 0
		for peers.Scan(&other) {
			if other == schema {
				agree++
			}
		}
		if err = peers.Close(); err != nil || len(s.peers) == 0 {
			return a, err
		}
		if agree < len(s.peers) {
			return answer{}, fmt.Errorf("%d of %d nodes agree on the schema", agree, len(s.peers))
		}
		// one of Cassandra's own tables, with three replicas
		return a, session.Query("SELECT parent_id FROM system_distributed.parent_repair_history"+
			" WHERE parent_id = ?", gocql.TimeUUID()).
			Consistency(gocql.Quorum).IterContext(ctx).Close()
	},
}

// cassandra opens a session with one Cassandra node.
func (s *Server) cassandra(address string) (*gocql.Session, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	config := gocql.NewCluster(host)
	if config.Port, err = strconv.Atoi(port); err != nil {
		return nil, err
	}
	config.ConnectTimeout, config.Timeout = askTime, time.Minute // a drop takes long on a busy node
	config.NumConns = 1
	config.DisableInitialHostLookup = true // use only this node
	config.ReconnectInterval = 0
	if s.Access != nil {
		tls, err := s.Access.TLS()
		if err != nil {
			return nil, err
		}
		config.SslOpts = &gocql.SslOptions{Config: tls}
		config.Authenticator = gocql.PasswordAuthenticator{
			Username: s.Access.User, Password: s.Access.Password,
		}
	}
	return config.CreateSession()
}
