package etcd

import (
	"context"
	"crypto/tls"
	"net"
	"regexp"
	"strings"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// Config says where the launch log is, and how to get there.
type Config struct {
	// Endpoints are the cluster's nodes, as HOST:PORT each. The port is 2379 where it is missing.
	Endpoints []string

	// Prefix is what all keys begin with, as /NAME or /NAME/NAME. Names have letters, digits and
	// the signs - _ . ~ %. It is /idmint where it is empty.
	Prefix string

	// User and Password are for a cluster that has authentication on.
	User, Password string

	// TLS is for a cluster that encrypts. Without it connections are not encrypted.
	TLS *tls.Config
}

const (
	defaultPrefix = "/idmint"
	defaultPort   = "2379"
)

var prefixPattern = regexp.MustCompile(`^(/[A-Za-z0-9_~%.-]+)+$`)

// Checked returns the config with defaults for what is empty, as [Open] uses it. The error is a
// [*ConfigError].
func (c Config) Checked() (Config, error) {
	if c.Prefix == "" {
		c.Prefix = defaultPrefix
	}
	switch {
	case len(c.Endpoints) == 0:
		return c, &ConfigError{"Endpoints", "", "names no node"}
	case len(c.Prefix) > 512 || !prefixPattern.MatchString(c.Prefix):
		return c, &ConfigError{"Prefix", c.Prefix, "is not of the form /NAME or /NAME/NAME"}
	case c.User == "" && c.Password != "":
		return c, &ConfigError{"User", "", "is empty, and there is a password"}
	case c.User != "" && c.Password == "":
		return c, &ConfigError{"Password", "", "is empty, and there is a user"}
	}
	endpoints := make([]string, len(c.Endpoints))
	for i, given := range c.Endpoints {
		full := given
		if _, _, err := net.SplitHostPort(full); err != nil {
			full = net.JoinHostPort(strings.Trim(given, "[]"), defaultPort)
		}
		host, port, err := net.SplitHostPort(full)
		if err != nil || host == "" || port == "" || strings.ContainsAny(full, "/@, \t\n") {
			return c, &ConfigError{"Endpoints", kv.Shown(given), "is not HOST:PORT"}
		}
		endpoints[i] = full
	}
	c.Endpoints = endpoints
	return c, nil
}

// store is embedded by a name that does not show.
type store = kv.Store

// Store keeps launch logs in an etcd cluster. Make it with [Open].
type Store struct {
	*store
	engine *engine
}

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log below a prefix, which [Migrate] has prepared. It waits up to 10 s for a
// cluster that does not answer. Errors are a [*ConfigError], or wrap [*launchlog.SchemaError], the
// context's, or what the nodes say.
func Open(ctx context.Context, config Config) (*Store, error) {
	config, err := config.Checked()
	if err != nil {
		return nil, err
	}
	e := newEngine(config)
	schema, err := kv.Find(ctx, e)
	if err != nil {
		e.close()
		return nil, failed(err)
	}
	e.schema = schema.Value
	return &Store{kv.New(e, nil), e}, nil
}

// Migrate prepares the prefix for [Open]. It returns the schema's versions before and after. Before
// a new log it is 0. It may be run again, and by many at once. Errors are those of Open. A
// SchemaError is of a newer version.
func Migrate(ctx context.Context, config Config) (from, to int, err error) {
	config, err = config.Checked()
	if err != nil {
		return 0, 0, err
	}
	e := newEngine(config)
	defer e.close()
	from, to, err = kv.Migrate(ctx, e)
	return from, to, failed(err)
}

// Close closes the connections. Calls that are under way end with an error.
func (s *Store) Close() error {
	s.engine.close()
	return nil
}
