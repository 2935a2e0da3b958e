// Package faultnet is a network that loses what a test chooses, for clients that accept a dial
// function. A client that accepts only an address, such as the separate processes of
// soak_test/faults, needs a listening proxy instead.
package faultnet

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// A Fate is what happens to a request on its way through a [Wire].
type Fate int

// After each of these but Pass, nothing more passes on the request's connection.
const (
	Pass Fate = iota
	Lose      // the request never arrives, unless by Deliver
	Mute      // the request arrives, but its answer never does
	End       // the request arrives, and the connection ends before the answer
)

// A Wire is the network between a client and its servers, which loses and delays what a test
// chooses. The client must dial with it.
type Wire struct {
	mu    sync.Mutex // guards the following fields
	hook  func(request []byte) Fate
	conns []*wireConn
}

// New returns a wire that lets everything pass.
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

// Hook sets the function that decides about each request, as the client writes it, or lets all pass
// if it is nil.
func (w *Wire) Hook(hook func(request []byte) Fate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook = hook
}

// Once gives the fate to the first request that contains text, and then closes met.
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

// Cut closes the connections on which nothing passes any more.
func (w *Wire) Cut() {
	for _, c := range w.silent() {
		c.Conn.Close()
	}
}

// Deliver delivers the lost requests, even if their clients are gone.
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
	lost   []byte // guarded by the wire's mu
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

// Close keeps the connection open for a request that may still be delivered.
func (c *wireConn) Close() error {
	c.wire.mu.Lock()
	held := c.lost != nil
	c.wire.mu.Unlock()
	if held {
		return c.SetReadDeadline(time.Unix(1, 0))
	}
	return c.Conn.Close()
}
