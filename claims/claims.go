// Package claims lends numbers to whoever runs: nodes of trace and snowflake IDs, partitions of sno
// IDs, and pairs of generator and cluster of eightbyte IDs. Nobody chooses one by hand, and no two
// generators mint with one at the same time.
//
//	pairs, err := claims.Pairs(log, nil)
//	ids, err := generator.NewEightByte(idtype.EightByteSpread, pairs, nil)
//
// # The counter is the lease
//
// Each number has a counter in the launch log: trace/7, snowflake/7, sno/7,
// eightbyte/CLUSTER/GENERATOR. It stands at the last unit of time that the number may have stamped. While it lies ahead of now, the
// number is lent. Once it lies a quiet time behind, the number is free. To take a number and to
// renew it are one compare-and-swap of that counter. There is no session, no heartbeat, no time to
// live and nothing to release.
//
// A generator mints only within the window that its counter was raised by. So a pause, a partition
// or a wrong clock costs a number at most, and never repeats an ID. What is assumed: the store
// keeps what it has acknowledged, as package launchlog says of each, and after a restore its
// counters are advanced first. IDs of trace wrap after 388 days: see generator.Trace.
//
// A [generator.Ceiling] on a counter of the same name shares the number by turns. Keep numbers that
// stand in configurations out of [Options].Part.
//
// The ways of others are leases with a session or a time to live: UniqueID, CosId, yitter. A pause
// longer than the lease gives such a number two holders. docs/use/claims.md compares.
package claims

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
)

// Options are the optional settings of a [Source]. The zero value is a good choice.
type Options struct {
	// Length is how far ahead of the clock a counter is raised. It is 5 s if zero, and else at
	// least two units of the scheme and at most an hour. While IDs are minted the counter is raised
	// about every two thirds of it. A store that is away for a third of it is not noticed. Beyond
	// some hundreds of generators, 30 s spare the store. After a crash a start under the same
	// Holder waits for up to Length. It waits for up to twice that where the one before still runs.
	// So generator.Options.MaxWait is not to be shorter than two Lengths.
	Length time.Duration
	// Quiet is how long the counter of a number that is not renewed lies behind the clock before
	// others take the number. It is a minute if zero. It is for stability alone: where clocks
	// differ by more, or renewals come later, holders take numbers from each other.
	Quiet time.Duration
	// MaxAhead is how far a clock may be ahead of the store's. Beyond it no number is taken, since
	// the number would be locked until the true time comes. It is 30 s if zero. Of a store without
	// a clock nothing is asked.
	MaxAhead time.Duration
	// Holder names who has the number, for people. A generator takes the number again that names
	// its holder, also before the quiet time is over. So give each generator a name of its own that
	// outlives restarts, or none: then it is host/pid/count. Up to 255 characters.
	Holder string
	// Part is the part of the pool to use, both ends included: nodes, partitions, or generators of
	// each cluster. It is all if nil. The older layout of eightbyte IDs has generators 0 ..= 63.
	Part *generator.Pool
	// FailWhenLent makes calls fail at once where all numbers are lent, or the one that names the
	// holder. Otherwise they wait, within generator.Options.MaxWait and their contexts.
	FailWhenLent bool
	// Notify hears what happens to the number. It is called by the goroutine that asks the store,
	// so it had better be quick. It must not ask the source for a window.
	Notify func(Event)
}

const (
	defaultLength   = 5 * time.Second
	defaultQuiet    = time.Minute
	defaultMaxAhead = 30 * time.Second
	longest         = time.Hour
)

// Pairs lends pairs of generator and cluster to an eightbyte generator. Its clusters are those that
// [Pool.SetClusters] configured, or else cluster 0. Make a source per generator. The error is an
// [*OptionError].
func Pairs(log *launchlog.Log, opts *Options) (*Source[generator.EightBytePair], error) {
	return newSource(log, opts, eightByte, func(n int) generator.EightBytePair {
		return generator.EightBytePair{Generator: n % generators, Cluster: n / generators}
	})
}

// Nodes lends node numbers to a trace generator. Make a source per generator. The error is an
// [*OptionError].
func Nodes(log *launchlog.Log, opts *Options) (*Source[int], error) {
	return newSource(log, opts, trace, func(n int) int { return n })
}

// Partitions lends partitions to a sno generator. Make a source per generator. The error is an
// [*OptionError].
func Partitions(log *launchlog.Log, opts *Options) (*Source[int], error) {
	return newSource(log, opts, sno, func(n int) int { return n })
}

// Snowflakes lends node numbers to a snowflake generator of a layout. All layouts share one pool,
// snowflake/N, so one number has one generator, whatever its layout. [Options].Part is all nodes of
// the layout if nil, and at most 0 ..= 65535.
//
// A node rests for Quiet after its last window, so Twitter's 1,024 nodes are used up by more than 16
// starts in a second under new names, and 8 nodes by more than one in 8 s. For layouts of few nodes
// give each generator a Holder that outlives restarts, or set Quiet to a second. Make a source per
// generator. The error is an [*OptionError].
func Snowflakes[L idtype.Snowflakes](log *launchlog.Log, opts *Options) (*Source[int], error) {
	b := idtype.SnowflakeIn[any, L](0).Layout().Bits()
	of := snowflake
	of.unit, of.each = b.Unit, min(snowflake.each, 1<<b.Node)
	s, err := newSource(log, opts, of, func(n int) int { return n })
	if err != nil {
		return nil, err
	}
	s.pool, s.grain = snowflake, b.Unit.Milliseconds()
	return s, nil
}

// made counts the sources of this process, to tell their holders from each other.
var made atomic.Int64

// complete returns the options with their defaults, checked.
func (o *Options) complete(p Pool) (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	for value, normal := range map[*time.Duration]time.Duration{
		&c.Length: defaultLength, &c.Quiet: defaultQuiet, &c.MaxAhead: defaultMaxAhead,
	} {
		if *value == 0 {
			*value = normal
		}
	}
	if c.Part == nil {
		c.Part = &generator.Pool{Min: 0, Max: p.each - 1}
	}
	if c.Holder == "" {
		host, _ := os.Hostname() // a name for people: without it, it works as well
		c.Holder = fmt.Sprintf("%.200s/%d/%d", host, os.Getpid(), made.Add(1))
	}
	switch r := *c.Part; {
	case c.Length < 2*p.unit || c.Length > longest:
		return c, &OptionError{
			"", "Length", c.Length.String(), fmt.Sprintf("is outside %v..%v", 2*p.unit, longest),
		}
	case c.Quiet < 0:
		return c, &OptionError{"", "Quiet", c.Quiet.String(), "is negative"}
	case c.MaxAhead < 0:
		return c, &OptionError{"", "MaxAhead", c.MaxAhead.String(), "is negative"}
	case r.Min < 0 || r.Max >= p.each || r.Min > r.Max:
		return c, &OptionError{
			"", "Part", fmt.Sprintf("%d..%d", r.Min, r.Max),
			fmt.Sprintf("is no range within 0..%d", p.each-1),
		}
	}
	// What the log would refuse at the first claim is better told at once.
	probe := launchlog.Raise{To: 1, Note: launchlog.NewNote(), Holder: c.Holder}
	if err := probe.Validate(); err != nil {
		return c, &OptionError{"", "Holder", c.Holder, "is no text: " + err.Error()}
	}
	return c, nil
}
