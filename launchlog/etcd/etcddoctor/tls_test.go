package etcddoctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/idmint/idmint/launchlog/etcd"
)

// A certificate may bear a name that no endpoint has. TLS has that name, and it is the one that
// counts. Without it the endpoint's does.
func TestServerName(t *testing.T) {
	address, roots := serveTLS(t, "etcd.internal")
	for name, right := range map[string]bool{"etcd.internal": true, "x.invalid": false, "": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := etcd.Config{
				Endpoints: []string{address}, TLS: &tls.Config{ServerName: name, RootCAs: roots},
			}
			n := node{endpoint: address}
			n.ask(t.Context(), config)
			if right && (n.err != nil || n.status.Version != "3.6.0") || !right && n.err == nil {
				t.Errorf("%v, %v", n.status, n.err)
			}
			(&cluster{nodes: []node{n}}).close()
		})
	}
}

// serveTLS serves what asks a node for its status, with a certificate of that name alone.
func serveTLS(t *testing.T, name string) (address string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AddCert(certificate)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(&tls.Certificate{
		Certificate: [][]byte{der}, PrivateKey: key,
	})))
	etcdserverpb.RegisterMaintenanceServer(server, maintenance{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String(), roots
}

type maintenance struct {
	etcdserverpb.UnimplementedMaintenanceServer
}

func (maintenance) Status(
	context.Context, *etcdserverpb.StatusRequest,
) (*etcdserverpb.StatusResponse, error) {
	return &etcdserverpb.StatusResponse{
		Header: &etcdserverpb.ResponseHeader{}, Version: "3.6.0",
	}, nil
}
