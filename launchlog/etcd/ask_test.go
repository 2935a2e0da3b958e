package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var (
	errRefused = status.Error(codes.Unavailable, `connection error: desc = "transport: `+
		`Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`)
	errUnsure = status.Error(codes.Unavailable, "error reading from server: EOF")
	errDenied = rpctypes.Error(rpctypes.ErrGRPCPermissionDenied)
)

// script says what a node does with a call: how long it takes, and the error it ends with. A node
// that takes longer than the call hangs.
type script struct {
	takes time.Duration
	err   error
}

const hangs = time.Hour

func TestAsk(t *testing.T) {
	const ms = time.Millisecond
	hang, late := script{takes: hangs}, script{takes: 1500 * ms}
	refuse, unsure, deny := script{err: errRefused}, script{err: errUnsure}, script{err: errDenied}
	for _, test := range []struct {
		name   string
		nodes  []script
		asked  []int // nodes, in the order in which they were asked
		took   time.Duration
		answer int // the node whose answer it is, or -1
		doubt  bool
		err    error
	}{
		{"answers", []script{{}, {}, {}}, []int{1}, 0, 1, false, nil},
		{"in time", []script{{}, {takes: 999 * ms}, {}}, []int{1}, 999 * ms, 1, false, nil},
		{"hangs", []script{{}, hang, {}}, []int{1, 2}, 1000 * ms, 2, true, nil},
		{"two hang", []script{{}, hang, hang}, []int{1, 2, 0}, 2000 * ms, 0, true, nil},
		{"the first is first", []script{{}, late, hang}, []int{1, 2}, 1500 * ms, 1, true, nil},
		{"all hang", []script{hang, hang, hang}, []int{1, 2, 0}, callTime, -1, true, nil},
		{"refuses", []script{{}, refuse, {}}, []int{1, 2}, 0, 2, false, nil},
		{"unsure", []script{{}, unsure, {}}, []int{1, 2}, 0, 2, true, nil},
		{"two refuse", []script{{}, refuse, refuse}, []int{1, 2, 0}, 0, 0, false, nil},
		{"final", []script{{}, deny, {}}, []int{1}, 0, -1, false, errDenied},
		{"hang, then final", []script{{}, hang, deny}, []int{1, 2}, 1000 * ms, -1, true, errDenied},
		{"unsure, then final", []script{{}, unsure, deny}, []int{1, 2}, 0, -1, true, errDenied},
		{"one node, late", []script{late}, []int{0}, 1500 * ms, 0, false, nil},
		{"one node hangs", []script{hang}, []int{0}, callTime, -1, true, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, asked := fake(test.nodes)
				began := time.Now()
				a := ask(t.Context(), n, asked.call)
				if took := time.Since(began); took != test.took {
					t.Errorf("it took %v, want %v", took, test.took)
				}
				if nodes, _ := asked.seen(); !slices.Equal(nodes, test.asked) ||
					a.doubt != test.doubt {
					t.Errorf("asked %v, doubt %t; want %v, %t", nodes, a.doubt, test.asked,
						test.doubt)
				}
				if test.answer < 0 {
					if a.err == nil || test.err != nil && !errors.Is(a.err, test.err) {
						t.Errorf("got %v, want %v", a.err, test.err)
					}
					return
				}
				if a.err != nil || a.value != test.answer ||
					n.preferred.Load() != int64(test.answer) {
					t.Errorf("node %d, %v, preferred %d; want node %d", a.value, a.err,
						n.preferred.Load(), test.answer)
				}
			})
		})
	}
}

// asked is what nodes were asked.
type asked struct {
	clients []*clientv3.Client
	scripts []script

	mu     sync.Mutex // guards what follows
	nodes  []int
	inCall map[int]bool
	twice  bool
}

// fake makes nodes whose preferred one is the second, if there are several.
func fake(scripts []script) (*nodes, *asked) {
	n := newNodes(Config{Endpoints: make([]string, len(scripts))})
	a := &asked{scripts: scripts, inCall: map[int]bool{}}
	for i, node := range n.all {
		node.endpoint = fmt.Sprint("node", i)
		node.client = new(clientv3.Client)
		a.clients = append(a.clients, node.client)
	}
	n.preferred.Store(int64(min(1, len(scripts)-1)))
	return n, a
}

// seen returns the nodes in the order in which they were asked, and whether one was asked again
// before it had answered.
func (a *asked) seen() (nodes []int, twice bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.nodes), a.twice
}

func (a *asked) call(ctx context.Context, c *clientv3.Client) (int, error) {
	node := slices.Index(a.clients, c)
	a.mu.Lock()
	a.nodes = append(a.nodes, node)
	a.twice = a.twice || a.inCall[node]
	a.inCall[node] = true
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.inCall[node] = false
	}()
	if a.scripts[node].takes == 0 { // no timer that is due at once: https://go.dev/issue/78156
		return node, a.scripts[node].err
	}
	timer := time.NewTimer(a.scripts[node].takes)
	defer timer.Stop()
	select {
	case <-timer.C:
		return node, a.scripts[node].err
	case <-ctx.Done():
		return node, ctx.Err()
	}
}

