package cassandra

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// Config says where a launch log lies.
type Config struct {
	// Hosts are some nodes to begin with, each as host or host:port. The others are found by them.
	Hosts []string
	Port  int // of hosts without one; 0 is 9042

	// Keyspace is the keyspace's name to the letter: 1 to 48 letters, digits and underscores.
	Keyspace string

	User, Password string // none where User is empty
	TLS            *TLS   // nil: no encryption

	// DataCenter is the one whose nodes are asked, and no others. Empty is all. With LocalSerial it
	// must be set.
	DataCenter string

	// LocalSerial has the nodes of DataCenter alone decide, by LOCAL_SERIAL and LOCAL_QUORUM. Else
	// it is SERIAL and QUORUM, over all data centres. All processes of a log must agree: the
	// keyspace keeps what Migrate was told, and Open refuses anything else.
	LocalSerial bool

	// Replication is for Migrate where the keyspace is not there yet, as CQL has it: "class" and
	// "replication_factor" for SimpleStrategy, "class" and a number per data centre for
	// NetworkTopologyStrategy.
	Replication map[string]string

	dialer gocql.Dialer // of tests; nil: the driver's
	alone  bool         // one host is asked, and no others are looked for
}

// TLS says how connections are encrypted. The node's certificate is always checked.
type TLS struct {
	CA         string // a file with the authorities' certificates; empty: those of the system
	Cert, Key  string // files of this client's certificate; empty: none
	ServerName string // that nodes' certificates have; empty: the address of each
}

// Store keeps launch logs in a keyspace. Make it with [Open].
type Store struct {
	*store
	engine *engine
}

type store = kv.Store

var _ launchlog.Store = (*Store)(nil)

const (
	defaultPort = 9042
	connectTime = 2 * time.Second  // for a connection to a node
	openTime    = 10 * time.Second // that Open waits for nodes that do not answer
	closeTime   = 2 * time.Second
	ddlTime     = 20 * time.Second // for a request that changes the schema
)

// Open opens the launch log of a keyspace that [Migrate] prepared. It waits up to 10 s for nodes
// that do not answer. Errors wrap a [*launchlog.SchemaError], a [*SerialError], a [*ConfigError],
// the context's, or the driver's.
func Open(ctx context.Context, config Config) (*Store, error) {
	deadline := time.Now().Add(openTime) // of all that may be waited for
	e, err := dialUntil(ctx, config, requestTime, deadline)
	if err != nil {
		return nil, failed(err)
	}
	waiting, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	err = kv.Await(waiting, func(ctx context.Context) error { return e.find(ctx, config) })
	if err == nil {
		_, err = kv.Find(waiting, e)
	}
	if err != nil {
		e.close()
		return nil, failed(err)
	}
	return &Store{kv.New(e, nil), e}, nil
}

// Close closes the connections. Calls that still run fail. It takes 2 s at most.
func (s *Store) Close() error {
	s.engine.close()
	return nil
}

func (e *engine) close() { e.session.Close() }

// A Session is one of the driver, with a Close that ends.
type Session struct {
	*gocql.Session
	end func() // the driver's Close
}

// Close closes the connections. It takes 2 s at most.
func (s *Session) Close() { within(closeTime, s.end) }

// within runs do, and returns when it has ended or d is over. The driver's Close may wait for ever:
// where its control connection is lost at that moment, that one waits for what Close has ended.
func within(d time.Duration, do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	over := time.NewTimer(d)
	defer over.Stop()
	select {
	case <-done:
	case <-over.C:
	}
}

// Session connects to the cluster as [Open] does, whether there is a log or not. It is for an
// operator's questions, and the caller closes it. Errors are those of Open.
func (c Config) Session(ctx context.Context) (*Session, error) {
	e, err := dial(ctx, c, requestTime)
	if err != nil {
		return nil, failed(err)
	}
	return e.session, nil
}

// SessionOf is [Config.Session] for questions to one node alone. The address is host:port.
func (c Config) SessionOf(ctx context.Context, address string) (*Session, error) {
	c.Hosts, c.alone = []string{address}, true
	c.DataCenter, c.LocalSerial = "", false // which the driver would have to ask for
	return c.Session(ctx)
}

var validName = regexp.MustCompile(`^\w+$`)

// check looks at the settings alone.
func (c *Config) check() error {
	switch {
	case len(c.Hosts) == 0:
		return &ConfigError{"Hosts", "", "names no node"}
	case !validName.MatchString(c.Keyspace) || len(c.Keyspace) > 48:
		return &ConfigError{
			"Keyspace", c.Keyspace, "is not of 1 to 48 letters, digits and underscores",
		}
	case c.LocalSerial && c.DataCenter == "":
		return &ConfigError{"DataCenter", "", "is needed for LocalSerial"}
	case c.Port < 0 || c.Port > 65535:
		return &ConfigError{"Port", fmt.Sprint(c.Port), "is none"}
	}
	for _, given := range c.Hosts {
		full := given
		if _, _, err := net.SplitHostPort(full); err != nil {
			full = net.JoinHostPort(strings.Trim(given, "[]"), strconv.Itoa(defaultPort))
		}
		host, port, err := net.SplitHostPort(full)
		if err != nil || host == "" || port == "" || strings.ContainsAny(full, "/@, \t\n") {
			return &ConfigError{"Hosts", kv.Shown(given), "is not HOST or HOST:PORT"}
		}
	}
	return nil
}

