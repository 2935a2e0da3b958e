package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	chcolumn "github.com/ClickHouse/clickhouse-go/v2/lib/column"
	chproto "github.com/ClickHouse/clickhouse-go/v2/lib/proto"
)

// greeting is a client's hello with its addendum.
func greeting(user, password, database string) []byte {
	var b proto.Buffer
	proto.ClientHello{
		Name: "test", ProtocolVersion: revision, Database: database, User: user,
		Password: password,
	}.Encode(&b)
	b.PutString("")
	return b.Buf
}

// question is a client's query, without compression.
func question(body string) []byte {
	var b proto.Buffer
	proto.Query{Body: body, Stage: proto.StageComplete, Info: proto.ClientInfo{
		Query: proto.ClientQueryInitial, Interface: proto.InterfaceTCP, InitialAddress: "0.0.0.0:0",
	}}.EncodeAware(&b, revision)
	b.Buf = append(b.Buf, clientData, 0, 0, 0, 0) // no external tables
	return b.Buf
}

// A fakeEngine answers by the first pattern that a statement fits, in what follows the last one. It
// notes statements.
type fakeEngine struct {
	answers []answer

	mu       sync.Mutex // guards what follows
	asked    []string
	sessions int
}

type answer struct {
	pattern string
	give    func(match []string, format string, p []parameter) ([]byte, error)
}

type fakeSession struct{ *fakeEngine }

func (e *fakeEngine) open() (session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions++
	return fakeSession{e}, nil
}

func (s fakeSession) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions--
}

func (s fakeSession) query(sql, format string, p []parameter) (*result, error) {
	s.mu.Lock()
	s.asked = append(s.asked, sql)
	s.mu.Unlock()
	for _, a := range s.answers {
		if m := regexp.MustCompile("(?s)^" + a.pattern + "$").FindStringSubmatch(sql); m != nil {
			data, err := a.give(m, format, p)
			if err != nil {
				return nil, err
			}
			return &result{data: data, rows: 1, readRows: 7, readBytes: 70, free: func() {
				clear(data)
			}}, nil
		}
	}
	switch {
	case sql == "SELECT version(), timezone()":
		return &result{data: []byte("26.5.1.1\tUTC\n"), free: func() {}}, nil
	case regexp.MustCompile("^(SET|USE|CREATE DATABASE|KILL QUERY) ").MatchString(sql):
		return &result{free: func() {}}, nil
	}
	return nil, &exception{codeSyntaxError, "the fake engine does not know " + sql}
}

// statements returns what the engine was asked since the last call.
func (e *fakeEngine) statements() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := slices.Clone(e.asked)
	e.asked = nil
	return all
}

// native is a block in the form of files.
func native(t testing.TB, columns []column, rows ...[]any) []byte {
	t.Helper()
	return encode(t, 0, columns, rows...)
}

func encode(t testing.TB, revision uint64, columns []column, rows ...[]any) []byte {
	t.Helper()
	b := block(t, columns, rows...)
	var buf proto.Buffer
	if err := b.Encode(&buf, revision); err != nil {
		t.Fatal(err)
	}
	return buf.Buf
}

// serve runs a server with a fake engine until the test ends.
func serveFake(t testing.TB, answers ...answer) (*fakeEngine, *server, *clickhouse.Options) {
	t.Helper()
	e := &fakeEngine{answers: answers}
	s, err := newServer(e, filepath.Join(t.TempDir(), "inserts"), testUser, testPassword,
		testDatabase)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- s.serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		s.close(ctx)
		_ = l.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(s.insertDir); err != nil || len(left) > 0 {
			t.Errorf("rows of INSERTs are left: %v, %v", left, err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.sessions != 0 {
			t.Errorf("%d sessions are left", e.sessions)
		}
	})
	o := &clickhouse.Options{
		Addr: []string{l.Addr().String()}, MaxOpenConns: 1,
		Auth: clickhouse.Auth{Username: testUser, Password: testPassword, Database: testDatabase},
	}
	return e, s, o
}

func block(t testing.TB, columns []column, rows ...[]any) *chproto.Block {
	t.Helper()
	b := chproto.NewBlock()
	for _, c := range columns {
		if err := b.AddColumn(c.name, chcolumn.Type(c.typ)); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range rows {
		if err := b.Append(r...); err != nil {
			t.Fatal(err)
		}
	}
	return b
}
