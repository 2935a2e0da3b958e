package etcd

import (
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idmint/idmint/internal/named"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// ErrNoSpace is wrapped by the error of a step if the cluster has reached its space quota. The
// cluster accepts no writes until an operator compacts and defragments it, or raises the quota, and
// disarms the alarm.
var ErrNoSpace = errors.New("launchlog/etcd: etcd's database has reached its quota: " +
	"compact and defragment it, or raise --quota-backend-bytes, then run etcdctl alarm disarm")

// failed adds the package's name to an error that leaves the package, unlike errors of steps, which
// get launchlog's name.
func failed(err error) error { return named.Failed("launchlog/etcd", err) }

// judge interprets an error of clientv3 for a transaction that was sent to a node.
func judge(err error) kv.Verdict {
	code, text := codeOf(err)
	switch {
	case text == desc(rpctypes.ErrGRPCRequestTooManyRequests), // before it proposes anything
		text == desc(rpctypes.ErrGRPCInvalidAuthToken), // the client has a new one next time
		text == desc(rpctypes.ErrGRPCAuthOldRevision):
		return kv.Refused
	case text == desc(rpctypes.ErrGRPCNoSpace), errors.Is(err, ErrNoSpace):
		return kv.Final
	case code == codes.InvalidArgument, code == codes.PermissionDenied,
		code == codes.Unimplemented, code == codes.DataLoss:
		return kv.Final
	case code == codes.Unavailable && unsent(text),
		code == codes.FailedPrecondition: // a learner, or a version that does not support it
		return kv.Refused
	}
	return kv.Unsure // also at the context's end, wherever the call was
}

// unsent reports whether gRPC's text means that it had no connection for the call.
func unsent(text string) bool {
	for _, sign := range []string{
		"Error while dialing", "authentication handshake failed", "no connection available",
		"there is no address available", "name resolver error", "produced zero addresses",
		"error reading server preface",
	} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// codeOf returns gRPC's code and text of an error in any form that clientv3 uses.
func codeOf(err error) (codes.Code, string) {
	if e := (rpctypes.EtcdError{}); errors.As(err, &e) {
		return e.Code(), e.Error()
	}
	s, _ := status.FromError(err)
	return s.Code(), s.Message()
}

func desc(err error) string { return rpctypes.ErrorDesc(err) }

// explain adds what to do to errors that etcd states only briefly.
func explain(err error) error {
	if _, text := codeOf(err); text == desc(rpctypes.ErrGRPCNoSpace) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}
