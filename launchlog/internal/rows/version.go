package rows

import (
	"context"
	"errors"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
)

// ServerTime is how long to wait for a server, which may have no connection left when a thousand
// processes start. An app that gave up would only start again and ask again.
const ServerTime = time.Minute

// onceTime is the longest duration of one attempt of Await. A server whose backlog is full leaves
// some connections without an answer.
const onceTime = 5 * time.Second

// IdleTime is how long an unused connection is kept open. It is limited so that others can connect
// when a thousand processes start at once. It is longer than the second between two reads of the
// order register by a generator, so that up to fifteen minting processes keep their connections.
// With more processes, each reads less often, and together they connect at most ten times a second.
const IdleTime = 1500 * time.Millisecond

// Await asks a database for the version of its tables until it answers or patience has passed. The
// error is a [*launchlog.SchemaError] for a version that does not fit (see [Fits]), the context's,
// or the one from version.
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
