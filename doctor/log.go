package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/internal/formats"
	"github.com/idmint/idmint/launchlog"
)

// Options are the optional settings of [Log].
type Options struct {
	// Now is this machine's clock. It is time.Now if nil.
	Now func() time.Time
}

const (
	// offsetNote and offsetFinding are how far clocks may differ. Claims let a clock be ahead by
	// offsetFinding, unless they are told otherwise.
	offsetNote    = time.Second
	offsetFinding = 30 * time.Second
	// quiet is how long claims leave a number alone that was not renewed, unless told otherwise.
	quiet = time.Minute
	// farAhead is beyond the longest window that a generator reserves, an hour.
	farAhead = time.Hour + time.Minute
	// page is how many rows are read at a time.
	page = 1000
	// shown is how many names a message has.
	shown = 5
)

// A content is what [Log] and [Usage] ask. What takes all rows of a kind is read once.
type content struct {
	log *launchlog.Log
	now func() time.Time

	counters func(context.Context) ([]launchlog.CounterState, error)
	running  func(context.Context) ([]launchlog.Launch, error)
	lentBy   map[claims.Pool]share
}

// A share is how many numbers of a pool are lent, or were within the quiet time, and how many it
// has.
type share struct{ used, size int }

func newContent(log *launchlog.Log, opts *Options) *content {
	c := &content{
		log: log, now: time.Now, counters: once(log, allCounters), running: once(log, allRunning),
		lentBy: map[claims.Pool]share{},
	}
	if opts != nil && opts.Now != nil {
		c.now = opts.Now
	}
	return c
}

// once reads rows at the first call that succeeds, and returns the same ones from then on.
func once[T any](
	log *launchlog.Log, read func(context.Context, *launchlog.Log) ([]T, error),
) func(context.Context) ([]T, error) {
	var rows []T
	known := false
	return func(ctx context.Context) (_ []T, err error) {
		if !known {
			rows, err = read(ctx, log)
			known = err == nil
		}
		return rows, err
	}
}

func (c *content) lent(ctx context.Context, pool claims.Pool) (of share, err error) {
	of, known := c.lentBy[pool]
	if !known {
		if of.used, of.size, err = lent(ctx, c.log, pool, c.now()); err == nil {
			c.lentBy[pool] = of
		}
	}
	return of, err
}

// Log checks what a launch log holds: the share of numbers that are used, locked numbers, and the
// offset of this machine's clock. It reads all running launches and all counters, in pages. The
// error is the log's where the store does not answer.
func Log(ctx context.Context, log *launchlog.Log, opts *Options) ([]Result, error) {
	return newContent(log, opts).check(ctx)
}

func (c *content) check(ctx context.Context) ([]Result, error) {
	if _, err := c.counters(ctx); err != nil {
		return nil, failed("counters", err)
	}
	return Examine(ctx, c, contentChecks, func(ctx context.Context) error {
		_, err := c.log.List(ctx, launchlog.Filter{Limit: 1})
		return err
	})
}

var contentChecks = []Probe[*content]{
	{"clock", compareClocks},
	{"launches", usedLaunches},
	{"generators", usedGenerators},
	{"counters", usedCounters},
	{"claims", lentNumbers},
	{"claims-ahead", lockedNumbers},
	{"times-ahead", timesAhead},
	{"decimal-order", decimalOrder},
}

// compareClocks compares this machine's clock with the store's.
func compareClocks(ctx context.Context, c *content, r *Reporter) error {
	before := c.now()
	store, err := c.log.Now(ctx)
	after := c.now()
	if err != nil {
		return err
	}
	if store.IsZero() {
		r.Pass("the store has no clock of its own")
	} else {
		r.Clock(before, store, after, "the store's")
	}
	return nil
}

func usedLaunches(ctx context.Context, c *content, r *Reporter) error {
	last, err := lastLaunch(ctx, c.log)
	if err != nil {
		return err
	}
	const text = "%d of %d launch numbers are used"
	r.Used(launchlog.Usage{Used: int64(last), Max: launchlog.MaxLaunch}, text, last,
		launchlog.MaxLaunch)
	r.Pass(text, last, launchlog.MaxLaunch)
	return nil
}

