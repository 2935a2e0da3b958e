package dsn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The kinds that hold a launch log and no tables.
const (
	Etcd      Kind = "etcd"
	ZooKeeper Kind = "zookeeper"
	Cassandra Kind = "cassandra"
)

// A keyValue holds what is specific to names of such a kind.
type keyValue struct {
	port     string   // of nodes without one
	place    string   // what the path means
	settings []string // in addition to those of TLS
}

var keyValues = map[Kind]keyValue{
	Etcd:      {"2379", "PREFIX", nil},
	ZooKeeper: {"2181", "PATH", []string{"session"}},
	Cassandra: {"9042", "KEYSPACE", []string{"replication", "dc", "serial"}},
}

// form returns how a name of the kind is written.
func form(kind Kind) string {
	return fmt.Sprintf("want %s://USER:PASSWORD@HOST:PORT,HOST:PORT/%s?SETTINGS", kind,
		keyValues[kind].place)
}

// settingError returns an error about a setting, which it quotes because these settings are not
// passwords.
func settingError(name, value, want string) error {
	return fmt.Errorf("the setting %.80q: must be %s", name+"="+value, want)
}

var tlsSettings = []string{"tls", "ca", "cert", "key", "server_name"}

// IsKeyValue reports whether the database holds a launch log and no tables, as etcd, ZooKeeper and
// Cassandra do. For these there is no [DSN.Source].
func (d DSN) IsKeyValue() bool { return keyValues[d.Kind].port != "" }

// splitNodes removes all nodes but the first from a URL, because package url reads only one. It
// adds the default port to nodes without one.
func splitNodes(kind Kind, rest string) (first, nodes string, err error) {
	text, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return "", "", fmt.Errorf("there is no // after %s: %s", string(kind)+":", form(kind))
	}
	authority, path := text, ""
	if i := strings.IndexAny(text, "/?#"); i >= 0 {
		authority, path = text[:i], text[i:]
	}
	user := ""
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, authority = authority[:i+1], authority[i+1:]
	}
	list := strings.Split(authority, ",")
	for i, node := range list {
		host, port, err := net.SplitHostPort(node)
		if err != nil {
			host, port = strings.Trim(node, "[]"), keyValues[kind].port
		}
		_, bad := strconv.ParseUint(port, 10, 16)
		if host == "" || bad != nil || strings.Contains(host, ":") != strings.HasPrefix(node, "[") {
			if strings.Contains(path, "@") { // the node may be a part of a password
				return "", "", errURL
			}
			if user, _, has := strings.Cut(node, ":"); has && user != "" { // without @HOST
				node = user + ":xxxxx"
			}
			return "", "", fmt.Errorf("%.80q is not HOST:PORT: %s", node, form(kind))
		}
		list[i] = net.JoinHostPort(host, port)
	}
	return "//" + user + list[0] + path, strings.Join(list, ","), nil
}

// Nodes returns the nodes of etcd, ZooKeeper or Cassandra that the name lists, as HOST:PORT.
func (d DSN) Nodes() []string { return strings.Split(d.Host(), ",") }

// Prefix returns the path of the launch log in etcd or ZooKeeper, as /NAME/NAME, or "".
func (d DSN) Prefix() string { return strings.TrimSuffix(d.url.Path, "/") }

// User returns the user and the password, each "" if the name has none.
func (d DSN) User() (user, password string) {
	password, _ = d.url.User.Password()
	return d.url.User.Username(), password
}

// Setting returns the value of a setting, or "".
func (d DSN) Setting(name string) string { return d.url.Query().Get(name) }

// Session returns how long ZooKeeper keeps a session, or 0 if the name does not say.
func (d DSN) Session() (time.Duration, error) {
	text := d.Setting("session")
	if text == "" {
		return 0, nil
	}
	session, err := time.ParseDuration(text)
	if err != nil {
		return 0, settingError("session", text, "a time such as 10s")
	}
	return session, nil
}

// Replication returns the replication options of CQL with which to create a keyspace of Cassandra.
// The setting is the number of replicas, such as 3, or that number for each data center, such as
// dc1:3,dc2:3.
func (d DSN) Replication() (map[string]string, error) {
	text := d.Setting("replication")
	if text == "" {
		return nil, nil
	}
	if isNumber(text) {
		return map[string]string{"class": "SimpleStrategy", "replication_factor": text}, nil
	}
	options := map[string]string{"class": "NetworkTopologyStrategy"}
	for part := range strings.SplitSeq(text, ",") {
		name, n, ok := strings.Cut(part, ":")
		if !ok || name == "" || name == "class" || !isNumber(n) {
			return nil, settingError("replication", text,
				"a number of replicas, 3, or one for each data center, dc1:3,dc2:3")
		}
		options[name] = n
	}
	return options, nil
}

func isNumber(text string) bool {
	return text != "" && len(text) < 4 && strings.Trim(text, "0123456789") == ""
}

// TLS returns how connections are encrypted, or nil if they are not. The settings are tls=true,
// ca=FILE, cert=FILE with key=FILE, and server_name=NAME.
func (d DSN) TLS() (*tls.Config, error) {
	given := false
	for _, name := range tlsSettings[1:] {
		given = given || d.Setting(name) != ""
	}
	switch d.Setting("tls") {
	case "true":
	case "":
		if !given {
			return nil, nil
		}
	default:
		return nil, settingError("tls", d.Setting("tls"), "true")
	}
	config := &tls.Config{ServerName: d.Setting("server_name"), MinVersion: tls.VersionTLS12}
	if file := d.Setting("ca"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("the setting ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, settingError("ca", file, "a file with certificates")
		}
	}
	if cert, key := d.Setting("cert"), d.Setting("key"); cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("the settings cert=%.80s and key=%.80s: %w", cert, key, err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// tryKeyValue checks the settings.
func (d DSN) tryKeyValue() error {
	query, err := url.ParseQuery(d.url.RawQuery)
	known := slices.Concat(keyValues[d.Kind].settings, tlsSettings)
	if err != nil {
		return fmt.Errorf("the settings after ? must have the form NAME=VALUE&NAME=VALUE, with "+
			"names among %s", strings.Join(known, ", "))
	}
	for name, values := range query {
		switch {
		case !slices.Contains(known, name):
			return fmt.Errorf("unknown setting %.80q: the settings of %s are %s", name, d.Kind,
				strings.Join(known, ", "))
		case len(values) != 1:
			return fmt.Errorf("the setting %s occurs %d times", name, len(values))
		}
	}
	if serial := d.Setting("serial"); serial != "" && serial != "local" {
		return settingError("serial", serial, "local")
	}
	_, errSession := d.Session()
	_, errReplication := d.Replication()
	_, errTLS := d.TLS()
	return errors.Join(errSession, errReplication, errTLS)
}
