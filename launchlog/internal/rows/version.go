package rows

import (
	"context"
	"errors"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
)

// Await asks a database for the version of its tables until it answers, for up to 10 s. Errors: a
// [*launchlog.SchemaError] for one that does not fit, see [Fits]; the context's; or that of version.
func Await(ctx context.Context, version func(context.Context) (int, error)) error {
	return dialect.Await(ctx, 10*time.Second, func(err error) bool {
		return errors.As(err, new(*launchlog.AttemptError)) && !dialect.UnknownHost(err)
	}, func(ctx context.Context) error {
		have, err := version(ctx)
		if err == nil && !Fits(have) {
			return &launchlog.SchemaError{Have: have, Want: SchemaVersion}
		}
		return err
	})
}
