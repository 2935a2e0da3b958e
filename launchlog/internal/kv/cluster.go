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

// A Verdict says what a node's error means for the call that was sent to it.
type Verdict int

const (
	// Unsure means that the call may have been carried out, or may yet be.
	Unsure Verdict = iota
	// Refused means that it was not carried out. Another node may carry it out, or the same node
	// later.
	Refused
	// Final means that it was not carried out, and that a repeat will fail as well.
	Final
)

// A Driver creates clients of type C for single nodes, and interprets their errors.
type Driver[C any] struct {
	Connect func(ctx context.Context, node string) (C, error)
	Usable  func(C) bool // false: a new client is needed
	Close   func(C)
	Judge   func(error) Verdict // for errors of Connect as well

	// Home reports whether the node that is asked first stays the same after one of its errors. If
	// Home is set, all processes ask the first node, except for a while after it did not answer. If
	// it is nil, the processes spread over the nodes, and each then asks the node that answered
	// last.
	Home func(error) bool

	Patience time.Duration // until the next node is asked; twice as long in each round
	CallTime time.Duration // until a call is given up
}

// A Cluster sends calls to its nodes. Each node has a separate client, because a client for all
// nodes would wait as long as one of them is stopped.
type Cluster[C any] struct {
	driver    Driver[C]
	nodes     []*node[C]
	preferred atomic.Int64    // the index of the node to ask first: the last to answer
	life      context.Context // ends when the cluster is closed
	end       context.CancelFunc
}

type node[C any] struct {
	name   string
	turn   chan struct{} // holds one token, for the user of client
	client *C
}

// NewCluster returns a cluster, which connects when it is first asked.
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

// ErrClosed is the error of calls once the cluster is closed.
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

// A connectError is the error of a client that could not be created. Nothing was sent.
type connectError struct{ err error }

func (e *connectError) Error() string { return e.err.Error() }

func (e *connectError) Unwrap() error { return e.err }

// client returns the node's client, and creates it if there is none.
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
	mostRounds  = 8                      // after which patience stops growing
	impatience  = 250 * time.Millisecond // a call that ends after this time counts against the node
	homeTime    = 10 * time.Second       // until the first node is tried again: see Driver.Home
)

// prefer makes a node the first to be asked.
func (c *Cluster[C]) prefer(at int) {
	c.preferred.Store(int64(at))
	if at != 0 && c.driver.Home != nil {
		time.AfterFunc(homeTime, func() { c.preferred.CompareAndSwap(int64(at), 0) })
	}
}

var errNoAnswer = errors.New("it does not answer")

// Ask sends a call to the node that answered last. If that node refuses, or does not answer in
// time, the same call goes to the next one, and so on in turn. Doubt reports that the call was sent
// before, and may have been carried out then, or may yet be.
//
// If nothing was sent, the error is the context's, unwrapped. If a node's error is final, it is
// that error. Otherwise it is an [*launchlog.AttemptError] about all nodes, which is ambiguous if
// there is doubt.
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
			<-asking.Done() // a connection may see the deadline slightly earlier
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
	case told == nil && ctx.Err() != nil:
		return v, false, ctx.Err()
	case told == nil: // this process stood still until the time was over
		told = fmt.Errorf("no node was asked within %v", c.driver.CallTime)
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

// inDoubt returns a final error as it is, unless something was sent before.
func inDoubt(doubt bool, err error) error {
	if doubt {
		return &launchlog.AttemptError{Ambiguous: true, Err: err}
	}
	return err
}

// Look is [Ask] for a call that changes nothing, and therefore leaves nothing in doubt.
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
