package doctor

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/launchlog"
)

const (
	// quiet is how long claims do not reuse a number that was not renewed, unless configured
	// otherwise.
	quiet = time.Minute
	// rows is how many rows are read at a time.
	rows = 1000
	// marked is how many of the newest launches are examined individually.
	marked = 100
)

// A content is what a log holds, which is read once and then checked.
type content struct {
	asked, answered time.Time // by this machine's clock, around the question for the store's time
	store           time.Time // zero if the store has no clock
	clockErr        error     // the store does not tell its time, but answers otherwise
	room            int64     // claims that fit into the store, or -1 if it has no known limit
	roomErr         error

	digits   launchlog.Digits
	newest   []launchlog.Launch      // the last ones, the newest first
	running  []launchlog.Launch      // all that run
	taken    map[int]launchlog.Claim // the last claim of each running launch of newest
	events   []launchlog.Event       // of the namespace
	counters []launchlog.CounterState
	pools    []pool

	most int // rows of a kind that were read at most; 0: all
}

// A pool is what the log holds of a pool of claims.
type pool struct {
	claims.Pool
	list      []claims.Claim
	floor     time.Time
	size, use int // all numbers, and those lent now or within the quiet time
}

// full reports whether the limit of rows was reached, so that there may be more than n.
func (c *content) full(n int) bool { return c.most > 0 && n >= c.most }

// read reads the running launches, the log counters, and whatever else the checks examine. If most
// is not 0, it reads at most that many rows of each kind, which must be a multiple of the page
// size.
func read(
	ctx context.Context, log *launchlog.Log, now func() time.Time, most int,
) (_ *content, err error) {
	c := &content{taken: map[int]launchlog.Claim{}, most: most}
	if c.newest, err = log.List(ctx, launchlog.Filter{Limit: marked}); err != nil {
		return nil, failed("launches", err)
	}
	if c.digits, err = log.Digits(ctx); err != nil {
		return nil, failed("launches", err)
	}
	if c.events, err = log.Events(ctx, 0); err != nil {
		return nil, failed("launches", err)
	}
	for filter := (launchlog.Filter{Running: true, Limit: rows}); ; {
		found, err := log.List(ctx, filter)
		if err != nil {
			return nil, failed("generators", err)
		}
		c.running = append(c.running, found...)
		if len(found) < rows || c.full(len(c.running)) {
			break
		}
		filter.Before = found[len(found)-1].ID
	}
	for _, launch := range c.newest {
		if !launch.Running() || launch.NextGenerator == 0 {
			continue
		}
		if c.taken[launch.ID], err = claimOf(ctx, log, launch.ID, launch.NextGenerator-1); err != nil {
			return nil, failed("generators", err)
		}
	}
	for after := ""; ; {
		found, err := log.Counters(ctx, after, rows)
		if err != nil {
			return nil, failed("counters", err)
		}
		c.counters = append(c.counters, found...)
		if len(found) < rows || c.full(len(c.counters)) {
			break
		}
		after = found[len(found)-1].Name
	}
	for _, of := range claims.Pools() {
		p, err := readPool(ctx, log, of, now())
		if err != nil {
			return nil, failed("claims", err)
		}
		c.pools = append(c.pools, p)
	}
	c.room, c.roomErr = log.Room(ctx)
	c.asked = now()
	c.store, c.clockErr = log.Now(ctx)
	c.answered = now()
	return c, failed("clock", ctx.Err())
}

func readPool(
	ctx context.Context, log *launchlog.Log, of claims.Pool, now time.Time,
) (p pool, err error) {
	p.Pool = of
	if p.list, err = of.List(ctx, log, now); err != nil {
		return p, err
	}
	if p.floor, err = of.Floor(ctx, log); err != nil {
		return p, err
	}
	if p.size, err = of.Size(ctx, log); err != nil {
		return p, err
	}
	clusters, err := of.Clusters(ctx, log)
	numbers := map[string]bool{} // a number may have two counters
	for _, claim := range p.list {
		cluster, _, paired := strings.Cut(claim.Number, "/")
		n, _ := strconv.Atoi(cluster)
		usable := !paired || slices.Contains(clusters, n)
		if usable && claim.Until.Add(quiet).After(now) {
			numbers[claim.Number] = true
		}
	}
	p.use = len(numbers)
	return p, err
}

// claimOf returns the claim of a generator number, or zero if nobody has claimed it.
func claimOf(
	ctx context.Context, log *launchlog.Log, launch, generator int,
) (claim launchlog.Claim, err error) {
	found, err := log.Claims(ctx, launch, generator, 1)
	if err == nil && len(found) > 0 && found[0].Generator == generator {
		claim = found[0]
	}
	return claim, err
}

// now returns the store's time, or this machine's if the store does not tell its own.
func (c *content) now() time.Time {
	if c.store.IsZero() {
		return c.answered
	}
	return c.store
}

// lastLaunch returns the highest launch number that is used. An operator's advance skips numbers,
// which then have an event but no launch.
func (c *content) lastLaunch() (last int) {
	if len(c.newest) > 0 {
		last = c.newest[0].ID
	}
	for _, event := range c.events {
		var detail struct{ To int }
		if event.Kind == "advanced" && json.Unmarshal(event.Detail, &detail) == nil {
			last = max(last, detail.To)
		}
	}
	return last
}
