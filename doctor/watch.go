package doctor

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
)

// WatchOptions are the optional settings of [NewWatch]. The zero value is a good choice.
type WatchOptions struct {
	// Every is how long a reading is kept before the log is read again. It is a minute if zero. A
	// reading asks for the launches that run and for the counters, in pages of 1,000, and for 10,000
	// of each at most: an app may make any number of counters, and a watch may not take as much
	// memory. A note says so.
	Every time.Duration
	// Timeout is how long a reading may take. It is 2 s if zero.
	Timeout time.Duration
	// Checks examines the database, beside what [Log] checks: for example by [SQL]. It runs with
	// each reading, within the same time.
	Checks func(context.Context) ([]checks.Result, error)
	// Now is this machine's clock. It is time.Now if nil.
	Now func() time.Time
}

// A Watch reads a launch log now and then, for whoever asks: pages, metrics, a health endpoint. It
// has no goroutine, and needs no closing. It is safe for use by many goroutines.
type Watch struct {
	log  *launchlog.Log
	opts WatchOptions
	turn chan struct{} // has one while somebody reads
	last atomic.Pointer[Reading]
	next time.Time // when to read again; of who has the turn
}

// A Reading is what a log said of itself, and must not be changed.
type Reading struct {
	At      time.Time // when it began, by this machine's clock
	Took    time.Duration
	Shares  []Share         // what is used up
	Results []checks.Result // of the checks of [Log], and of WatchOptions.Checks
	Claims  []claims.Claim  // that were lent ever, the latest first
	// Err is why the log did not answer. Then nothing of the above is known.
	Err error
	// Good is the last reading that succeeded: this one, an earlier one, or nil.
	Good *Reading
	// Failures are how many readings of the watch have failed.
	Failures uint64
}

// mostRead is how many launches and how many counters a watch reads.
const mostRead = 10_000

// again is how soon a log that did not answer is asked again.
const again = 5 * time.Second

// NewWatch makes a watch of a log. Nothing is read before somebody asks.
func NewWatch(log *launchlog.Log, opts *WatchOptions) *Watch {
	w := &Watch{log: log, turn: make(chan struct{}, 1)}
	if opts != nil {
		w.opts = *opts
	}
	w.opts.Every = cmp.Or(w.opts.Every, time.Minute)
	w.opts.Timeout = cmp.Or(w.opts.Timeout, 2*time.Second)
	if w.opts.Now == nil {
		w.opts.Now = time.Now
	}
	return w
}

// Read returns the last reading, or makes one if that is older than WatchOptions.Every, or failed 5
// s ago. Others wait meanwhile, and get the same. Whoever gives up gets the last one, or, if there
// is none, a reading with the context's error.
func (w *Watch) Read(ctx context.Context) *Reading {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
	}
	before := w.last.Load()
	if ctx.Err() != nil {
		return cmp.Or(before, &Reading{At: w.opts.Now(), Err: ctx.Err()})
	}
	if before != nil && w.opts.Now().Before(w.next) {
		return before
	}
	r := w.read(ctx)
	if before != nil {
		r.Failures = before.Failures
	}
	if r.Err == nil {
		r.Good = r
	} else if before != nil {
		r.Good = before.Good
	}
	if ctx.Err() != nil { // who asked gave up, which says nothing of the log
		return r
	}
	w.next = w.opts.Now().Add(w.Keeps(r))
	if r.Err != nil {
		r.Failures++
	}
	w.last.Store(r)
	return r
}

// Keeps is how long a reading is kept.
func (w *Watch) Keeps(r *Reading) time.Duration {
	if r.Err != nil {
		return min(again, w.opts.Every)
	}
	return w.opts.Every
}

func (w *Watch) read(ctx context.Context) *Reading {
	ctx, cancel := context.WithTimeout(ctx, w.opts.Timeout)
	defer cancel()
	r := &Reading{At: w.opts.Now()}
	c, err := read(ctx, w.log, w.opts.Now, mostRead)
	if err == nil && w.opts.Checks != nil {
		r.Results, err = w.opts.Checks(ctx)
	}
	r.Took = w.opts.Now().Sub(r.At)
	if err != nil {
		return &Reading{At: r.At, Took: r.Took, Err: err}
	}
	r.Shares = c.shares()
	r.Results = append(c.check(r.Shares), r.Results...)
	for _, p := range c.pools {
		r.Claims = append(r.Claims, p.list...)
	}
	slices.SortStableFunc(r.Claims, func(a, b claims.Claim) int { return b.Until.Compare(a.Until) })
	return r
}

// Level is the highest level of the results.
func (r *Reading) Level() checks.Level {
	for _, level := range []checks.Level{checks.Finding, checks.Note, checks.Unknown} {
		if slices.ContainsFunc(r.Results, func(of checks.Result) bool { return of.Level == level }) {
			return level
		}
	}
	return checks.Passed
}
