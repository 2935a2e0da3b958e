package etcd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/idmint/idmint/launchlog/internal/named"
)

// ErrNoSpace is wrapped by the error of a step where the cluster has reached its quota of space. It
// takes no writes until an operator compacts and defragments it, or raises the quota, and disarms
// the alarm.
var ErrNoSpace = errors.New("launchlog/etcd: the quota of etcd's database is reached: " +
	"compact and defragment it, or raise --quota-backend-bytes, then run etcdctl alarm disarm")

// A ConfigError is returned by [Open] and [Migrate] for a [Config] that they do not take.
type ConfigError struct {
	Field  string // of Config
	Value  string // empty for a password
	Reason string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("launchlog/etcd: %s %s %s", e.Field, strconv.Quote(e.Value), e.Reason)
}

// A failure is why a store was not opened or prepared, behind the package's name. The errors of its
// steps get that of launchlog.
type failure struct{ err error }

func (e *failure) Error() string { return "launchlog/etcd: " + named.Bare(e.err) }

func (e *failure) Unwrap() error { return e.err }

// failed is what leaves the package.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &failure{err}
}

// A verdict says what an error means for a transaction that was sent to a node.
type verdict int

const (
	// unsure: it may have been carried out, or may yet be.
	unsure verdict = iota
	// refused: it was not carried out, and another node or a later time may do it.
	refused
	// final: it was not carried out, and will not be as it is.
	final
)

// A connectError is of a client that could not be made, for example because the node did not answer
// to user and password. Nothing was sent with it.
type connectError struct{ err error }

func (e *connectError) Error() string { return e.err.Error() }

func (e *connectError) Unwrap() error { return e.err }

// judge says what an error of clientv3 means.
func judge(err error) verdict {
	connecting := (*connectError)(nil)
	unsentYet := errors.As(err, &connecting)
	code, text := codeOf(err)
	switch {
	case errors.Is(err, errClosed):
		return final
	case text == desc(rpctypes.ErrGRPCRequestTooManyRequests), // before it proposes anything
		text == desc(rpctypes.ErrGRPCInvalidAuthToken), // the client has a new one next time
		text == desc(rpctypes.ErrGRPCAuthOldRevision):
		return refused
	case text == desc(rpctypes.ErrGRPCNoSpace):
		return final
	case code == codes.InvalidArgument, code == codes.PermissionDenied,
		code == codes.Unimplemented, code == codes.DataLoss:
		return final
	case unsentYet,
		code == codes.Unavailable && unsent(text),
		code == codes.FailedPrecondition: // a learner, or a version that cannot do it
		return refused
	}
	return unsure // also what clientv3 makes of the context's end, wherever the call was
}

// unsent reports whether gRPC says that it had no connection to send a call by.
func unsent(text string) bool {
	for _, sign := range []string{
		"Error while dialing", "authentication handshake failed", "no connection available",
		"there is no address available", "name resolver error", "produced zero addresses",
	} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// codeOf returns gRPC's code and text of an error, in whichever form clientv3 has it.
func codeOf(err error) (codes.Code, string) {
	if e := (rpctypes.EtcdError{}); errors.As(err, &e) {
		return e.Code(), e.Error()
	}
	s, _ := status.FromError(err)
	return s.Code(), s.Message()
}

func desc(err error) string { return rpctypes.ErrorDesc(err) }

// explain adds what to do to errors that etcd words shortly.
func explain(err error) error {
	if _, text := codeOf(err); text == desc(rpctypes.ErrGRPCNoSpace) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}
