// Package databases starts servers for tests and for the report: SQL databases, and the key-value
// stores etcd, ZooKeeper and Cassandra, also as clusters. They run in containers, by
// testcontainers, with the names of the official images. See scripts/databases for machines without
// Docker, or without access to a registry.
package databases

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/exec"
	tclog "github.com/testcontainers/testcontainers-go/log"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/internal/dialect"
)

// Kind is a kind of server.
type Kind string

// The SQL databases.
const (
	Postgres   Kind = "PostgreSQL"
	MariaDB    Kind = "MariaDB"
	ClickHouse Kind = "ClickHouse"
	// Postgres18 is the newest PostgreSQL, for its new features. Other tests run on 17.
	Postgres18 Kind = "PostgreSQL 18"
)

// Kinds lists the kinds of SQL databases, except [Postgres18], which is a second PostgreSQL.
// [Stores] lists the other kinds.
func Kinds() []Kind { return []Kind{Postgres, MariaDB, ClickHouse} }

// All lists every kind of server.
func All() []Kind { return append(append(Kinds(), Postgres18), Stores()...) }

// A kind is what this package knows about a kind of server.
type kind struct {
	image    string
	port     string // within the container
	env      map[string]string
	url      string   // with %s for the address
	variable string   // names a server that is already running
	version  string   // a query
	shared   []string // command line of a server that many tests share
	data     string   // where a directory of this machine is mounted for the data
	store    *store   // nil for a SQL database
}

// Labels mark a container as belonging to this run of the tests, so that scripts/test can remove
// what is left of it.
func Labels() map[string]string {
	return map[string]string{"idmint.test": os.Getenv("IDMINT_TEST_RUN")}
}

var (
	silent = log.New(io.Discard, "", 0)
	// quieten turns off the logs of libraries, because failed attempts until a server answers are
	// normal.
	quieten = sync.OnceFunc(func() {
		tclog.SetDefault(silent)
		_ = mysql.SetLogger(silent) // log.Logger is a mysql.Logger
	})
)

const password = "idmint" // for servers that exist only during a test, on a local port

// brief tells Java that it runs only briefly, so that a start takes two thirds of the processor
// time.
const brief = " -XX:TieredStopAtLevel=1"

// postgres returns the kind for a version of PostgreSQL.
func postgres(version, variable string) kind {
	return kind{
		image: "postgres:" + version, port: "5432/tcp",
		env: map[string]string{
			"POSTGRES_USER": "postgres", "POSTGRES_PASSWORD": password,
			"PGDATA": "/var/lib/postgresql/idmint",
		},
		url:      "postgres://postgres:" + password + "@%s/postgres?sslmode=disable",
		variable: variable, version: "SHOW server_version",
		shared: []string{"postgres", "-c", "max_connections=400"},
		data:   "/var/lib/postgresql",
	}
}

var known = map[Kind]kind{
	Postgres:   postgres("17", "IDMINT_TEST_POSTGRES"),
	Postgres18: postgres("18", "IDMINT_TEST_POSTGRES18"),
	MariaDB: {
		image: "mariadb:11", port: "3306/tcp",
		env: map[string]string{
			"MARIADB_ROOT_PASSWORD": password,
			"MARIADB_DATABASE":      "idmint",
		},
		url:      "mysql://root:" + password + "@%s/idmint",
		variable: "IDMINT_TEST_MARIADB", version: "SELECT version()", data: "/var/lib/mysql",
		shared: []string{"mariadbd", "--max-connections=400"},
	},
	ClickHouse: {
		image: "clickhouse/clickhouse-server:26.5", port: "9000/tcp",
		env: map[string]string{
			"CLICKHOUSE_USER": "default", "CLICKHOUSE_PASSWORD": password,
			"CLICKHOUSE_DB": "idmint",
		},
		url:      "clickhouse://default:" + password + "@%s/idmint",
		variable: "IDMINT_TEST_CLICKHOUSE", version: "SELECT version()",
		data: "/var/lib/clickhouse",
	},
	Etcd: {
		image: "quay.io/coreos/etcd:v3.7.3", port: "2379",
		variable: "IDMINT_TEST_ETCD", data: "/var/lib/etcd", store: &etcd,
	},
	ZooKeeper: {
		image: "zookeeper:3.9", port: "2181",
		env:      map[string]string{"JVMFLAGS": "-Xmx512m -XX:+UseSerialGC" + brief},
		variable: "IDMINT_TEST_ZOOKEEPER", data: "/data", store: &zookeeper,
	},
	Cassandra: {
		image: "cassandra:5", port: "9042",
		env: map[string]string{
			"MAX_HEAP_SIZE": "400m", "HEAP_NEWSIZE": "100m",
			// Nodes of a test need not wait for others. The short delay creates accounts soon. With
			// a delay of 0, nodes that wait for others would retry without a pause, and use a
			// processor each.
			"JVM_EXTRA_OPTS": "-Dcassandra.config=file://" + cassandraConfig +
				" -Dcassandra.skip_wait_for_gossip_to_settle=0 -Dcassandra.ring_delay_ms=2000" +
				" -Dcassandra.superuser_setup_delay_ms=200" + brief,
		},
		variable: "IDMINT_TEST_CASSANDRA", data: "/var/lib/cassandra", store: &cassandra,
	},
}

