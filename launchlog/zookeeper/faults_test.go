package zookeeper

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// behind is an engine behind a proxy, and one that is not.
func behind(t *testing.T) (e engine, p *proxy, other engine) {
	t.Helper()
	c := prepared(t)
	other = client(t, c)
	p = newProxy(t, servers(t)[0], nil)
	c.Servers = []string{p.addr}
	return client(t, c), p, other
}

// put is a change whose value no other change has.
func put(name string, version int64) kv.Change {
	return kv.Change{Name: name, Version: version, Value: []byte(rand.Text())}
}

func commit(t *testing.T, e engine, changes ...kv.Change) {
	t.Helper()
	done, err := e.Commit(t.Context(), "n/p", changes...)
	if err != nil || !done {
		t.Fatalf("commit: %t, %v", done, err)
	}
}

func wantVersions(t *testing.T, e engine, want ...int64) {
	t.Helper()
	rows, err := e.Read(t.Context(), "n/p", "state", "key-a")
	if err != nil {
		t.Fatal(err)
	}
	if got := []int64{rows[0].Version, rows[1].Version}; !slices.Equal(got, want) {
		t.Errorf("versions %v, want %v", got, want)
	}
}

// makeBucket makes the bucket of a row, so that the next transaction makes the row.
func makeBucket(t *testing.T, e engine, name string) {
	t.Helper()
	for i := 0; ; i++ {
		if other := fmt.Sprint("key-", i); parent(other) == parent(name) {
			commit(t, e, put(other, 0))
			return
		}
	}
}

// A commit whose request or answer is lost is settled: it is sent again, and whoever was first is
// known from the rows.
func TestLostCommit(t *testing.T) {
	for _, test := range []struct {
		name string
		is   func(frame) bool
		what fate
		// others is what other clients do before the commit is sent again.
		others  func(t *testing.T, other engine, sent func())
		changes []kv.Change
		done    bool
		err     bool // ambiguous
		want    []int64
	}{
		{
			name: "request", is: isRequest(opMulti), what: cut,
			changes: []kv.Change{put("state", 1)}, done: true, want: []int64{2, 0},
		},
		{
			name: "answer", is: isAnswer(opMulti), what: cut,
			changes: []kv.Change{put("state", 1)}, done: true, want: []int64{2, 0},
		},
		{
			name: "answer of a server that says no more", is: isAnswer(opMulti), what: drop,
			changes: []kv.Change{put("state", 1), put("key-a", 0)}, done: true,
			want: []int64{2, 1},
		},
		{
			name: "request that comes after others", is: isRequest(opMulti), what: leave,
			others: func(t *testing.T, other engine, sent func()) {
				commit(t, other, put("state", 1))
				sent()
			},
			changes: []kv.Change{put("state", 1), put("key-a", 0)}, want: []int64{2, 0},
		},
		{
			name: "answer, and others overwrote one of two rows", is: isAnswer(opMulti), what: cut,
			others: func(t *testing.T, other engine, _ func()) {
				commit(t, other, put("state", 2))
				commit(t, other, put("state", 3))
			},
			changes: []kv.Change{put("state", 1), put("key-a", 0)}, done: true,
			want: []int64{4, 1},
		},
		{
			name: "request that others overtook twice", is: isRequest(opMulti), what: cut,
			others: func(t *testing.T, other engine, _ func()) {
				commit(t, other, put("state", 1))
				commit(t, other, put("state", 2))
			},
			changes: []kv.Change{put("state", 1), put("key-a", 0)}, want: []int64{3, 0},
		},
		{
			name: "answer, and others overwrote the only row", is: isAnswer(opMulti), what: cut,
			others: func(t *testing.T, other engine, _ func()) {
				commit(t, other, put("state", 2))
			},
			changes: []kv.Change{put("state", 1)}, err: true, want: []int64{3, 0},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel() // to others that wait as well
			e, p, other := behind(t)
			commit(t, other, put("state", 0))
			makeBucket(t, other, "key-a")
			p.once(test.is, test.what, func(f frame) {
				if test.others != nil {
					test.others(t, other, f.deliver)
				}
			})
			done, err := e.Commit(t.Context(), "n/p", test.changes...)
			var attempt *launchlog.AttemptError
			ambiguous := errors.As(err, &attempt) && attempt.Ambiguous
			if done != test.done || ambiguous != test.err || err != nil && !test.err {
				t.Errorf("commit: %t, %v, want %t", done, err, test.done)
			}
			wantVersions(t, e, test.want...)
		})
	}
}

