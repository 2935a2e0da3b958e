package claims

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// floorName is the name of the pool's log counter for times that a restored log may have forgotten.
// The counter holds the last unit that any number may have stamped, including numbers whose own
// counter was lost. A source takes no number before its clock has passed that unit.
func (p Pool) floorName() string { return p.prefix() + "floor" }

// Has reports whether a counter of that name belongs to the pool, as the counter of a number or of
// freed time, the floor, or the list of clusters.
func (p Pool) Has(counter string) bool {
	return p.FloorOf(counter) != "" || counter == p.floorName() ||
		p.clusters != 0 && counter == p.clustersName()
}

// FloorOf returns the name of the floor that [Pool.Advance] raises, if counter lends a number of
// the pool or freed time. For other names it returns an empty string.
func (p Pool) FloorOf(counter string) string {
	rest, ours := strings.CutPrefix(counter, p.prefix())
	if _, lends := p.leaseOf(rest, launchlog.CounterState{}); ours && lends {
		return p.floorName()
	}
	return ""
}

// raisers is how many counters Advance raises at the same time.
const raisers = 16

// Advance marks all times before until as used by every number of the pool. It is for operators
// whose store was restored from a backup, or failed over to a copy that lacks the newest rows. Run
// it before any app uses that store. The numbers that were lent since the copy may be anywhere in
// the pool, and their counters may be missing.
//
// Advance relies on until being later than the end of every window that was lent before. A window
// ends [Options].Length after its holder's clock, or earlier. Therefore until must be later than
// now by the longest Length, plus the most that any clock was ahead.
//
// Advance first raises the floor of the pool, which protects numbers without a counter, and then
// each existing counter. It keeps holders and gaps, and lowers nothing. It may be repeated, for
// example after an error. It returns how many counters of numbers were lower. Sources wait until
// their clocks have passed until. Actor is recorded. Errors: an [*OptionError] for a time outside
// the range of the IDs, or an error of launchlog.
func (p Pool) Advance(
	ctx context.Context, log *launchlog.Log, until time.Time, actor string,
) (int, error) {
	target := p.units(until.Add(p.unit - 1)) // rounded up
	if target < 1 || target > p.most {
		return 0, p.refuse("until", until.UTC().Format(time.RFC3339),
			"is outside the times of its IDs")
	}
	floor, err := log.Counter(p.floorName())
	if err == nil {
		_, err = floor.Advance(ctx, target, actor)
	}
	if err != nil {
		return 0, err
	}
	// The floor is raised first, because a source that takes a number missing from this listing
	// reads the floor afterwards.
	t, err := p.read(ctx, log)
	if err != nil {
		return 0, err
	}
	raised := 0
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	var group sync.WaitGroup
	room := make(chan struct{}, raisers)
	for _, l := range t.leases {
		if l.row.Value >= target {
			continue
		}
		raised++
		room <- struct{}{}
		group.Go(func() {
			defer func() { <-room }()
			if err := p.advance(ctx, log, l, target); err != nil {
				giveUp(err)
			}
		})
	}
	group.Wait()
	return raised, context.Cause(ctx)
}

// advance raises one counter to target by compare-and-swap, and keeps its holder and its gaps, so
// that the holder is still preferred, and gaps can still be freed.
func (p Pool) advance(ctx context.Context, log *launchlog.Log, l lease, target int64) error {
	counter, err := log.Counter(p.counter(l))
	for row := l.row; err == nil && row.Value < target; {
		row, err = counter.Raise(ctx, launchlog.Raise{
			From: row.Value, To: target, Note: noteOf(gapsOf(row.Note)), Holder: row.Holder,
		})
	}
	return err
}

// Floor returns the end of the times that [Pool.Advance] marked as used by every number of the
// pool, or zero if Advance was never called. A source takes no number before its clock has passed
// that time. Nothing lowers it. Errors come from launchlog.
func (p Pool) Floor(ctx context.Context, log *launchlog.Log) (time.Time, error) {
	floor, err := p.floor(ctx, log)
	if err != nil || floor == 0 {
		return time.Time{}, err
	}
	return p.time(min(floor, p.most) + 1), nil
}

// floor reads the counter of the floor.
func (p Pool) floor(ctx context.Context, log *launchlog.Log) (int64, error) {
	counter, err := log.Counter(p.floorName())
	if err != nil {
		return 0, err
	}
	return counter.Last(ctx)
}
