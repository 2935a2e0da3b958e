// Package dsn parses the names of databases that the command line and the tests accept. A database
// with tables has one of these forms:
//
//	sqlite:PATH
//	postgres://USER:PASSWORD@HOST:PORT/DATABASE?SETTINGS     or postgresql://
//	mysql://USER:PASSWORD@HOST:PORT/DATABASE?SETTINGS        or mariadb://
//	clickhouse://USER:PASSWORD@HOST:PORT/DATABASE?SETTINGS
//
// The settings are those of libpq, of go-sql-driver/mysql and of clickhouse-go. In PostgreSQL,
// schema=NAME also names the schema of the launch log. A database that holds only a launch log, and
// no tables, has one of these forms:
//
//	etcd://USER:PASSWORD@HOST:PORT,…/PREFIX?SETTINGS
//	zookeeper://USER:PASSWORD@HOST:PORT,…/PATH?SETTINGS
//	cassandra://USER:PASSWORD@HOST:PORT,…/KEYSPACE?SETTINGS
//
// All three have the settings tls=true, ca=FILE, cert=FILE with key=FILE, and server_name=NAME.
// ZooKeeper also has session=4s, and Cassandra has replication=3 or replication=dc1:3,dc2:3,
// dc=dc1, and serial=local.
//
// Errors of this package never repeat anything that may be a password.
package dsn

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idmint/idmint/internal/dialect"
)

// Kind is a kind of database, as its SQL dialect.
type Kind = dialect.Dialect

// The kinds. MySQL also stands for MariaDB.
const (
	SQLite     = dialect.SQLite
	Postgres   = dialect.Postgres
	MySQL      = dialect.MySQL
	ClickHouse = dialect.ClickHouse
)

// A DSN names a database. Make it with [Parse].
type DSN struct {
	Kind Kind
	Path string // the file, for SQLite

	url *url.URL // for the others
}

// An Error reports what is wrong with a name.
type Error struct {
	Kind Kind // empty if it is not known
	Err  error
}