// A request that was cut off comes after the same one was sent again and carried out.
func TestLateCommit(t *testing.T) {
	t.Parallel() // to others that wait as well
	e, p, other := behind(t)
	commit(t, other, put("state", 0))
	var late func()
	var mu sync.Mutex
	p.set(func(f frame) fate {
		mu.Lock()
		defer mu.Unlock()
		if late == nil && isRequest(opMulti)(f) {
			late = f.deliver
			return leave
		}
		return pass
	})
	commit(t, e, put("state", 1))
	commit(t, e, put("state", 2))
	mu.Lock()
	late()
	mu.Unlock()
	// The late one has no reader. So it counts as carried out when a write behind it is.
	wantVersions(t, e, 3, 0)
	for range 20 {
		commit(t, other, put("key-"+rand.Text(), 0))
	}
	wantVersions(t, e, 3, 0)
}

// Another client writes while a read is between two of its rows.
func TestTornRead(t *testing.T) {
	t.Parallel() // to others that wait as well
	e, p, other := behind(t)
	for version := range int64(5) {
		commit(t, other, put("state", version), put("key-a", version))
	}
	gets, answers, written := 0, 0, int64(0)
	var mu sync.Mutex // guards what is above
	change := sync.NewCond(&mu)
	p.set(func(f frame) fate {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case isAnswer(opGet)(f):
			answers++
			change.Broadcast()
		case isRequest(opGet)(f):
			if gets++; gets%2 == 0 && written < 5 {
				for answers < gets-1 { // the server has read the first row
					change.Wait()
				}
				commit(t, other, put("state", 5+written), put("key-a", 5+written))
				written++
			}
		}
		return pass
	})
	rows, err := e.Read(t.Context(), "n/p", "state", "key-a")
	if err != nil {
		t.Fatal(err)
	}
	if rows[0].Version != rows[1].Version || rows[0].Version <= 5 {
		t.Errorf("versions %d and %d, of rows that are written together",
			rows[0].Version, rows[1].Version)
	}
}

// A read waits for the answer to a transaction before it reads what it returns. A read that is
// repeated on another connection, because the first one was lost, does so there.
func TestBarrier(t *testing.T) {
	t.Parallel() // to others that wait as well
	e, p, other := behind(t)
	commit(t, other, put("state", 0))
	for name, test := range map[string]struct {
		read   func() error
		behind int // reads behind the transaction
	}{
		"read": {func() error { _, err := e.Read(t.Context(), "n/p", "state"); return err }, 1},
		"reads": {func() error {
			_, err := e.Read(t.Context(), "n/p", "state", "key-a", "key-b")
			return err
		}, 3},
		"list": {func() error {
			_, err := e.List(t.Context(), "n/p", "", "", 1)
			return err
		}, 2},
		"each": {func() error {
			_, err := e.Each(t.Context(), []string{"n/p", "n/q"}, "state")
			return err
		}, 2},
	} {
		reads := map[int]int{} // by connections whose transaction was answered
		lost := false
		var mu sync.Mutex
		p.set(func(f frame) fate {
			mu.Lock()
			defer mu.Unlock()
			isRead := !f.answer && (f.op == opGet || f.op == opGetChildren)
			_, passed := reads[f.accepted]
			switch {
			case isAnswer(opMulti)(f):
				reads[f.accepted] += 0
			case isRead && passed && !lost:
				lost = true
				return cut
			case isRead && passed:
				reads[f.accepted]++
			}
			return pass
		})
		if err := test.read(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		mu.Lock()
		if len(reads) != 2 {
			t.Errorf("%s: transactions on %d connections, want 2", name, len(reads))
		}
		last := 0
		for connection := range reads {
			last = max(last, connection)
		}
		if reads[last] < test.behind {
			t.Errorf("%s: %d reads behind the transaction, want %d", name, reads[last],
				test.behind)
		}
		mu.Unlock()
	}
}

// A session that another connection takes over is lost, as one that has expired. The next call has
// a new one.
func TestSessionLost(t *testing.T) {
	t.Parallel() // to others that wait as well
	e, p, other := behind(t)
	granted := make(chan []byte, 1)
	p.set(func(f frame) fate {
		if f.op == opConnect && f.answer {
			granted <- f.body
			p.set(nil)
		}
		return pass
	})
	l, err := e.get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.end() // the proxy sees how the next one begins
	commit(t, e, put("state", 0))
	if l, err = e.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	endSession(t, servers(t)[0], <-granted)
	<-l.wire.dead
	commit(t, e, put("state", 1))
	now, err := e.get(t.Context())
	if err != nil || now == l || now.conn.SessionID() == l.conn.SessionID() {
		t.Errorf("the session is the same, %v", err)
	}
	wantVersions(t, other, 2, 0)
}

// Callers that have gone leave no more goroutines behind than a server has room for, and none when
// it is given up.
func TestAbandonedCalls(t *testing.T) {
	e, p, _ := behind(t)
	l, err := e.get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e.silence = time.Hour // the next link is given up when the test says so
	l.end()
	commit(t, e, put("state", 0))
	if l, err = e.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.set(func(f frame) fate {
		if f.op == opConnect {
			return pass
		}
		return drop
	})
	before := runtime.NumGoroutine()
	var group sync.WaitGroup
	for range 10 * maxCalls {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err := e.Read(ctx, "n/p", "state")
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("read: %v", err)
			}
		})
	}
	group.Wait()
	for runtime.NumGoroutine()-before > maxCalls+10 { // some are about to end
		time.Sleep(time.Millisecond)
	}
	l.end()
	for runtime.NumGoroutine() > before {
		time.Sleep(time.Millisecond)
	}
	p.set(nil)
	wantVersions(t, e, 1, 0)
}

