package kv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
)

// A Verdict says what the error of a node means for the call that was sent to it.
type Verdict int

const (
	// Unsure: the call may have been carried out, or may yet be.
	Unsure Verdict = iota
	// Refused: it was not carried out. Another node, or a later time, may do it.
	Refused
	// Final: it was not carried out, and will not be as it is.
	Final
)

// A Driver makes clients of single nodes, of type C, and knows their errors.
type Driver[C any] struct {
	Connect func(ctx context.Context, node string) (C, error)
	Usable  func(C) bool // false: another client is to be made
	Close   func(C)
	Judge   func(error) Verdict // also of an error of Connect

	// Home reports whether the node that was asked first remains so after an error of its. With it,
	// all processes ask the first node, but for a while after it did not answer. It is nil where
	// they spread, and the node that answers is asked first from then on.
	Home func(error) bool

	Patience time.Duration // until the next node is asked; twice as long in each round
	CallTime time.Duration // until a call is given up
}

// A Cluster sends calls to its nodes. Each node has a client of its own, because a client of all
// nodes waits for as long as one of them is stopped.
type Cluster[C any] struct {
	driver    Driver[C]
	nodes     []*node[C]
	preferred atomic.Int64    // the index of the node that is asked first: it answered last
	life      context.Context // ends when the cluster is closed
	end       context.CancelFunc
}

type node[C any] struct {
	name   string
	turn   chan struct{} // has room for the one who uses the following field
	client *C
}

// NewCluster makes a cluster, which connects when it is asked.
func NewCluster[C any](driver Driver[C], nodes []string) *Cluster[C] {
	c := &Cluster[C]{driver: driver}
	c.life, c.end = context.WithCancel(context.Background())
	for _, name := range nodes {
		c.nodes = append(c.nodes, &node[C]{name: name, turn: make(chan struct{}, 1)})
	}
	if driver.Home == nil {
		c.preferred.Store(rand.Int64N(int64(len(nodes))))
	}
	return c
}

// ErrClosed is what calls end with once the cluster is closed.
var ErrClosed = errors.New("the store is closed")

// Close ends all calls, and closes the clients.
func (c *Cluster[C]) Close() {
	c.end()
	for _, n := range c.nodes {
		n.turn <- struct{}{}
		if n.client != nil {
			c.driver.Close(*n.client)
			n.client = nil
		}
		<-n.turn
	}
}

// A connectError is of a client that could not be made. Nothing was sent by it.
type connectError struct{ err error }

func (e *connectError) Error() string { return e.err.Error() }

func (e *connectError) Unwrap() error { return e.err }

// client returns the node's client, which it makes where there is none.
func (c *Cluster[C]) client(ctx context.Context, n *node[C]) (client C, err error) {
	select {
	case n.turn <- struct{}{}:
		defer func() { <-n.turn }()
	case <-ctx.Done():
		return client, ctx.Err()
	}
	switch {
	case c.life.Err() != nil:
		return client, ErrClosed
	case n.client != nil && c.driver.Usable(*n.client):
		return *n.client, nil
	}
	client, err = c.driver.Connect(ctx, n.name)
	if err == nil {
		n.client = &client
	}
	return client, err
}

const (
	longestTurn = 200 * time.Millisecond // between two attempts of a call
	mostRounds  = 8                      // after which patience grows no more
	impatience  = 250 * time.Millisecond // of a caller whose end counts against the node
	homeTime    = 10 * time.Second       // until the first node is tried again: see Driver.Home
)

// prefer has a node be asked first.
func (c *Cluster[C]) prefer(at int) {
	c.preferred.Store(int64(at))
	if at != 0 && c.driver.Home != nil {
		time.AfterFunc(homeTime, func() { c.preferred.CompareAndSwap(int64(at), 0) })
	}
}

var errNoAnswer = errors.New("it does not answer")

