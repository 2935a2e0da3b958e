package cassandra

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"github.com/idmint/idmint/launchlog/internal/kv"
)

// cuts are connections that are cut in the middle of a request. It is a gocql.Dialer.
type cuts struct {
	// choose says of a request what is lost of it: "request", "answer" or "".
	choose func(opcode byte) string
	lost   atomic.Int64
}

// Codes of requests in Cassandra's protocol.
const (
	opExecute = 0x0a
	opBatch   = 0x0d
)

var errCut = errors.New("the connection was cut")

func (c *cuts) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: conn, cuts: c}, nil
}

type cutConn struct {
	net.Conn
	cuts   *cuts
	answer atomic.Bool // the next answer is lost
}

// Write gets one frame, whose fifth byte is the request's code.
func (c *cutConn) Write(frame []byte) (int, error) {
	if len(frame) > 4 {
		switch c.cuts.choose(frame[4]) {
		case "request":
			c.cuts.lost.Add(1)
			return 0, errors.Join(errCut, c.Close())
		case "answer":
			c.answer.Store(true)
		}
	}
	return c.Conn.Write(frame)
}

// Read loses an answer that the node has sent: what was asked for is done.
func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.answer.Load() {
		c.cuts.lost.Add(1)
		return 0, errors.Join(errCut, c.Close())
	}
	return n, err
}

// The answer to one commit is lost after it was carried out, and then the request of one.
func TestCutConnection(t *testing.T) {
	config := prepared(t)
	for _, what := range []string{"answer", "request"} {
		var armed atomic.Bool
		config := config
		cut := &cuts{choose: func(opcode byte) string {
			if opcode == opBatch && armed.CompareAndSwap(true, false) {
				return what
			}
			return ""
		}}
		config.dialer = cut
		e := client(t, config)
		const versions = 3
		for version := range int64(versions) {
			armed.Store(true)
			changes := []kv.Change{
				{Name: "state", Version: version, Value: []byte("s")},
				{Name: fmt.Sprint("row-", version), Value: []byte("r")},
			}
			changes = changes[:1+version%2]
			done, err := e.Commit(t.Context(), what, changes...)
			if !done || err != nil {
				t.Fatalf("lost %s, version %d: %v, %v", what, version+1, done, err)
			}
			rows, err := e.Read(t.Context(), what, "state")
			if err != nil || rows[0].Version != version+1 {
				t.Fatalf("lost %s, version %d: %+v, %v", what, version+1, rows, err)
			}
		}
		if n := cut.lost.Load(); n != versions {
			t.Errorf("%d of %d %ss were lost", n, versions, what)
		}
	}
}

// Answers that Open waits for are lost, and with them the connections to the only node.
func TestCutWhileOpening(t *testing.T) {
	config := prepared(t)
	const times = 6
	var seen atomic.Int64
	cut := &cuts{choose: func(opcode byte) string {
		if opcode == opExecute && seen.Add(1) <= times {
			return "answer"
		}
		return ""
	}}
	config.dialer = cut
	client(t, config)
	if n := cut.lost.Load(); n != times {
		t.Errorf("%d answers were lost, want %d", n, times)
	}
}
