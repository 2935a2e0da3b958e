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

// Config says where a launch log lies.
type Config struct {
	// Hosts are the nodes that are asked, as HOST:PORT each. The port is 9042 where it is missing.
	// Name three or more: a call moves on to the next one where a node does not answer. All
	// processes should name them in the same order, because they ask the first one that answers.
	Hosts []string

	// Keyspace is the keyspace's name to the letter: 1 to 48 letters, digits and underscores.
	Keyspace string

	User     string
	Password string `json:"-"` // none where User is empty

	// TLS is for nodes that encrypt. Without it connections are not encrypted. The node's
	// certificate is always checked.
	TLS *tls.Config

	// DataCenter is that of all hosts: nodes of another one are not asked. Empty is any. With
	// LocalSerial it must be set.
	DataCenter string

	// LocalSerial has the nodes of DataCenter alone decide, by LOCAL_SERIAL and LOCAL_QUORUM. Else
	// it is SERIAL and QUORUM, over all data centres. All processes of a log must agree: the
	// keyspace keeps what Migrate was told, and Open refuses anything else.
	LocalSerial bool

	// Replication is for Migrate where the keyspace is not there yet, as CQL has it: "class" and
	// "replication_factor" for SimpleStrategy, "class" and a number per data centre for
	// NetworkTopologyStrategy.
	Replication map[string]string

	dialer dialer // of tests; nil: the driver's
}

// Store keeps launch logs in a keyspace. Make it with [Open].
type Store struct {
	*store
	engine *engine
}

type store = kv.Store

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log of a keyspace that [Migrate] prepared. It waits up to 10 s for nodes
// that do not answer. Errors wrap a [*launchlog.SchemaError], a [*SerialError], a
// [*launchlog.RequestError] about the config, the context's, or the driver's.
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

// Close closes the connections. Calls that still run fail. It takes 2 s per host at most.
func (s *Store) Close() error {
	s.engine.Close()
	return nil
}

// validName is compiled when it is first asked: a program that imports the package starts sooner.
var validName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\w{1,48}$`) })

// Format keeps the password out of what every verb prints.
func (c Config) Format(f fmt.State, verb rune) {
	type plain Config
	if c.Password != "" {
		c.Password = "xxxxx"
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), plain(c))
}

// Checked returns the config with the port of each host, as [Open] uses it. The error wraps a
// [*launchlog.RequestError].
func (c Config) Checked() (_ Config, err error) {
	c.Hosts, err = kv.Addresses("Hosts", c.Hosts, defaultPort)
	switch {
	case err != nil:
	case !validName().MatchString(c.Keyspace):
		err = &launchlog.RequestError{
			Field: "Keyspace", Value: c.Keyspace,
			Reason: "is not of 1 to 48 letters, digits and underscores",
		}
	case c.LocalSerial && c.DataCenter == "":
		err = &launchlog.RequestError{Field: "DataCenter", Reason: "is needed for LocalSerial"}
	}
	return c, failed(err)
}

// serialLevel is what the keyspace keeps, and compares.
func (c Config) serialLevel() string {
	if c.LocalSerial {
		return "LOCAL_SERIAL in " + c.DataCenter
	}
	return "SERIAL"
}

// table is a table's name with that of the keyspace.
func (c Config) table(name string) string { return `"` + c.Keyspace + `".` + name }

// failed is what leaves the package. The errors of steps get launchlog's name instead.
func failed(err error) error { return named.Failed("launchlog/cassandra", err) }

// A SerialError is wrapped by the errors of [Open] and [Migrate] where the keyspace's log was made
// with another serial consistency. Writers with different ones do not see each other: numbers would
// repeat.
type SerialError struct {
	Have string // as "SERIAL", or "LOCAL_SERIAL in dc1"
	Want string // that the Config asks for
}

func (e *SerialError) Error() string {
	return "launchlog/cassandra: the launch log is one of " + e.Have +
		": it cannot be opened with " + e.Want
}

const (
	defaultPort = "9042"
	connectTime = 2 * time.Second  // for a connection to a node
	requestTime = 2 * time.Second  // until the next node is asked
	closeTime   = 2 * time.Second  // for the connections to a node
	openTime    = 10 * time.Second // that Open waits for nodes that do not answer
	callTime    = 5500 * time.Millisecond
)