// Ask sends a call to the node that answered last. Where that does not answer in time, or refuses,
// the same call goes to the next one, and so on in turns. Doubt says that the call was sent before,
// and may have been carried out then, or may yet be.
//
// The error is the context's, bare, where nothing was sent. It is a node's where that is final, and
// otherwise an [*launchlog.AttemptError] about all nodes, which is ambiguous where there is doubt.
func Ask[C, T any](
	ctx context.Context, c *Cluster[C], call func(context.Context, C) (T, error),
) (v T, doubt bool, err error) {
	asking, cancel := context.WithTimeout(ctx, c.driver.CallTime)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	failures := make([]*NodeError, len(c.nodes))
	first, home := int(c.preferred.Load()), true
	for n := range dialect.Attempts(asking, longestTurn) {
		at, round := (first+n-1)%len(c.nodes), min((n-1)/len(c.nodes), mostRounds)
		began := time.Now()
		v, err := one(asking, c, c.nodes[at], round, call)
		if err == nil {
			if !home {
				c.prefer(at)
			}
			return v, doubt, nil
		}
		if end, _ := asking.Deadline(); !time.Now().Before(end) {
			<-asking.Done() // a connection may see the end a moment before
		}
		home = home && c.driver.Home != nil && c.driver.Home(err)
		if asking.Err() != nil && !home && time.Since(began) >= impatience {
			c.prefer((at + 1) % len(c.nodes))
		}
		verdict := c.driver.Judge(err)
		doubt = doubt || verdict == Unsure && !errors.As(err, new(*connectError))
		if asking.Err() == nil || verdict == Final || failures[at] == nil {
			failures[at] = c.nodes[at].failed(err)
		}
		if verdict == Final {
			return v, doubt, inDoubt(doubt, failures[at])
		}
		if told := Nodes(failures...); n >= len(c.nodes) && Hopeless(told) {
			return v, doubt, &launchlog.AttemptError{Ambiguous: doubt, Err: told}
		}
	}
	told := Nodes(failures...)
	switch {
	case c.life.Err() != nil:
		return v, doubt, inDoubt(doubt, ErrClosed)
	case told == nil:
		return v, false, ctx.Err()
	case ctx.Err() != nil:
		told = fmt.Errorf("%w: %w", ctx.Err(), told)
	default:
		told = fmt.Errorf("no answer within %v: %w", c.driver.CallTime, told)
	}
	return v, doubt, &launchlog.AttemptError{Ambiguous: doubt, Err: told}
}

// one calls one node.
func one[C, T any](
	ctx context.Context, c *Cluster[C], n *node[C], round int,
	call func(context.Context, C) (T, error),
) (v T, err error) {
	if len(c.nodes) > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.driver.Patience<<round)
		defer cancel()
	}
	client, err := c.client(ctx, n)
	if err != nil {
		return v, &connectError{err}
	}
	return call(ctx, client)
}

func (n *node[C]) failed(err error) *NodeError {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = errNoAnswer
	}
	return &NodeError{Node: n.name, Err: err}
}

// inDoubt is a final error, unless something was sent before.
func inDoubt(doubt bool, err error) error {
	if doubt {
		return &launchlog.AttemptError{Ambiguous: true, Err: err}
	}
	return err
}

// Look is [Ask] for a call that changes nothing, so it leaves nothing in doubt.
func Look[C, T any](
	ctx context.Context, c *Cluster[C], call func(context.Context, C) (T, error),
) (T, error) {
	v, _, err := Ask(ctx, c, call)
	if attempt := (*launchlog.AttemptError)(nil); errors.As(err, &attempt) {
		err = &launchlog.AttemptError{Err: attempt.Err}
	}
	return v, err
}

// Parallel runs f for 0 to n − 1, up to width at a time, until one fails.
func Parallel(
	ctx context.Context, n, width int, f func(ctx context.Context, i int) error,
) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	room := make(chan struct{}, width)
	var running sync.WaitGroup
	for i := 0; i < n && ctx.Err() == nil; i++ {
		room <- struct{}{}
		running.Go(func() {
			defer func() { <-room }()
			if err := f(ctx, i); err != nil {
				fail(err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}
