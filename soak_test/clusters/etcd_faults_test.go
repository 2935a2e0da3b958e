package clusters_test

import (
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/etcd"
	"github.com/idmint/idmint/launchlog/storetest"
)

// place is a prefix of its own in a cluster.
func place(addresses []string) etcd.Config {
	return etcd.Config{Endpoints: addresses, Prefix: "/test/" + rand.Text()}
}

func openEtcd(t *testing.T, config etcd.Config) *etcd.Store {
	t.Helper()
	inPlace(t, config)
	s, err := etcd.Open(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// logOf is the log of a store.
func logOf(t *testing.T, store launchlog.Store) *launchlog.Log {
	t.Helper()
	l, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A cluster that asks for user, password and certificates.
func TestEtcdSecure(t *testing.T) {
	server := dbtest.RunSecure(t, databases.Etcd)
	tls, err := server.Access.TLS()
	if err != nil {
		t.Fatal(err)
	}
	good := place(server.Addresses)
	good.User, good.Password, good.TLS = server.Access.User, server.Access.Password, tls
	launch, err := logOf(t, openEtcd(t, good)).Start(ctx, storetest.Request("a"))
	if err != nil || launch.ID != 1 {
		t.Errorf("launch %d, %v", launch.ID, err)
	}
	for _, test := range []struct {
		name  string
		spoil func(*etcd.Config)
		words string
	}{
		{"a wrong password", func(c *etcd.Config) { c.Password = "geheim" }, "authentication failed"},
		{"no user", func(c *etcd.Config) { c.User, c.Password = "", "" }, "etcdserver: "},
		{"no TLS", func(c *etcd.Config) { c.TLS = nil }, "may require TLS"},
		{"another name", func(c *etcd.Config) { c.TLS.ServerName = "x.invalid" }, "match x.invalid"},
		{"another authority", func(c *etcd.Config) { c.TLS.RootCAs = x509.NewCertPool() }, "x509: "},
	} {
		config := good
		config.TLS = good.TLS.Clone()
		test.spoil(&config)
		_, err := etcd.Open(ctx, config)
		if err == nil || !strings.Contains(err.Error(), test.words) ||
			strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if !strings.Contains(err.Error(), server.Addresses[0]+": ") {
			t.Errorf("%s: %v names no node", test.name, err)
		}
		storetest.BeginsWith(t, err, "launchlog/etcd: ")
	}
}

// The database reaches its quota. Steps that write say so, with what to do, and reads and trims go
// on. Steps that are on their way then may have been carried out, though the node says that there is
// no space. None of them is said not to have been.
func TestEtcdNoSpaceOnTheWay(t *testing.T) {
	const workers = 48
	cluster := dbtest.RunCluster(t, databases.Etcd, 1, "--quota-backend-bytes=8388608")
	store := openEtcd(t, place(cluster.Addresses()))
	l := logOf(t, store)
	_, err := l.Start(ctx, storetest.Request("a"))
	for range 2 {
		_, claim := l.Claim(ctx, 1)
		err = errors.Join(err, claim)
	}
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	var mu sync.Mutex // guards what follows
	refused, doubt := 0, 0
	for w := range workers {
		group.Go(func() {
			c, err := l.Counter(fmt.Sprint("c", w))
			if err != nil {
				t.Error(err)
				return
			}
			for value := int64(0); ; value++ {
				r := launchlog.Raise{
					From: value, To: value + 1, Note: launchlog.NewNote(),
					Holder: strings.Repeat("h", 255),
				}
				_, err := c.Raise(ctx, r)
				if err == nil {
					continue
				}
				last, lastErr := c.Last(ctx)
				var unresolved *launchlog.UnresolvedError
				inDoubt := errors.As(err, &unresolved) && unresolved.Uncertain
				if lastErr != nil || last == r.To && !inDoubt || !errors.Is(err, etcd.ErrNoSpace) {
					t.Errorf("raised to %d: the counter is at %d, %v: %v", r.To, last, lastErr, err)
				}
				mu.Lock()
				defer mu.Unlock()
				if refused++; inDoubt {
					doubt++
				}
				return
			}
		})
	}
	group.Wait()
	if refused != workers {
		t.Errorf("%d counters met the quota", refused)
	}
	ref := launchlog.Ref{Namespace: l.Namespace(), Launch: 1}
	err = store.TrimClaims(ctx, ref, 1) // which needs no space
	if left, list := l.Claims(ctx, 1, 0, 9); err != nil || list != nil || len(left) != 1 {
		t.Errorf("a trim at the quota: %v, and %d claims are left, %v", err, len(left), list)
	}
	t.Logf("%d goroutines met the quota: %d of their steps are in doubt, 0 wrongly refused", refused,
		doubt)
}