// Variable returns the environment variable that may name a running server of the kind. It names a
// SQL database in the form of package dsn, and a store by the host:port of its nodes, separated by
// commas.
func (k Kind) Variable() string { return known[k].variable }

// An UnavailableError is returned if a server of the kind is not available, because no Docker
// engine answers, or because it has no image and cannot pull it.
type UnavailableError struct {
	Kind Kind
	Err  error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf(
		"no %s: %v. `make test` installs what is missing; %s can name a running server", e.Kind,
		e.Err, e.Kind.Variable())
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// A Server is a running SQL database, or a running node of a store.
type Server struct {
	Kind      Kind
	DSN       dsn.DSN  // SQL: with all rights on its database
	Addresses []string // a store: host:port, of each node if a variable names several
	Access    *Access  // what a client needs for a store of RunSecure, otherwise nil
	Version   string   // as the server reports it, with its origin

	container testcontainers.Container      // nil for a server that was already running
	network   *testcontainers.DockerNetwork // removed by Stop; may be nil
	peers     []string                      // IP addresses of the other nodes
}

// String returns the server's kind and address.
func (s *Server) String() string {
	if s.isStore() {
		return fmt.Sprintf("%s at %s", s.Kind, strings.Join(s.Addresses, ","))
	}
	return s.DSN.String()
}

// Name returns the value by which the variable of its kind names the server.
func (s *Server) Name() string {
	if s.isStore() {
		return strings.Join(s.Addresses, ",")
	}
	return s.DSN.URL()
}

func (s *Server) isStore() bool { return known[s.Kind].store != nil }

// InMemory is a disk for [Run] that keeps the data in memory, until the server stops.
const InMemory = "memory"

// Start returns the server that the kind's variable names. Without one it runs a server on the
// disk, as [Run] does. If that is not available, the error is an [*UnavailableError].
func Start(ctx context.Context, k Kind, disk string) (*Server, error) {
	named := os.Getenv(k.Variable())
	if named == "" {
		return Run(ctx, k, disk, known[k].shared...)
	}
	if known[k].store != nil {
		s := &Server{Kind: k, Addresses: strings.Split(named, ",")}
		return s, s.await(ctx, k.Variable())
	}
	d, err := dsn.Parse(named)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Variable(), err)
	}
	s := &Server{Kind: k, DSN: d}
	return s, s.await(ctx, k.Variable())
}

// Run runs a server in a separate container, which may be killed, and has the same address after a
// restart. Its data are in the directory disk of this machine, which must be writable for all, or
// in memory if disk is [InMemory], or in the container if it is "". Args are added to the server's
// command line. A store is a cluster of one node: see [RunCluster] for its args. If no server is
// available, the error is an [*UnavailableError].
func Run(ctx context.Context, k Kind, disk string, args ...string) (s *Server, err error) {
	if known[k].store != nil {
		return runNode(ctx, k, disk, nil, args)
	}
	for range 3 {
		s, err = run(ctx, k, disk, args...)
		if err == nil || !strings.Contains(err.Error(), "address already in use") &&
			!strings.Contains(err.Error(), "port is already allocated") {
			break
		}
	}
	return s, err
}

