package rows

import (
	"context"
	"errors"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
)

// ServerTime is how long a server is waited for, which may have no connection left when a thousand
// processes start. An app that ended instead would start again, and ask again.
const ServerTime = time.Minute

// onceTime is how long one attempt of Await may take. A server with too many connections in its backlog
// leaves some without an answer.
const onceTime = 5 * time.Second

// IdleTime is how long a connection is kept that nothing uses. Then others have it, of a thousand that
// start at once. It is longer than the second between two looks of a generator at the register of
// order, so that up to fifteen processes that mint keep theirs. More of them look less often each, and
// together connect ten times a second at most.
const IdleTime = 1500 * time.Millisecond

// Await asks a database for the version of its tables until it answers, for as long as the patience.
// Errors: a [*launchlog.SchemaError] for one that does not fit, see [Fits]; the context's; or that of
// version.
func Await(
	ctx context.Context, patience time.Duration, version func(context.Context) (int, error),
) error {
	return dialect.Await(ctx, patience, func(err error) bool {
		return errors.As(err, new(*launchlog.AttemptError)) && !dialect.UnknownHost(err)
	}, func(ctx context.Context) error {
		once, cancel := context.WithTimeout(ctx, onceTime)
		defer cancel()
		have, err := version(once)
		switch {
		case err == nil && !Fits(have):
			return &launchlog.SchemaError{Have: have, Want: SchemaVersion}
		case err != nil && once.Err() != nil && ctx.Err() == nil:
			return &launchlog.AttemptError{Err: err}
		}
		return err
	})
}
