package kvtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// Nodes are what a store is opened on by [Causes].
type Nodes struct {
	Addresses      []string
	User, Password string
	TLS            *tls.Config // or nil
	CA             string      // a file with the authorities of TLS
}

// Causes holds that opening a store says of each node why it cannot be used.
func Causes(t *testing.T, open func(context.Context, Nodes) error) {
	const refused, unknown = "127.0.0.1:1", "nobody.invalid:1"
	for name, nodes := range map[string]Nodes{
		"one node":  {Addresses: []string{refused}},
		"a user":    {Addresses: []string{refused}, User: "ann", Password: "geheim"},
		"two nodes": {Addresses: []string{refused, unknown}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			err := open(ctx, nodes)
			if !errors.Is(err, syscall.ECONNREFUSED) || !errors.Is(err, context.DeadlineExceeded) ||
				strings.Contains(err.Error(), "geheim") {
				t.Fatalf("%v: want that the connection is refused, until the deadline", err)
			}
			t.Log(err)
			var node *launchlog.NodeError
			if !errors.As(err, &node) || node.Node != refused {
				t.Errorf("%v names no node", err)
			}
			for _, address := range nodes.Addresses {
				if n := strings.Count(err.Error(), address+": "); n != 1 {
					t.Errorf("%q names %s %d times", err, address, n)
				}
			}
			var nobody *net.DNSError
			if len(nodes.Addresses) == 2 && !errors.As(err, &nobody) {
				t.Errorf("%v does not say that nobody knows %s", err, unknown)
			}
		})
	}
	t.Run("a certificate of another name", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewUnstartedServer(nil)
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.EnableHTTP2 = true
		server.StartTLS()
		defer server.Close()
		file := filepath.Join(t.TempDir(), "ca.pem")
		certificate := server.Certificate()
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AddCert(certificate)
		err := open(t.Context(), Nodes{
			Addresses: []string{server.Listener.Addr().String()}, CA: file,
			TLS: &tls.Config{RootCAs: roots, ServerName: "x.invalid"},
		})
		var other x509.HostnameError
		if !errors.As(err, &other) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: want that the certificate is of another name, at once", err)
		}
		var node *launchlog.NodeError
		if !errors.As(err, &node) || node.Node != server.Listener.Addr().String() {
			t.Errorf("%v names no node", err)
		}
	})
}