func (e *Error) Error() string {
	if e.Kind == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s: %v", e.Kind, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

const forms = "want sqlite:PATH, postgres://…, mysql://…, clickhouse://…, etcd://…, " +
	"zookeeper://… or cassandra://…"

var (
	errEmpty = errors.New("no database is named: " + forms)
	// does not repeat the kind, which may be a password before a colon
	errUnknown  = errors.New("unknown kind of database: " + forms)
	errKind     = errors.New("the name must begin with the kind of database and a colon: " + forms)
	errPath     = errors.New("want sqlite:PATH, with a path, without // before it and without ?")
	errSettings = errors.New(
		"the settings after ? are not settings of its Go driver, or name files that cannot be read")
	errURL = errors.New(
		"not a URL such as postgres://USER:PASSWORD@HOST:PORT/DATABASE; in it, write characters " +
			"like @ / ? # % of a password as %40 and so on")
)

var (
	kindPattern = regexp.MustCompile(`^[a-z][a-z0-9]*$`)
	kinds       = map[string]Kind{
		"sqlite": SQLite, "postgres": Postgres, "postgresql": Postgres, "mysql": MySQL,
		"mariadb": MySQL, "clickhouse": ClickHouse, "etcd": Etcd, "zookeeper": ZooKeeper,
		"cassandra": Cassandra,
	}
)

// Parse parses a name. Its errors are of type [*Error].
func Parse(text string) (DSN, error) {
	name, rest, ok := strings.Cut(text, ":")
	kind := kinds[name]
	switch {
	case text == "":
		return DSN{}, &Error{Err: errEmpty}
	case !ok || !kindPattern.MatchString(name):
		return DSN{}, &Error{Err: errKind}
	case kind == "":
		return DSN{}, &Error{Err: errUnknown}
	case kind == SQLite:
		if rest == "" || strings.HasPrefix(rest, "//") || strings.Contains(rest, "?") {
			return DSN{}, &Error{kind, errPath}
		}
		return DSN{Kind: SQLite, Path: rest}, nil
	}
	nodes := ""
	if (DSN{Kind: kind}).IsKeyValue() {
		var err error
		if rest, nodes, err = splitNodes(kind, rest); err != nil {
			return DSN{}, &Error{kind, err}
		}
	}
	u, err := url.Parse(string(kind) + ":" + rest)
	if err != nil || u.Host == "" || u.Opaque != "" { // the parser's error quotes the text
		return DSN{}, &Error{kind, errURL}
	}
	// An @ after the host, or a fragment, means that a part of an unescaped password was read as
	// something after the host, and would be shown.
	if strings.Contains(u.EscapedPath()+u.RawQuery, "@") || strings.Contains(rest, "#") {
		return DSN{}, &Error{kind, errURL}
	}
	if nodes != "" {
		u.Host = nodes
	}
	d := DSN{Kind: kind, url: u}
	if d.IsKeyValue() {
		err = d.tryKeyValue()
	} else if d.try() != nil { // its error quotes the settings, which may hold passwords
		err = errSettings
	}
	if err != nil {
		return DSN{}, &Error{kind, err}
	}
	return d, nil
}

// try parses the name as the driver will.
func (d DSN) try() (err error) {
	switch d.Kind {
	case Postgres:
		_, err = pgconn.ParseConfig(d.Source())
	case MySQL:
		_, err = d.mysql()
	case ClickHouse:
		err = tryClickHouse(d.Source())
	}
	return err
}

// String returns the name without its password and its settings, which may hold other passwords.
func (d DSN) String() string {
	if d.Kind == SQLite {
		return "sqlite:" + d.Path
	}
	shown := url.URL{Scheme: d.url.Scheme, User: d.url.User, Host: d.url.Host, Path: d.url.Path}
	return shown.Redacted()
}

// URL returns the name with its password, as Parse reads it.
func (d DSN) URL() string {
	if d.Kind == SQLite {
		return "sqlite:" + d.Path
	}
	return d.url.String()
}

// Host returns the server's address, with the port if the name has one. It returns "" for SQLite.
func (d DSN) Host() string {
	if d.url == nil {
		return ""
	}
	return d.url.Host
}

// Database returns the database's name on its server. It returns "" if the name leaves that to the
// driver, and for SQLite.
func (d DSN) Database() string {
	if d.url == nil {
		return ""
	}
	return strings.TrimPrefix(d.url.Path, "/")
}

// WithDatabase returns the name of another database on the same server.
func (d DSN) WithDatabase(name string) DSN {
	u := *d.url
	u.Path = "/" + name
	return DSN{Kind: d.Kind, url: &u}
}

// WithHost returns the name of the same database at another address, for example a proxy's.
func (d DSN) WithHost(host string) DSN {
	u := *d.url
	u.Host = host
	return DSN{Kind: d.Kind, url: &u}
}

// Source returns the name in the form of the database's Go driver: pgx, go-sql-driver/mysql or
// clickhouse-go. For SQLite it is the path. It includes the password.
func (d DSN) Source() string {
	switch d.Kind {
	case SQLite:
		return d.Path
	case MySQL:
		// Parse has tried it, and another host or database cannot cause an error
		source, _ := d.mysql()
		return source
	}
	if d.Kind == ClickHouse && d.url.Port() == "" {
		port := "9000"
		if d.url.Query().Get("secure") == "true" {
			port = "9440"
		}
		return d.WithHost(net.JoinHostPort(d.url.Hostname(), port)).url.String()
	}
	if d.Kind == Postgres {
		u := *d.url
		u.RawQuery = strings.Join(slices.DeleteFunc(strings.Split(u.RawQuery, "&"), isSchema), "&")
		return u.String()
	}
	return d.url.String()
}

// Schema returns the schema of PostgreSQL that has the launch log, or "" if the name leaves that to
// the store.
func (d DSN) Schema() string {
	if d.Kind != Postgres {
		return ""
	}
	return d.url.Query().Get("schema")
}

func isSchema(setting string) bool { return strings.HasPrefix(setting, "schema=") }

// Driver returns the name under which the database's Go driver registers with database/sql. This
// package does not import the drivers.
func (d DSN) Driver() string { return dialect.Driver(d.Kind) }

func (d DSN) mysql() (string, error) {
	c := mysql.NewConfig()
	c.User = d.url.User.Username()
	c.Passwd, _ = d.url.User.Password()
	c.Net, c.Addr = "tcp", d.url.Host
	if d.url.Port() == "" {
		c.Addr = net.JoinHostPort(d.url.Hostname(), "3306")
	}
	c.DBName = d.Database()
	source := c.FormatDSN()
	if d.url.RawQuery != "" {
		separator := "?"
		if strings.Contains(source[strings.LastIndexByte(source, '/'):], "?") {
			separator = "&"
		}
		source += separator + d.url.RawQuery
	}
	_, err := mysql.ParseDSN(source)
	return source, err
}
