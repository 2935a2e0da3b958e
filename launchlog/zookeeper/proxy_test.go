package zookeeper

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// Requests by their numbers in ZooKeeper's protocol.
const (
	opConnect     = 0 // which has no number
	opCreate      = 1
	opGet         = 4
	opSet         = 5
	opMulti       = 14
	opGetChildren = 12
	opPing        = 11
)

// A frame is a request or its answer, on its way through a proxy.
type frame struct {
	op       int32 // of the request
	answer   bool
	body     []byte
	deliver  func() // sends it to the server, whatever became of the client
	accepted int    // connections before this one
}

// A fate is what a proxy does with a frame.
type fate int

const (
	pass  fate = iota
	drop       // it never comes
	cut        // it never comes, and both connections are closed
	leave      // it never comes, the client's connection is closed, and the server's is not
)

// A proxy stands before a server, reads what goes through, and asks hook about each frame.
type proxy struct {
	addr string

	mu      sync.Mutex // guards what follows
	hook    func(frame) fate
	conns   []net.Conn
	count   int
	running sync.WaitGroup
}

// newProxy makes a proxy before a server, which speaks TLS with clients where a config is given.
func newProxy(t testing.TB, server string, config *tls.Config) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: listener.Addr().String()}
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	p.running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, client, upstream)
			n := p.count
			p.count++
			p.mu.Unlock()
			p.join(client, upstream, n)
		}
	})
	t.Cleanup(func() {
		listener.Close()
		p.mu.Lock()
		for _, conn := range p.conns {
			conn.Close()
		}
		p.mu.Unlock()
		p.running.Wait()
	})
	return p
}

// set sets the hook. Nil lets everything pass.
func (p *proxy) set(hook func(frame) fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hook = hook
}

// once has the first frame that is one have a fate, after f was run.
func (p *proxy) once(is func(frame) bool, what fate, f func(frame)) {
	var mu sync.Mutex
	met := false
	p.set(func(fr frame) fate {
		mu.Lock()
		first := !met && is(fr)
		met = met || first
		mu.Unlock()
		if !first {
			return pass
		}
		if f != nil {
			f(fr)
		}
		return what
	})
}

func (p *proxy) decide(f frame) fate {
	p.mu.Lock()
	hook := p.hook
	p.mu.Unlock()
	if hook == nil {
		return pass
	}
	return hook(f)
}

// join copies frames in both directions until one of them ends.
func (p *proxy) join(client, server net.Conn, n int) {
	var mu sync.Mutex
	ops := map[uint32]int32{} // of requests without answer, by their numbers
	left := false
	copyFrames := func(to, from net.Conn, answers bool) {
		defer func() {
			client.Close()
			mu.Lock()
			defer mu.Unlock()
			if !left {
				server.Close()
			}
		}()
		for first := true; ; first = false {
			body, err := readFrame(from)
			if err != nil {
				return
			}
			op := int32(opConnect)
			if !first && len(body) >= 8 {
				number := binary.BigEndian.Uint32(body)
				mu.Lock()
				if answers {
					op = ops[number]
				} else {
					op = int32(binary.BigEndian.Uint32(body[4:]))
					ops[number] = op
				}
				mu.Unlock()
			}
			f := frame{
				op: op, answer: answers, body: body, accepted: n,
				deliver: func() { _ = writeFrame(server, body) },
			}
			switch p.decide(f) {
			case pass:
				if writeFrame(to, body) != nil {
					return
				}
			case cut:
				return
			case leave:
				mu.Lock()
				left = true
				mu.Unlock()
				return
			}
		}
	}
	p.running.Go(func() { copyFrames(server, client, false) })
	p.running.Go(func() { copyFrames(client, server, true) })
}

func readFrame(from io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(from, body)
	return body, err
}

func writeFrame(to io.Writer, body []byte) error {
	_, err := to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err
}

func isRequest(op int32) func(frame) bool {
	return func(f frame) bool { return f.op == op && !f.answer }
}

func isAnswer(op int32) func(frame) bool {
	return func(f frame) bool { return f.op == op && f.answer }
}

// endSession connects with a session that a server has granted, and closes it.
func endSession(t *testing.T, server string, granted []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// It has a version of 4 bytes and a timeout of 4, the session's number of 8 and its password.
	request := binary.BigEndian.AppendUint32(nil, 0)
	request = binary.BigEndian.AppendUint64(request, 0) // the newest transaction that was seen
	request = append(request, granted[4:8]...)
	request = append(request, granted[8:16]...)
	request = append(request, granted[16:36]...)
	end := binary.BigEndian.AppendUint32(nil, 1)
	end = binary.BigEndian.AppendUint32(end, 1<<32-11)
	if err := writeFrame(conn, request); err != nil {
		t.Fatal(err)
	}
	if _, err := readFrame(conn); err != nil {
		t.Fatal(err)
	}
	if err := writeFrame(conn, end); err != nil {
		t.Fatal(err)
	}
	if _, err := readFrame(conn); err != nil {
		t.Fatal(err)
	}
}
