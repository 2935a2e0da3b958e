package zookeeper

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
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
// No ephemeral node and no watch hangs on a session, so a session is worth nothing.
type link struct {
	server  string
	conn    *zk.Conn
	wire    *wire
	silence time.Duration // that calls bear before the server is given up
	calls   chan struct{} // has room for those that wait for an answer
	session chan struct{} // is closed when the server has given a session
	running *sync.WaitGroup
}

// maxCalls bounds the goroutines that wait for a server's answers. Package zk obeys no context, so
// one whose caller has gone waits on, until the answer or the end of the link.
const maxCalls = 128

var (
	errOver   = errors.New("the connection was closed before the request was sent")
	errSilent = errors.New("the server did not answer")
)

// connect makes a link. The server has to answer within the time of silence. Running counts the
// link's goroutines.
func (c *settings) connect(
	ctx context.Context, server string, running *sync.WaitGroup,
) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.silence, errSilent)
	defer cancel()
	raw, err := c.dial(ctx, server)
	if err != nil {
		return nil, because(ctx, err)
	}
	l := &link{
		server: server, wire: newWire(raw), silence: c.silence, running: running,
		calls: make(chan struct{}, maxCalls), session: make(chan struct{}),
	}
	l.conn, _, err = zk.Connect([]string{server}, c.session,
		zk.WithHostProvider(&only{server: server}), zk.WithDialer(l.wire.hand),
		zk.WithEventCallback(l.hear), zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		l.wire.Close()
		return nil, err
	}
	running.Go(func() {
		<-l.wire.dead
		l.conn.Close() // or package zk would try to connect again
	})
	select {
	case <-l.session:
	case <-l.wire.dead:
		return nil, c.closedBy()
	case <-ctx.Done():
		l.end()
		return nil, because(ctx, ctx.Err())
	}
	if c.user != "" {
		_, err := ask(ctx, l, func(conn *zk.Conn) (struct{}, error) {
			return struct{}{}, conn.AddAuth("digest", []byte(c.user+":"+c.password))
		})
		if err != nil {
			l.end()
			return nil, because(ctx, err)
		}
	}
	return l, nil
}

// closedBy says why a server may close a connection without a word.
func (c *settings) closedBy() error {
	if c.tls == nil {
		return errors.New("the server closed the connection: " +
			"it may be without a quorum, or want TLS")
	}
	return errors.New("the server closed the connection: it may be without a quorum")
}

// dial connects, by TLS where that is configured.
func (c *settings) dial(ctx context.Context, server string) (net.Conn, error) {
	dialer := &net.Dialer{}
	if c.tls == nil {
		return dialer.DialContext(ctx, "tcp", server)
	}
	return (&tls.Dialer{NetDialer: dialer, Config: c.tls}).DialContext(ctx, "tcp", server)
}

// because is the cause of a context that has ended, or err.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// hear listens to what package zk says of its connection.
func (l *link) hear(e zk.Event) {
	switch e.State {
	case zk.StateHasSession:
		close(l.session)
	case zk.StateDisconnected, zk.StateExpired, zk.StateAuthFailed:
		l.end()
	}
}

// close ends the session, and the link.
func (l *link) close() {
	l.conn.Close()
	l.end()
}

// end ends the link. Calls that wait for an answer get an error.
func (l *link) end() { l.wire.Close() }

func (l *link) over() bool {
	select {
	case <-l.wire.dead:
		return true
	default:
		return false
	}
}

// A sentError is of a request that was sent, or may have been, and whose answer was not had.
type sentError struct{ err error }

func (e *sentError) Error() string { return e.err.Error() }

func (e *sentError) Unwrap() error { return e.err }

// ask sends a request by f and waits for the answer. It leaves a goroutine behind where the context
// ends first, which ends with the answer or with the link. The link ends when the server says
// nothing for the time of silence while a request waits. The error is a sentError where the request
// may be carried out, or may have been.
func ask[T any](ctx context.Context, l *link, f func(*zk.Conn) (T, error)) (v T, err error) {
	if err := ctx.Err(); err != nil {
		return v, err
	}
	select {
	case l.calls <- struct{}{}:
	case <-l.wire.dead:
		return v, errOver
	case <-ctx.Done():
		return v, ctx.Err()
	}
	if l.over() {
		<-l.calls
		return v, errOver
	}
	type answer struct {
		v   T
		err error
	}
	answers := make(chan answer, 1)
	l.running.Go(func() {
		defer func() { <-l.calls }()
		stop := l.watch()
		defer stop()
		v, err := f(l.conn)
		answers <- answer{v, err}
	})
	select {
	case a := <-answers:
		if outcomeOf(a.err) == doubtful {
			l.end()
			if a.err == zk.ErrNoServer { // what package zk says of requests that it did not send
				return v, errOver
			}
			return v, &sentError{a.err}
		}
		return a.v, a.err
	case <-ctx.Done():
		return v, &sentError{ctx.Err()}
	}
}

// watch ends the link where the server says nothing for the time of silence from now on, until it
// is stopped.
func (l *link) watch() (stop func()) {
	began := time.Now()
	var mu sync.Mutex // guards timer, which the function below may want before it is set
	var timer *time.Timer
	stopped := false
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(l.silence, func() {
		mu.Lock()
		defer mu.Unlock()
		last := l.wire.heard()
		if last.Before(began) {
			last = began
		}
		rest := l.silence - time.Since(last)
		switch {
		case stopped:
		case rest <= 0:
			l.end()
		default:
			timer.Reset(rest)
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// A wire is a connection that is handed out once, notes when something came, and says when it is
// closed.
type wire struct {
	net.Conn
	handed atomic.Bool
	at     atomic.Int64 // when something came last, in nanoseconds since began
	began  time.Time
	dead   chan struct{}
	once   sync.Once
}

func newWire(conn net.Conn) *wire {
	return &wire{Conn: conn, began: time.Now(), dead: make(chan struct{})}
}

// hand is the dialer of package zk.
func (w *wire) hand(string, string, time.Duration) (net.Conn, error) {
	if w.handed.Swap(true) {
		w.Close()
		return nil, net.ErrClosed
	}
	return w, nil
}

func (w *wire) heard() time.Time { return w.began.Add(time.Duration(w.at.Load())) }

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if n > 0 {
		w.at.Store(int64(time.Since(w.began)))
	}
	if err != nil {
		w.Close()
	}
	return n, err
}

func (w *wire) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	if err != nil {
		w.Close()
	}
	return n, err
}

func (w *wire) Close() (err error) {
	w.once.Do(func() {
		close(w.dead)
		err = w.Conn.Close()
	})
	return err
}

// only is a zk.HostProvider of one server, which is asked for once.
type only struct {
	server string
	again  bool
}

func (*only) Init([]string) error { return nil }

func (*only) Len() int { return 1 }

// Next says from the second time on that all servers were tried. Package zk then waits, and hears
// that it is closed.
func (o *only) Next() (server string, retryStart bool) {
	retryStart, o.again = o.again, true
	return o.server, retryStart
}

func (*only) Connected() {}

// silent is a zk.Logger: a library does not log. Errors say what is to be known.
type silent struct{}

func (silent) Printf(string, ...any) {}
