package zookeeper

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/launchlog/internal/kv"
)

// A link is one connection to one server, and the session that was created on it, which ends with
// the connection. The client of package zk would resume the session on another server, which would
// break two guarantees:
//
//   - The server answers a session's requests in order on one connection, so that a client that got
//     the answer to a write sees that write and all earlier ones in the reads that follow.
//   - Requests on an abandoned connection may still be executed. These are known: all requests of
//     the link that had no answer.
//
// No ephemeral znode and no watch depends on a session, so losing one costs nothing. Package zk
// closes the connection if the server no longer answers, not even pings.
type link struct {
	conn *zk.Conn
	wire *wire
}

var errClosedBy = errors.New("the server closed the connection: " +
	"it may have no quorum, or require TLS")

// connect creates a link.
func (c Config) connect(ctx context.Context, server string) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	raw, err := c.dial(ctx, server)
	if err != nil {
		return nil, err
	}
	l := &link{wire: &wire{Conn: raw, dead: make(chan struct{})}}
	session := make(chan struct{})
	l.conn, _, err = zk.Connect([]string{server}, c.SessionTimeout,
		zk.WithHostProvider(&once{}), zk.WithDialer(l.wire.hand), zk.WithEventCallback(func(e zk.Event) {
			switch e.State {
			case zk.StateHasSession:
				close(session)
			case zk.StateExpired, zk.StateAuthFailed:
				l.wire.Close()
			}
		}),
		zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		raw.Close()
		return nil, err
	}
	go func() {
		<-l.wire.dead
		l.conn.Close() // otherwise package zk would reconnect
	}()
	select {
	case <-session:
	case <-l.wire.dead:
		return nil, errClosedBy
	case <-ctx.Done():
		l.wire.Close()
		return nil, ctx.Err()
	}
	if c.User != "" {
		_, err = ask(ctx, l, func(conn *zk.Conn) (struct{}, error) {
			return struct{}{}, conn.AddAuth("digest", []byte(c.User+":"+c.Password))
		})
	}
	if err != nil {
		l.wire.Close()
	}
	return l, err
}

// Session connects to one server as [Open] does, whether or not a log exists. It is meant for an
// operator's queries. The session ends with the connection, which the caller must close.
func (c Config) Session(ctx context.Context, server string) (*zk.Conn, error) {
	c, err := c.Checked()
	if err != nil {
		return nil, err
	}
	l, failure := c.connect(ctx, server)
	if failure != nil {
		return nil, failed(failure)
	}
	return l.conn, nil
}

func (c Config) dial(ctx context.Context, server string) (net.Conn, error) {
	switch {
	case c.dialer != nil:
		return c.dialer(ctx, "tcp", server)
	case c.TLS != nil:
		return (&tls.Dialer{Config: c.TLS}).DialContext(ctx, "tcp", server)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", server)
}

// close ends the session, and the link.
func (l *link) close() {
	l.conn.Close()
	l.wire.Close()
}

// usable reports whether the link is still open.
func (l *link) usable() bool {
	select {
	case <-l.wire.dead:
		return false
	default:
		return true
	}
}

// ask sends a request by f and waits for the answer. If the context ends first, ask leaves a
// goroutine behind, which ends with the answer or with the link. An error that is not an answer
// ends the link.
func ask[T any](ctx context.Context, l *link, f func(*zk.Conn) (T, error)) (v T, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	if !l.usable() {
		return v, errOver
	}
	type answer struct {
		v   T
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		v, err := f(l.conn)
		answers <- answer{v, err}
	}()
	select {
	case a := <-answers:
		err := explained(a.err)
		if err != nil && judge(err) == kv.Unsure {
			l.wire.Close()
		}
		return a.v, err
	case <-ctx.Done():
		return v, ctx.Err()
	}
}

// A wire is a connection that signals when it is closed, and passes on only what package zk can
// decode. Package zk closes it after each error.
type wire struct {
	net.Conn
	dead    chan struct{}
	once    sync.Once
	greeted atomic.Bool  // the first frame, the session's, has arrived
	asked   sync.Map     // the kind of a request by its number, until its answer has arrived
	frame   bytes.Buffer // that is being passed on; owned by the goroutine that reads
}

// hand is the dialer of package zk.
func (w *wire) hand(string, string, time.Duration) (net.Conn, error) { return w, nil }

func (w *wire) Close() (err error) {
	w.once.Do(func() {
		err = w.Conn.Close()
		close(w.dead)
	})
	return err
}

// once is a zk.HostProvider that returns its only server once. From the second time on it reports
// that all servers were tried, so that package zk waits until it is closed.
type once struct{ again bool }

func (*once) Init([]string) error { return nil }

func (*once) Len() int { return 1 }

func (o *once) Next() (server string, retryStart bool) {
	retryStart, o.again = o.again, true
	return "", retryStart
}

func (*once) Connected() {}

// silent is a zk.Logger that logs nothing, because a library should not log, and errors contain
// what users need to know.
type silent struct{}

func (silent) Printf(string, ...any) {}