func run(ctx context.Context, k Kind, disk string, args ...string) (*Server, error) {
	spec := known[k]
	if err := Docker(ctx); err != nil {
		return nil, &UnavailableError{k, err}
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	options := []testcontainers.ContainerCustomizer{
		testcontainers.WithExposedPorts(spec.port),
		testcontainers.WithHostConfigModifier(func(c *container.HostConfig) {
			c.PortBindings = network.PortMap{network.MustParsePort(spec.port): {{HostPort: port}}}
		}),
	}
	if len(args) != 0 {
		options = append(options, testcontainers.WithCmd(args...))
	}
	c, err := launch(ctx, k, disk, options...)
	if err != nil {
		return nil, err
	}
	s := &Server{Kind: k, container: c}
	host, err := c.Host(ctx)
	if err == nil {
		s.DSN, err = dsn.Parse(fmt.Sprintf(spec.url, net.JoinHostPort(host, port)))
	}
	if err == nil {
		err = s.await(ctx, "image "+spec.image)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// launch starts a container of the kind.
func launch(
	ctx context.Context, k Kind, disk string, options ...testcontainers.ContainerCustomizer,
) (testcontainers.Container, error) {
	spec := known[k]
	options = append(options,
		testcontainers.WithEnv(spec.env),
		testcontainers.WithLabels(Labels()),
		testcontainers.WithHostConfigModifier(func(c *container.HostConfig) {
			switch disk {
			case "":
			case InMemory:
				c.Mounts = append(c.Mounts, mount.Mount{
					Type: mount.TypeVolume, Target: spec.data,
					VolumeOptions: &mount.VolumeOptions{NoCopy: true, DriverConfig: &mount.Driver{
						Name: "local", // an anonymous tmpfs would keep the image's mode
						Options: map[string]string{
							"type": "tmpfs", "device": "tmpfs", "o": "mode=1777",
						},
					}},
				})
			default:
				c.Binds = append(c.Binds, disk+":"+spec.data)
			}
		}),
		testcontainers.WithLogger(silent),
	)
	c, err := testcontainers.Run(ctx, imageOf(spec.image), options...)
	if err != nil {
		return nil, unlessImage(ctx, k, errors.Join(fmt.Errorf("%s: %w", spec.image, err),
			testcontainers.TerminateContainer(c)))
	}
	return c, nil
}

// unlessImage returns an [*UnavailableError] if the lack of the server's image explains the error.
func unlessImage(ctx context.Context, k Kind, err error) error {
	if hasImage(ctx, known[k].image) {
		return err
	}
	return &UnavailableError{k, err}
}

// Docker returns an error unless a Docker engine answers. Without a socket, testcontainers panics.
func Docker(ctx context.Context) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("no Docker engine answers")
		}
	}()
	quieten()
	provider, err := testcontainers.ProviderDocker.GetProvider()
	if err == nil {
		err = provider.Health(ctx)
	}
	return err
}

// imageOf returns an image's name with testcontainers' prefix. testcontainers adds the prefix only
// to names in Docker's own registry, so imageOf replaces another registry by it.
func imageOf(image string) string {
	path, other := strings.CutPrefix(image, "quay.io/")
	if prefix := testcontainers.ReadConfig().Config.HubImageNamePrefix; other && prefix != "" {
		return prefix + "/" + path
	}
	return image
}

// hasImage reports whether the engine has an image, with or without the prefix of testcontainers.
func hasImage(ctx context.Context, image string) bool {
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return false
	}
	defer docker.Close()
	if prefix := testcontainers.ReadConfig().Config.HubImageNamePrefix; prefix != "" {
		image = prefix + "/" + strings.TrimPrefix(image, "quay.io/")
	}
	_, err = docker.ImageInspect(ctx, image)
	return err == nil
}

// FreePort returns a port of this machine on which nobody listens. It is below the ports for
// outgoing connections, so that none of these uses it before a server does, and a client that
// connects to it without a server does not connect to itself.
func FreePort() (string, error) {
	for tries := 1; ; tries++ {
		port := strconv.Itoa(10_000 + rand.IntN(20_000))
		l, err := net.Listen("tcp", ":"+port)
		if err == nil {
			return port, l.Close()
		}
		if tries == 100 {
			return "", err
		}
	}
}

// startTime limits how long a server may take until it answers, even on a slow machine that starts
// several at once.
const startTime = 3 * time.Minute

// await waits until the server answers.
func (s *Server) await(ctx context.Context, from string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	quieten()
	var err error
	for range dialect.Attempts(ctx, 100*time.Millisecond) {
		var version string
		if version, err = s.version(ctx); err == nil {
			s.Version = fmt.Sprintf("%s %s (%s)", s.name(), version, from)
			return nil
		}
		if s.container == nil {
			continue
		}
		if running, wrong := s.Running(ctx); wrong != nil {
			return fmt.Errorf("%v: %w", s, errors.Join(wrong, err))
		} else if !running {
			return fmt.Errorf("%v ended: %w\n%s", s, err, s.Log())
		}
	}
	return fmt.Errorf("%v does not answer: %w", s, errors.Join(ctx.Err(), err))
}

// version asks the server for its version.
func (s *Server) version(ctx context.Context) (version string, err error) {
	if s.isStore() {
		return s.askAll(ctx)
	}
	db, err := sql.Open(s.DSN.Driver(), s.DSN.Source())
	if err != nil {
		return "", err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, known[s.Kind].version).Scan(&version)
	return version, err
}

