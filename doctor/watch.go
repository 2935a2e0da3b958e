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

// WatchOptions are the optional settings of [NewWatch], whose zero value is a good choice.
type WatchOptions struct {
	// Every is how long a reading is kept before the log is read again. Zero means a minute. A
	// reading asks for the running launches and for the log counters in pages of 1,000, and reads
	// at most 10,000 of each. The limit bounds the memory of a watch, because an app may create any
	// number of counters. A note reports when it is reached.
	Every time.Duration
	// Timeout is how long a reading may take, by default 2 s.
	Timeout time.Duration
	// Checks makes further checks, for example of the database by [SQL], with each reading and
	// within the same timeout.
	Checks func(context.Context) ([]checks.Result, error)
	// Now is this machine's clock, by default time.Now.
	Now func() time.Time
}

// A Watch reads a launch log when it is asked to, for pages, metrics, or a health endpoint. It
// starts no goroutine, need not be closed, and is safe for concurrent use.
type Watch struct {
	log  *launchlog.Log
	opts WatchOptions
	turn chan struct{} // holds one element while a goroutine reads
	last atomic.Pointer[Reading]
	next time.Time // when to read again; guarded by turn
}

// A Reading is the result of reading a log, and must not be changed.
type Reading struct {
	At      time.Time // when it began, by this machine's clock
	Took    time.Duration
	Shares  []Share         // what is used up
	Results []checks.Result // of the checks of [Log] and of WatchOptions.Checks
	Claims  []claims.Claim  // all numbers ever lent, the latest first
	// Err is why the log did not answer, in which case nothing of the above is known.
	Err error
	// Good is the last reading that succeeded: this one, an earlier one, or nil.
	Good *Reading
	// Failures counts the failed readings of the watch.
	Failures uint64
}

// mostRead is how many launches and how many counters a watch reads at most.
const mostRead = 10_000

// again is how soon a log that did not answer is asked again.
const again = 5 * time.Second

// NewWatch creates a watch of a log, which reads nothing before the first call of Read.
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

// Read returns the last reading, or makes a new one if that is older than WatchOptions.Every, or
// failed at least 5 s ago. Concurrent callers wait for the same reading. A caller whose context
// ends gets the previous reading, or, if there is none, a reading with the context's error.
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
	if ctx.Err() != nil { // the caller gave up, which says nothing about the log
		return r
	}
	w.next = w.opts.Now().Add(w.Keeps(r))
	if r.Err != nil {
		r.Failures++
	}
	w.last.Store(r)
	return r
}

// Keeps returns how long a reading is kept.
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

// Level returns the highest level of the results.
func (r *Reading) Level() checks.Level {
	for _, level := range []checks.Level{checks.Finding, checks.Note, checks.Unknown} {
		has := func(of checks.Result) bool { return of.Level == level }
		if slices.ContainsFunc(r.Results, has) {
			return level
		}
	}
	return checks.Passed
}
