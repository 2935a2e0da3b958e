package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/idmint/idmint/launchlog"
)

// gRPC says as text alone why it has no connection, and where the time is up before it has one, it
// does not say it. So a node notes it, as the error that it is.

// dial connects to a node for gRPC.
func (n *node) dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil || n.plain {
		n.note(err)
	}
	if err != nil || !n.plain {
		return conn, err
	}
	return &plainConn{Conn: conn, node: n}, nil
}

// A plainConn notes that a node ends the connection without a word, as one does that wants TLS.
type plainConn struct {
	net.Conn
	node  *node
	heard bool // gRPC reads in one goroutine at a time
}

func (c *plainConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && !c.heard && !errors.Is(err, net.ErrClosed) {
		c.node.note(fmt.Errorf("it closed the connection, and may want TLS: %w", err))
	}
	c.heard = c.heard || n > 0
	return n, err
}

// A handshake notes how the handshakes of TLS with a node end. It also sees that the certificate is
// of the name that the configuration asks for. gRPC asks for the endpoint's, whatever that says.
type handshake struct {
	credentials.TransportCredentials
	name string // of the server; empty: the endpoint's
	note func(error)
}

// DialOptions are what a client of one endpoint needs beside the endpoint, TLS, user and password.
// With them the certificate is checked for the name in TLS, as [Open] does. There are none without
// TLS.
func (c Config) DialOptions() []grpc.DialOption { return c.dialOptions(func(error) {}) }

func (c Config) dialOptions(note func(error)) []grpc.DialOption {
	if c.TLS == nil {
		return nil
	}
	return []grpc.DialOption{grpc.WithTransportCredentials(
		handshake{credentials.NewTLS(c.TLS), c.TLS.ServerName, note},
	)}
}

func (h handshake) ClientHandshake(
	ctx context.Context, authority string, raw net.Conn,
) (net.Conn, credentials.AuthInfo, error) {
	authority = cmp.Or(h.name, authority)
	conn, info, err := h.TransportCredentials.ClientHandshake(ctx, authority, raw)
	h.note(err)
	return conn, info, err
}

func (h handshake) Clone() credentials.TransportCredentials {
	return handshake{h.TransportCredentials.Clone(), h.name, h.note}
}

// note keeps why there is no connection. It is nil where there is one. That gRPC wanted none any
// more says nothing of the node.
func (n *node) note(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.trouble = err
}

var errSilent = errors.New("it does not answer")

// failed is the error of a call to a node, with what is in the way of a connection. Err is nil for
// a call that has no answer yet.
func (n *node) failed(err error) *launchlog.NodeError {
	n.mu.Lock()
	trouble := n.trouble
	n.mu.Unlock()
	said := rpctypes.EtcdError{}
	switch {
	case err != nil && (errors.As(err, &said) || judge(err) == final):
		err = explain(err)
	case trouble != nil:
		err = trouble
	case err == nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		err = errSilent
	}
	return &launchlog.NodeError{Node: n.endpoint, Err: brief(err)}
}

// A briefError has the text that matters in one of gRPC's.
type briefError struct {
	text string
	err  error
}

func (e *briefError) Error() string { return e.text }

func (e *briefError) Unwrap() error { return e.err }

var grpcText = regexp.MustCompile(`(?s)^(?:connection error: desc = )?"?(?:transport: )?(.*?)"?$`)

// brief shortens the texts in which gRPC wraps an error.
func brief(err error) error {
	if e := (rpctypes.EtcdError{}); errors.As(err, &e) || errors.Is(err, ErrNoSpace) {
		return err
	}
	if _, text := codeOf(err); text != "" && text != err.Error() {
		return &briefError{grpcText.FindStringSubmatch(text)[1], err}
	}
	return err
}
