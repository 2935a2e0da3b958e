package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

func TestConfig(t *testing.T) {
	good := []string{"a:1"}
	for _, test := range []struct {
		config       Config
		field, value string
	}{
		{Config{}, "Endpoints", ""},
		{Config{Endpoints: []string{"u:geheim@a:1"}}, "Endpoints", "u:xxxxx@a:1"},
		{Config{Endpoints: good, Prefix: "/a//b"}, "Prefix", "/a//b"},
		{Config{Endpoints: good, Password: "geheim"}, "User", ""},
		{Config{Endpoints: good, User: "u"}, "Password", ""},
	} {
		_, opening := Open(ctx, test.config)
		_, _, migrating := Migrate(ctx, test.config)
		for _, err := range []error{opening, migrating} {
			var wrong *launchlog.RequestError
			if !errors.As(err, &wrong) || wrong.Field != test.field || wrong.Value != test.value ||
				strings.Contains(err.Error(), "geheim") {
				t.Errorf("%+v: %v", test.config, err)
			}
			storetest.BeginsWith(t, err, "launchlog/etcd: ")
		}
	}
	c, err := Config{Endpoints: []string{"a", "b:1"}}.Checked()
	if err != nil || c.Prefix != "/idmint" || strings.Join(c.Endpoints, " ") != "a:2379 b:1" {
		t.Errorf("%+v, %v", c, err)
	}
}

// A certificate may bear a name that no endpoint has. TLS has that name, and it is the one that
// counts. Without it the endpoint's does.
func TestServerName(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS() // its certificate is of example.com
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	for _, test := range []struct {
		name, endpoint string
		right          bool
	}{
		{"example.com", "etcd1.invalid:2379", true},
		{"etcd1.invalid", "example.com:2379", false},
		{"", "example.com:2379", true},
		{"", "etcd1.invalid:2379", false},
	} {
		raw, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c := Config{TLS: &tls.Config{ServerName: test.name, RootCAs: roots}}
		_, _, err = c.credentials().Clone().ClientHandshake(ctx, test.endpoint, raw)
		if (err == nil) != test.right {
			t.Errorf("%+v: %v", test, err)
		}
		raw.Close()
	}
}
