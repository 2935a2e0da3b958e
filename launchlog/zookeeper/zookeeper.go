package zookeeper

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// Config says where the launch log is, and how to get there.
type Config struct {
	// Servers are the ensemble's, as HOST:PORT each. The port is 2181 where it is missing. Name all
	// of them: a call moves on to another one where a server does not answer.
	Servers []string

	// Path is the znode below which the launch log is, as /NAME or /NAME/NAME. It is /idmint where
	// it is empty. No NAME begins with ~, as a log's own znodes do.
	Path string

	// User and Password are for the scheme digest. Znodes are made so that only this user may use
	// them. Without a user anybody may.
	User, Password string

	// TLS is for servers with a secureClientPort. Without it connections are not encrypted.
	TLS *tls.Config

	// SessionTimeout is asked for, from 1 s to 5 min; servers have bounds of their own. It is 10 s
	// where it is 0. A server that says nothing for a fifth of it while a request waits is given
	// up, and another one is asked. Take more where servers are slower than that.
	SessionTimeout time.Duration
}

// settings are a Config that was checked.
type settings struct {
	servers        []string
	path           string
	user, password string
	acl            []zk.ACL
	tls            *tls.Config
	session        time.Duration
	silence        time.Duration // that a call bears of a server
	budget         time.Duration // that a call has for finding one that answers
}

const (
	defaultPath    = "/idmint"
	defaultPort    = "2181"
	defaultSession = 10 * time.Second
	leastSession   = time.Second
	mostSession    = 5 * time.Minute
	defaultBudget  = 6 * time.Second
)

func (c Config) settings() (*settings, error) {
	s := &settings{
		path: c.Path, user: c.User, password: c.Password, acl: zk.WorldACL(zk.PermAll),
		tls: c.TLS, session: c.SessionTimeout, budget: defaultBudget,
	}
	if s.path == "" {
		s.path = defaultPath
	}
	if s.session == 0 {
		s.session = defaultSession
	}
	s.silence = s.session / 5
	name, _, colon := strings.Cut(c.User, ":")
	switch reason := refusedPath(s.path); {
	case len(c.Servers) == 0:
		return nil, &ConfigError{"Servers", "", "names no server"}
	case reason != "":
		return nil, &ConfigError{"Path", s.path, reason}
	case colon: // what follows may be a password
		return nil, &ConfigError{"User", name + ":xxxxx", "has a colon, which ends a user's name"}
	case c.User == "" && c.Password != "":
		return nil, &ConfigError{"User", "", "is empty, and there is a password"}
	case s.session < leastSession || s.session > mostSession:
		return nil, &ConfigError{"SessionTimeout", s.session.String(), "is not within 1s and 5m0s"}
	}
	if c.User != "" {
		s.acl = zk.DigestACL(zk.PermAll, c.User, c.Password)
	}
	for _, server := range c.Servers {
		full := server
		if _, _, err := net.SplitHostPort(full); err != nil {
			full = net.JoinHostPort(strings.Trim(server, "[]"), defaultPort)
		}
		host, port, err := net.SplitHostPort(full)
		if err != nil || host == "" || port == "" || strings.ContainsAny(full, "/@, \t\n") {
			return nil, &ConfigError{"Servers", kv.Shown(server), "is not HOST:PORT"}
		}
		s.servers = append(s.servers, full)
	}
	return s, nil
}

// Checked returns the config with defaults for what is empty, as [Open] uses it. The error is a
// [*ConfigError].
func (c Config) Checked() (Config, error) {
	s, err := c.settings()
	if err != nil {
		return c, err
	}
	c.Servers, c.Path, c.SessionTimeout = s.servers, s.path, s.session
	return c, nil
}

// refusedPath says why ZooKeeper, or the store, does not take a path. It is empty where both do.
func refusedPath(path string) string {
	top, rest, _ := strings.Cut(path, "/")
	segments := strings.Split(rest, "/")
	switch {
	case top != "" || rest == "":
		return "is not of the form /NAME or /NAME/NAME"
	case segments[0] == "zookeeper":
		return "is in /zookeeper, which ZooKeeper has for itself"
	case slices.ContainsFunc(segments, func(s string) bool {
		return strings.HasPrefix(s, ownSign)
	}):
		return "has a name that begins with ~, as a launch log's own znodes do"
	case len(path) > 512:
		return "is longer than 512 bytes"
	case !utf8.ValidString(path):
		return "is not valid UTF-8"
	case slices.ContainsFunc(segments, func(s string) bool {
		return s == "" || s == "." || s == ".."
	}):
		return "has a name that is empty, . or .., which ZooKeeper refuses"
	case strings.ContainsFunc(path, func(r rune) bool {
		return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
	}):
		return "has a sign that ZooKeeper refuses"
	}
	return ""
}

// store is embedded by a name that does not show.
type store = kv.Store

// Store keeps launch logs in a ZooKeeper ensemble. Make it with [Open].
type Store struct {
	*store
	engine engine
}

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log below a path, which [Migrate] has prepared. It waits up to 10 s for an
// ensemble that does not answer. Errors wrap a [*ConfigError], a [*launchlog.SchemaError], the
// context's, or what the servers say.
func Open(ctx context.Context, config Config) (*Store, error) {
	s, err := config.settings()
	if err != nil {
		return nil, err
	}
	e := newEngine(newLinks(s))
	schema, err := kv.Find(ctx, e)
	if err == nil {
		e, err = e.bound(schema)
	}
	if err != nil {
		e.close()
		return nil, failed(err)
	}
	return &Store{kv.New(e, nil), e}, nil
}

// Migrate makes the path and what a launch log has below it. It returns the schema's versions
// before and after. Before a new log it is 0. It may be run again, and by many at once. Errors are
// those of [Open]. A SchemaError is of a newer version.
func Migrate(ctx context.Context, config Config) (from, to int, err error) {
	s, err := config.settings()
	if err != nil {
		return 0, 0, err
	}
	l := newLinks(s)
	defer l.close()
	from, to, why := prepare(ctx, newEngine(l))
	return from, to, failed(why)
}

func prepare(ctx context.Context, e engine) (from, to int, err error) {
	err = e.with(ctx, func(ctx context.Context, l *link) error {
		return e.makePath(ctx, l, e.path)
	})
	if err := passing(err, false); err != nil {
		return 0, 0, err
	}
	return kv.Migrate(ctx, e)
}

// Close closes the connection. Calls that are under way end with an error, and Close waits for
// them.
func (s *Store) Close() error {
	s.engine.close()
	return nil
}
