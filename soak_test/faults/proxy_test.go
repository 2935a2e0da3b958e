package faults_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A parser takes the first message off a stream that a client sends. It tells how many bytes the
// message has, 0 where some are missing. It tells what the server is to carry out, in SQL, and
// whether the client then waits for an answer. It belongs to one connection.
type parser func(stream []byte) (n int, sql string, asks bool)

// postgresMessages parses the protocol of PostgreSQL: a prepared statement is known by what was
// prepared under its name.
func postgresMessages() parser {
	started, prepared := false, map[string][]byte{}
	return func(b []byte) (int, string, bool) {
		head := 1
		if !started {
			head = 0 // what begins a connection has no kind
		}
		if len(b) < head+4 {
			return 0, "", false
		}
		n := head + int(binary.BigEndian.Uint32(b[head:]))
		if len(b) < n {
			return 0, "", false
		}
		body := b[head+4 : n]
		if !started {
			// the version, and not a request for encryption or to cancel
			started = binary.BigEndian.Uint16(body) == 3
			return n, "", true
		}
		first, rest, _ := bytes.Cut(body, []byte{0})
		second, _, _ := bytes.Cut(rest, []byte{0})
		switch b[0] {
		case 'Q':
			return n, string(first), true
		case 'P': // a name and SQL
			prepared[string(first)] = bytes.Clone(second)
			return n, "", false
		case 'B': // a portal and a name
			return n, string(prepared[string(second)]), false
		case 'D', 'E', 'C':
			return n, "", false
		}
		return n, "", true
	}
}

// mysqlMessages parses the protocol of MySQL: a prepared statement is known by its number, and all
// that is said of it is "execute".
func mysqlMessages() parser {
	const query, execute = 0x03, 0x17
	return func(b []byte) (int, string, bool) {
		if len(b) < 4 {
			return 0, "", false
		}
		n := 4 + (int(b[0]) | int(b[1])<<8 | int(b[2])<<16)
		switch {
		case len(b) < n:
			return 0, "", false
		case n == 4 || b[3] != 0: // no command, but a part of the login
			return n, "", true
		case b[4] == query:
			return n, string(b[5:n]), true
		case b[4] == execute:
			return n, "execute", true
		}
		return n, "", true
	}
}

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
	commit, other float64 // the share of COMMITs, and of other statements
	ways          []spoiling
	most          time.Duration // that something is late
}

// proxy stands between clients and a server, and spoils some of what they say.
type proxy struct {
	odds
	server string
	parser func() parser

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

var commits = regexp.MustCompile(`(?i)\bcommit\b`)

// newProxy starts a proxy, and returns its address.
func newProxy(
	t *testing.T, server string, parser func() parser, o odds,
) (p *proxy, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p = &proxy{odds: o, server: server, parser: parser, count: map[string]int{}}
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

// choose says what becomes of a request, and counts it.
func (p *proxy) choose(sql string) spoiling {
	share, what := p.other, "other"
	if commits.MatchString(sql) {
		share, what = p.commit, "COMMIT"
	}
	if strings.TrimSpace(sql) == "" || rand.Float64() >= share {
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
	next := p.parser()
	var stream []byte
	parsed, text := 0, "" // of stream
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		stream = append(stream, buffer[:n]...)
		for {
			n, sql, asks := next(stream[parsed:])
			if n == 0 {
				break
			}
			parsed += n
			text += sql + "\n"
			if !asks {
				continue
			}
			s := p.choose(text)
			switch s {
			case lostRequest:
				reset(client)
				return
			case lateRequest:
				time.Sleep(rand.N(p.most))
			case lostAnswer, lateAnswer, noAnswer:
				spoilings <- s
			}
			if _, err := server.Write(stream[:parsed]); err != nil {
				return
			}
			stream, parsed, text = stream[parsed:], 0, ""
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
