package claims

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// floorName is the pool's counter of times that a restored log may have forgotten. It holds the
// last unit that any number may have stamped, those among them whose own counter was lost. No
// source takes a number before its clock has passed it.
func (p Pool) floorName() string { return p.prefix() + "floor" }

// Has reports whether a counter of that name is the pool's own. It is that of a number or of freed
// time, the floor, or the list of clusters.
func (p Pool) Has(counter string) bool {
	return p.FloorOf(counter) != "" || counter == p.floorName() ||
		p.clusters != 0 && counter == p.clustersName()
}

// FloorOf names the floor that [Pool.Advance] raises, for the name of a counter that lends a number
// of the pool or freed time. It is empty for other names.
func (p Pool) FloorOf(counter string) string {
	rest, ours := strings.CutPrefix(counter, p.prefix())
	if _, lends := p.leaseOf(rest, launchlog.CounterState{}); ours && lends {
		return p.floorName()
	}
	return ""
}

// raisers is how many counters Advance raises at once.
const raisers = 16

// Advance counts all times before until as stamped, by every number of the pool. It is for an
// operator whose store was restored from a backup, or failed over to a copy without the newest
// rows. Run it before any app uses that store. The numbers that were lent since the copy may be
// anywhere in the pool, and their counters may be missing.
//
// What is assumed: no window that was lent before ends after until. A window ends
// [Options].Length after its holder's clock, or earlier. So until is to be later than now by the
// longest Length and by what clocks were ahead at most.
//
// Advance first raises the floor of the pool, which holds for numbers without a counter. Then it
// raises each counter that is there. It keeps holders and gaps. It lowers nothing, and may be run
// again, as after an error. It returns how many counters of numbers were below. Sources wait until
// their clocks have passed until. Actor is recorded. Errors: a [*OptionError] for a time
// that IDs do not have, or those of launchlog.
func (p Pool) Advance(
	ctx context.Context, log *launchlog.Log, until time.Time, actor string,
) (int, error) {
	target := p.units(until.Add(p.unit - 1)) // rounded up
	if target < 1 || target > p.most {
		return 0, p.refuse("until", until.UTC().Format(time.RFC3339), "is no time of its IDs")
	}
	floor, err := log.Counter(p.floorName())
	if err == nil {
		_, err = floor.Advance(ctx, target, actor)
	}
	if err != nil {
		return 0, err
	}
	// The floor comes first: whoever takes a number that this listing lacks reads the floor after.
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

// advance raises one counter to target. It compares the row, and keeps its holder and its gaps. So
// the holder is preferred again, and gaps may still be freed.
func (p Pool) advance(ctx context.Context, log *launchlog.Log, l lease, target int64) error {
	counter, err := log.Counter(p.counter(l))
	for row := l.row; err == nil && row.Value < target; {
		row, err = counter.Raise(ctx, launchlog.Raise{
			From: row.Value, To: target, Note: noteOf(gapsOf(row.Note)), Holder: row.Holder,
		})
	}
	return err
}

// Floor returns the end of the times that [Pool.Advance] counted as stamped, by every number of the
// pool. It is zero where that never was. No source takes a number before its clock has passed it.
// Nothing lowers it. Errors are those of launchlog.
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
