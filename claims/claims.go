// Package claims lends numbers to running generators: nodes for trace and snowflake IDs, partitions
// for sno IDs, and pairs of generator and cluster for eightbyte IDs. Nobody has to configure a
// number, and no two generators mint with the same number at the same time.
//
//	pairs, err := claims.Pairs(log, nil)
//	ids, err := generator.NewEightByte(idtype.EightByteSpread, pairs, nil)
//
// # The counter is the lease
//
// Each number has a log counter: trace/7, snowflake/7, sno/7, eightbyte/CLUSTER/GENERATOR. Its
// value is the last unit of time that may have been stamped with the number. While the value is
// ahead of the clock, the number is lent. Once the value is behind the clock by the quiet time, the
// number is free. To take or to renew a number is one compare-and-swap of its counter. There is no
// session, no heartbeat, no time to live, and nothing to release.
//
// A generator mints only within the window by which its counter was raised. A pause, a network
// partition or a wrong clock may therefore cost a number, but never repeats an ID. This assumes
// that the store keeps what it has acknowledged, as package launchlog describes for each store, and
// that counters are advanced after a restore before an app uses them. Trace IDs wrap after 388
// days: see generator.Trace.
//
// A [generator.Ceiling] on a counter of the same name takes turns with the claims of that number.
// Exclude numbers that are configured by hand with [Options].Part.
//
// UniqueID, CosId and yitter use leases with a session or a time to live instead. If a generator
// pauses for longer than such a lease, its number has two holders.
// docs/move/from-uniqueid.md compares claims with UniqueID.
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
	// Length is how far ahead of the clock a counter is raised. Zero means 5 s; other values must
	// be at least two units of the scheme, and at most an hour. While the generator mints, its
	// counter is raised about once per two thirds of Length, so that minting continues while the
	// store is unavailable for up to a third of Length. With more than a few hundred generators,
	// use 30 s to reduce the load on the store. After a crash, a start under the same Holder waits
	// for up to Length, or up to twice that if the earlier process still runs.
	// generator.Options.MaxWait should therefore be at least twice Length.
	Length time.Duration
	// Quiet is how long the counter of a number must be behind the clock before another generator
	// takes the number. Zero means a minute. It only serves stability: if clocks differ by more, or
	// renewals come later, holders take numbers from each other.
	Quiet time.Duration
	// MaxAhead is how far the clock may be ahead of the store's. Zero means 30 s. If the clock is
	// further ahead, the source takes no number, because the number would be locked until the true
	// time has come. A store without a clock is not asked.
	MaxAhead time.Duration
	// Holder tells people who has the number. A generator prefers the number that has its Holder,
	// even before the quiet time is over. Either give each generator a unique Holder that stays the
	// same after a restart, or leave it empty to use host/pid/count. It has up to 255 characters.
	Holder string
	// Part limits the pool to a range, both ends included, of nodes, of partitions, or of
	// generators within each cluster. Nil means all numbers. The older layout of eightbyte IDs has
	// generators 0 ..= 63.
	Part *generator.Pool
	// FailWhenLent makes calls fail at once if all numbers are lent, or if the number with the
	// source's Holder is lent. Otherwise calls wait, within generator.Options.MaxWait and their
	// contexts.
	FailWhenLent bool
	// Notify is called when something happens to the number. It runs in the goroutine that asks the
	// store, so it should be quick. It must not ask the source for a window.
	Notify func(Event)
}

const (
	defaultLength   = 5 * time.Second
	defaultQuiet    = time.Minute
	defaultMaxAhead = 30 * time.Second
	longest         = time.Hour
)

// Pairs returns a source that lends pairs of generator and cluster to an eightbyte generator. Its
// clusters are those configured by [Pool.SetClusters], or cluster 0 by default. Create one source
// per generator. The error is an [*OptionError].
func Pairs(log *launchlog.Log, opts *Options) (*Source[generator.EightBytePair], error) {
	return newSource(log, opts, eightByte, func(n int) generator.EightBytePair {
		return generator.EightBytePair{Generator: n % generators, Cluster: n / generators}
	})
}

// Nodes returns a source that lends node numbers to a trace generator. Create one source per
// generator. The error is an [*OptionError].
func Nodes(log *launchlog.Log, opts *Options) (*Source[int], error) {
	return newSource(log, opts, trace, func(n int) int { return n })
}

// Partitions returns a source that lends partitions to a sno generator. Create one source per
// generator. The error is an [*OptionError].
func Partitions(log *launchlog.Log, opts *Options) (*Source[int], error) {
	return newSource(log, opts, sno, func(n int) int { return n })
}

// Snowflakes returns a source that lends node numbers to a snowflake generator of a layout. All
// layouts share one pool, snowflake/N, so that a number has one generator at a time, even if their
// layouts differ. The default of [Options].Part is all nodes of the layout, but at most 0 ..=
// 65535.
//
// A node rests for Quiet after its last window. With Quiet at a minute, more than 16 starts a
// second under new names use up Twitter's 1,024 nodes, and more than one start in 8 s uses up 8
// nodes. For layouts with few nodes, give each generator a Holder that is the same after a restart,
// or set Quiet to a second. Create one source per generator. The error is an [*OptionError].
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

// made counts the sources of this process, to distinguish their holders.
var made atomic.Int64

// complete returns a checked copy of the options, with defaults filled in.
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
		host, _ := os.Hostname() // only for people, so it may be missing
		c.Holder = fmt.Sprintf("%.200s/%d/%d", host, os.Getpid(), made.Add(1))
	}
	switch r := *c.Part; {
	case c.Length < 2*p.unit || c.Length > longest:
		return c, &OptionError{
			"", "Length", c.Length.String(), fmt.Sprintf("must be in %v..%v", 2*p.unit, longest),
		}
	case c.Quiet < 0:
		return c, &OptionError{"", "Quiet", c.Quiet.String(), "must not be negative"}
	case c.MaxAhead < 0:
		return c, &OptionError{"", "MaxAhead", c.MaxAhead.String(), "must not be negative"}
	case r.Min < 0 || r.Max >= p.each || r.Min > r.Max:
		return c, &OptionError{
			"", "Part", fmt.Sprintf("%d..%d", r.Min, r.Max),
			fmt.Sprintf("must be a range within 0..%d", p.each-1),
		}
	}
	// Report at once what the log would reject at the first claim.
	probe := launchlog.Raise{To: 1, Note: launchlog.NewNote(), Holder: c.Holder}
	if err := probe.Validate(); err != nil {
		return c, &OptionError{"", "Holder", c.Holder, "is not a valid name: " + err.Error()}
	}
	return c, nil
}
