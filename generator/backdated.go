package generator

import (
	"fmt"
	"sync"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

// BackdatedSno mints sno IDs that carry times given by the caller, such as the times of imported
// rows. It counts the IDs of each time separately, and therefore needs a partition, or a pool of
// its sequence numbers, for itself. Neither a [Sno], nor another BackdatedSno, nor this one in
// another run of the app may use them. It is safe for use by many goroutines.
type BackdatedSno struct {
	partition uint64
	pool      Pool

	mu   sync.Mutex        // guards used
	used map[uint64]uint16 // per tick: used slots of the pool, minus one; 12 to 30 bytes each
}

// NewBackdatedSno returns a generator for a partition, 0 ..= 65535. A nil pool means all sequence
// numbers. Errors: [*idtype.RangeError] and [*OptionError].
func NewBackdatedSno(partition int, pool *Pool) (*BackdatedSno, error) {
	o, err := (&Options{Pool: pool, Clock: WallClock()}).complete(snoLayout)
	if err != nil {
		return nil, err
	}
	some := idtype.SnoParts{UnixMs: formats.SnoEpoch + 4, Partition: partition}
	if _, err := some.ID(); err != nil {
		return nil, err
	}
	return &BackdatedSno{
		partition: uint64(partition), pool: *o.Pool, used: map[uint64]uint16{},
	}, nil
}

// At mints an ID for the 4 ms that contain t. Errors: a [*idtype.RangeError] for a time outside
// 2010-01-01..2079-09-07, and an [*OptionError] if the sequence numbers of that time are used up.
func (g *BackdatedSno) At(t time.Time, meta byte) (idtype.SnoID, error) {
	if g.used == nil {
		return idtype.SnoID{}, errNotMade
	}
	tick, err := snoLayout.tickAtTime(t)
	if err != nil {
		return idtype.SnoID{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	n, seen := g.used[tick]
	if seen || tick == 0 && g.pool.Min == 0 { // the very first ID would be zero
		n++
	}
	if int(n) > g.pool.Max-g.pool.Min || seen && n == 0 {
		return idtype.SnoID{}, &OptionError{
			"time", t.UTC().Format(time.RFC3339Nano),
			fmt.Sprintf("has used up its sequence numbers, %d..%d", g.pool.Min, g.pool.Max),
		}
	}
	g.used[tick] = n
	return snoID(tick, 0, meta, g.partition, uint64(g.pool.Min)+uint64(n)), nil
}
