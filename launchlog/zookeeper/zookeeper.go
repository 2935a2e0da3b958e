package zookeeper

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// Config says where the launch log is, and how to connect to it.
type Config struct {
	// Servers are the ensemble's, each as HOST:PORT, where PORT is 2181 by default. Name all of
	// them, so that a call can move on to another one if a server does not answer.
	Servers []string

	// Path is the znode that contains the launch log, as /NAME or /NAME/NAME, and is /idmint by
	// default. Names contain letters, digits and the signs - _ . ~ %, but begin with neither . nor
	// ~.
	Path string

	// User and Password are for the scheme digest, with which only this user may access the znodes
	// that it creates. Without a user anyone may.
	User     string
	Password string `json:"-"`

	// TLS is for servers with a secureClientPort. Without it connections are not encrypted.
	TLS *tls.Config

	// SessionTimeout is the requested timeout, from 1 s to 5 min, and 4 s by default. Servers may
	// limit it further. A server that is silent for two thirds of it is abandoned for another one,
	// so use a longer timeout if servers are slower than that.
	SessionTimeout time.Duration

	dialer func(ctx context.Context, network, address string) (net.Conn, error) // for tests
}

const (
	defaultPort    = "2181"
	defaultSession = 4 * time.Second
	leastSession   = time.Second
	mostSession    = 5 * time.Minute
	connectTime    = 2 * time.Second // until the next server is tried
	callTime       = 6 * time.Second // until a call is abandoned
)

// Format hides the password from every verb of package fmt.
func (c Config) Format(f fmt.State, verb rune) {
	type plain Config
	if c.Password != "" {
		c.Password = "xxxxx"
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), plain(c))
}

// Checked returns the config with defaults for empty fields, as [Open] uses it, or an error that
// wraps a [*launchlog.RequestError].
func (c Config) Checked() (checked Config, err error) {
	if c.Servers, err = kv.Addresses("Servers", c.Servers, defaultPort); err != nil {
		return c, failed(err)
	}
	if c.Path, err = kv.Place("Path", c.Path); err != nil {
		return c, failed(err)
	}
	if c.SessionTimeout == 0 {
		c.SessionTimeout = defaultSession
	}
	refuse := func(field, value, reason string) (Config, error) {
		return c, failed(&launchlog.RequestError{Field: field, Value: value, Reason: reason})
	}
	name, _, colon := strings.Cut(c.User, ":")
	switch s := c.SessionTimeout; {
	case strings.HasPrefix(c.Path+"/", "/zookeeper/"):
		return refuse("Path", c.Path, "must not be in /zookeeper, which ZooKeeper reserves")
	case colon: // what follows may be a password
		return refuse("User", name+":xxxxx", "must not contain a colon, which ends a user name")
	case c.User == "" && c.Password != "":
		return refuse("User", "", "must be set if there is a password")
	case s < leastSession || s > mostSession:
		return refuse("SessionTimeout", s.String(), "must be between 1s and 5m0s")
	}
	return c, nil
}

// store is an alias, so that the embedded field is not exported.
type store = kv.Store

// Store keeps launch logs in a ZooKeeper ensemble. Create one with [Open].
type Store struct {
	*store
	engine func() *engine // a func, because fmt prints the contents of structs but does not call it
}

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log below a path that [Migrate] has prepared. It waits up to 10 s for an
// ensemble that does not answer. Errors wrap a [*launchlog.RequestError] about the config, a
// [*launchlog.SchemaError], the context's error, or an error of the servers.
func Open(ctx context.Context, config Config) (*Store, error) {
	config, err := config.Checked()
	if err != nil {
		return nil, err
	}
	e := newEngine(config)
	schema, err := kv.Find(ctx, e)
	if err == nil {
		e, err = e.bound(schema)
	}
	if err != nil {
		e.Close()
		return nil, failed(err)
	}
	return &Store{kv.New(&e, nil), func() *engine { return &e }}, nil
}

// Migrate creates the path and what a launch log needs below it. It returns the schema's versions
// before and after, and 0 as the version before a new log. It is safe to repeat, also concurrently.
// It returns the same errors as [Open], but a SchemaError only for a newer version.
func Migrate(ctx context.Context, config Config) (from, to int, err error) {
	if config, err = config.Checked(); err != nil {
		return 0, 0, err
	}
	e := newEngine(config)
	defer e.Close()
	_, err = kv.Look(ctx, e.cluster, func(ctx context.Context, l *link) (struct{}, error) {
		return struct{}{}, e.makePath(ctx, l, config.Path)
	})
	if err == nil {
		from, to, err = kv.Migrate(ctx, e)
	}
	return from, to, failed(err)
}

// Close closes the connections, so that calls in progress end with an error.
func (s *Store) Close() error {
	s.engine().Close()
	return nil
}