// lastLaunch is the highest launch number that is used.
func lastLaunch(ctx context.Context, log *launchlog.Log) (int, error) {
	newest, err := log.List(ctx, launchlog.Filter{Limit: 1})
	if err != nil {
		return 0, err
	}
	events, err := log.Events(ctx, 0)
	return lastOf(newest, events), err
}

// lastOf is the highest number of launches and events. Numbers that an operator advanced over have
// no launch, but an event.
func lastOf(newest []launchlog.Launch, events []launchlog.Event) (last int) {
	if len(newest) > 0 {
		last = newest[0].ID
	}
	for _, event := range events {
		var detail struct{ To int }
		if event.Kind == "advanced" && json.Unmarshal(event.Detail, &detail) == nil {
			last = max(last, detail.To)
		}
	}
	return last
}

func usedGenerators(ctx context.Context, c *content, r *Reporter) error {
	running, err := c.running(ctx)
	if err != nil {
		return err
	}
	for _, launch := range running {
		r.Used(launchlog.Usage{Used: int64(launch.NextGenerator), Max: launchlog.MaxGenerators},
			"launch %d, of %s in %s, has used %d of %d generator numbers", launch.ID,
			launch.Service, launch.Environment, launch.NextGenerator, launchlog.MaxGenerators)
	}
	r.Pass("launches that run: %d. None has used 80 %% of its generator numbers", len(running))
	return nil
}

func usedCounters(ctx context.Context, c *content, r *Reporter) error {
	counters, err := c.counters(ctx)
	if err != nil {
		return err
	}
	for _, counter := range counters {
		const most = 1<<63 - 1
		r.Used(launchlog.Usage{Used: counter.Value, Max: most},
			"counter %s stands at %d of %d", counter.Name, counter.Value, int64(most))
	}
	r.Pass("counters: %d. None has used 80 %% of its numbers", len(counters))
	return nil
}

func lentNumbers(ctx context.Context, c *content, r *Reporter) error {
	for _, pool := range claims.Pools() {
		of, err := c.lent(ctx, pool)
		if err != nil {
			return err
		}
		r.Used(launchlog.Usage{Used: int64(of.used), Max: int64(of.size)},
			"%d of %d numbers of %s are lent, or were within the last minute", of.used, of.size,
			pool.Scheme())
	}
	r.Pass("no pool of claims has lent 80 %% of its numbers")
	return nil
}

// shortCounter is the ceiling of short IDs that idmint new short uses. It is in milliseconds.
const shortCounter = "short"

// lockedNumbers looks for numbers that a clock far ahead has locked, and for a floor that locks all
// numbers of a pool. Their counters are named as claims and ceilings name them. Of other counters
// nobody knows whether they hold times.
func lockedNumbers(ctx context.Context, c *content, r *Reporter) error {
	now, err := c.log.Now(ctx)
	if err != nil {
		return err
	}
	if now.IsZero() {
		now = c.now()
	}
	for _, pool := range claims.Pools() {
		list, err := pool.List(ctx, c.log, now)
		if err != nil {
			return err
		}
		freed := map[string]bool{} // by a second counter, which lends them now
		for _, claim := range list {
			freed[claim.Number] = freed[claim.Number] || claim.Before.After(now)
		}
		var names []string
		for _, claim := range list {
			if claim.Until.Sub(now) > farAhead && !freed[claim.Number] {
				names = append(names, fmt.Sprintf("%s until %s", claim.Number,
					claim.Until.UTC().Format(time.DateTime)))
			}
		}
		if len(names) > 0 {
			r.Finding("%d numbers of %s are locked far ahead: %s", len(names), pool.Scheme(),
				first(names))
		}
		floor, err := pool.Floor(ctx, c.log)
		if err != nil {
			return err
		}
		if floor.Sub(now) > farAhead {
			r.Finding("no number of %s can be taken until %s: that is the pool's floor, "+
				"and nothing lowers it", pool.Scheme(), floor.UTC().Format(time.DateTime))
		}
	}
	counters, err := c.counters(ctx)
	if err != nil {
		return err
	}
	for _, counter := range counters {
		until := time.UnixMilli(min(counter.Value, formats.ShortMaxUnixMs) + 1)
		if counter.Name == shortCounter && until.Sub(now) > farAhead {
			r.Finding("the counter %s is ahead of all short IDs until %s, and nothing lowers it",
				shortCounter, until.UTC().Format(time.DateTime))
		}
	}
	r.Pass("no number of trace, sno or eightbyte is locked for more than an hour")
	return nil
}

