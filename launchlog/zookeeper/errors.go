package zookeeper

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/internal/named"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// failed is what leaves the package. The errors of steps get launchlog's name instead.
func failed(err error) error { return named.Failed("launchlog/zookeeper", err) }

// Errors of servers that package zk has no name for. Its text is "unknown error: " and the number.
const (
	quotaExceeded = "unknown error: -125"
	throttled     = "unknown error: -127"
)

var (
	errForeign   = errors.New("the user may not use the path, which another user made")
	errQuota     = errors.New("the path's quota is used up")
	errThrottled = errors.New("the server has too much to do")
	errOver      = errors.New("the connection was closed before the request was sent")
)

// explained says what an error of a request means, where that is not plain.
func explained(err error) error {
	switch {
	case err == nil:
		return nil
	case err == zk.ErrNoServer: // what package zk says of requests that it did not send
		return errOver
	case err == zk.ErrNoAuth:
		return fmt.Errorf("%w: %w", errForeign, err)
	case err.Error() == quotaExceeded:
		return fmt.Errorf("%w: %w", errQuota, err)
	case err.Error() == throttled:
		return fmt.Errorf("%w: %w", errThrottled, err)
	}
	return err
}

// unmet reports whether a request was not carried out because of what is there or is not.
func unmet(err error) bool {
	return isAny(err, zk.ErrBadVersion, zk.ErrNodeExists, zk.ErrNoNode, zk.ErrNotEmpty)
}

func isAny(err error, of ...error) bool {
	return slices.ContainsFunc(of, func(e error) bool { return errors.Is(err, e) })
}

// judge says what the error of a call means for it. It is unsure of all that is not a server's
// answer. Among these are the session's errors, some of which package zk makes itself, of requests
// that were sent before. And a server says -5, for one, of what it could not answer, when it is
// done.
func judge(err error) kv.Verdict {
	switch {
	case isAny(err, errOver, errThrottled):
		return kv.Refused
	case unmet(err), errors.As(err, new(*launchlog.SchemaError)),
		isAny(err, zk.ErrNoAuth, zk.ErrAuthFailed, zk.ErrInvalidACL, zk.ErrNoChildrenForEphemerals,
			zk.ErrInvalidPath, errQuota, launchlog.ErrOtherLog):
		return kv.Final
	}
	return kv.Unsure
}
