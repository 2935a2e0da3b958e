package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

func TestHTTP(t *testing.T) {
	p := start(t, t.TempDir())
	for path, want := range map[string]int{"/": 200, "/ping": 200, "/other": 404} {
		r, err := http.Get("http://" + p.http + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || r.StatusCode != want || want == 200 && string(body) != "Ok.\n" {
			t.Errorf("%s: %d %q, %v", path, r.StatusCode, body, err)
		}
	}
}

func insert(t testing.TB, c driver.Conn, table string, from, n int) error {
	t.Helper()
	b, err := c.PrepareBatch(t.Context(), "INSERT INTO "+table)
	if err != nil {
		return err
	}
	for i := range n {
		if err := b.Append(int64(from + i)); err != nil {
			return err
		}
	}
	return b.Send()
}

// TestRestart ends the server by signals of both kinds, and wants what was there before.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	for life, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM} {
		p := start(t, dir)
		c := open(t, p.options())
		do(t, c, "CREATE TABLE IF NOT EXISTS t (id Int64) ENGINE = MergeTree ORDER BY id")
		if n := one[uint64](t, c, "SELECT count() FROM t"); n != uint64(life)*1000 {
			t.Errorf("life %d begins with %d rows", life, n)
		}
		if err := insert(t, c, "t", life*1000, 1000); err != nil {
			t.Fatal(err)
		}
		left, err := filepath.Glob(filepath.Join(dir, "inserts", "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("rows of ended INSERTs: %v, %v", left, err)
		}
		if life == 2 { // a query that would not end by itself
			go func() {
				_ = c.Exec(context.Background(),
					"SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(rand())")
			}()
			for one[uint64](t, c, "SELECT count() FROM system.processes "+
				"WHERE query LIKE '%ignore(rand%' AND query NOT LIKE '%processes%'") == 0 {
				time.Sleep(5 * time.Millisecond)
			}
		}
		begin := time.Now()
		if err := p.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		err = <-p.ended
		took := time.Since(begin)
		p.ended <- err
		t.Logf("life %d ended by %v after %v: %v", life, signal, took, err)
		if signal == syscall.SIGTERM && (err != nil || took > 10*time.Second) {
			t.Errorf("ended after %v: %v", took, err)
		}
	}
}

// TestConcurrentClients: connections at the same time, each with a table of its own and all with
// one.
func TestConcurrentClients(t *testing.T) {
	p := start(t, t.TempDir())
	c := open(t, p.options())
	do(t, c, "CREATE TABLE shared (id Int64) ENGINE = MergeTree ORDER BY id")
	const clients, batches, rows = 8, 10, 2000
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			o := p.options()
			o.MaxOpenConns = 1
			c := open(t, o)
			own := fmt.Sprintf("own%d", n)
			if err := c.Exec(t.Context(), "CREATE TABLE "+own+
				" (id Int64) ENGINE = MergeTree ORDER BY id"); err != nil {
				t.Error(err)
			}
			for b := range batches {
				err := errors.Join(insert(t, c, own, b*rows, rows),
					insert(t, c, "shared", (n*batches+b)*rows, rows))
				if err != nil {
					t.Error(err)
				}
				var count, sum int64
				if err := c.QueryRow(t.Context(), "SELECT count()::Int64, sum(id) FROM "+
					own).Scan(&count, &sum); err != nil {
					t.Error(err)
				}
				if all := int64(b+1) * rows; count != all || sum != all*(all-1)/2 {
					t.Errorf("%s has %d rows of sum %d after %d batches", own, count, sum, b+1)
				}
				if err := c.Exec(t.Context(), "SELECT nope"); err == nil {
					t.Error("no exception")
				}
			}
			if err := c.Exec(t.Context(), "DROP TABLE "+own+" SYNC"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := one[uint64](t, c, "SELECT uniqExact(id) FROM shared"); n != clients*batches*rows {
		t.Errorf("%d IDs, want %d", n, clients*batches*rows)
	}
	t.Logf("%d clients inserted %d rows each", clients, 2*batches*rows)
}

// endless runs until it is killed.
const endless = "SELECT count() FROM numbers(1000000000000000) WHERE NOT ignore(rand())"

func running(t testing.TB, c driver.Conn) uint64 {
	return one[uint64](t, c, "SELECT count() FROM system.processes WHERE query = ?", endless)
}

func within(t testing.TB, what string, ok func() bool) {
	t.Helper()
	begin := time.Now()
	for !ok() {
		if time.Since(begin) > time.Minute {
			t.Fatalf("not within a minute: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("%s after %v", what, time.Since(begin))
}

// TestCancel: clients that cancel a query, or go, end it.
func TestCancel(t *testing.T) {
	p := start(t, t.TempDir())
	c := open(t, p.options())
	for name, query := range map[string]func(context.Context) error{
		"clickhouse-go": func(ctx context.Context) error { return c.Exec(ctx, endless) },
		"ch-go": func(ctx context.Context) error {
			return dial(t, p, ch.CompressionLZ4).Do(ctx, ch.Query{Body: endless})
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- query(ctx) }()
		within(t, name+": runs", func() bool { return running(t, c) == 1 })
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		within(t, name+": ended", func() bool { return running(t, c) == 0 })
		if n := one[uint8](t, c, "SELECT 1"); n != 1 {
			t.Errorf("%s: %d for 1 afterwards", name, n)
		}
	}
}

// TestRudeClients send what is no protocol, or stop in the middle. The server goes on, and keeps
// nothing of them.
func TestRudeClients(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	c := open(t, p.options())
	do(t, c, "CREATE TABLE t (id Int64) ENGINE = MergeTree ORDER BY id")
	sockets := func() (n int) {
		all, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.Process.Pid))
		if err != nil || len(all) == 0 {
			t.Fatalf("no files of the server: %v", err)
		}
		for _, file := range all {
			if to, err := os.Readlink(file); err == nil && strings.HasPrefix(to, "socket:") {
				n++
			}
		}
		return n
	}
	before := sockets()
	said := greeting(testUser, testPassword, testDatabase)
	asked := append(said[:len(said):len(said)], question("INSERT INTO t FORMAT Native")...)
	block := []byte{clientData, 0, 0, 1, 3, 2, 'i', 'd', 5, 'I', 'n', 't', '6', '4', 0, 1, 2, 3}
	for name, bytes := range map[string][]byte{
		"nothing":           {},
		"HTTP":              []byte("GET / HTTP/1.1\r\n\r\n"),
		"a huge text":       {clientHello, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"a long text":       {clientHello, 0xff, 0xff, 0xff, 0x7f, 'x'},
		"half a hello":      said[:len(said)/2],
		"a hello":           said,
		"an unknown packet": append(said[:len(said):len(said)], 99),
		"half a query":      asked[:len(asked)-10],
		"no block":          asked,
		"half a block":      append(asked[:len(asked):len(asked)], block...),
	} {
		conn, err := net.Dial("tcp", p.native)
		if err != nil {
			t.Fatalf("after %s: %v", name, err)
		}
		if _, err := conn.Write(bytes); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond) // or what was sent may be lost with the connection
		if err := conn.(*net.TCPConn).SetLinger(0); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		if n := one[uint64](t, c, "SELECT count() FROM t"); n != 0 {
			t.Errorf("%s inserted %d rows", name, n)
		}
	}
	within(t, fmt.Sprintf("%d sockets open as before", before), func() bool {
		return sockets() <= before
	})
	if left, err := os.ReadDir(filepath.Join(dir, "inserts")); err != nil || len(left) > 0 {
		t.Errorf("rows of aborted INSERTs: %v, %v", left, err)
	}
}
