package cassandra

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// cuts are connections that are cut in the middle of a request. It is a gocql.Dialer.
type cuts struct {
	// choose says of a request what is lost of it: "request", "answer" or "".
	choose func(opcode byte) string
	lost   atomic.Int64
}

// Codes of requests in Cassandra's protocol.
const (
	opExecute = 0x0a
	opBatch   = 0x0d
)

var errCut = errors.New("the connection was cut")

func (c *cuts) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: conn, cuts: c}, nil
}

type cutConn struct {
	net.Conn
	cuts   *cuts
	answer atomic.Bool // the next answer is lost
}

// Write gets one frame, whose fifth byte is the request's code.
func (c *cutConn) Write(frame []byte) (int, error) {
	if len(frame) > 4 {
		switch c.cuts.choose(frame[4]) {
		case "request":
			c.cuts.lost.Add(1)
			return 0, errors.Join(errCut, c.Close())
		case "answer":
			c.answer.Store(true)
		}
	}
	return c.Conn.Write(frame)
}

// Read loses an answer that the node has sent: what was asked for is done.
func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.answer.Load() {
		c.cuts.lost.Add(1)
		return 0, errors.Join(errCut, c.Close())
	}
	return n, err
}

// The answer to one commit is lost after it was carried out, and then the request of one.
func TestCutConnection(t *testing.T) {
	onEach(t, func(t *testing.T, nodes []string) {
		config := prepared(t, nodes)
		for _, what := range []string{"answer", "request"} {
			var armed atomic.Bool
			config := config
			cut := &cuts{choose: func(opcode byte) string {
				if opcode == opBatch && armed.CompareAndSwap(true, false) {
					return what
				}
				return ""
			}}
			config.dialer = cut
			e := client(t, config)
			const versions = 3
			for version := range int64(versions) {
				armed.Store(true)
				changes := []kv.Change{
					{Name: "state", Version: version, Value: []byte("s")},
					{Name: fmt.Sprint("row-", version), Value: []byte("r")},
				}
				changes = changes[:1+version%2]
				done, err := e.Commit(t.Context(), what, changes...)
				if !done || err != nil {
					t.Fatalf("lost %s, version %d: %v, %v", what, version+1, done, err)
				}
				rows, err := e.Read(t.Context(), what, "state")
				if err != nil || rows[0].Version != version+1 {
					t.Fatalf("lost %s, version %d: %+v, %v", what, version+1, rows, err)
				}
			}
			if n := cut.lost.Load(); n != versions {
				t.Errorf("%d of %d %ss were lost", n, versions, what)
			}
		}
	})
}

// Answers that Open waits for are lost, and with them the connections to the only node.
func TestCutWhileOpening(t *testing.T) {
	config := prepared(t, cluster(t, "one node"))
	const times = 6
	var seen atomic.Int64
	cut := &cuts{choose: func(opcode byte) string {
		if opcode == opExecute && seen.Add(1) <= times {
			return "answer"
		}
		return ""
	}}
	config.dialer = cut
	client(t, config)
	if n := cut.lost.Load(); n != times {
		t.Errorf("%d answers were lost, want %d", n, times)
	}
}

// insist reads until a read is not cut off: nothing is lost by one that is.
func insist(t *testing.T, e *engine, part string, names ...string) (rows []kv.Row, err error) {
	err = kv.Await(t.Context(), func(ctx context.Context) (err error) {
		rows, err = e.Read(ctx, part, names...)
		return err
	})
	return rows, err
}

