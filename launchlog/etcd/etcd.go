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

// Config says where the launch log is, and how to connect to it.
type Config struct {
	// Endpoints are the cluster's nodes, each as HOST:PORT, where PORT is 2379 by default.
	Endpoints []string

	// Prefix begins all keys, as /NAME or /NAME/NAME, and is /idmint by default. Names contain
	// letters, digits and the signs - _ . ~ %, but begin with neither . nor ~.
	Prefix string

	// User and Password are for a cluster with authentication.
	User     string
	Password string `json:"-"`

	// TLS is for a cluster that encrypts. Without it connections are not encrypted.
	TLS *tls.Config

	dialer func(ctx context.Context, network, address string) (net.Conn, error) // for tests
}

const defaultPort = "2379"

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
	if c.Endpoints, err = kv.Addresses("Endpoints", c.Endpoints, defaultPort); err != nil {
		return c, failed(err)
	}
	if c.Prefix, err = kv.Place("Prefix", c.Prefix); err != nil {
		return c, failed(err)
	}
	switch {
	case c.User == "" && c.Password != "":
		err = &launchlog.RequestError{Field: "User", Reason: "must be set if there is a password"}
	case c.User != "" && c.Password == "":
		err = &launchlog.RequestError{Field: "Password", Reason: "must be set if there is a user"}
	}
	return c, failed(err)
}

// store is an alias, so that the embedded field is not exported.
type store = kv.Store

// Store keeps launch logs in an etcd cluster. Create one with [Open].
type Store struct {
	*store
	engine *engine
}

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log below a prefix that [Migrate] has prepared. It waits up to 10 s for a
// cluster that does not answer. Errors wrap a [*launchlog.RequestError] about the config, a
// [*launchlog.SchemaError], the context's error, or an error of the nodes.
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

// Migrate prepares the prefix for [Open]. It returns the schema's versions before and after, and 0
// as the version before a new log. It is safe to repeat, also concurrently. It returns the same
// errors as Open, but a SchemaError only for a newer version.
func Migrate(ctx context.Context, config Config) (from, to int, err error) {
	if config, err = config.Checked(); err != nil {
		return 0, 0, err
	}
	e := newEngine(config)
	defer e.Close()
	from, to, err = kv.Migrate(ctx, e)
	return from, to, failed(err)
}

// claimSize is how many bytes the two keys of a claim add to etcd's database, as measured with
// 80,000 claims after a compaction.
const claimSize = 690

// Room implements [launchlog.Log.Room] with the figures that one member reports for its own
// database. Space that a compaction freed counts as room.
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

// Close closes the connections, so that calls in progress end with an error.
func (s *Store) Close() error {
	s.engine.Close()
	return nil
}