// name returns the server's own name, by which the stand-in for ClickHouse identifies itself.
func (s *Server) name() string {
	if s.Kind == Postgres18 {
		return string(Postgres)
	}
	if s.Kind != ClickHouse {
		return string(s.Kind)
	}
	options, err := clickhouse.ParseDSN(s.DSN.Source())
	if err != nil {
		return err.Error()
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	v, err := conn.ServerVersion()
	if err != nil {
		return err.Error()
	}
	if v.Name == string(ClickHouse) {
		return v.Name
	}
	return fmt.Sprintf("%s by %s,", ClickHouse, v.Name)
}

// Running reports whether the server's container is running. It returns Docker's error, for example
// if the container no longer exists.
func (s *Server) Running(ctx context.Context) (bool, error) {
	state, err := s.container.State(ctx)
	if err != nil {
		return false, err
	}
	return state.Running, nil
}

// Log returns the server's output, for a test that failed.
func (s *Server) Log() string { return LogOf(s.container) }

// LogOf returns the output of a container.
func LogOf(c testcontainers.Container) string {
	r, err := c.Logs(context.Background())
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	text, _ := io.ReadAll(r)
	return string(text)
}

// Signal sends the server a signal: KILL ends it at once, and STOP stops it until CONT. After STOP,
// Signal waits until the server has stopped, because on a busy machine it would otherwise still
// answer for some time.
func (s *Server) Signal(ctx context.Context, signal string) error {
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return err
	}
	defer docker.Close()
	id := s.container.GetContainerID()
	_, err = docker.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: signal})
	if err != nil || signal != "STOP" {
		return err
	}
	for {
		top, err := docker.ContainerTop(ctx, id,
			client.ContainerTopOptions{Arguments: []string{"-o", "pid,stat"}})
		if err != nil {
			return err
		}
		if slices.ContainsFunc(top.Processes, stopped) {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// stopped reports whether the output of ps shows a process as stopped by a signal.
func stopped(process []string) bool {
	return len(process) == 2 && strings.HasPrefix(process[1], "T")
}

// Restart restarts a server that was killed, with the data that it had, and waits until it answers.
func (s *Server) Restart(ctx context.Context) error {
	running, err := s.Running(ctx)
	for ; running && err == nil; running, err = s.Running(ctx) {
		time.Sleep(10 * time.Millisecond)
	}
	if err == nil {
		err = s.container.Start(ctx)
	}
	if err != nil {
		return err
	}
	return s.await(ctx, "started again")
}

// Exec runs a command in the server's container and returns what it wrote.
func (s *Server) Exec(ctx context.Context, command ...string) (string, error) {
	code, r, err := s.container.Exec(ctx, command, exec.Multiplexed())
	if err != nil {
		return "", err
	}
	output, err := io.ReadAll(r)
	if err == nil && code != 0 {
		err = fmt.Errorf("%q: exit code %d: %s", command, code, output)
	}
	return string(output), err
}

// Stop ends a server that Run started, and removes its data. It does nothing to a server that was
// already running.
func (s *Server) Stop() error {
	if s.container == nil {
		return nil
	}
	err := testcontainers.TerminateContainer(s.container, testcontainers.StopTimeout(0))
	if s.network != nil {
		err = errors.Join(err, s.network.Remove(context.Background()))
	}
	return err
}

// Create creates a database on the server, and returns its name and a function that drops it. On a
// store it is a prefix, a path or a keyspace: see [Server.Place].
func (s *Server) Create(ctx context.Context, name string) (
	dsn.DSN, func(context.Context) error, error,
) {
	if s.isStore() {
		d, err := s.Place(name)
		return d, func(ctx context.Context) error {
			return known[s.Kind].store.drop(ctx, s, name)
		}, err
	}
	create, drop := "CREATE DATABASE "+name, "DROP DATABASE "+name
	if s.DSN.Kind == dsn.Postgres {
		drop += " WITH (FORCE)"
	}
	do := func(ctx context.Context, statement string) error {
		db, err := sql.Open(s.DSN.Driver(), s.DSN.Source())
		if err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, statement)
		return errors.Join(err, db.Close())
	}
	// PostgreSQL waits up to 5 s for other sessions to end
	again := func(ctx context.Context) (err error) {
		for range 3 {
			if err = do(ctx, drop); err == nil {
				break
			}
		}
		return err
	}
	return s.DSN.WithDatabase(name), again, do(ctx, create)
}
