package cassandra

import (
	"context"
	"crypto/tls"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/idmint/idmint/internal/named"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// Config says where a launch log is, and how to connect to it.
type Config struct {
	// Hosts are the nodes to ask, each as HOST:PORT. The port is 9042 by default. Name three or
	// more, so that a call can move on to the next one if a node does not answer. All processes
	// should name them in the same order, because each asks the first one that answers.
	Hosts []string

	// Keyspace is the keyspace's exact name, with 1 to 48 letters, digits and underscores.
	Keyspace string

	User     string
	Password string `json:"-"` // unused if User is empty

	// TLS is for nodes that encrypt, and always verifies the node's certificate. If it is nil,
	// connections are not encrypted.
	TLS *tls.Config

	// DataCenter is the data center of all hosts, or any if it is empty. Nodes of other data
	// centers are not asked. With LocalSerial it must be set.
	DataCenter string

	// LocalSerial lets only the nodes of DataCenter decide, with LOCAL_SERIAL and LOCAL_QUORUM
	// instead of SERIAL and QUORUM over all data centers. All processes of a log must agree: the
	// keyspace records what Migrate was told, and Open refuses anything else.
	LocalSerial bool

	// Replication is used by Migrate if the keyspace does not exist yet. As in CQL, it has "class"
	// and "replication_factor" for SimpleStrategy, or "class" and a number per data center for
	// NetworkTopologyStrategy.
	Replication map[string]string

	dialer dialer // for tests; nil: the driver's
}

// Store keeps launch logs in a keyspace. Create one with [Open].
type Store struct {
	*store
	engine *engine
}

type store = kv.Store

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log of a keyspace that [Migrate] has prepared. It waits up to 10 s for
// nodes that do not answer. Errors wrap a [*launchlog.SchemaError], a [*SerialError], a
// [*launchlog.RequestError] about the config, the context's error, or the driver's.
func Open(ctx context.Context, config Config) (*Store, error) {
	config, err := config.Checked()
	if err != nil {
		return nil, err
	}
	e := newEngine(config, requestTime, callTime)
	err = kv.Await(ctx, openTime, func(ctx context.Context) error {
		if err := e.find(ctx); err != nil {
			return err
		}
		_, err := kv.Find(ctx, e)
		return err
	})
	if err != nil {
		e.Close()
		return nil, failed(err)
	}
	return &Store{kv.New(e, nil), e}, nil
}

// Close closes the connections, which takes at most 2 s per host. Calls in progress fail.
func (s *Store) Close() error {
	s.engine.Close()
	return nil
}

// validName is compiled at its first use, so that programs that import the package start faster.
var validName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\w{1,48}$`) })

// Format hides the password from every verb of package fmt.
func (c Config) Format(f fmt.State, verb rune) {
	type plain Config
	if c.Password != "" {
		c.Password = "xxxxx"
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), plain(c))
}

// Checked returns the config with the port of each host, as [Open] uses it, or an error that wraps
// a [*launchlog.RequestError].
func (c Config) Checked() (_ Config, err error) {
	c.Hosts, err = kv.Addresses("Hosts", c.Hosts, defaultPort)
	switch {
	case err != nil:
	case !validName().MatchString(c.Keyspace):
		err = &launchlog.RequestError{
			Field: "Keyspace", Value: c.Keyspace,
			Reason: "must have 1 to 48 letters, digits and underscores",
		}
	case c.LocalSerial && c.DataCenter == "":
		err = &launchlog.RequestError{Field: "DataCenter", Reason: "must be set with LocalSerial"}
	}
	return c, failed(err)
}

// serialLevel returns what the keyspace records and compares.
func (c Config) serialLevel() string {
	if c.LocalSerial {
		return "LOCAL_SERIAL in " + c.DataCenter
	}
	return "SERIAL"
}

// table returns a table's name, qualified by its keyspace.
func (c Config) table(name string) string { return `"` + c.Keyspace + `".` + name }

// failed adds the package's name to an error that leaves the package, unlike errors of steps, which
// get launchlog's name.
func failed(err error) error { return named.Failed("launchlog/cassandra", err) }

// A SerialError is wrapped by the errors of [Open] and [Migrate] if the keyspace's log was created
// with another serial consistency. Writers with different ones do not see each other, so numbers
// would repeat.
type SerialError struct {
	Have string // for example SERIAL, or LOCAL_SERIAL in dc1
	Want string // that the Config asks for
}

func (e *SerialError) Error() string {
	return "launchlog/cassandra: the launch log uses " + e.Have +
		", so it cannot be opened with " + e.Want
}

const (
	defaultPort = "9042"
	connectTime = 2 * time.Second  // for a connection to a node
	requestTime = 2 * time.Second  // until the next node is asked
	closeTime   = 2 * time.Second  // for the connections to a node
	openTime    = 10 * time.Second // that Open waits for nodes that do not answer
	callTime    = 5500 * time.Millisecond
)