// serial is what the keyspace keeps, and compares.
func (c *Config) serial() string {
	if c.LocalSerial {
		return "LOCAL_SERIAL in " + c.DataCenter
	}
	return "SERIAL"
}

// table is a table's name with that of the keyspace.
func (c *Config) table(name string) string { return `"` + c.Keyspace + `".` + name }

// cluster is the driver's configuration. It has no policy of retries: whether a request may run
// again, the engine knows.
func (c *Config) cluster(chooser *hosts, timeout time.Duration) (*gocql.ClusterConfig, error) {
	cluster := gocql.NewCluster(c.Hosts...)
	if c.Port != 0 {
		cluster.Port = c.Port
	}
	cluster.ProtoVersion = 4 // what all servers from 2.2 on speak, so none is asked for it
	cluster.Timeout = timeout
	cluster.WriteTimeout = timeout
	cluster.ConnectTimeout = connectTime
	// Paxos gives each commit a time that is later than the last one's, whatever a clock says.
	cluster.DefaultTimestamp = false
	cluster.ReconnectInterval = time.Second
	cluster.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 1}
	cluster.MaxWaitSchemaAgreement = ddlTime
	cluster.Metadata.CacheMode = gocql.Disabled
	cluster.PoolConfig.HostSelectionPolicy = chooser
	cluster.Dialer = c.dialer
	cluster.DisableInitialHostLookup = c.alone
	cluster.HostFilter = gocql.HostFilterFunc(chooser.IsLocal)
	if c.User != "" {
		cluster.Authenticator = gocql.PasswordAuthenticator{Username: c.User, Password: c.Password}
	}
	if c.TLS != nil {
		config, err := c.TLS.config()
		if err != nil {
			return nil, err
		}
		cluster.SslOpts = &gocql.SslOptions{Config: config, EnableHostVerification: true}
	}
	return cluster, nil
}

func (t *TLS) config() (*tls.Config, error) {
	config := &tls.Config{ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		text, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, &ConfigError{"TLS.CA", t.CA, "holds no certificate"}
		}
	}
	if t.Cert != "" || t.Key != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// dial connects to the cluster, by a node that answers. It tries for openTime.
func dial(ctx context.Context, config Config, timeout time.Duration) (*engine, error) {
	return dialUntil(ctx, config, timeout, time.Now().Add(openTime))
}

func dialUntil(
	ctx context.Context, config Config, timeout time.Duration, deadline time.Time,
) (*engine, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	err := errNoServer
	for range dialect.Attempts(waiting, time.Second) {
		e, failure := connect(waiting, config, timeout)
		if failure == nil {
			return e, nil
		}
		refused := (*refusal)(nil)
		if errors.As(failure, &refused) || kv.Hopeless(failure) {
			return nil, failure
		}
		if waiting.Err() == nil || !errors.Is(failure, waiting.Err()) {
			err = fmt.Errorf("%w: %w", errNoServer, failure)
		}
	}
	if config.DataCenter != "" {
		err = fmt.Errorf("data centre %q: %w", config.DataCenter, err)
	}
	return nil, attempt(false, ended(ctx, err))
}

// connect makes a session. The driver's constructor takes no context: where ctx ends first, it goes
// on in the background, and what it makes is closed.
func connect(ctx context.Context, config Config, timeout time.Duration) (*engine, error) {
	unknown, err := config.unknown(ctx)
	if err != nil {
		return nil, err
	}
	e := &engine{hosts: newHosts(config.DataCenter)}
	e.levels = levels{gocql.Serial, gocql.Quorum}
	if config.LocalSerial {
		e.levels = levels{gocql.LocalSerial, gocql.LocalQuorum}
	}
	cluster, err := config.cluster(e.hosts, timeout)
	if err != nil {
		return nil, &refusal{err}
	}
	cluster.ConnectObserver = e.hosts.reasons
	made, left := make(chan error), make(chan struct{})
	defer close(left)
	go func() {
		session, err := cluster.CreateSession()
		e.session = &Session{session, session.Close}
		select {
		case made <- err:
		case <-left:
			if err == nil {
				e.close()
			}
		}
	}()
	select {
	case err = <-made:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, e.hosts.reasons.explain(err, unknown)
	}
	return e, nil
}

// find reads which log the keyspace has, and binds the engine to it.
func (e *engine) find(ctx context.Context, config Config) error {
	have, err := e.log(ctx, config, e.levels.quorum)
	if err == nil && have.rows == "" && config.LocalSerial {
		// The row may not have come to this data centre yet. It is never changed.
		have, err = e.log(ctx, config, gocql.Quorum)
	}
	if isInvalid(err) {
		if there, look := e.hasTable(ctx, config.Keyspace, logTable); look != nil || there {
			return errors.Join(err, look)
		}
		err = nil
	}
	switch {
	case err != nil:
		return err
	case have.rows == "":
		return &launchlog.SchemaError{Want: kv.SchemaVersion}
	case have.serial != config.serial():
		return &SerialError{have.serial, config.serial()}
	}
	e.bind(config, have)
	return nil
}
