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

// Config says where the launch log is, and how to get there.
type Config struct {
	// Servers are the ensemble's, as HOST:PORT each. The port is 2181 where it is missing. Name all
	// of them: a call moves on to another one where a server does not answer.
	Servers []string

	// Path is the znode below which the launch log is, as /NAME or /NAME/NAME. Names have letters,
	// digits and the signs - _ . ~ %, and begin with none of . and ~. It is /idmint where it is
	// empty.
	Path string

	// User and Password are for the scheme digest. Znodes are made so that only this user may use
	// them. Without a user anybody may.
	User     string
	Password string `json:"-"`

	// TLS is for servers with a secureClientPort. Without it connections are not encrypted.
	TLS *tls.Config

	// SessionTimeout is asked for, from 1 s to 5 min; servers have bounds of their own. It is 4 s
	// where it is 0. A server that says nothing for two thirds of it is given up, and another one
	// is asked. Take more where servers are slower than that.
	SessionTimeout time.Duration

	dialer func(ctx context.Context, network, address string) (net.Conn, error) // of tests
}

const (
	defaultPort    = "2181"
	defaultSession = 4 * time.Second
	leastSession   = time.Second
	mostSession    = 5 * time.Minute
	connectTime    = 2 * time.Second // until the next server is tried
	callTime       = 6 * time.Second // until a call is given up
)

// Format keeps the password out of what every verb prints.
func (c Config) Format(f fmt.State, verb rune) {
	type plain Config
	if c.Password != "" {
		c.Password = "xxxxx"
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), plain(c))
}

// Checked returns the config with defaults for what is empty, as [Open] uses it. The error wraps a
// [*launchlog.RequestError].
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
		return refuse("Path", c.Path, "is in /zookeeper, which ZooKeeper has for itself")
	case colon: // what follows may be a password
		return refuse("User", name+":xxxxx", "has a colon, which ends a user's name")
	case c.User == "" && c.Password != "":
		return refuse("User", "", "is empty, and there is a password")
	case s < leastSession || s > mostSession:
		return refuse("SessionTimeout", s.String(), "is not within 1s and 5m0s")
	}
	return c, nil
}

// store is embedded by a name that does not show.
type store = kv.Store

// Store keeps launch logs in a ZooKeeper ensemble. Make it with [Open].
type Store struct {
	*store
	engine func() *engine // fmt, which prints what structs hold, does not call it
}

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log below a path, which [Migrate] has prepared. It waits up to 10 s for an
// ensemble that does not answer. Errors wrap a [*launchlog.RequestError] about the config, a
// [*launchlog.SchemaError], the context's, or what the servers say.
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

// Migrate makes the path and what a launch log has below it. It returns the schema's versions
// before and after. Before a new log it is 0. It may be run again, and by many at once. Errors are
// those of [Open]. A SchemaError is of a newer version.
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

// Close closes the connections. Calls that are under way end with an error.
func (s *Store) Close() error {
	s.engine().Close()
	return nil
}
