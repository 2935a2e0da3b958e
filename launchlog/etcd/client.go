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
	callTime    = 5 * time.Second        // until a call is given up
	connectTime = 2 * time.Second        // for user and password
	breath      = 100 * time.Millisecond // before gRPC tries to connect again
)

// Client returns a client of one endpoint, as [Open] uses it. It is for an operator's questions,
// and the caller closes it.
func (c Config) Client(ctx context.Context, endpoint string) (*clientv3.Client, error) {
	client, err := c.connect(ctx, endpoint)
	return client, failed(err)
}

func (c Config) connect(ctx context.Context, endpoint string) (*clientv3.Client, error) {
	if err := c.probe(ctx, endpoint); err != nil {
		return nil, err
	}
	scheme := "http://"
	// By default gRPC waits for up to two minutes until it tries to connect again.
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
		// A connection that was cut off without a word is noticed when it is used.
		DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 3 * time.Second,
		// clientv3 would send a transaction again of which a node says that its time is up.
		MaxUnaryRetries: 1,
		DialOptions:     options,
		Logger:          zap.NewNop(),
	})
}

// preface is how a client of HTTP/2 begins. A server answers by a frame that is less than 64 KiB
// long, so its first byte is 0.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// probe connects once, for the error. gRPC says as text alone why it has no connection, and not at
// all where the time is up before.
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

var errTLS = errors.New("the server does not speak HTTP/2 in the clear: it may want TLS")

// byName are credentials for the name that the configuration asks for. gRPC asks for the
// endpoint's, whatever that says.
type byName struct {
	credentials.TransportCredentials
	name string // of the server; empty: the endpoint's
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
