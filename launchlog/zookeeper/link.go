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

// A link is one connection to one server, and the session that was made on it. It ends with the
// connection. The client of package zk would resume the session on another server, and that takes
// two promises away:
//
//   - The server answers a session's requests in their order on one connection. So whoever got the
//     answer to a write sees it, and all that came before it, in the reads that follow.
//   - Requests on a connection that is given up may still be carried out. It is known which ones
//     these are: all of the link that had no answer.
//
// No ephemeral node and no watch hangs on a session, so a session is worth nothing. Package zk
// closes the connection itself where the server says nothing, to pings either.
type link struct {
	conn *zk.Conn
	wire *wire
}

var errClosedBy = errors.New("the server closed the connection: " +
	"it may be without a quorum, or want TLS")

// connect makes a link.
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
		l.conn.Close() // or package zk would try to connect again
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

// Session connects to one server, as [Open] does, whether there is a log or not. It is for an
// operator's questions, and the caller closes it. It ends with the connection.
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

// usable reports whether the link has not ended.
func (l *link) usable() bool {
	select {
	case <-l.wire.dead:
		return false
	default:
		return true
	}
}

// ask sends a request by f and waits for the answer. Where the context ends first it leaves a
// goroutine behind, which ends with the answer or with the link. The link ends with an error that
// is not an answer.
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

// A wire is a connection that says when it is closed, and hands on what package zk can decode.
// Package zk closes it after each error.
type wire struct {
	net.Conn
	dead    chan struct{}
	once    sync.Once
	greeted atomic.Bool  // the first frame has come, which is the session's
	asked   sync.Map     // the kind of a request by its number, until its answer has come
	frame   bytes.Buffer // that is being handed on; of the goroutine that reads
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

// once is a zk.HostProvider of one server, which is asked for once. It says from the second time on
// that all servers were tried: package zk then waits, until it is closed.
type once struct{ again bool }

func (*once) Init([]string) error { return nil }

func (*once) Len() int { return 1 }

func (o *once) Next() (server string, retryStart bool) {
	retryStart, o.again = o.again, true
	return "", retryStart
}

func (*once) Connected() {}

// silent is a zk.Logger: a library does not log. Errors say what is to be known.
type silent struct{}

func (silent) Printf(string, ...any) {}
