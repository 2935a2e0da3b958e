package rows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// awaitTime bounds how long [Await] waits for a server that does not answer.
const awaitTime = 10 * time.Second

var errSilent = fmt.Errorf("the server did not answer for %v", awaitTime)

// Await asks a server for the version of its tables until it answers, for up to 10 s. Errors: a [*launchlog.SchemaError] where it is not
// [SchemaVersion], the context's, or that of version.
func Await(ctx context.Context, version func(context.Context) (int, error)) error {
	waiting, cancel := context.WithTimeout(ctx, awaitTime)
	defer cancel()
	var last error
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		have, err := version(waiting)
		var again *launchlog.AttemptError
		switch {
		case err == nil && have == SchemaVersion:
			return nil
		case err == nil:
			err = &launchlog.SchemaError{Have: have, Want: SchemaVersion}
		case errors.As(err, &again):
			last = err
			select {
			case <-time.After(rand.N(wait)):
				continue
			case <-waiting.Done():
			}
		}
		switch {
		case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case ctx.Err() != nil && last != nil: // which says what was in the way
			err = fmt.Errorf("%w: %w", err, last)
		case ctx.Err() == nil && errors.Is(err, waiting.Err()): // of this wait, which is not the caller's
			err = errors.Join(errSilent, last)
		}
		return err
	}
}
