// Package faultnet is a network that loses what a test says, for clients that dial by a function of
// the test. A client that knows only an address, such as those of soak_test/faults in processes of
// their own, needs a proxy that listens.
package faultnet

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// A Fate is what becomes of a request on its way through a [Wire].
type Fate int

// After each of these but Pass, nothing more comes through on the request's connection.
const (
	Pass Fate = iota
	Lose      // the request never comes, unless by Deliver
	Mute      // the request comes, and its answer never does
	End       // the request comes, and the connection ends before its answer
)

// A Wire is the network between a client and its servers, which loses and delays what a test says.
// The client dials by it.
type Wire struct {
	mu    sync.Mutex // guards what follows
	hook  func(request []byte) Fate
	conns []*wireConn
}

// New makes a wire that lets everything pass.
func New(t *testing.T) *Wire {
	w := &Wire{}
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, c := range w.conns {
			c.Conn.Close()
		}
	})
	return w
}

// Dial connects to a server.
func (w *Wire) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &wireConn{Conn: conn, wire: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, c)
	return c, nil
}

// Hook sets what is asked about each request, as the client writes it. Nil lets all pass.
func (w *Wire) Hook(hook func(request []byte) Fate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook = hook
}

// Once has the first request with a text in it have a fate. Met is closed once it has.
func (w *Wire) Once(text []byte, fate Fate) (met <-chan struct{}) {
	came := make(chan struct{})
	w.Hook(func(request []byte) Fate {
		if !bytes.Contains(request, text) {
			return Pass
		}
		w.Hook(nil)
		close(came)
		return fate
	})
	return came
}

// Cut closes the connections on which nothing comes through.
func (w *Wire) Cut() {
	for _, c := range w.silent() {
		c.Conn.Close()
	}
}

// Deliver has the requests come that were lost, whatever became of their clients.
func (w *Wire) Deliver() {
	for _, c := range w.silent() {
		_, _ = c.Conn.Write(c.lost)
	}
}

func (w *Wire) silent() (conns []*wireConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		if c.silent {
			conns = append(conns, c)
		}
	}
	return conns
}

type wireConn struct {
	net.Conn
	wire *Wire

	silent bool   // guarded by the wire's mu
	lost   []byte // the same
}

func (c *wireConn) Write(b []byte) (int, error) {
	c.wire.mu.Lock()
	hook, silent := c.wire.hook, c.silent
	c.wire.mu.Unlock()
	if silent {
		return len(b), nil
	}
	fate := Pass
	if hook != nil {
		fate = hook(b)
	}
	if fate != Pass {
		c.wire.mu.Lock()
		c.silent = true
		if fate == Lose {
			c.lost = bytes.Clone(b)
		}
		c.wire.mu.Unlock()
	}
	if fate == Lose {
		return len(b), nil
	}
	n, err := c.Conn.Write(b)
	if fate == End {
		c.Conn.Close()
	}
	return n, err
}

func (c *wireConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		c.wire.mu.Lock()
		silent := c.silent
		c.wire.mu.Unlock()
		if err != nil || !silent {
			return n, err
		}
	}
}

// Close leaves the connection open for a request that may yet be delivered.
func (c *wireConn) Close() error {
	c.wire.mu.Lock()
	held := c.lost != nil
	c.wire.mu.Unlock()
	if held {
		return c.SetReadDeadline(time.Unix(1, 0))
	}
	return c.Conn.Close()
}
