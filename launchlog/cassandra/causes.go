package cassandra

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// A refusal is an error that the next attempt would meet as well.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

// reasons keeps why connections failed. The driver's own errors have it as text only, or not.
type reasons struct {
	mu    sync.Mutex
	final error                           // guarded by mu
	last  map[string]*launchlog.NodeError // by nodes; guarded by mu
}

// ObserveConnect implements gocql.ConnectObserver.
func (r *reasons) ObserveConnect(c gocql.ObservedConnect) {
	var certificate *tls.CertificateVerificationError
	address := c.Host.ConnectAddressAndPort()
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Err == nil {
		delete(r.last, address)
		return
	}
	if r.last == nil {
		r.last = map[string]*launchlog.NodeError{}
	}
	why := &launchlog.NodeError{Node: address, Err: c.Err}
	r.last[address] = why
	if !passes(c.Err) || errors.As(c.Err, &certificate) {
		r.final = why
	}
}

// nodes are the failures of nodes to which there is no connection, or nil.
func (r *reasons) nodes() []*launchlog.NodeError {
	r.mu.Lock()
	defer r.mu.Unlock()
	return sorted(r.last)
}

// explain returns why no node took a connection. Unknown are nodes whose names nobody knows.
func (r *reasons) explain(err error, unknown []*launchlog.NodeError) error {
	nodes := r.nodes()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.final != nil:
		return &refusal{r.final}
	case len(nodes) > 0:
		return kv.Nodes(append(nodes, unknown...)...)
	}
	return err
}

func sorted(errs map[string]*launchlog.NodeError) []*launchlog.NodeError {
	return slices.SortedFunc(maps.Values(errs), func(a, b *launchlog.NodeError) int {
		return cmp.Compare(a.Node, b.Node)
	})
}

// unknown are the nodes whose names nobody knows, which the driver does not say. The error is of a
// configuration in which no other is.
func (c *Config) unknown(ctx context.Context) (errs []*launchlog.NodeError, err error) {
	for _, name := range c.Hosts {
		host, _, split := net.SplitHostPort(name)
		if split != nil {
			host, name = name, net.JoinHostPort(name, strconv.Itoa(cmp.Or(c.Port, defaultPort)))
		}
		if _, err := net.DefaultResolver.LookupHost(ctx, host); err != nil {
			errs = append(errs, &launchlog.NodeError{Node: name, Err: err})
		}
	}
	if len(errs) == len(c.Hosts) {
		return nil, kv.Nodes(errs...)
	}
	return errs, nil
}

// told is what the nodes have said in a call, as far as they failed. If none was asked, it is of
// those to which there is no connection. It is nil where none failed.
func told(ctx context.Context) error {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return nil
	}
	c.hosts.mu.Lock()
	nodes := sorted(c.failed)
	c.hosts.mu.Unlock()
	if len(nodes) == 0 {
		nodes = c.hosts.reasons.nodes()
	}
	return kv.Nodes(nodes...)
}