// counting has clients count together until each has some numbers. Every number has the owner that
// was told so, or was said to be in doubt.
func counting(t *testing.T, engines []*engine, rounds int, change func(n int64) []kv.Change) {
	t.Helper()
	var mu sync.Mutex
	var longest time.Duration
	owners, doubts := map[int64]string{}, map[string]bool{}
	var working sync.WaitGroup
	for w, e := range engines {
		working.Go(func() {
			for won, tries := 0, 0; won < rounds && tries < 50*rounds; tries++ {
				rows, err := insist(t, e, "counter", "value")
				if err != nil {
					t.Error(err)
					return
				}
				mine := fmt.Sprint(w, "-", tries)
				changes := append([]kv.Change{{Name: "value", Version: rows[0].Version}},
					change(rows[0].Version+1)...)
				for i := range changes {
					changes[i].Value = []byte(mine)
				}
				start := time.Now()
				done, err := e.Commit(t.Context(), "counter", changes...)
				mu.Lock()
				longest = max(longest, time.Since(start))
				var attempt *launchlog.AttemptError
				switch {
				case errors.As(err, &attempt) && attempt.Ambiguous:
					t.Logf("%d: %v", rows[0].Version+1, err)
					doubts[mine] = true
				case err != nil && !errors.As(err, &attempt):
					t.Errorf("%d: %v", rows[0].Version+1, err)
				case done && owners[rows[0].Version+1] != "":
					t.Errorf("%d was taken twice", rows[0].Version+1)
				case done:
					owners[rows[0].Version+1] = mine
					won++
				}
				mu.Unlock()
			}
		})
	}
	working.Wait()
	last := int64(0)
	for n := range owners {
		last = max(last, n)
	}
	names := []string{"value"}
	for n := int64(1); n <= last; n++ {
		for _, c := range change(n) {
			names = append(names, c.Name)
		}
	}
	rows, err := insist(t, engines[0], "counter", names...)
	if err != nil {
		t.Fatal(err)
	}
	gaps := rows[0].Version - int64(len(owners))
	if gaps < 0 || gaps > int64(len(doubts)) {
		t.Errorf("%d numbers have no owner, and %d were in doubt", gaps, len(doubts))
	}
	for i, row := range rows[1:] {
		of, n := string(row.Value), int64(i+1)
		if of != owners[n] && (owners[n] != "" || !doubts[of]) {
			t.Errorf("%d is %q's, and %q was told that it has it", n, of, owners[n])
		}
	}
	if want := len(engines) * rounds; len(owners) != want {
		t.Errorf("%d numbers, want %d", len(owners), want)
	}
	t.Logf("%d goroutines took %d numbers: %d gaps, %d in doubt; the longest commit took %v",
		len(engines), len(owners), gaps, len(doubts), longest)
}

// rivals are clients that prefer different nodes, which then outbid each other and give up.
func rivals(t *testing.T, config Config, n int) (all []*engine) {
	t.Helper()
	for i := range n {
		e := client(t, config)
		e.hosts.salt = fmt.Sprint(i)
		all = append(all, e)
	}
	return all
}

// Clients raise one row. Where nodes time out nothing is lost: no number is without an owner.
func TestContention(t *testing.T) {
	onEach(t, func(t *testing.T, nodes []string) {
		counting(t, rivals(t, prepared(t, nodes), 12), 10, func(int64) []kv.Change { return nil })
	})
}

// Requests and answers are lost at random. Every number has the owner that its row names.
func TestCuts(t *testing.T) {
	onEach(t, func(t *testing.T, nodes []string) {
		config := prepared(t, nodes)
		cut := &cuts{choose: func(opcode byte) string {
			switch n := rand.IntN(100); {
			case opcode == opBatch && n < 15 || opcode == opExecute && n < 5:
				return "answer"
			case opcode == opBatch && n < 25:
				return "request"
			}
			return ""
		}}
		config.dialer = cut
		counting(t, rivals(t, config, 6), 20, func(n int64) []kv.Change {
			return []kv.Change{{Name: fmt.Sprintf("row-%05d", n)}}
		})
		n := cut.lost.Load()
		t.Logf("%d faults", n)
		if n < 20 {
			t.Errorf("%d requests and answers were lost: the test shows too little", n)
		}
	})
}
