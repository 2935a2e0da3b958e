package generator

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

var traceLayout = layout{
	scheme: idtype.SchemeTrace, typ: "TraceID", unit: time.Second, maxTick: 1<<33 - 1,
	shift: traceShift, first: 1, last: formats.TraceMaxBottom,
}

const traceShift = 30

// Trace mints trace IDs of one node: up to 4,194,303 per second, after which calls wait for the
// next second. It is safe for use by many goroutines. IDs ascend until their timestamp wraps, every
// 388 days.
//
// The timestamp is the time modulo 2^25 seconds, [formats.TracePeriod], so times that are a
// multiple of that period apart have the same IDs. It does not matter whether the clock got from
// one to the other by running for 388 days or by a jump. No [Windows] prevents that. An ID is never
// repeated while the clock stays within 388 days.
type Trace struct {
	timeline
}

// NewTrace returns a generator for a node number, 0 ..= 65535. Errors: [*idtype.RangeError],
// [*OptionError].
func NewTrace(nodes Windows[int], opts *Options) (*Trace, error) {
	g := &Trace{}
	return orNil(g, start(&g.timeline, traceLayout, nodes, func(node int) (uint64, error) {
		id, err := idtype.TraceParts{Node: node, Bottom: 1}.ID()
		return uint64(id) - 1, err
	}, opts))
}

func traceID(word uint64, s *span) idtype.TraceID {
	timestamp := word >> traceShift & formats.TraceMaxTimestamp
	return idtype.TraceID(timestamp*formats.TraceTimeStep | s.number | word&(1<<traceShift-1))
}

// Next mints one ID. It looks at ctx only if it has to wait. Errors: [*ClockError], [*NumberError],
// and [*idtype.RangeError] for a clock outside 1970-01-01..2242-03-16.
func (g *Trace) Next(ctx context.Context) (idtype.TraceID, error) {
	word, s, err := g.next(ctx)
	if err != nil {
		return 0, err
	}
	return traceID(word, s), nil
}

// Fill mints len(dst) IDs, and takes as many as are left of a second at once: see [Source].
func (g *Trace) Fill(ctx context.Context, dst []idtype.TraceID) (int, error) {
	return fill(ctx, &g.timeline, dst, traceID)
}

// TraceThread returns the pool for one of up to 32,768 threads that share a node number. The bottom
// of its IDs consists of the thread's number, in as many bits as it needs, and a counter that
// begins at 1. The error is an [*OptionError].
func TraceThread(thread, threads int) (*Pool, error) {
	if threads < 1 || threads > traceMaxThreads {
		return nil, &OptionError{"threads", strconv.Itoa(threads), "must be in 1..32768"}
	}
	if thread < 0 || thread >= threads {
		return nil, &OptionError{
			"thread", strconv.Itoa(thread), fmt.Sprintf("must be in 0..%d", threads-1),
		}
	}
	each := 1 << (formats.TraceBottomBits - bits.Len(uint(threads-1)))
	return &Pool{Min: thread*each + 1, Max: (thread+1)*each - 1}, nil
}

const traceMaxThreads = 1 << 15
