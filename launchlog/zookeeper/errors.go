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

// failed adds the package's name to an error that leaves the package, unlike errors of steps, which
// get launchlog's name.
func failed(err error) error { return named.Failed("launchlog/zookeeper", err) }

// Errors of servers for which package zk has no name, but only the text "unknown error: " and the
// number.
const (
	quotaExceeded = "unknown error: -125"
	throttled     = "unknown error: -127"
)

var (
	errForeign   = errors.New("the user has no access to the path, which another user created")
	errQuota     = errors.New("the path's quota is used up")
	errThrottled = errors.New("the server is overloaded")
	errOver      = errors.New("the connection was closed before the request was sent")
)

// explained adds the meaning to an error of a request that is not self-explanatory.
func explained(err error) error {
	switch {
	case err == nil:
		return nil
	case err == zk.ErrNoServer: // package zk's error for requests that it did not send
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

// unmet reports whether a request was refused because of the znodes that exist or do not exist.
func unmet(err error) bool {
	return isAny(err, zk.ErrBadVersion, zk.ErrNodeExists, zk.ErrNoNode, zk.ErrNotEmpty)
}

func isAny(err error, of ...error) bool {
	return slices.ContainsFunc(of, func(e error) bool { return errors.Is(err, e) })
}

// judge interprets the error of a call. It is unsure about everything that is not a server's
// answer. That includes the session's errors, some of which package zk itself returns for requests
// that were sent before. A server may also answer -5, for example, if it has executed a
// request but cannot answer it.
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
