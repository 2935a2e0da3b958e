package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
	"go.uber.org/goleak"
)

// talk says what follows a hello, and returns what the server answers to it.
func talk(t testing.TB, address string, said ...[]byte) (net.Conn, *proto.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	all := append(greeting(testUser, testPassword, ""), bytes.Join(said, nil)...)
	if _, err := conn.Write(all); err != nil {
		t.Fatal(err)
	}
	r := proto.NewReader(conn)
	if packet, err := r.ReadByte(); err != nil || packet != serverHello {
		t.Fatalf("packet %d, %v", packet, err)
	}
	var hello proto.ServerHello
	if err := hello.DecodeAware(r, revision); err != nil {
		t.Fatal(err)
	}
	return conn, r
}

// TestOddPackets: what a client may send late is left out, what it may not send ends the
// connection.
func TestOddPackets(t *testing.T) {
	ids := []column{{"id", "Int64"}}
	_, _, o := serveFake(t, answer{"SELECT . FROM t LIMIT 0", rowsOf(t, ids)})
	block := append([]byte{clientData, 0}, encode(t, revision, ids, []any{int64(1)})...)
	insert := question("INSERT INTO t VALUES")
	var header bytes.Buffer
	header.Write([]byte{serverData, 0})
	if err := writeHeader(&header, ids); err != nil {
		t.Fatal(err)
	}
	// the others go on
	ends := map[string]bool{"query in an INSERT": true, "no packet": true, "second hello": true}
	ping, pong := []byte{clientPing}, []byte{serverPong}
	for name, tt := range map[string]struct{ say, want []byte }{
		"cancel too late":  {[]byte{clientCancel, clientPing}, pong},
		"blocks after all": {append(bytes.Repeat(block, 2), ping...), pong},
		"INSERT of nothing": {
			append(bytes.Clone(insert), clientData, 0, 0, 0, 0, clientPing),
			append(bytes.Clone(header.Bytes()), serverEndOfStream, serverPong),
		},
		"INSERT cancelled": {
			append(append(bytes.Clone(insert), block...), clientCancel, clientPing),
			append(bytes.Clone(header.Bytes()), serverEndOfStream, serverPong),
		},
		"query in an INSERT": {
			append(bytes.Clone(insert), insert...),
			append(bytes.Clone(header.Bytes()), serverException, 101),
		},
		"no packet":    {[]byte{50}, []byte{serverException, 50 + 49}},
		"second hello": {[]byte{clientHello}, []byte{serverException, 99}},
		"tables of a query": {
			append(question("SELECT 1")[:len(question("SELECT 1"))-5],
				append(block, clientData, 0, 0, 0, 0)...),
			[]byte{serverException, 48},
		},
		"pings": {bytes.Repeat(ping, 3), bytes.Repeat(pong, 3)},
		"block of bad values": {
			append(bytes.Clone(insert), block[:len(block)-18]...),
			header.Bytes(),
		},
	} {
		_, r := talk(t, o.Addr[0], tt.say)
		got := make([]byte, len(tt.want))
		if err := r.ReadFull(got); err != nil || !bytes.Equal(got, tt.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, tt.want)
		}
		if ends[name] {
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Errorf("%s: the connection goes on: %v", name, err)
			}
		}
	}
}

// TestKill: a client that cancels, goes, or breaks the protocol while its query runs ends the
// query.
func TestKill(t *testing.T) {
	for name, tt := range map[string]struct {
		send []byte
		go_  bool
		want []byte
	}{
		"cancels": {
			[]byte{clientCancel, clientPing},
			false,
			[]byte{serverEndOfStream, serverPong},
		},
		"goes":                {nil, true, nil},
		"breaks the protocol": {[]byte{clientPing}, false, []byte{serverException, 99}},
	} {
		killed, begun := make(chan struct{}), make(chan struct{})
		_, _, o := serveFake(t,
			answer{"SELECT endless", func([]string, string, []parameter) ([]byte, error) {
				begun <- struct{}{}
				<-killed
				return nil, &exception{394, "Query was cancelled"}
			}},
			answer{
				"KILL QUERY WHERE Settings.'log_comment'. = 'connection [0-9]+' ASYNC",
				func([]string, string, []parameter) ([]byte, error) {
					select {
					case killed <- struct{}{}:
					case <-time.After(time.Millisecond): // there is none
					}
					return nil, nil
				},
			},
		)
		conn, r := talk(t, o.Addr[0], question("SELECT endless"))
		<-begun
		if tt.go_ {
			_ = conn.Close()
			continue
		}
		if _, err := conn.Write(tt.send); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(tt.want))
		if err := r.ReadFull(got); err != nil || !bytes.Equal(got, tt.want) {
			t.Errorf("to a client that %s the server sends %v, %v; want %v", name, got, err,
				tt.want)
		}
		if tt.want[0] == serverException {
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Errorf("to a client that %s the connection goes on: %v", name, err)
			}
		}
	}
}

// TestNothingIsLeft of connections, whatever they were used for: cleanups of the tests look at
// sessions and files, this at goroutines.
func TestNothingIsLeft(t *testing.T) {
	before := goleak.IgnoreCurrent()
	defer func() {
		for range 20 { // a busy machine needs time
			if goleak.Find(before) == nil {
				return
			}
		}
		goleak.VerifyNone(t, before)
	}()
	t.Run("clients", func(t *testing.T) {
		_, _, o := serveFake(t,
			answer{"SELECT 1", rowsOf(t, []column{{"1", "UInt8"}}, []any{uint8(1)})})
		for range 10 {
			conn, err := net.Dial("tcp", o.Addr[0])
			if err != nil {
				t.Fatal(err)
			}
			hello := greeting(testUser, testPassword, "")
			if _, err := conn.Write(append(hello, question("SELECT 1")...)); err != nil {
				t.Fatal(err)
			}
			_ = conn.Close()
		}
		c, err := clickhouse.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if n := one[uint8](t, c, "SELECT 1"); n != 1 {
			t.Errorf("%d", n)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestClosedServer(t *testing.T) {
	_, s, o := serveFake(t)
	c := open(t, o)
	if err := c.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.close(context.Background())
	if err := c.Ping(t.Context()); err == nil {
		t.Error("a closed server answers")
	}
}
