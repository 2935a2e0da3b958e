package measure

import (
	"net"
	"runtime"
	"sync"
	"time"
)

// A flightConn counts the flights of a connection: what is sent before an answer is read. One
// goroutine uses it.
type flightConn struct {
	net.Conn
	mu       sync.Mutex
	flights  int  // guarded by mu
	answered bool // since the last one was sent; guarded by mu
}

func (c *flightConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	if c.flights == 0 || c.answered {
		c.flights++
	}
	c.answered = false
	c.mu.Unlock()
	return c.Conn.Write(b)
}

func (c *flightConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.mu.Lock()
		c.answered = true
		c.mu.Unlock()
	}
	return n, err
}

func (c *flightConn) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flights
}

// delayed is a connection through a network in which a round trip takes the delay: half of it in
// each direction. It closes what it is made of.
func delayed(server net.Conn, delay time.Duration) net.Conn {
	client, far := net.Pipe()
	carry := func(to, from net.Conn) {
		wire := make(chan packet, 1024)
		go receive(from, wire, delay/2)
		for p := range wire { // until one of both ends
			p.wait()
			if _, err := to.Write(p.bytes); err != nil {
				from.Close()
			}
		}
		to.Close()
	}
	go carry(server, far)
	go carry(far, server)
	return client
}

// A packet is on its way until it is due.
type packet struct {
	bytes []byte
	due   time.Time
}

// wait waits until the packet is due. Timers are late by up to a millisecond, so they do not do.
func (p packet) wait() {
	for time.Now().Before(p.due) {
		runtime.Gosched()
	}
}

// receive puts what a connection sends on the wire, until its end.
func receive(from net.Conn, wire chan<- packet, delay time.Duration) {
	defer close(wire)
	for {
		buffer := make([]byte, 32<<10)
		n, err := from.Read(buffer)
		if n > 0 {
			wire <- packet{buffer[:n], time.Now().Add(delay)}
		}
		if err != nil {
			return
		}
	}
}
