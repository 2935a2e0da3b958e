package launchlog

import (
	"context"
	"time"
)

// MinTrimAge is the least age of claims that [Log.Trim] removes.
const MinTrimAge = 24 * time.Hour

// trimRows is how many claims a step of Trim removes at most, so that none is long.
const trimRows = 256

// Trim removes the claims that are older than age, of all launches of the namespace, and returns
// how many. It keeps the newest claim of each launch, all launches with their FirstGenerator and
// NextGenerator, and all events. So it is no longer known which process took a number that was
// trimmed. No number is given out again, because the next one does not depend on the claims: not
// where claims are taken meanwhile, nor where one that was trimmed is run again with its token.
//
// The age is at least [MinTrimAge], or the error is a [*RequestError]. Now is that of [Log.Now], or
// this machine's clock for a store that has none. In etcd, ZooKeeper and Cassandra claims have the
// times of the processes that took them: where a clock was a day behind, they are taken for a day
// older.
//
// Trim works launch by launch, in small steps, and many may run at once. After an error, what was
// removed stays so: run it again. Other errors: [*UnresolvedError], or what the store says.
func (l *Log) Trim(ctx context.Context, age time.Duration) (removed int, err error) {
	if age < MinTrimAge {
		return 0, &RequestError{
			"age", age.String(), "is below a day: younger claims settle what is under way",
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

// trim removes the claims of a launch that were made before a time, but for its newest one.
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
