package zookeeper

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
)

func TestConfig(t *testing.T) {
	for _, test := range []struct {
		field, value string
		config       Config
	}{
		{"Servers", "", Config{}},
		{"Servers", "", Config{Servers: []string{""}}},
		{"Servers", ":2181", Config{Servers: []string{"a", ":2181"}}},
		{"Servers", "a:", Config{Servers: []string{"a:"}}},
		{"Servers", "a:1/b", Config{Servers: []string{"a:1/b"}}},
		{"Servers", "me@a:1", Config{Servers: []string{"me@a:1"}}},
		{"Servers", "a:1,b:2", Config{Servers: []string{"a:1,b:2"}}},
		{"Path", "/", Config{Servers: []string{"a"}, Path: "/"}},
		{"Path", "a", Config{Servers: []string{"a"}, Path: "a"}},
		{"Servers", "u:xxxxx@a:1", Config{Servers: []string{"u:secret@a:1"}}},
		{"Path", "/a/", Config{Servers: []string{"a"}, Path: "/a/"}},
		{"Path", "//a", Config{Servers: []string{"a"}, Path: "//a"}},
		{"Path", "/a/./b", Config{Servers: []string{"a"}, Path: "/a/./b"}},
		{"Path", "/a/..", Config{Servers: []string{"a"}, Path: "/a/.."}},
		{"Path", "/a\x00", Config{Servers: []string{"a"}, Path: "/a\x00"}},
		{"Path", "/a\u0085", Config{Servers: []string{"a"}, Path: "/a\u0085"}},
		{"Path", "/a\uf000", Config{Servers: []string{"a"}, Path: "/a\uf000"}},
		{"Path", "/a\ufffe", Config{Servers: []string{"a"}, Path: "/a\ufffe"}},
		{"Path", "/a\xff", Config{Servers: []string{"a"}, Path: "/a\xff"}},
		{"Path", "/zookeeper/a", Config{Servers: []string{"a"}, Path: "/zookeeper/a"}},
		{"Path", "/" + strings.Repeat("a", 512), Config{
			Servers: []string{"a"}, Path: "/" + strings.Repeat("a", 512),
		}},
		{"User", "a:xxxxx", Config{Servers: []string{"a"}, User: "a:b", Password: "secret"}},
		{"User", "a:xxxxx", Config{Servers: []string{"a"}, User: "a:secret"}},
		{"User", "", Config{Servers: []string{"a"}, Password: "secret"}},
		{"SessionTimeout", "999ms", Config{
			Servers: []string{"a"}, SessionTimeout: 999 * time.Millisecond,
		}},
		{"SessionTimeout", "5m0.001s", Config{
			Servers: []string{"a"}, SessionTimeout: 5*time.Minute + time.Millisecond,
		}},
	} {
		s, err := Open(t.Context(), test.config)
		var bad *ConfigError
		if s != nil || !errors.As(err, &bad) || bad.Field != test.field || bad.Value != test.value {
			t.Errorf("%s %q: %v", test.field, test.value, err)
			continue
		}
		storesuite.BeginsWith(t, err, "launchlog/zookeeper: ")
		_, _, migrating := Migrate(t.Context(), test.config)
		if migrating.Error() != err.Error() {
			t.Errorf("Migrate: %v, and Open: %v", migrating, err)
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
	s, err := Config{Servers: []string{"a", "b:1", "::1", "[::2]", "[::3]:4"}}.settings()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a:2181", "b:1", "[::1]:2181", "[::2]:2181", "[::3]:4"}
	if !slices.Equal(s.servers, want) || s.path != "/idmint" || s.silence != 2*time.Second {
		t.Errorf("servers %q, path %s, silence %v", s.servers, s.path, s.silence)
	}
}

// What servers and networks say leaves the constructors with the package's name in front, once.
func TestErrorsBeginWithThePackage(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	nowhere := Config{Servers: []string{"127.0.0.1:1"}}
	for ctx, want := range map[context.Context]error{
		ended: context.Canceled, soon: context.DeadlineExceeded,
	} {
		s, err := Open(ctx, nowhere)
		if s != nil || !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		storesuite.BeginsWith(t, err, "launchlog/zookeeper: ")
		_, _, err = Migrate(ctx, nowhere)
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		storesuite.BeginsWith(t, err, "launchlog/zookeeper: ")
	}
}

func TestSchema(t *testing.T) {
	c := place(t)
	c.Path += "/of/an/app"
	var schema *launchlog.SchemaError
	s, err := Open(t.Context(), c)
	if s != nil || !errors.As(err, &schema) || schema.Have != 0 {
		t.Errorf("a path that is not there: %v", err)
	}
	storesuite.BeginsWith(t, err, "launchlog/zookeeper: ")
	e := unbound(t, c)
	if done, err := e.Commit(t.Context(), "n/p", put("state", 0)); done || err == nil {
		t.Errorf("a commit to a path that is not there: %t, %v", done, err)
	}
	var group sync.WaitGroup
	var made atomic.Int64
	for range 8 {
		group.Go(func() {
			from, to, err := Migrate(t.Context(), c)
			if err != nil || to == 0 {
				t.Errorf("from %d to %d: %v", from, to, err)
			}
			if from == 0 {
				made.Add(1)
			}
		})
	}
	group.Wait()
	if made.Load() != 1 {
		t.Errorf("%d say that they made the log", made.Load())
	}
	opened(t, c)
	row, err := e.Read(t.Context(), "Schema", "version")
	if err != nil {
		t.Fatal(err)
	}
	newer := put("version", row[0].Version)
	newer.Value = []byte(`{"version":99,"write":"x"}`)
	if done, err := e.Commit(t.Context(), "Schema", newer); err != nil || !done {
		t.Fatal(done, err)
	}
	if _, err = Open(t.Context(), c); !errors.As(err, &schema) || schema.Have != 99 {
		t.Errorf("a newer version: %v", err)
	}
	if _, _, err = Migrate(t.Context(), c); !errors.As(err, &schema) || schema.Have != 99 {
		t.Errorf("a newer version: %v", err)
	}
}

// A user's znodes are for that user.
func TestUser(t *testing.T) {
	c := Config{
		Servers: servers(t), Path: "/idmint-test-" + rand.Text()[:10], User: "me",
		Password: "se:cret",
	}
	if _, _, err := Migrate(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	s := opened(t, c)
	if _, err := s.LastNumber(t.Context(), launchlog.CounterRef{
		Namespace: "default", Name: "a",
	}); err != nil {
		t.Error(err)
	}
	wrong, nobody := c, c
	wrong.Password = "secret"
	nobody.User, nobody.Password = "", ""
	for _, other := range []Config{wrong, nobody} {
		if _, err := Open(t.Context(), other); !errors.Is(err, zk.ErrNoAuth) ||
			strings.Contains(err.Error(), "cret") {
			t.Errorf("open as %q: %v", other.User, err)
		}
		if _, _, err := Migrate(t.Context(), other); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("migrate as %q: %v", other.User, err)
		}
	}
	e := unbound(t, c)
	if err := e.with(t.Context(), func(ctx context.Context, l *link) error {
		return remove(ctx, l, e.path)
	}); err != nil {
		t.Error(err)
	}
}

// A proxy speaks TLS for servers that do not.
func TestTLS(t *testing.T) {
	certificate, roots := selfSigned(t)
	c := prepared(t)
	p := newProxy(t, servers(t)[0], &tls.Config{Certificates: []tls.Certificate{certificate}})
	c.Servers = []string{p.addr}
	c.TLS = &tls.Config{RootCAs: roots}
	opened(t, c)
	c.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
	var unknown x509.UnknownAuthorityError
	if _, err := Open(t.Context(), c); !errors.As(err, &unknown) {
		t.Errorf("an unknown authority: %v", err)
	}
}

func selfSigned(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}
