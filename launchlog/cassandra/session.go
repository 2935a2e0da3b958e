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

// A Session is one of the driver, with a Close that ends.
type Session struct{ *gocql.Session }

// Close closes the connections. It takes 2 s at most.
func (s *Session) Close() { within(closeTime, s.Session.Close) }

// within runs do, and returns when it has ended or d is over. The driver's Close may wait for ever:
// where its control connection is lost at that moment, that one waits for what Close has ended.
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

// Session connects to a node, and to no other one, as [Open] does. It is for an operator's
// questions, and the caller closes it.
func (c Config) Session(ctx context.Context, node string) (*Session, error) {
	return c.session(ctx, node, requestTime)
}

// session is Session. A request that takes longer than the timeout fails. The driver's constructor
// takes no context: where ctx ends first, it goes on in the background, and what it makes is closed.
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

// cluster is the driver's configuration for one node. It has no policy of retries: whether a
// request may run again, the engine knows.
func (c Config) cluster(node string, timeout time.Duration, p *pin) *gocql.ClusterConfig {
	cluster := gocql.NewCluster(node)
	cluster.ProtoVersion = 4 // what all servers from 2.2 on speak, so none is asked for it
	cluster.Timeout = timeout
	cluster.WriteTimeout = timeout
	cluster.ConnectTimeout = connectTime
	// Paxos gives each commit a time that is later than the last one's, whatever a clock says.
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

// A pin keeps a session to the node that it was made for. The driver would look for others, and the
// order of LOCAL_SERIAL is that of the node that is asked. It also keeps why there is no connection,
// which the driver has as text alone.
type pin struct {
	dataCenter string // "" is any

	mu  sync.Mutex // guards what follows
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
		p.err = fmt.Errorf("it is in the data centre %q, not in %q", host.DataCenter(), p.dataCenter)
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

// judge says what an error of the driver means. A node says Unavailable and Overloaded before it
// begins, and also where it has proposed already and cannot commit. So a commit is in doubt after
// any of these: WriteTimeout, CASWriteUnknown, WriteFailure, Unavailable, Overloaded, a connection
// that was lost, no answer. So it is after what the driver says by itself, unless that tells that
// nothing was sent. For instance it has ErrFrameTooBig for a request that is too large, and for an
// answer that is.
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

// said is the code of what a node says. It is false for an error of the driver, or of no answer.
func said(err error) (code int, ok bool) {
	var server gocql.RequestError
	if !errors.As(err, &server) {
		return 0, false
	}
	return server.Code(), true
}

// stays reports whether an error tells that another node would do no better.
func stays(err error) bool {
	code, ok := said(err)
	switch code {
	case gocql.ErrCodeUnavailable, gocql.ErrCodeOverloaded, gocql.ErrCodeBootstrapping,
		gocql.ErrCodeServer:
		return false
	}
	return ok
}
