package etcd

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idmint/idmint/launchlog/internal/kv"
)

func TestJudge(t *testing.T) {
	unavailable := func(text string) error { return status.Error(codes.Unavailable, text) }
	for _, test := range []struct {
		err  error
		want kv.Verdict
	}{
		// An answer that was lost, or a node that does not know itself.
		{context.DeadlineExceeded, kv.Unsure},
		{context.Canceled, kv.Unsure},
		{unavailable("error reading from server: EOF"), kv.Unsure},
		{unavailable("transport is closing"), kv.Unsure},
		{rpctypes.Error(rpctypes.ErrGRPCLeaderChanged), kv.Unsure},
		{rpctypes.Error(rpctypes.ErrGRPCNoLeader), kv.Unsure},
		{rpctypes.Error(rpctypes.ErrGRPCTimeout), kv.Unsure},
		{rpctypes.Error(rpctypes.ErrGRPCTimeoutDueToLeaderFail), kv.Unsure},
		{rpctypes.Error(rpctypes.ErrGRPCTimeoutDueToConnectionLost), kv.Unsure},
		{rpctypes.Error(rpctypes.ErrGRPCStopped), kv.Unsure},
		{rpctypes.Error(rpctypes.ErrGRPCUnhealthy), kv.Unsure},
		{status.Error(codes.Unknown, "raft proposal dropped"), kv.Unsure},
		{status.Error(codes.Internal, "stream terminated by RST_STREAM"), kv.Unsure},
		{errors.New("what is this"), kv.Unsure},
		// It was not carried out. Another node, or a later time, may do it.
		{unavailable(`connection error: desc = "transport: Error while dialing: dial tcp ` +
			`127.0.0.1:1: connect: connection refused"`), kv.Refused},
		{unavailable("authentication handshake failed: tls: unknown authority"), kv.Refused},
		{unavailable("there is no connection available"), kv.Refused},
		{rpctypes.Error(rpctypes.ErrGRPCRequestTooManyRequests), kv.Refused},
		{rpctypes.Error(rpctypes.ErrGRPCInvalidAuthToken), kv.Refused},
		{rpctypes.Error(rpctypes.ErrGRPCAuthOldRevision), kv.Refused},
		{rpctypes.Error(rpctypes.ErrGRPCNotSupportedForLearner), kv.Refused},
		// It was not carried out, and will not be.
		{rpctypes.Error(rpctypes.ErrGRPCNoSpace), kv.Final},
		{rpctypes.Error(rpctypes.ErrGRPCPermissionDenied), kv.Final},
		{rpctypes.Error(rpctypes.ErrGRPCUserEmpty), kv.Final},
		{rpctypes.Error(rpctypes.ErrGRPCRequestTooLarge), kv.Final},
		{rpctypes.Error(rpctypes.ErrGRPCTooManyOps), kv.Final},
		{rpctypes.Error(rpctypes.ErrGRPCCorrupt), kv.Final},
		{rpctypes.Error(rpctypes.ErrGRPCAuthFailed), kv.Final},
		{status.Error(codes.Unimplemented, "unknown service etcdserverpb.KV"), kv.Final},
	} {
		for _, err := range []error{test.err, fmt.Errorf("node1: %w", test.err)} {
			if got := judge(err); got != test.want {
				t.Errorf("%v: %d, want %d", err, got, test.want)
			}
		}
	}
	if err := explain(rpctypes.Error(rpctypes.ErrGRPCNoSpace)); !errors.Is(err, ErrNoSpace) ||
		judge(err) != kv.Final {
		t.Errorf("no space: %v", err)
	}
}
