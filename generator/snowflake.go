package generator

import (
	"context"
	"math"
	"time"

	"github.com/idmint/idmint/idtype"
)

// snowflakeShift is the position of the tick in the words of all layouts. The tick's 41 bits leave
// 22, of which at least one is room for calls that find no step left.
const (
	snowflakeShift   = 22
	maxSnowflakeStep = snowflakeShift - 1
)

func snowflakeLayout(l *idtype.SnowflakeLayout) layout {
	b := l.Bits()
	of := layout{
		scheme: idtype.SchemeSnowflake, typ: "SnowflakeID", unit: b.Unit,
		epoch: b.Epoch * int64(time.Millisecond), maxTick: 1<<b.Time - 1,
		shift: snowflakeShift, last: 1<<b.Step - 1, lag: min(8, uint64(16*time.Millisecond/b.Unit)),
	}
	// Layouts with long units exceed the nanoseconds of an int64, which end in 2262.
	of.maxTick = min(of.maxTick, uint64((math.MaxInt64-of.epoch)/int64(b.Unit))-1)
	return of
}

// SnowflakeIn mints snowflake IDs of one node in a layout. Per unit of time, it mints as many IDs
// as the step has values, after which calls wait for the next unit. It is safe for use by many
// goroutines.
//
// At its cap, when it sleeps in every unit, its IDs may carry a time up to 8 ms old, or up to 16 ms
// if the unit is longer than 2 ms.
type SnowflakeIn[L idtype.Snowflakes] struct {
	timeline
	timeShift, stepShift uint8
	isWord               bool // the ID is word | number, as in most layouts
}

// Snowflake mints snowflake IDs in Twitter's layout: up to 4,096 per millisecond.
type Snowflake = SnowflakeIn[idtype.Twitter]

// NewSnowflake returns a generator for a node, 0 ..= 1023, in Twitter's layout. Errors:
// [*idtype.RangeError], [*OptionError].
func NewSnowflake(nodes Windows[int], opts *Options) (*Snowflake, error) {
	return NewSnowflakeIn[idtype.Twitter](nodes, opts)
}

// NewSnowflakeIn returns a generator for a node in a layout whose step has at most 21 bits. Errors:
// [*idtype.RangeError], [*OptionError].
func NewSnowflakeIn[L idtype.Snowflakes](
	nodes Windows[int], opts *Options,
) (*SnowflakeIn[L], error) {
	l := idtype.SnowflakeIn[any, L](0).Layout()
	b := l.Bits()
	if b.Step > maxSnowflakeStep {
		return nil, &OptionError{"layout", l.String(), "must have at most 21 bits of step"}
	}
	g := &SnowflakeIn[L]{timeShift: uint8(b.Node + b.Step)}
	nodeShift := b.Step
	if b.StepFirst {
		nodeShift, g.stepShift = 0, uint8(b.Node)
	}
	g.isWord = g.timeShift == snowflakeShift && g.stepShift == 0
	return orNil(g, start(&g.timeline, snowflakeLayout(l), nodes, func(node int) (uint64, error) {
		_, err := l.ID(idtype.SnowflakeParts{UnixMs: b.Epoch + b.Unit.Milliseconds(), Node: node})
		return uint64(node) << nodeShift, err
	}, opts))
}

func (g *SnowflakeIn[L]) id(word uint64, s *span) idtype.SnowflakeIn[any, L] {
	if g.isWord {
		return idtype.SnowflakeIn[any, L](word | s.number)
	}
	const slots = 1<<snowflakeShift - 1
	return idtype.SnowflakeIn[any, L](
		word>>snowflakeShift<<(g.timeShift&63) | word&slots<<(g.stepShift&63) | s.number)
}

// Next mints one ID. It looks at ctx only if it has to wait. Errors: [*ClockError], [*NumberError],
// and [*idtype.RangeError] for a clock outside the layout's times.
func (g *SnowflakeIn[L]) Next(ctx context.Context) (idtype.SnowflakeIn[any, L], error) {
	word, s, err := g.next(ctx)
	if err != nil {
		return 0, err
	}
	return g.id(word, s), nil
}

// Fill mints len(dst) IDs, and takes as many as are left of a unit of time at once: see [Source].
func (g *SnowflakeIn[L]) Fill(
	ctx context.Context, dst []idtype.SnowflakeIn[any, L],
) (int, error) {
	return fill(ctx, &g.timeline, dst, g.id)
}