// first joins the first of some names.
func first(names []string) string {
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:shown], ", ") + ", …"
}

// timesAhead looks at the newest rows of each kind whose times hold those of later ones.
func timesAhead(ctx context.Context, c *content, r *Reporter) error {
	now, err := c.log.Now(ctx)
	if err != nil {
		return err
	}
	if now.IsZero() {
		now = c.now()
	}
	ahead := func(at time.Time, format string, args ...any) {
		if at.Sub(now) > offsetFinding {
			r.Note("%s is of %s, which is %v ahead", fmt.Sprintf(format, args...), inUTC(at),
				at.Sub(now).Round(time.Second))
		}
	}
	newest, err := c.log.List(ctx, launchlog.Filter{Limit: marked})
	if err != nil {
		return err
	}
	for i, launch := range newest {
		if i == 0 {
			ahead(launch.StartedAt, "the start of launch %d", launch.ID)
		}
		if !launch.Running() || launch.NextGenerator == 0 {
			continue
		}
		_, at, err := claimOf(ctx, c.log, launch.ID, launch.NextGenerator-1)
		if err != nil {
			return err
		}
		ahead(at, "generator number %d of launch %d", launch.NextGenerator-1, launch.ID)
	}
	events, err := c.log.Events(ctx, 0)
	if err != nil {
		return err
	}
	if n := len(events); n > 0 {
		ahead(events[n-1].At, "the last advance")
	}
	counters, err := c.counters(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, counter := range counters {
		if counter.UpdatedAt.Sub(now) > offsetFinding {
			names = append(names, counter.Name)
		}
	}
	if len(names) > 0 {
		r.Note("%d counters have times ahead: %s", len(names), first(names))
	}
	r.Pass("no newest row has a time more than %v ahead", offsetFinding)
	return nil
}

// decimalOrder looks at the newest register of decimal counters.
func decimalOrder(ctx context.Context, c *content, r *Reporter) error {
	counters, err := c.counters(ctx)
	if err != nil {
		return err
	}
	newest, value := newestHint(counters)
	if newest < 0 {
		r.Pass("no app has reported how far its decimal IDs have come")
		return nil
	}
	const text = "decimal IDs have come to counter %d of %d, in epoch %d"
	// Uniqueness does not depend on it: a note is all there is.
	if u := (launchlog.Usage{Used: value, Max: formats.DecimalMaxCounter}); u.Level() > 0 {
		r.Note(text, value, formats.DecimalMaxCounter, newest)
	}
	r.Pass(text, value, formats.DecimalMaxCounter, newest)
	return nil
}

func allCounters(ctx context.Context, log *launchlog.Log) (all []launchlog.CounterState, _ error) {
	for after := ""; ; {
		found, err := log.Counters(ctx, after, page)
		all = append(all, found...)
		if err != nil || len(found) < page {
			return all, err
		}
		after = found[len(found)-1].Name
	}
}

func allRunning(ctx context.Context, log *launchlog.Log) (all []launchlog.Launch, _ error) {
	for filter := (launchlog.Filter{Running: true, Limit: page}); ; {
		found, err := log.List(ctx, filter)
		all = append(all, found...)
		if err != nil || len(found) < page {
			return all, err
		}
		filter.Before = found[len(found)-1].ID
	}
}
