package launchlog

import (
	"context"
	"time"
)

// MinTrimAge is the minimum age of claims that [Log.Trim] removes.
const MinTrimAge = 24 * time.Hour

// trimRows is the most claims that one step of Trim removes, so that each step is short.
const trimRows = 256

// Trim removes the claims that are older than age, of all launches of the namespace, and returns
// how many it removed. It keeps the newest claim of each launch, all launches with their
// FirstGenerator and NextGenerator, and all events. After a trim it is no longer known which
// process took a number whose claim is gone. No number is handed out again, because the next number
// does not depend on the claims. This holds while other claims are taken, and if an operation whose
// claim was trimmed is run again with its token.
//
// The age must be at least [MinTrimAge], or the error is a [*RequestError]. It is measured by
// [Log.Now], or by this machine's clock for a store that has no clock. In etcd, ZooKeeper and
// Cassandra, claims have the times of the processes that took them, so claims of a process whose
// clock was a day behind appear a day older.
//
// Trim works launch by launch, in small steps, and many may run at once. After an error, the claims
// removed so far stay removed, and Trim can be called again. Other errors: [*UnresolvedError], or
// the store's own.
func (l *Log) Trim(ctx context.Context, age time.Duration) (removed int, err error) {
	if age < MinTrimAge {
		return 0, &RequestError{
			"age", age.String(),
			"must be at least a day: younger claims settle operations in progress",
		}
	}
	now, err := l.Now(ctx)
	if err != nil {
		return 0, err
	}
	if now.IsZero() {
		now = time.Now()
	}
	for before := 0; ; {
		page, err := l.List(ctx, Filter{Before: before, Limit: pageRows})
		if err != nil {
			return removed, err
		}
		for _, launch := range page {
			n, err := l.trim(ctx, launch, now.Add(-age))
			if removed += n; err != nil {
				return removed, err
			}
			before = launch.ID
		}
		if len(page) < pageRows {
			return removed, nil
		}
	}
}

// trim removes the claims of a launch that were made before a time, except its newest one.
func (l *Log) trim(ctx context.Context, launch Launch, before time.Time) (removed int, err error) {
	from := launch.FirstGenerator
	if launch.NextGenerator-from < 2 || !launch.StartedAt.Before(before) {
		return 0, nil
	}
	for {
		claims, err := l.Claims(ctx, launch.ID, from, trimRows+1)
		if err != nil {
			return removed, err
		}
		old := 0
		for old < len(claims)-1 && claims[old].ClaimedAt.Before(before) { // not the last one
			old++
		}
		if old == 0 {
			return removed, nil
		}
		from = claims[old-1].Generator + 1
		ref := l.ref(launch.ID)
		_, err = attempt(ctx, l, "trim", "", func(ctx context.Context) (any, error) {
			return nil, l.store.TrimClaims(ctx, ref, from)
		})
		if err != nil {
			return removed, about("trim", err)
		}
		if removed += old; old < trimRows {
			return removed, nil
		}
	}
}
