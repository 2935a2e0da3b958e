package main

import (
	"context"
	"errors"
	"log"
	"net"
	"os"
	"sync"
	"sync/atomic"

	"github.com/ClickHouse/ch-go/proto"
)

// serverName tells clients that the server is not the real one.
const serverName = "idmint stand-in (libchdb)"

// A server provides each client with a session of the engine.
type server struct {
	engine         *engine
	user, password string
	insertDir      string // empty except for the rows of running INSERTs
	hello          proto.ServerHello
	inserts        atomic.Uint64

	admin *session // keeps the engine open while there are no clients

	mu      sync.Mutex // guards the fields below
	clients map[net.Conn]struct{}
	closed  bool
	wg      sync.WaitGroup // counts clients
}

// newServer returns a server. If database is not empty, it creates that database in addition to the
// one called default.
func newServer(e *engine, insertDir, user, password, database string) (*server, error) {
	s := &server{
		engine: e, user: user, password: password, insertDir: insertDir,
		clients: map[net.Conn]struct{}{},
	}
	if err := errors.Join(os.RemoveAll(insertDir), os.MkdirAll(insertDir, 0o700)); err != nil {
		return nil, err
	}
	var err error
	if s.admin, err = e.open(); err != nil {
		return nil, err
	}
	if s.hello, err = helloOf(s.admin); err != nil {
		return nil, err
	}
	if database != "" {
		if _, err := table(s.admin, "CREATE DATABASE IF NOT EXISTS "+identifier(database),
			nil); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// open opens a session for a client.
func (s *server) open(database string) (*session, error) {
	eng, err := s.engine.open()
	if err != nil {
		return nil, err
	}
	// Unlike the server, the engine accepts any expression as a SELECT.
	if err = setAll(eng, map[string]string{"implicit_select": "0"}); err == nil {
		_, err = table(eng, "USE "+identifier(database), nil)
	}
	if err != nil {
		eng.close()
		return nil, err
	}
	return eng, nil
}

// serve serves clients until close.
func (s *server) serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.closed {
				return nil
			}
			return err
		}
		if !s.add(c) {
			return c.Close()
		}
		go func() {
			defer s.remove(c)
			if err := newConn(s, c).serve(); err != nil {
				log.Printf("connection from %s: %v", c.RemoteAddr(), err)
			}
		}()
	}
}

func (s *server) add(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.wg.Add(1)
	s.clients[c] = struct{}{}
	return true
}

func (s *server) remove(c net.Conn) {
	_ = c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c)
	s.wg.Done()
}

// close ends all connections, and then the engine's sessions, unless one of their queries still
// runs when the context ends.
func (s *server) close(ctx context.Context) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	for c := range s.clients {
		_ = c.Close()
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.wg.Wait()
		s.admin.close()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		log.Print("a query is still running")
	}
}
