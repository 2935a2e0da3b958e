package cassandra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// A request is what the driver asks a policy about.
type request struct {
	gocql.ExecutableStatement
	gocql.RetryableQuery
	ctx context.Context
}

func (r request) Context() context.Context { return r.ctx }

// IsIdempotent and Keyspace are in both interfaces.
func (r request) IsIdempotent() bool { return false }

// newCluster is a policy with nodes of two data centres, on a clock of the test.
func newCluster(t *testing.T, dataCenter string) (*hosts, *time.Time) {
	t.Helper()
	h, now := newHosts(dataCenter), time.Unix(0, 0)
	h.now = func() time.Time { return now }
	for i := range 6 {
		host, err := gocql.NewTestHostInfoFromRow(map[string]any{
			"host_id": gocql.UUID{15: byte(i)}, "data_center": fmt.Sprintf("dc%d", i%2+1),
			"rpc_address": fmt.Sprintf("10.0.0.%d", i),
		})
		if err != nil {
			t.Fatal(err)
		}
		h.AddHost(host)
	}
	return h, &now
}

// picked are the nodes that a request would be sent to, by their IDs.
func picked(h *hosts, ctx context.Context) (ids []string) {
	next := h.Pick(request{ctx: ctx})
	for host := next(); host != nil; host = next() {
		ids = append(ids, host.Info().HostID())
	}
	return ids
}

// All processes ask the same node for a partition, and the partitions spread over the nodes.
func TestPartitionsChooseTheirNode(t *testing.T) {
	one, _ := newCluster(t, "")
	other, _ := newCluster(t, "")
	first := map[string]int{}
	for i := range 600 {
		part := fmt.Sprintf("shop/launch/%05d", i)
		order := picked(one, one.begin(t.Context(), part))
		if len(order) != 6 || !slices.Equal(order, picked(other, other.begin(t.Context(), part))) {
			t.Fatalf("%s: the nodes are asked in the order %v", part, order)
		}
		first[order[0]]++
	}
	for id, n := range first {
		if n < 50 || n > 150 {
			t.Errorf("%s is first for %d of 600 partitions", id, n)
		}
	}
	if len(picked(one, t.Context())) != 6 { // as of a request of the driver's own
		t.Error("a request without a call has no nodes")
	}
}

// No node of another data centre is ever asked. LOCAL_SERIAL there would be another order
// of things.
func TestOtherDataCentersAreNotAsked(t *testing.T) {
	h, _ := newCluster(t, "dc2")
	order := picked(h, h.begin(t.Context(), "p"))
	if len(order) != 3 {
		t.Fatalf("%d nodes of 3", len(order))
	}
	for _, id := range order {
		if host := h.up[id]; host.DataCenter() != "dc2" {
			t.Errorf("%v is asked", host)
		}
	}
	for _, host := range h.up {
		h.HostDown(host)
		h.HostUp(host)
	}
	if len(h.up) != 3 {
		t.Errorf("%d nodes after they went down and up", len(h.up))
	}
	h.RemoveHost(h.up[order[0]])
	if got := picked(h, h.begin(t.Context(), "p")); !slices.Equal(got, order[1:]) {
		t.Errorf("%v without the first of %v", got, order)
	}
}

// A node that did not answer comes last, for this call and for some time for all.
func TestNodesThatDoNotAnswer(t *testing.T) {
	slow, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx    context.Context
		err    error
		took   time.Duration
		inCall bool // whether the call avoids the node
		inAll  bool // whether all do
	}{
		"no answer":          {t.Context(), gocql.ErrTimeoutNoResponse, requestTime, true, true},
		"unavailable":        {t.Context(), serverError(gocql.ErrCodeUnavailable), 0, true, true},
		"contention":         {t.Context(), serverError(gocql.ErrCodeWriteTimeout), 0, true, false},
		"refused":            {t.Context(), serverError(gocql.ErrCodeInvalid), 0, false, false},
		"an answer":          {t.Context(), nil, 0, false, false},
		"caller in haste":    {slow, context.Canceled, impatience - 1, true, false},
		"caller was patient": {slow, context.Canceled, impatience, true, true},
	} {
		h, now := newCluster(t, "")
		ctx := h.begin(test.ctx, "p")
		order := picked(h, h.begin(t.Context(), "p"))
		err := h.send(ctx, func(ctx context.Context) error {
			h.Pick(request{ctx: ctx})()
			*now = now.Add(test.took)
			return test.err
		})
		if !errors.Is(err, test.err) {
			t.Errorf("%s: became %v", name, err)
		}
		moved := append(slices.Clone(order[1:]), order[0])
		want := func(when string, ctx context.Context, avoided bool) {
			t.Helper()
			want := map[bool][]string{true: moved, false: order}[avoided]
			if got := picked(h, ctx); !slices.Equal(got, want) {
				t.Errorf("%s, %s: avoided should be %v", name, when, avoided)
			}
		}
		want("this call", ctx, test.inCall)
		want("another call", h.begin(t.Context(), "p"), test.inAll)
		*now = now.Add(shunTime - 1)
		want("later", h.begin(t.Context(), "p"), test.inAll)
		*now = now.Add(2)
		want("in the end", h.begin(t.Context(), "p"), false)
	}
	// An answer makes up for it.
	h, _ := newCluster(t, "")
	order := picked(h, h.begin(t.Context(), "p"))
	answer := func(err error) {
		ctx := h.begin(t.Context(), "p")
		_ = h.send(ctx, func(ctx context.Context) error {
			for next := h.Pick(request{ctx: ctx}); next().Info().HostID() != order[0]; {
			}
			return err
		})
	}
	answer(gocql.ErrTimeoutNoResponse)
	answer(nil)
	if got := picked(h, h.begin(t.Context(), "p")); !slices.Equal(got, order) {
		t.Errorf("a node that answers again is asked in the order %v, not %v", got, order)
	}
}
