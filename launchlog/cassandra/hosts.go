package cassandra

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/launchlog"
)

// shunTime is how long a node that did not answer comes last.
const shunTime = 10 * time.Second

// impatience is how long a request must have waited to count against a node when its caller cuts it
// off.
const impatience = 250 * time.Millisecond

// hosts choose the node for a request. All processes send the requests of a partition to the same
// node, as long as it answers. A node queues what wants one partition, while several nodes would
// outbid each other in Paxos. A node that did not answer comes last for a while.
//
// hosts is a gocql.HostSelectionPolicy.
type hosts struct {
	dataCenter string // whose nodes are asked, and no others; "" is all
	now        func() time.Time
	salt       string // of tests, whose clients are to choose different nodes
	reasons    *reasons

	mu      sync.Mutex
	up      map[string]*gocql.HostInfo // by their IDs; guarded by mu
	shunned map[string]time.Time       // until when, by IDs; guarded by mu
}

var _ gocql.HostSelectionPolicy = (*hosts)(nil)

func newHosts(dataCenter string) *hosts {
	return &hosts{
		dataCenter: dataCenter, now: time.Now, reasons: new(reasons),
		up: map[string]*gocql.HostInfo{}, shunned: map[string]time.Time{},
	}
}

// A call is what the requests of one call of the engine share. The hosts' mu guards it.
type call struct {
	part   string
	hosts  *hosts
	last   string                          // the node that was chosen last
	failed map[string]*launchlog.NodeError // nodes that did not help this call
}

type callKey struct{}

// begin returns a context for the requests of one call about a partition.
func (h *hosts) begin(ctx context.Context, part string) context.Context {
	return context.WithValue(ctx, callKey{}, &call{
		part: part, hosts: h, failed: map[string]*launchlog.NodeError{},
	})
}

// send sends a request of a call, and notes what the node's answer tells of it.
func (h *hosts) send(ctx context.Context, ask func(context.Context) error) error {
	start := h.now()
	err := ask(ctx)
	c, _ := ctx.Value(callKey{}).(*call)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case c == nil || c.last == "":
	case !passes(err):
		delete(h.shunned, c.last)
	default:
		c.failed[c.last] = h.failure(c.last, err)
		if strays(err) && (ctx.Err() == nil || h.now().Sub(start) >= impatience) {
			h.shunned[c.last] = h.now().Add(shunTime)
		}
	}
	return err
}

// failure is the error of a node. The caller holds mu.
func (h *hosts) failure(id string, err error) *launchlog.NodeError {
	node := id
	if host := h.up[id]; host != nil {
		node = host.ConnectAddressAndPort()
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, gocql.ErrTimeoutNoResponse) {
		err = errNoAnswer
	}
	return &launchlog.NodeError{Node: node, Err: err}
}

// Pick implements gocql.HostSelectionPolicy.
func (h *hosts) Pick(statement gocql.ExecutableStatement) gocql.NextHost {
	c := &call{}
	if s, ok := statement.(gocql.RetryableQuery); ok && s.Context() != nil {
		if of, ok := s.Context().Value(callKey{}).(*call); ok {
			c = of
		}
	}
	order := h.order(c)
	return func() gocql.SelectedHost {
		if len(order) == 0 {
			return nil
		}
		next := order[0]
		order = order[1:]
		h.mu.Lock()
		c.last = next.HostID()
		h.mu.Unlock()
		return chosen{next}
	}
}

// order is that in which the nodes are asked: each partition has its own.
func (h *hosts) order(c *call) []*gocql.HostInfo {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	type ranked struct {
		host *gocql.HostInfo
		last int
		rank [sha256.Size]byte
	}
	var all []ranked
	for id, host := range h.up {
		r := ranked{host: host}
		if h.shunned[id].After(now) {
			r.last++
		}
		if c.failed[id] != nil {
			r.last += 2
		}
		r.rank = sha256.Sum256([]byte(id + " " + h.salt + c.part))
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.last, b.last), bytes.Compare(a.rank[:], b.rank[:]))
	})
	order := make([]*gocql.HostInfo, len(all))
	for i, r := range all {
		order[i] = r.host
	}
	return order
}

// chosen is a node that a request goes to. What comes of it, send notes.
type chosen struct{ host *gocql.HostInfo }

func (c chosen) Info() *gocql.HostInfo { return c.host }

func (chosen) Mark(error) {}

// AddHost implements gocql.HostSelectionPolicy. LOCAL_SERIAL is that of the node that is asked, so
// nodes of other data centres must never be.
func (h *hosts) AddHost(host *gocql.HostInfo) {
	if !h.IsLocal(host) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.up[host.HostID()] = host
}

// RemoveHost implements gocql.HostSelectionPolicy.
func (h *hosts) RemoveHost(host *gocql.HostInfo) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.up, host.HostID())
}

// HostUp implements gocql.HostSelectionPolicy.
func (h *hosts) HostUp(host *gocql.HostInfo) { h.AddHost(host) }

// HostDown implements gocql.HostSelectionPolicy.
func (h *hosts) HostDown(host *gocql.HostInfo) { h.RemoveHost(host) }

// IsLocal implements gocql.HostSelectionPolicy.
func (h *hosts) IsLocal(host *gocql.HostInfo) bool {
	return h.dataCenter == "" || host.DataCenter() == h.dataCenter
}

// Init implements gocql.HostSelectionPolicy.
func (*hosts) Init(*gocql.Session) {}

// SetPartitioner implements gocql.HostSelectionPolicy.
func (*hosts) SetPartitioner(string) {}

// KeyspaceChanged implements gocql.HostSelectionPolicy.
func (*hosts) KeyspaceChanged(gocql.KeyspaceUpdateEvent) {}
