package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// Times of a call.
const (
	patience    = time.Second            // until the next node is asked too
	callTime    = 5 * time.Second        // until the call is given up
	connectTime = 2 * time.Second        // for user and password, at a node's first call
	breath      = 100 * time.Millisecond // before a node is asked that refused, or another one
)

// nodes are the cluster's, each with a client of its own. A client of them all hangs on a node that
// is stopped, for as long as that is.
type nodes struct {
	config Config
	all    []*node
	// preferred is the index of the node that answered last.
	preferred atomic.Int64
	// closed ends when the store is closed.
	closed context.Context
	close  context.CancelFunc
}

type node struct {
	endpoint string
	plain    bool          // without TLS
	making   chan struct{} // has room for the one who makes the client

	mu      sync.Mutex // guards what follows
	client  *clientv3.Client
	closed  bool
	trouble error // why there is no connection, as far as it is known
}

func newNodes(config Config) *nodes {
	n := &nodes{config: config}
	n.closed, n.close = context.WithCancel(context.Background())
	for _, endpoint := range config.Endpoints {
		n.all = append(n.all, &node{
			endpoint: endpoint, plain: config.TLS == nil, making: make(chan struct{}, 1),
		})
	}
	return n
}

// end closes all clients.
func (n *nodes) end() {
	n.close()
	for _, node := range n.all {
		node.mu.Lock()
		client := node.client
		node.client, node.closed = nil, true
		node.mu.Unlock()
		if client != nil {
			_ = client.Close() // it says that its context has ended
		}
	}
}

var errClosed = errors.New("the store is closed")

// connect returns the node's client, which it makes at the first call. With a user that asks the
// node for a token.
func (n *nodes) connect(ctx context.Context, node *node) (*clientv3.Client, error) {
	select {
	case node.making <- struct{}{}:
		defer func() { <-node.making }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	node.mu.Lock()
	client, closed := node.client, node.closed
	node.mu.Unlock()
	if client != nil || closed {
		return client, nil
	}
	scheme := "http://"
	// By default gRPC waits for up to two minutes until it tries to connect again.
	options := []grpc.DialOption{
		grpc.WithContextDialer(node.dial), grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay: breath, Multiplier: 1.6, Jitter: 0.2, MaxDelay: patience,
			},
			MinConnectTimeout: connectTime,
		}),
	}
	if n.config.TLS != nil {
		scheme = "https://"
	}
	options = append(options, n.config.dialOptions(node.note)...)
	client, err := clientv3.New(clientv3.Config{
		Context: n.closed, Endpoints: []string{scheme + node.endpoint}, TLS: n.config.TLS,
		Username: n.config.User, Password: n.config.Password, DialTimeout: connectTime,
		// A connection that was cut off without a word is noticed when it is used.
		DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 3 * time.Second,
		// clientv3 would send a transaction again of which a node says that its time is up.
		MaxUnaryRetries: 1,
		DialOptions:     options,
		Logger:          zap.NewNop(),
	})
	if err != nil {
		return nil, err
	}
	node.mu.Lock()
	defer node.mu.Unlock()
	if node.closed {
		_ = client.Close()
		return nil, nil
	}
	node.client = client
	return client, nil
}

// An answer is what a call came to.
type answer[T any] struct {
	value T
	err   error
	// doubt says that the call was sent to a node which has not answered, or not known what came of
	// it. What it was to do may have been done, or may yet be.
	doubt bool
}

// ask sends a call to the node that answered last. Where that does not answer soon, or refuses, it
// sends the same call to the next one too, and so on in turns. It returns the first answer that is
// no passing failure.
func ask[T any](
	ctx context.Context, n *nodes, call func(context.Context, *clientv3.Client) (T, error),
) (a answer[T]) {
	asking, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	type reply struct {
		node int
		v    T
		err  error
	}
	replies := make(chan reply)
	waiting := map[int]bool{} // nodes that have not answered
	failures := map[int]*launchlog.NodeError{}
	next := int(n.preferred.Load())
	sent := 0
	send := func() { // to the next node that is not asked already
		for range n.all {
			i := next
			next = (next + 1) % len(n.all)
			if waiting[i] {
				continue
			}
			waiting[i] = true
			sent++
			go func() {
				r := reply{node: i}
				r.v, r.err = one(asking, n, n.all[i], call)
				select {
				case replies <- r:
				case <-asking.Done():
				}
			}()
			return
		}
	}
	send()
	doubt := false
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case r := <-replies:
			delete(waiting, r.node)
			if r.err == nil {
				n.preferred.Store(int64(r.node))
				return answer[T]{value: r.v, doubt: doubt || len(waiting) > 0}
			}
			verdict := judge(r.err)
			failures[r.node] = n.all[r.node].failed(r.err)
			if verdict == final {
				return answer[T]{err: failures[r.node], doubt: doubt || len(waiting) > 0}
			}
			doubt = doubt || verdict == unsure
			if sent < len(n.all) {
				send()
				timer.Reset(patience)
			} else {
				timer.Reset(breath)
			}
		case <-timer.C:
			if err := n.told(failures, waiting); sent >= len(n.all) && kv.Hopeless(err) {
				return answer[T]{err: err, doubt: doubt || len(waiting) > 0}
			}
			send()
			timer.Reset(patience)
		case <-n.closed.Done():
			return answer[T]{err: errClosed, doubt: doubt || len(waiting) > 0}
		case <-asking.Done():
			return answer[T]{
				err: ended(ctx, n.told(failures, waiting)), doubt: doubt || len(waiting) > 0,
			}
		}
	}
}

// told says what happened at the nodes, in the order of the configuration. Failures are the last
// ones of those that answered.
func (n *nodes) told(failures map[int]*launchlog.NodeError, waiting map[int]bool) error {
	var errs []*launchlog.NodeError
	for i, node := range n.all {
		switch {
		case failures[i] != nil:
			errs = append(errs, failures[i])
		case waiting[i]:
			errs = append(errs, node.failed(nil))
		}
	}
	return kv.Nodes(errs...)
}

// ended is why a call was given up, and what happened at the nodes.
func ended(ctx context.Context, told error) error {
	err := ctx.Err()
	if err == nil {
		err = fmt.Errorf("no node answered for %v", callTime)
	}
	return fmt.Errorf("%w: %w", err, told)
}

// one calls one node.
func one[T any](
	ctx context.Context, n *nodes, node *node,
	call func(context.Context, *clientv3.Client) (T, error),
) (v T, err error) {
	client, err := n.connect(ctx, node)
	if err != nil {
		return v, &connectError{err}
	}
	if client == nil {
		return v, &connectError{errClosed}
	}
	return call(ctx, client)
}
