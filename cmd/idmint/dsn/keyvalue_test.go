package dsn

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestKeyValue(t *testing.T) {
	for _, test := range []struct {
		text           string
		kind           Kind
		nodes          string
		prefix, shown  string
		user, password string
	}{
		{"etcd://h", Etcd, "h:2379", "", "etcd://h:2379", "", ""},
		{
			"etcd://a:1,b,[::1]/x/y", Etcd, "a:1 b:2379 [::1]:2379", "/x/y",
			"etcd://a:1,b:2379,[::1]:2379/x/y", "", "",
		},
		{
			"etcd://ann:p%40w@h:1,g:2/x", Etcd, "h:1 g:2", "/x", "etcd://ann:xxxxx@h:1,g:2/x", "ann",
			"p@w",
		},
		{
			"zookeeper://a,b,c/launches/", ZooKeeper, "a:2181 b:2181 c:2181", "/launches",
			"zookeeper://a:2181,b:2181,c:2181/launches/", "", "",
		},
		{
			"cassandra://u:p@a:9,b/ks?replication=3", Cassandra, "a:9 b:9042", "/ks",
			"cassandra://u:xxxxx@a:9,b:9042/ks", "u", "p",
		},
	} {
		d, err := Parse(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		user, password := d.User()
		if !d.IsKeyValue() || d.Kind != test.kind || strings.Join(d.Nodes(), " ") != test.nodes ||
			d.Prefix() != test.prefix || d.String() != test.shown || user != test.user ||
			password != test.password {
			t.Errorf("%s: %s %q %q %v %q %q", test.text, d.Kind, d.Nodes(), d.Prefix(), d, user,
				password)
		}
		again, err := Parse(d.URL())
		if err != nil || again.URL() != d.URL() {
			t.Errorf("%s: its URL is read as %v, %v", test.text, again, err)
		}
	}
}

// An error quotes what is wrong, and shows what is right. It repeats no password.
func TestKeyValueHints(t *testing.T) {
	const nodes = "://USER:PASSWORD@HOST:PORT,HOST:PORT/"
	for text, want := range map[string]string{
		"etcd:h":                              "no // after etcd:: want etcd" + nodes + "PREFIX",
		"etcd://a:x,b/p":                      `"a:xxxxx" is not HOST:PORT: want etcd` + nodes + "PREFIX",
		"zookeeper://a,,b/p":                  `"" is not HOST:PORT: want zookeeper` + nodes + "PATH",
		"etcd://u:geheim@a:x/p":               `"a:xxxxx" is not HOST:PORT`,
		"etcd://u:geheim":                     `"u:xxxxx" is not HOST:PORT`,
		"etcd://u:ge?heim@a/p":                "not a URL",
		"etcd://u:geheim@h/x?session=1s":      `unknown setting "session": the settings of etcd are tls, ca, cert`,
		"zookeeper://h/x?colour=red":          `unknown setting "colour": the settings of zookeeper are session`,
		"zookeeper://h/x?session=long":        `"session=long": must be a time such as 10s`,
		"cassandra://h/x?replication=3,x":     `"replication=3,x": must be a number of replicas`,
		"cassandra://h/x?serial=far":          `"serial=far": must be local`,
		"etcd://h/x?tls=maybe":                `"tls=maybe": must be true`,
		"etcd://h/x?tls=true&tls=true":        "tls occurs 2 times",
		"etcd://h/x?ca=/does/not/exist":       "the setting ca: open /does/not/exist",
		"etcd://h/x?cert=/none&key=/either":   "cert=/none and key=/either: ",
		"etcd://h/x?a=%zz":                    "NAME=VALUE",
		"etcd://::1/x":                        `"::1" is not HOST:PORT`,
		"etcd://u:geheim#w@h/x":               "",
		"cassandra://h/x?replication=class:3": "must be a number of replicas",
	} {
		_, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "geheim") || strings.Contains(err.Error(), "heim@") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestSettings(t *testing.T) {
	parse := func(text string) DSN {
		t.Helper()
		d, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return d
	}
	if d, err := parse("zookeeper://h/x?session=3s").Session(); d != 3*time.Second || err != nil {
		t.Errorf("session %v, %v", d, err)
	}
	for text, want := range map[string]map[string]string{
		"": nil,
		"3": {
			"class": "SimpleStrategy", "replication_factor": "3",
		},
		"dc1:3,dc2:2": {"class": "NetworkTopologyStrategy", "dc1": "3", "dc2": "2"},
	} {
		got, err := parse("cassandra://h/ks?replication=" + text).Replication()
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("replication %q: %v, %v", text, got, err)
		}
	}
	if c, err := parse("etcd://h/x").TLS(); c != nil || err != nil {
		t.Errorf("without settings: %v, %v", c, err)
	}
	if c, err := parse("etcd://h/x?server_name=n").TLS(); err != nil || c.ServerName != "n" {
		t.Errorf("with a server's name: %v, %v", c, err)
	}
	empty := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Parse("etcd://h/x?ca=" + empty); err == nil {
		t.Error("a file without a certificate is taken")
	}
	if !slices.Equal(parse("etcd://h/x?tls=true").Nodes(), []string{"h:2379"}) {
		t.Error("a setting changed the nodes")
	}
}
