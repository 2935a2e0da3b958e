package zookeeper

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/launchlog/internal/named"
)

// A ConfigError is returned by [Open] and [Migrate] for a [Config] that they do not take.
type ConfigError struct {
	Field  string // of Config
	Value  string // empty for a password
	Reason string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("launchlog/zookeeper: %s %s %s", e.Field, strconv.Quote(e.Value), e.Reason)
}

// A failure is why a store was not opened or prepared, behind the package's name. The errors of its
// steps get that of launchlog.
type failure struct{ err error }

func (e *failure) Error() string { return "launchlog/zookeeper: " + named.Bare(e.err) }

func (e *failure) Unwrap() error { return e.err }

// failed is what leaves the package.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &failure{err}
}

// Errors of servers that package zk has no name for. Its text is "unknown error: " and the number.
const (
	unimplemented = "unknown error: -6"
	quotaExceeded = "unknown error: -125"
	throttled     = "unknown error: -127"
)

// outcome is what an error of package zk says of a request.
type outcome int

const (
	// done: the request was carried out.
	done outcome = iota
	// refused: the server did not carry it out, because of what is there or is not.
	refused
	// forbidden: the server did not carry it out, and will not.
	forbidden
	// busy: the server did not carry it out, and may later.
	busy
	// doubtful: the request may have been carried out, or may yet be. Among these are the session's
	// errors. Package zk makes some of them itself, of requests that were sent before.
	// And a server says -5, for one, of what it could not answer, when it is done.
	doubtful
)

func outcomeOf(err error) outcome {
	switch {
	case err == nil:
		return done
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNodeExists),
		errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrNotEmpty):
		return refused
	case errors.Is(err, zk.ErrNoAuth), errors.Is(err, zk.ErrAuthFailed),
		errors.Is(err, zk.ErrInvalidACL), errors.Is(err, zk.ErrNoChildrenForEphemerals),
		errors.Is(err, zk.ErrInvalidPath), err.Error() == unimplemented,
		err.Error() == quotaExceeded:
		return forbidden
	case err.Error() == throttled:
		return busy
	}
	return doubtful
}

// explained says what an error of a server means, where that is not plain.
func explained(err error) error {
	switch {
	case errors.Is(err, zk.ErrNoAuth):
		return fmt.Errorf("the user may not use the path, which another user made: %w", err)
	case err != nil && err.Error() == quotaExceeded:
		return fmt.Errorf("the path's quota is used up: %w", err)
	case err != nil && err.Error() == unimplemented:
		return fmt.Errorf("the server is older than 3.4: %w", err)
	}
	return err
}