// Nodes that refuse are asked again after a pause each, until the call's time is over. None is
// asked while it has not answered.
func TestAskRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, asked := fake([]script{{err: errRefused}, {err: errRefused}, {takes: hangs}})
		began := time.Now()
		a := ask(t.Context(), n, asked.call)
		calls, twice := asked.seen()
		if took := time.Since(began); took != callTime || a.err == nil || !a.doubt || twice {
			t.Errorf("%v after %v, doubt %t, twice %t", a.err, took, a.doubt, twice)
		}
		if len(calls) < 40 || len(calls) > 60 {
			t.Errorf("%d calls", len(calls))
		}
	})
}

func TestAskContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, asked := fake([]script{{takes: hangs}, {err: errRefused}})
		calling, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		began := time.Now()
		a := ask(calling, n, asked.call)
		if took := time.Since(began); took != 300*time.Millisecond ||
			!errors.Is(a.err, context.DeadlineExceeded) || !errors.Is(a.err, errRefused) ||
			!a.doubt {
			t.Errorf("%v after %v, doubt %t", a.err, took, a.doubt)
		}
	})
}

// Close ends the calls that are under way.
func TestAskClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, asked := fake([]script{{takes: hangs}})
		time.AfterFunc(time.Second, n.close)
		began := time.Now()
		a := ask(t.Context(), n, asked.call)
		if took := time.Since(began); took != time.Second || !errors.Is(a.err, errClosed) ||
			!a.doubt {
			t.Errorf("%v after %v, doubt %t", a.err, took, a.doubt)
		}
		if judge(a.err) != final {
			t.Error("a store that is closed may come back")
		}
	})
}

func TestJudge(t *testing.T) {
	unavailable := func(text string) error { return status.Error(codes.Unavailable, text) }
	for _, test := range []struct {
		err  error
		want verdict
	}{
		// An answer that was lost, or a node that does not know itself.
		{context.DeadlineExceeded, unsure},
		{context.Canceled, unsure},
		{errUnsure, unsure},
		{unavailable("transport is closing"), unsure},
		{rpctypes.Error(rpctypes.ErrGRPCLeaderChanged), unsure},
		{rpctypes.Error(rpctypes.ErrGRPCNoLeader), unsure},
		{rpctypes.Error(rpctypes.ErrGRPCTimeout), unsure},
		{rpctypes.Error(rpctypes.ErrGRPCTimeoutDueToLeaderFail), unsure},
		{rpctypes.Error(rpctypes.ErrGRPCTimeoutDueToConnectionLost), unsure},
		{rpctypes.Error(rpctypes.ErrGRPCStopped), unsure},
		{rpctypes.Error(rpctypes.ErrGRPCUnhealthy), unsure},
		{status.Error(codes.Unknown, "raft proposal dropped"), unsure},
		{status.Error(codes.Internal, "stream terminated by RST_STREAM"), unsure},
		{errors.New("what is this"), unsure},
		// It was not carried out. Another node, or a later time, may do it.
		{errRefused, refused},
		{unavailable("authentication handshake failed: tls: unknown authority"), refused},
		{unavailable("there is no connection available"), refused},
		{rpctypes.Error(rpctypes.ErrGRPCRequestTooManyRequests), refused},
		{rpctypes.Error(rpctypes.ErrGRPCInvalidAuthToken), refused},
		{rpctypes.Error(rpctypes.ErrGRPCAuthOldRevision), refused},
		{rpctypes.Error(rpctypes.ErrGRPCNotSupportedForLearner), refused},
		{&connectError{context.DeadlineExceeded}, refused},
		{&connectError{rpctypes.Error(rpctypes.ErrGRPCTimeout)}, refused},
		// It was not carried out, and will not be.
		{rpctypes.Error(rpctypes.ErrGRPCNoSpace), final},
		{rpctypes.Error(rpctypes.ErrGRPCPermissionDenied), final},
		{rpctypes.Error(rpctypes.ErrGRPCUserEmpty), final},
		{rpctypes.Error(rpctypes.ErrGRPCRequestTooLarge), final},
		{rpctypes.Error(rpctypes.ErrGRPCTooManyOps), final},
		{rpctypes.Error(rpctypes.ErrGRPCCorrupt), final},
		{&connectError{rpctypes.Error(rpctypes.ErrGRPCAuthFailed)}, final},
		{status.Error(codes.Unimplemented, "unknown service etcdserverpb.KV"), final},
	} {
		for _, err := range []error{test.err, fmt.Errorf("node1: %w", test.err)} {
			if got := judge(err); got != test.want {
				t.Errorf("%v: %d, want %d", err, got, test.want)
			}
		}
	}
	if err := explain(rpctypes.Error(rpctypes.ErrGRPCNoSpace)); !errors.Is(err, ErrNoSpace) {
		t.Errorf("no space: %v", err)
	}
}
