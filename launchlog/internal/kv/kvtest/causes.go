package kvtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog/internal/kv"
)

// Nodes are the nodes on which [Causes] opens a store.
type Nodes struct {
	Addresses      []string
	User, Password string
	TLS            *tls.Config // or nil
}

// told returns what is missing in the error of an Open that waited until its deadline.
func told(err error, addresses []string) string {
	var node *kv.NodeError
	var nobody *net.DNSError
	switch {
	case !errors.Is(err, context.DeadlineExceeded):
		return "it did not wait"
	case !errors.Is(err, syscall.ECONNREFUSED):
		return "it does not say that the connection was refused"
	case strings.Contains(err.Error(), "geheim"):
		return "it shows the password"
	case !errors.As(err, &node) || node.Node != refused:
		return "it names no node"
	case len(addresses) == 2 && !errors.As(err, &nobody):
		return "it does not say that nobody knows " + unknown
	}
	for _, address := range addresses {
		if n := strings.Count(err.Error(), address+": "); n != 1 {
			return fmt.Sprintf("it names %s %d times", address, n)
		}
	}
	return ""
}

const refused, unknown = "127.0.0.1:1", "nobody.invalid:1"

// Causes tests that opening a store reports for each node why it cannot be used.
func Causes(t *testing.T, open func(context.Context, Nodes) error) {
	for name, nodes := range map[string]Nodes{
		"one node":  {Addresses: []string{refused}},
		"a user":    {Addresses: []string{refused}, User: "ann", Password: "geheim"},
		"two nodes": {Addresses: []string{refused, unknown}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A busy machine needs time to find out.
			for patience := 200 * time.Millisecond; ; patience *= 2 {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				err := open(ctx, nodes)
				cancel()
				fault := told(err, nodes.Addresses)
				if fault == "" {
					return
				}
				if patience > 5*time.Second { // Open waits for up to 10 s
					t.Fatalf("%v: %s", err, fault)
				}
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
		certificate := server.Certificate()
		roots := x509.NewCertPool()
		roots.AddCert(certificate)
		err := open(t.Context(), Nodes{
			Addresses: []string{server.Listener.Addr().String()},
			TLS:       &tls.Config{RootCAs: roots, ServerName: "x.invalid"},
		})
		var other x509.HostnameError
		if !errors.As(err, &other) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: want that the certificate is of another name, at once", err)
		}
		var node *kv.NodeError
		if !errors.As(err, &node) || node.Node != server.Listener.Addr().String() {
			t.Errorf("%v names no node", err)
		}
	})
}
