package cassandra

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/launchlog/internal/kv"
)

// A Session is the driver's session, with a Close that always returns.
type Session struct{ *gocql.Session }

// Close closes the connections, which takes at most 2 s.
func (s *Session) Close() { within(closeTime, s.Session.Close) }

// within runs do, and returns when do has returned or d has passed. The driver's Close may block
// forever: if the control connection is lost at that moment, it waits for what Close has ended.
func within(d time.Duration, do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(d):
	}
}

// Session connects to one node and no other, as [Open] does. It is meant for an operator's queries,
// and the caller must close it.
func (c Config) Session(ctx context.Context, node string) (*Session, error) {
	return c.session(ctx, node, requestTime)
}

// session implements Session. Requests that take longer than the timeout fail. The driver's
// constructor takes no context, so if ctx ends first, it continues in the background, and its
// result is closed.
func (c Config) session(
	ctx context.Context, node string, timeout time.Duration,
) (*Session, error) {
	host, _, err := net.SplitHostPort(node)
	if err == nil {
		_, err = net.DefaultResolver.LookupHost(ctx, host) // the driver's error has no type
	}
	if err != nil {
		return nil, err
	}
	type made struct {
		session *gocql.Session
		err     error
	}
	p, making := &pin{dataCenter: c.DataCenter}, make(chan made)
	go func() {
		session, err := c.cluster(node, timeout, p).CreateSession()
		select {
		case making <- made{session, err}:
		case <-ctx.Done():
			if err == nil {
				session.Close()
			}
		}
	}()
	select {
	case m := <-making:
		if m.err != nil {
			return nil, p.explain(m.err)
		}
		return &Session{m.session}, nil
	case <-ctx.Done():
		return nil, p.explain(ctx.Err())
	}
}

// cluster returns the driver's configuration for one node, without a retry policy, because only the
// engine knows whether a request may be repeated.
func (c Config) cluster(node string, timeout time.Duration, p *pin) *gocql.ClusterConfig {
	cluster := gocql.NewCluster(node)
	cluster.ProtoVersion = 4 // which all servers since 2.2 speak, so that it need not be negotiated
	cluster.Timeout = timeout
	cluster.WriteTimeout = timeout
	cluster.ConnectTimeout = connectTime
	// Paxos gives each commit a later time than the last one, whatever a clock says.
	cluster.DefaultTimestamp = false
	cluster.ReconnectInterval = time.Second
	cluster.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 1}
	cluster.MaxWaitSchemaAgreement = ddlTime
	cluster.Metadata.CacheMode = gocql.Disabled
	cluster.HostFilter, cluster.ConnectObserver = p, p
	if c.dialer != nil {
		cluster.Dialer = c.dialer
	}
	if c.User != "" {
		cluster.Authenticator = gocql.PasswordAuthenticator{Username: c.User, Password: c.Password}
	}
	if c.TLS != nil {
		cluster.SslOpts = &gocql.SslOptions{Config: c.TLS, EnableHostVerification: true}
	}
	return cluster
}

// A dialer is a gocql.Dialer.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return d(ctx, network, address)
}

// A pin keeps a session on the node that it was created for. The driver would look for others,
// although LOCAL_SERIAL refers to the data center of the node that is asked. The pin also keeps the
// error of a failed connection, which the driver reports only as text.
type pin struct {
	dataCenter string // "" means any

	mu  sync.Mutex // guards the following fields
	id  string     // of the first node that the driver asks about
	err error
}

// Accept implements gocql.HostFilter.
func (p *pin) Accept(host *gocql.HostInfo) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id = cmp.Or(p.id, host.HostID())
	if host.HostID() != p.id {
		return false
	}
	elsewhere := p.dataCenter != "" && host.DataCenter() != p.dataCenter
	if elsewhere {
		p.err = fmt.Errorf("the node is in data center %q, not in %q", host.DataCenter(),
			p.dataCenter)
	}
	return !elsewhere
}

// ObserveConnect implements gocql.ConnectObserver.
func (p *pin) ObserveConnect(c gocql.ObservedConnect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = c.Err
}

func (p *pin) explain(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(p.err, err)
}

// judge interprets an error of the driver. A node may return Unavailable and Overloaded not only
// before it begins, but also if it has already proposed and cannot commit. A commit is therefore in
// doubt after WriteTimeout, CASWriteUnknown, WriteFailure, Unavailable, Overloaded, a lost
// connection, and a missing answer. It is also in doubt after the driver's own errors, unless they
// mean that nothing was sent: for example, the driver returns ErrFrameTooBig for a request as well
// as for an answer that is too large.
//
// Errors that a node returns for a request that it did not begin are final.
func judge(err error) kv.Verdict {
	switch code, _ := said(err); code {
	case gocql.ErrCodeProtocol, gocql.ErrCodeCredentials, gocql.ErrCodeSyntax,
		gocql.ErrCodeUnauthorized, gocql.ErrCodeInvalid, gocql.ErrCodeConfig,
		gocql.ErrCodeAlreadyExists, gocql.ErrCodeFunctionFailure:
		return kv.Final
	}
	if errors.Is(err, gocql.ErrNoConnections) || errors.Is(err, gocql.ErrNoStreams) ||
		errors.Is(err, gocql.ErrSessionClosed) { // nothing was sent
		return kv.Refused
	}
	return kv.Unsure
}

// said returns the code of a node's error, and false for errors of the driver and for a missing
// answer.
func said(err error) (code int, ok bool) {
	var server gocql.RequestError
	if !errors.As(err, &server) {
		return 0, false
	}
	return server.Code(), true
}

// stays reports whether an error means that another node would not do better.
func stays(err error) bool {
	code, ok := said(err)
	switch code {
	case gocql.ErrCodeUnavailable, gocql.ErrCodeOverloaded, gocql.ErrCodeBootstrapping,
		gocql.ErrCodeServer:
		return false
	}
	return ok
}
