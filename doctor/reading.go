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
	// quiet is how long claims leave a number alone that was not renewed, unless told otherwise.
	quiet = time.Minute
	// rows is how many rows are read at a time.
	rows = 1000
	// marked is how many of the newest launches are looked at one by one.
	marked = 100
)

// A content is what a log holds. It is read once, and then looked at.
type content struct {
	asked, answered time.Time // by this machine's clock, around the question for the store's time
	store           time.Time // zero where the store has no clock
	clockErr        error     // the store does not tell its time, and answers otherwise
	room            int64     // claims that fit into the store, -1 if it knows no limit
	roomErr         error

	digits   launchlog.Digits
	newest   []launchlog.Launch      // the last ones, the newest first
	running  []launchlog.Launch      // all that run
	taken    map[int]launchlog.Claim // the last one of each of newest that runs
	events   []launchlog.Event       // of the namespace
	counters []launchlog.CounterState
	pools    []pool

	most int // rows of a kind that were read; 0: all
}

// A pool is what the log holds of a pool of claims.
type pool struct {
	claims.Pool
	list      []claims.Claim
	floor     time.Time
	size, use int // how many numbers there are, and how many are lent or were within the quiet time
}

// full reports whether so many rows of a kind were read that there may be more.
func (c *content) full(n int) bool { return c.most > 0 && n >= c.most }

// read reads the running launches, the counters, and what else the checks look at: all rows, or of
// each kind as many as most, a multiple of a page's rows.
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

// claimOf is the taking of a generator number, zero where nobody has taken it.
func claimOf(
	ctx context.Context, log *launchlog.Log, launch, generator int,
) (claim launchlog.Claim, err error) {
	found, err := log.Claims(ctx, launch, generator, 1)
	if err == nil && len(found) > 0 && found[0].Generator == generator {
		claim = found[0]
	}
	return claim, err
}

// now is the store's time, or this machine's where the store does not tell its own.
func (c *content) now() time.Time {
	if c.store.IsZero() {
		return c.answered
	}
	return c.store
}

// lastLaunch is the highest launch number that is used. Numbers that an operator advanced over have
// no launch, but an event.
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
