package faults_test

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"
)

// A spoiling is what a proxy does to a request.
type spoiling string

const (
	untouched   spoiling = ""
	lostRequest spoiling = "lost requests" // the connection ends before the server has it
	lostAnswer  spoiling = "lost answers"  // the server has carried it out, and the connection ends
	// the server has carried it out, and the client is told when it may have given up
	lateAnswer spoiling = "late answers"
	// the server has it when the client may have given up, and tried again
	lateRequest spoiling = "late requests"
	// the server has carried it out, and the client hears nothing more from it
	noAnswer spoiling = "no answers"
)

// odds say how often a proxy spoils a request in which ways.
type odds struct {
	commit, other float64 // the share of COMMITs, and of other requests
	ways          []spoiling
	most          time.Duration // that something is late
}

// proxy stands between clients and a server of SQL, and spoils some of what they say. What a client
// sends at once is a request: it then waits for the answer.
//
// It listens, unlike a Wire of package faultnet, because its clients are processes of their own,
// which know only an address.
type proxy struct {
	odds
	server string

	mu    sync.Mutex
	count map[string]int // of what was spoilt; guarded by mu
}

// spoilt is how often it spoilt what in which way.
func (p *proxy) spoilt() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.count)
}

// enough reports whether it has spoilt the commits of several transactions in each of its ways.
func (p *proxy) enough() bool {
	count := p.spoilt()
	return !slices.ContainsFunc(p.ways, func(way spoiling) bool {
		return count[string(way)+" of COMMIT"] < 5
	})
}

// newProxy starts a proxy, and returns its address.
func newProxy(t *testing.T, server string, o odds) (p *proxy, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p = &proxy{odds: o, server: server, count: map[string]int{}}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			group.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		group.Wait() // the clients have ended
	})
	return p, l.Addr().String()
}

// commits are requests to commit: in both protocols the word stands in them as it is.
var commits = regexp.MustCompile(`(?i)\bcommit\b`)

// choose says what becomes of a request, and counts it.
func (p *proxy) choose(request []byte) spoiling {
	share, what := p.other, "other"
	if commits.Match(request) {
		share, what = p.commit, "COMMIT"
	}
	if rand.Float64() >= share {
		return untouched
	}
	s := p.ways[rand.IntN(len(p.ways))]
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count[fmt.Sprintf("%s of %s", s, what)]++
	return s
}

// serve serves one connection of a client.
func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	conn, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer conn.Close()
	server := conn.(*net.TCPConn)
	answers := make(chan spoiling, 1) // what becomes of the next one
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		p.answers(client, server, answers)
	}()
	p.requests(client, server, answers)
	_ = server.CloseWrite() // it carries out what it has, and closes its side
	<-answered
}

// answers passes on what the server says, until it says no more.
func (p *proxy) answers(client net.Conn, server io.Reader, spoilings <-chan spoiling) {
	buffer := make([]byte, 64<<10)
	s := untouched
	for {
		n, err := server.Read(buffer)
		select {
		case s = <-spoilings:
		default:
		}
		if s == lateAnswer {
			time.Sleep(rand.N(p.most))
		}
		if s == lostAnswer || err != nil {
			reset(client)
			return
		}
		if s != noAnswer {
			// it may be gone, and the server not have had its last request
			_, _ = client.Write(buffer[:n])
			s = untouched
		}
	}
}

// requests passes on what a client says, until it says no more, and what is to become of answers.
func (p *proxy) requests(client net.Conn, server io.Writer, spoilings chan<- spoiling) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		switch s := p.choose(buffer[:n]); s {
		case lostRequest:
			reset(client)
			return
		case lateRequest:
			time.Sleep(rand.N(p.most))
		case lostAnswer, lateAnswer, noAnswer:
			select {
			case spoilings <- s:
			default: // a part of a request, whose answer is spoilt already
			}
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// reset has a connection end without a farewell, half of the time.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok && rand.IntN(2) == 0 {
		_ = tcp.SetLinger(0)
	}
	c.Close()
}
