package main

import (
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// counted leads to a server, and counts the connections.
func counted(t *testing.T, server string) (address string, connections *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	connections = new(atomic.Int64)
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil { // the test has ended
				return
			}
			connections.Add(1)
			go func() {
				defer in.Close()
				out, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer out.Close()
				go func() { _, _ = io.Copy(out, in); out.Close() }()
				_, _ = io.Copy(in, out)
			}()
		}
	}()
	return listener.Addr().String(), connections
}

// A command opens a server once. An import does so twice: the numbers of its generators are taken
// beside the transactions of its rows. It may end while its generator looks at the log in the
// background. That look is cut off with its connection, and Close needs another one.
func TestConnections(t *testing.T) {
	for _, kind := range []databases.Kind{databases.Postgres, databases.MariaDB} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			d := dbtest.New(t, kind)
			u, err := url.Parse(d.URL())
			if err != nil {
				t.Fatal(err)
			}
			address, connections := counted(t, u.Host)
			s := newShell(t)
			s.db = d.WithHost(address).URL()
			s.write("f.csv", numbered(100))
			for _, c := range []struct {
				args []string
				most int64
			}{
				{[]string{"migrate"}, 1},
				{[]string{
					"launch", "start", "--service", "shop", "--env", "test", "--key", "a",
					"--initiator", "ann",
				}, 1},
				{[]string{"launch", "list"}, 1},
				{[]string{"launch", "show", "1"}, 1},
				{[]string{"new", "decimal", "--launch", "1"}, 1},
				{[]string{"import", "f.csv", "--table", "t", "--batch", "30"}, 3},
			} {
				before := connections.Load()
				s.must(append(c.args, "--db", "sqlite:app.db")...)
				if n := connections.Load() - before; n < 1 || n > c.most {
					t.Errorf("%v: %d connections, want %d", c.args, n, c.most)
				}
			}
		})
	}
}