// A server that answers nothing costs a call the time of silence, and then another one is asked.
func TestSilentServer(t *testing.T) {
	t.Parallel() // to others that wait as well
	e, p, other := behind(t)
	commit(t, other, put("state", 0))
	wantVersions(t, e, 1, 0)
	e.servers = append(e.servers, servers(t)[0]) // is asked when the proxy is silent
	p.set(func(frame) fate { return drop })
	done, err := e.Commit(t.Context(), "n/p", put("state", 1))
	if err != nil || !done {
		t.Errorf("commit: %t, %v", done, err)
	}
	wantVersions(t, e, 2, 0)
}

// Where no server answers a call ends, and says what is in the way. What was sent is in doubt.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel() // to others that wait as well
	e, p, _ := behind(t)
	commit(t, e, put("state", 0))
	budget, silence := e.budget, e.silence
	e.budget, e.silence = 500*time.Millisecond, 200*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.set(func(f frame) fate {
		if isRequest(opMulti)(f) {
			cancel()
		}
		return drop
	})
	var attempt *launchlog.AttemptError
	_, err := e.Commit(ctx, "n/p", put("state", 1))
	if !errors.As(err, &attempt) || !attempt.Ambiguous || !errors.Is(err, context.Canceled) {
		t.Errorf("commit: %v", err)
	}
	if _, err := e.Read(t.Context(), "n/p", "state"); !errors.As(err, &attempt) ||
		attempt.Ambiguous || !strings.Contains(fmt.Sprint(err), p.addr) {
		t.Errorf("read: %v", err)
	}
	p.set(nil)
	e.budget, e.silence = budget, silence // a busy disk takes its time
	wantVersions(t, e, 1, 0)
}

// Close ends calls that wait.
func TestClose(t *testing.T) {
	e, p, _ := behind(t)
	commit(t, e, put("state", 0))
	asked := make(chan struct{})
	p.once(isRequest(opMulti), drop, func(frame) { close(asked) })
	failed := make(chan error)
	go func() {
		_, err := e.Commit(t.Context(), "n/p", put("state", 1))
		failed <- err
	}()
	<-asked
	go e.close()
	var attempt *launchlog.AttemptError
	if err := <-failed; !errors.Is(err, errClosed) || !errors.As(err, &attempt) ||
		!attempt.Ambiguous {
		t.Errorf("the call that waits: %v", err)
	}
	e.close()
	if _, err := e.Read(t.Context(), "n/p", "state"); !errors.Is(err, errClosed) {
		t.Errorf("a call after it: %v", err)
	}
}
