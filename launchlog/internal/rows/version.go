package rows

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
)

// awaitTime bounds how long [Await] waits for a database that does not answer.
const awaitTime = 10 * time.Second

// silence is the error of a database that did not answer.
type silence struct{}

func (silence) Error() string { return fmt.Sprintf("it did not answer for %v", awaitTime) }

// Passes reports that the database may answer later.
func (silence) Passes() bool { return true }

// Await asks a database for the version of its tables until it answers, for up to 10 s. Errors: a
// [*launchlog.SchemaError] where it is not [SchemaVersion], the context's, or that of version.
func Await(ctx context.Context, version func(context.Context) (int, error)) error {
	waiting, cancel := context.WithTimeout(ctx, awaitTime)
	defer cancel()
	var err, last error // of this attempt, and of one that said what was in the way
	for range dialect.Attempts(waiting, time.Second) {
		var have int
		have, err = version(waiting)
		switch {
		case err == nil && have == SchemaVersion:
			return nil
		case err == nil:
			return &launchlog.SchemaError{Have: have, Want: SchemaVersion}
		}
		again := (*launchlog.AttemptError)(nil)
		if !errors.As(err, &again) || dialect.UnknownHost(err) {
			break
		}
		// The end of the wait cuts an attempt off, which need not say so: a dial says "i/o timeout".
		timeout := net.Error(nil)
		if last == nil || !errors.As(err, &timeout) || !timeout.Timeout() {
			last = err
		}
		err = last
	}
	switch {
	case err == nil: // ctx had ended before
		return context.Cause(ctx)
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	case ctx.Err() != nil && last != nil: // err says only that
		return fmt.Errorf("%w: %w", context.Cause(ctx), last)
	// This wait has ended, and not the caller's context.
	case ctx.Err() == nil && errors.Is(err, waiting.Err()):
		return errors.Join(silence{}, last)
	}
	return err
}
