package launchlog

import (
	"context"
	"time"
)

// A Step is one attempt of a store operation, as [Options].Observe receives it. A call of a [Log]
// makes at least one attempt, and more if the store does not answer.
type Step struct {
	Namespace string
	// Op is the operation, as in an UnresolvedError: "start", "end", "claim", "advance", "digits",
	// "trim", "show", "list", "events", "claims", "now", "room", "reserve", "raise", "last" or
	// "counters".
	Op       string
	Attempt  int           // 1 for the first attempt of a call
	Duration time.Duration // of this attempt, without the pause before it
	// Err is the store's error, without the package's name, or nil. An AttemptError in it means
	// that the attempt did not settle the operation.
	Err error
}

// observed runs an attempt, and reports it to Options.Observe.
func observed[T any](
	ctx context.Context, l *Log, op string, attempt int, run func(context.Context) (T, error),
) (T, error) {
	if l.opts.Observe == nil {
		return run(ctx)
	}
	began := time.Now()
	result, err := run(ctx)
	l.opts.Observe(ctx, Step{
		Namespace: l.opts.Namespace, Op: op, Attempt: attempt, Duration: time.Since(began),
		Err: err,
	})
	return result, err
}

// taken reports that n numbers were taken, and warns if they reached a level.
func (l *Log) taken(u Usage, n int64) {
	u.Namespace = l.opts.Namespace
	if l.opts.Taken != nil {
		l.opts.Taken(u)
	}
	before := u
	before.Used -= n
	if l.opts.Warn != nil && u.Level() > before.Level() {
		l.opts.Warn(u)
	}
}
