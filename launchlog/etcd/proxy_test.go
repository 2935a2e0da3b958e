package etcd

import (
	"io"
	"net"
	"sync"
	"testing"
)

// A proxy stands in front of a node. It loses answers, and keeps quiet as a node does that is
// stopped or cut off.
type proxy struct {
	listener net.Listener
	to       string
	group    sync.WaitGroup

	mu     sync.Mutex // guards what follows
	change *sync.Cond
	quiet  bool // nothing passes
	lose   bool // what the node answers does not pass
	conns  map[net.Conn]bool
}

// newProxy makes a proxy that ends with the test.
func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to, conns: map[net.Conn]bool{}}
	p.change = sync.NewCond(&p.mu)
	p.group.Go(p.serve)
	t.Cleanup(func() {
		l.Close()
		p.set(false, false)
		p.cut()
		p.group.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		p.group.Go(func() { p.copy(server, client, false) })
		p.group.Go(func() { p.copy(client, server, true) })
	}
}

func (p *proxy) copy(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		for p.quiet || p.lose && answers {
			p.change.Wait()
		}
		there := p.conns[from]
		p.mu.Unlock()
		if !there {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil && err != io.EOF {
			return
		}
	}
}

func (p *proxy) set(quiet, lose bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quiet, p.lose = quiet, lose
	p.change.Broadcast()
}

// cut ends all connections. What was held back does not pass.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}
