package etcd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
)

const (
	patience    = time.Second            // until the next node is asked
	callTime    = 5 * time.Second        // until a call is abandoned
	connectTime = 2 * time.Second        // for user and password
	breath      = 100 * time.Millisecond // before gRPC reconnects
)

// Client returns a client of one endpoint, configured as [Open] does. It is meant for an operator's
// queries, and the caller must close it.
func (c Config) Client(ctx context.Context, endpoint string) (*clientv3.Client, error) {
	client, err := c.connect(ctx, endpoint)
	return client, failed(err)
}

func (c Config) connect(ctx context.Context, endpoint string) (*clientv3.Client, error) {
	if err := c.probe(ctx, endpoint); err != nil {
		return nil, err
	}
	scheme := "http://"
	// By default gRPC waits up to two minutes before it reconnects.
	options := []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
		Backoff: backoff.Config{
			BaseDelay: breath, Multiplier: 1.6, Jitter: 0.2, MaxDelay: patience,
		},
		MinConnectTimeout: connectTime,
	})}
	if c.TLS != nil {
		scheme = "https://"
		options = append(options, grpc.WithTransportCredentials(c.credentials()))
	}
	if c.dialer != nil {
		options = append(options, grpc.WithContextDialer(
			func(ctx context.Context, address string) (net.Conn, error) {
				return c.dialer(ctx, "tcp", address)
			},
		))
	}
	return clientv3.New(clientv3.Config{
		Context: context.WithoutCancel(ctx), Endpoints: []string{scheme + endpoint}, TLS: c.TLS,
		Username: c.User, Password: c.Password, DialTimeout: connectTime,
		// Keepalives detect a broken connection while it is in use.
		DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 3 * time.Second,
		// Otherwise clientv3 would resend a transaction for which a node reports a timeout.
		MaxUnaryRetries: 1,
		DialOptions:     options,
		Logger:          zap.NewNop(),
	})
}

// preface is how an HTTP/2 client begins. The server answers with a frame shorter than 64 KiB, so
// the first byte of the answer is 0.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// probe connects once to learn the error, because gRPC reports only as text why it has no
// connection, and reports nothing if the timeout comes first.
func (c Config) probe(ctx context.Context, endpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	dial := new(net.Dialer).DialContext
	switch {
	case c.dialer != nil:
		dial = c.dialer
	case c.TLS != nil:
		dial = (&tls.Dialer{Config: c.TLS}).DialContext
	}
	conn, err := dial(ctx, "tcp", endpoint)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if c.TLS != nil {
		return nil
	}
	var first [1]byte
	if _, err = io.WriteString(conn, preface); err == nil {
		_, err = io.ReadFull(conn, first[:])
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && first[0] == 0:
		return nil
	case err == nil:
		return errTLS
	}
	return fmt.Errorf("%w: %w", errTLS, err)
}

var errTLS = errors.New("the server does not speak unencrypted HTTP/2: it may require TLS")

// byName are credentials for the configured server name. Without them gRPC would check the
// endpoint's name, even if the configuration has another one.
type byName struct {
	credentials.TransportCredentials
	name string // of the server; the endpoint's if empty
}

func (c Config) credentials() credentials.TransportCredentials {
	return byName{credentials.NewTLS(c.TLS), c.TLS.ServerName}
}

func (n byName) ClientHandshake(
	ctx context.Context, authority string, raw net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	return n.TransportCredentials.ClientHandshake(ctx, cmp.Or(n.name, authority), raw)
}

func (n byName) Clone() credentials.TransportCredentials {
	return byName{n.TransportCredentials.Clone(), n.name}
}
