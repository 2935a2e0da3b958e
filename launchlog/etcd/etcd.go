package etcd

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// Config says where the launch log is, and how to get there.
type Config struct {
	// Endpoints are the cluster's nodes, as HOST:PORT each. The port is 2379 where it is missing.
	Endpoints []string

	// Prefix is what all keys begin with, as /NAME or /NAME/NAME. Names have letters, digits and
	// the signs - _ . ~ %, and begin with none of . and ~. It is /idmint where it is empty.
	Prefix string

	// User and Password are for a cluster that has authentication on.
	User     string
	Password string `json:"-"`

	// TLS is for a cluster that encrypts. Without it connections are not encrypted.
	TLS *tls.Config

	dialer func(ctx context.Context, network, address string) (net.Conn, error) // of tests
}

const defaultPort = "2379"

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
	if c.Endpoints, err = kv.Addresses("Endpoints", c.Endpoints, defaultPort); err != nil {
		return c, failed(err)
	}
	if c.Prefix, err = kv.Place("Prefix", c.Prefix); err != nil {
		return c, failed(err)
	}
	switch {
	case c.User == "" && c.Password != "":
		err = &launchlog.RequestError{Field: "User", Reason: "is empty, and there is a password"}
	case c.User != "" && c.Password == "":
		err = &launchlog.RequestError{Field: "Password", Reason: "is empty, and there is a user"}
	}
	return c, failed(err)
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
// cluster that does not answer. Errors wrap a [*launchlog.RequestError] about the config, a
// [*launchlog.SchemaError], the context's, or what the nodes say.
func Open(ctx context.Context, config Config) (*Store, error) {
	config, err := config.Checked()
	if err != nil {
		return nil, err
	}
	e := newEngine(config)
	schema, err := kv.Find(ctx, e)
	if err != nil {
		e.Close()
		return nil, failed(err)
	}
	e.schema = schema.Value
	return &Store{kv.New(e, nil), e}, nil
}

// Migrate prepares the prefix for [Open]. It returns the schema's versions before and after. Before
// a new log it is 0. It may be run again, and by many at once. Errors are those of Open. A
// SchemaError is of a newer version.
func Migrate(ctx context.Context, config Config) (from, to int, err error) {
	if config, err = config.Checked(); err != nil {
		return 0, 0, err
	}
	e := newEngine(config)
	defer e.Close()
	from, to, err = kv.Migrate(ctx, e)
	return from, to, failed(err)
}

// claimSize is what a claim adds to etcd's database: two keys, measured with 80,000 claims after a
// compaction.
const claimSize = 690

// Room implements [launchlog.Log.Room], by what one member says of its own database. Space that a
// compaction freed counts as room.
func (s *Store) Room(ctx context.Context) (int64, error) {
	status, err := kv.Look(ctx, s.engine.cluster, func(ctx context.Context, c *clientv3.Client) (
		*clientv3.StatusResponse, error,
	) {
		return c.Status(ctx, c.Endpoints()[0])
	})
	if err != nil || status.DbSizeQuota <= 0 { // before etcd 3.6
		return -1, err
	}
	return max(status.DbSizeQuota-status.DbSizeInUse, 0) / claimSize, nil
}

// Close closes the connections. Calls that are under way end with an error.
func (s *Store) Close() error {
	s.engine.Close()
	return nil
}
