package doctor

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/internal/formats"
	"github.com/idmint/idmint/launchlog"
)

// Numbers says which numbers a [Share] is of.
type Numbers string

// The kinds of numbers.
const (
	Launches   Numbers = "launches"   // of the namespace
	Generators Numbers = "generators" // of a launch that runs
	Counters   Numbers = "counters"   // the range of a counter
	Claims     Numbers = "claims"     // of a pool that claims lend from
	Decimal    Numbers = "decimal"    // counters of decimal IDs, in their newest epoch
)

// A Share is how many numbers are used of those there are.
type Share struct {
	Of   Numbers
	Name string // the launch's number, the counter's name, the pool's scheme, the epoch; or empty
	Used int64
	Max  int64
}

// Part is the share from 0 to 1.
func (s Share) Part() float64 { return float64(s.Used) / float64(s.Max) }

// Level is that of launchlog.Usage: 95, 90, 80 or 0 percent. [Log] makes a note from 80 on, and a
// finding from 90 on. Of decimal counters it makes notes only, because new epochs follow.
func (s Share) Level() int { return launchlog.Usage{Used: s.Used, Max: s.Max}.Level() }

// Usage reads what is used up: the figures behind the checks of [Log], for metrics. There is one
// share of launches, and one of each launch that runs, of each counter and of each pool. There is
// one of decimal counters where an app has reported some. Usage reads all running launches and all
// counters, in pages. The error is the log's.
func Usage(ctx context.Context, log *launchlog.Log, opts *Options) ([]Share, error) {
	return newContent(log, opts).usage(ctx)
}

// Health is what [Usage] and [Log] return, of one reading. It asks for the running launches, for
// all counters and for what is lent once.
func Health(ctx context.Context, log *launchlog.Log, opts *Options) ([]Share, []Result, error) {
	c := newContent(log, opts)
	shares, err := c.usage(ctx)
	if err != nil {
		return nil, nil, err
	}
	results, err := c.check(ctx)
	return shares, results, err
}

func (c *content) usage(ctx context.Context) ([]Share, error) {
	last, err := lastLaunch(ctx, c.log)
	if err != nil {
		return nil, failed("launches", err)
	}
	shares := []Share{{Of: Launches, Used: int64(last), Max: launchlog.MaxLaunch}}
	running, err := c.running(ctx)
	if err != nil {
		return nil, failed("generators", err)
	}
	for _, launch := range running {
		shares = append(shares, Share{
			Generators, strconv.Itoa(launch.ID), int64(launch.NextGenerator),
			launchlog.MaxGenerators,
		})
	}
	counters, err := c.counters(ctx)
	if err != nil {
		return nil, failed("counters", err)
	}
	for _, counter := range counters {
		shares = append(shares, Share{Counters, counter.Name, counter.Value, math.MaxInt64})
	}
	for _, pool := range claims.Pools() {
		of, err := c.lent(ctx, pool)
		if err != nil {
			return nil, failed("claims", err)
		}
		shares = append(shares, Share{
			Claims, string(pool.Scheme()), int64(of.used), int64(of.size),
		})
	}
	if epoch, value := newestHint(counters); epoch >= 0 {
		shares = append(shares, Share{
			Decimal, strconv.Itoa(epoch), value, formats.DecimalMaxCounter,
		})
	}
	return shares, nil
}

// lent is how many numbers of a pool are lent, or were within the quiet time, and how many it has.
func lent(
	ctx context.Context, log *launchlog.Log, pool claims.Pool, now time.Time,
) (used, size int, err error) {
	if size, err = pool.Size(ctx, log); err != nil {
		return 0, 0, err
	}
	clusters, err := pool.Clusters(ctx, log)
	if err != nil {
		return 0, 0, err
	}
	list, err := pool.List(ctx, log, now)
	if err != nil {
		return 0, 0, err
	}
	numbers := map[string]bool{} // a number may have two counters
	for _, claim := range list {
		cluster, _, paired := strings.Cut(claim.Number, "/")
		n, _ := strconv.Atoi(cluster)
		usable := !paired || slices.Contains(clusters, n)
		if usable && claim.Until.Add(quiet).After(now) {
			numbers[claim.Number] = true
		}
	}
	return len(numbers), size, nil
}

// newestHint is the newest register of decimal counters. Its epoch is -1 where there is none.
func newestHint(counters []launchlog.CounterState) (epoch int, value int64) {
	epoch = -1
	for _, counter := range counters {
		if e, ok := launchlog.HintEpoch(counter.Name); ok && e > epoch {
			epoch, value = e, counter.Value
		}
	}
	return epoch, value
}
