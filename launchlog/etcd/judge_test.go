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
	for want, errs := range map[kv.Verdict][]error{
		// An answer that was lost, or a node that does not know itself.
		kv.Unsure: {
			context.DeadlineExceeded, context.Canceled, errors.New("what is this"),
			unavailable("error reading from server: EOF"), unavailable("transport is closing"),
			rpctypes.Error(rpctypes.ErrGRPCLeaderChanged), rpctypes.Error(rpctypes.ErrGRPCNoLeader),
			rpctypes.Error(rpctypes.ErrGRPCTimeout), rpctypes.Error(rpctypes.ErrGRPCStopped),
			rpctypes.Error(rpctypes.ErrGRPCTimeoutDueToLeaderFail),
			rpctypes.Error(rpctypes.ErrGRPCTimeoutDueToConnectionLost),
			rpctypes.Error(rpctypes.ErrGRPCUnhealthy),
			status.Error(codes.Unknown, "raft proposal dropped"),
			status.Error(codes.Internal, "stream terminated by RST_STREAM"),
		},
		// It was not carried out. Another node, or a later time, may do it.
		kv.Refused: {
			unavailable(`connection error: desc = "transport: Error while dialing: dial tcp ` +
				`127.0.0.1:1: connect: connection refused"`),
			unavailable("authentication handshake failed: tls: unknown authority"),
			unavailable("there is no connection available"),
			rpctypes.Error(rpctypes.ErrGRPCRequestTooManyRequests),
			rpctypes.Error(rpctypes.ErrGRPCInvalidAuthToken),
			rpctypes.Error(rpctypes.ErrGRPCAuthOldRevision),
			rpctypes.Error(rpctypes.ErrGRPCNotSupportedForLearner),
		},
		// It was not carried out, and will not be.
		kv.Final: {
			rpctypes.Error(rpctypes.ErrGRPCNoSpace), explain(rpctypes.Error(rpctypes.ErrGRPCNoSpace)),
			rpctypes.Error(rpctypes.ErrGRPCPermissionDenied),
			rpctypes.Error(rpctypes.ErrGRPCUserEmpty), rpctypes.Error(rpctypes.ErrGRPCAuthFailed),
			rpctypes.Error(rpctypes.ErrGRPCRequestTooLarge),
			rpctypes.Error(rpctypes.ErrGRPCTooManyOps), rpctypes.Error(rpctypes.ErrGRPCCorrupt),
			status.Error(codes.Unimplemented, "unknown service etcdserverpb.KV"),
		},
	} {
		for _, err := range errs {
			for _, err := range []error{err, fmt.Errorf("node1: %w", err)} {
				if got := judge(err); got != want {
					t.Errorf("%v: %d, want %d", err, got, want)
				}
			}
		}
	}
	if err := explain(rpctypes.Error(rpctypes.ErrGRPCNoSpace)); !errors.Is(err, ErrNoSpace) {
		t.Errorf("no space: %v", err)
	}
}
