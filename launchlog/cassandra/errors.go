package cassandra

import (
	"context"
	"errors"
	"fmt"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/named"
)

// A failure is why a store was not opened or migrated, behind the package's name. The errors of its
// steps get that of launchlog.
type failure struct{ err error }

func (e *failure) Error() string { return "launchlog/cassandra: " + named.Bare(e.err) }

func (e *failure) Unwrap() error { return e.err }

// failed puts the package's name before an error, unless it is nil.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &failure{err}
}

// A ConfigError is returned by [Open] and [Migrate] for settings that they do not take.
type ConfigError struct {
	Field  string // of Config
	Value  string
	Reason string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("launchlog/cassandra: %s %q %s", e.Field, e.Value, e.Reason)
}

// A SerialError is returned by [Open] and [Migrate] where the keyspace's log was made with another
// serial consistency. Writers with different ones do not see each other: numbers would repeat.
type SerialError struct {
	Have string // as "SERIAL", or "LOCAL_SERIAL in dc1"
	Want string // that the Config asks for
}

func (e *SerialError) Error() string {
	return fmt.Sprintf("launchlog/cassandra: the launch log is one of %s: "+
		"it cannot be opened with %s", e.Have, e.Want)
}

var (
	errSilent   = errors.New("no node answered in time")
	errNoServer = errors.New("no node can be reached")
	errNoAnswer = errors.New("it does not answer") // of one node
)

// attempt is the error of an attempt after which a launchlog.Log may try again.
func attempt(ambiguous bool, err error) error {
	return &launchlog.AttemptError{Ambiguous: ambiguous, Err: err}
}

// ended says why a call ended: by the caller's context, or by its own bound. It also says what the
// nodes of the call did.
func ended(ctx context.Context, err error) error {
	nodes := told(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		err = errSilent
	case nodes != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		err = ctx.Err()
	case nodes != nil && errors.Is(nodes, err):
		err = nil // which is that of a node
	}
	if nodes != nil && err != nil {
		err = fmt.Errorf("%w: %w", err, nodes)
	}
	if err == nil {
		err = nodes
	}
	if ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

// unsent reports whether the driver found no connection to send a request by.
func unsent(err error) bool {
	return errors.Is(err, gocql.ErrNoConnections) || errors.Is(err, gocql.ErrNoStreams)
}

// passes reports whether an error may be gone in the next attempt. That says nothing of whether the
// attempt was carried out. A node says Unavailable and Overloaded before it begins, and also where
// it has proposed already and cannot commit. So a commit is in doubt after any of these:
// WriteTimeout, CASWriteUnknown, WriteFailure, Unavailable, Overloaded, a connection that was lost,
// no answer. So it is after what the driver says by itself, unless that is unsent. For instance it
// has ErrFrameTooBig for a request that is too large, and for an answer that is.
//
// Errors that a node returns for a request that it did not begin are final.
func passes(err error) bool {
	var server gocql.RequestError
	switch {
	case err == nil, errors.Is(err, gocql.ErrSessionClosed): // nothing was sent
		return false
	case !errors.As(err, &server):
		return true
	}
	switch server.Code() {
	case gocql.ErrCodeProtocol, gocql.ErrCodeCredentials, gocql.ErrCodeSyntax,
		gocql.ErrCodeUnauthorized, gocql.ErrCodeInvalid, gocql.ErrCodeConfig,
		gocql.ErrCodeAlreadyExists, gocql.ErrCodeFunctionFailure:
		return false
	}
	return true
}

// isInvalid reports whether a node knows no such table, among other things.
func isInvalid(err error) bool {
	var server gocql.RequestError
	return errors.As(err, &server) && server.Code() == gocql.ErrCodeInvalid
}

// strays reports whether an error tells that another node may do better from now on.
func strays(err error) bool {
	var server gocql.RequestError
	if !errors.As(err, &server) {
		return true // no answer
	}
	switch server.Code() {
	case gocql.ErrCodeUnavailable, gocql.ErrCodeOverloaded, gocql.ErrCodeBootstrapping,
		gocql.ErrCodeServer:
		return true
	}
	return false
}
