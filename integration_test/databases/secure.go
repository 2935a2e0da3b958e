package databases

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/testcontainers/testcontainers-go"
)

// Access holds what a client needs for a server that [RunSecure] started: a user with a password,
// and PEM files for TLS.
//
// All servers require the client's certificate. etcd and Cassandra also require the user. ZooKeeper
// requires the digest of a user, and accepts any, because the ACL of a node says what the user may
// do there.
type Access struct {
	User, Password        string
	CA, Certificate, Key  string // the client's, as paths
	ca, server, serverKey string // as PEM
}

// RunSecure runs one node of a store that admits only clients with its [Access]: TLS with a client
// certificate, and a user with a password. It writes the client's files to dir. If no server is
// available, the error is an [*UnavailableError].
func RunSecure(ctx context.Context, k Kind, dir string) (*Server, error) {
	user, secret := "idmint", password
	if k == Cassandra { // its first user creates the other
		user, secret = firstUser, firstUser
	}
	return runNode(ctx, k, "", &Access{
		User: user, Password: secret,
		CA: filepath.Join(dir, "ca.pem"), Certificate: filepath.Join(dir, "client.pem"),
		Key: filepath.Join(dir, "client-key.pem"),
	}, nil)
}

// certify creates the certificates of an authority, of a server with the addresses, and of a
// client.
func (a *Access) certify(ips []string) error {
	now := time.Now()
	var addresses []net.IP
	for _, ip := range ips {
		addresses = append(addresses, net.ParseIP(ip))
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	by, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	a.ca, _, err = sign(authority, authority, by, by)
	if err != nil {
		return err
	}
	end := func(serial int64, name string, addresses []net.IP) (cert, key string, err error) {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return "", "", err
		}
		return sign(&x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
			NotBefore: authority.NotBefore, NotAfter: authority.NotAfter, IPAddresses: addresses,
			KeyUsage: x509.KeyUsageDigitalSignature,
			// etcd's HTTP gateway is a client of etcd that uses the server's certificate
			ExtKeyUsage: []x509.ExtKeyUsage{
				x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth,
			},
		}, authority, private, by)
	}
	if a.server, a.serverKey, err = end(2, "server", addresses); err != nil {
		return err
	}
	cert, key, err := end(3, "client", nil)
	return errors.Join(err,
		os.WriteFile(a.CA, []byte(a.ca), 0o600),
		os.WriteFile(a.Certificate, []byte(cert), 0o600),
		os.WriteFile(a.Key, []byte(key), 0o600))
}

// sign returns a certificate and its key as PEM.
func sign(cert, authority *x509.Certificate, key, by *ecdsa.PrivateKey) (string, string, error) {
	der, err := x509.CreateCertificate(rand.Reader, cert, authority, &key.PublicKey, by)
	if err != nil {
		return "", "", err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return block("CERTIFICATE", der), block("PRIVATE KEY", keyDER), err
}

// TLS returns the configuration of a client. It returns nil if the server does not use TLS.
func (a *Access) TLS() (*tls.Config, error) {
	if a == nil {
		return nil, nil
	}
	ca, err := os.ReadFile(a.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s: no certificate", a.CA)
	}
	config := &tls.Config{RootCAs: roots}
	if a.Certificate == "" {
		return config, nil
	}
	cert, err := tls.LoadX509KeyPair(a.Certificate, a.Key)
	config.Certificates = []tls.Certificate{cert}
	return config, err
}

// Dial connects a client to a node.
func (a *Access) Dial(ctx context.Context, address string) (net.Conn, error) {
	config, err := a.TLS()
	if err != nil {
		return nil, err
	}
	if config == nil {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
}

// The paths of a secure server's files.
const (
	serverFile = "/idmint/server.pem" // with certificate and key
	caFile     = "/idmint/ca.pem"
)

// files copies the server's files into its container.
func (n node) files() []testcontainers.ContainerCustomizer {
	return []testcontainers.ContainerCustomizer{
		n.write(serverFile, n.access.server+n.access.serverKey),
		n.write(caFile, n.access.ca),
	}
}

func etcdTLS() []string {
	return []string{
		"--cert-file=" + serverFile, "--key-file=" + serverFile, "--trusted-ca-file=" + caFile,
		"--client-cert-auth",
	}
}

func zookeeperTLS() []string {
	return []string{
		"secureClientPort=2181",
		"serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
		"ssl.keyStore.type=PEM", "ssl.keyStore.location=" + serverFile,
		"ssl.trustStore.type=PEM", "ssl.trustStore.location=" + caFile,
		"enforce.auth.enabled=true", "enforce.auth.schemes=digest",
	}
}

func (n node) cassandraTLS() []string {
	block := func(text string) string {
		return "        " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n        ")
	}
	return []string{
		"authenticator: PasswordAuthenticator", "authorizer: CassandraAuthorizer",
		"client_encryption_options:",
		"  enabled: true", "  require_client_auth: true",
		"  ssl_context_factory:",
		"    class_name: org.apache.cassandra.security.PEMBasedSslContextFactory",
		"    parameters:",
		"      private_key: |", block(n.access.serverKey + n.access.server),
		"      trusted_certificates: |", block(n.access.ca),
	}
}

// secureEtcd creates the user, after which nobody else may do anything.
func secureEtcd(ctx context.Context, s *Server) error {
	type m map[string]string
	for _, step := range []struct {
		path string
		body m
	}{
		{"role/add", m{"name": "root"}},
		{"user/add", m{"name": "root", "password": s.Access.Password}},
		{"user/grant", m{"user": "root", "role": "root"}},
		{"user/add", m{"name": s.Access.User, "password": s.Access.Password}},
		{"user/grant", m{"user": s.Access.User, "role": "root"}},
		{"enable", m{}},
	} {
		body, err := json.Marshal(step.body)
		if err != nil {
			return err
		}
		var ignored struct{}
		err = s.etcd(ctx, s.Addresses[0], "POST", "/v3/auth/"+step.path, string(body), &ignored)
		if err != nil {
			return err
		}
	}
	return nil
}

const firstUser = "cassandra" // and also its password

// secureCassandra creates the user, and locks the default user, which everybody knows.
func secureCassandra(ctx context.Context, s *Server) error {
	if err := s.cql(ctx, fmt.Sprintf(
		"CREATE ROLE idmint WITH SUPERUSER = true AND LOGIN = true AND PASSWORD = '%s'", password,
	)); err != nil {
		return err
	}
	s.Access.User, s.Access.Password = "idmint", password
	return s.cql(ctx, "ALTER ROLE "+firstUser+" WITH LOGIN = false ")
}

func (s *Server) cql(ctx context.Context, statement string) error {
	session, err := s.cassandra(s.Addresses[0])
	if err != nil {
		return err
	}
	defer session.Close()
	return session.Query(statement).ExecContext(ctx)
}
