package claims

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/launchlog"
)

// A Pool is the numbers of a scheme from which sources take: see [Pools]. Its methods are for
// operators.
type Pool struct {
	scheme   idtype.Scheme
	unit     time.Duration
	each     int   // numbers; in each cluster, if the pool has clusters
	clusters int   // 0 for a pool without clusters
	most     int64 // the last unit since 1970 that IDs can carry
	repeats  bool  // IDs repeat after a while
}

var (
	// trace has the nodes of trace IDs, 0 ..= 65535.
	trace = Pool{
		scheme: idtype.SchemeTrace, unit: time.Second, each: formats.TraceMaxNode + 1,
		most: 1<<33 - 1, repeats: true,
	}
	// sno has the partitions of sno IDs, 0 ..= 65535.
	sno = Pool{
		scheme: idtype.SchemeSno, unit: formats.SnoTimeUnit * time.Millisecond,
		each: formats.SnoMaxPartition + 1, most: formats.SnoMaxUnixMs / formats.SnoTimeUnit,
	}
	// eightByte has the pairs of eightbyte IDs: generators 0 ..= 2047 of clusters 0 ..= 15.
	eightByte = Pool{
		scheme: idtype.SchemeEightByte, unit: time.Millisecond, each: generators,
		clusters: formats.EightByteMaxCluster + 1, most: formats.EightByteMaxUnixMs,
	}
	// snowflake has the nodes of snowflake IDs, 0 ..= 65535, in milliseconds. It serves all
	// layouts: see [source.window].
	snowflake = Pool{
		scheme: idtype.SchemeSnowflake, unit: time.Millisecond, each: 1 << 16,
		most: math.MaxInt64/int64(time.Millisecond) - 1,
	}
)

const generators = formats.EightByteMaxGenerator + 1

// Pools lists the pools of trace, sno, eightbyte and snowflake.
func Pools() []Pool { return []Pool{trace, sno, eightByte, snowflake} }

// Scheme returns the scheme whose numbers are in the pool.
func (p Pool) Scheme() idtype.Scheme { return p.scheme }

// number returns the text of a number: 7, or CLUSTER/GENERATOR.
func (p Pool) number(n int) string {
	if p.clusters == 0 {
		return strconv.Itoa(n)
	}
	return strconv.Itoa(n/p.each) + "/" + strconv.Itoa(n%p.each)
}

// parse reads the text of a number.
func (p Pool) parse(text string) (n int, ok bool) {
	within, cluster := text, 0
	if p.clusters != 0 {
		first, rest, _ := strings.Cut(text, "/")
		c, err := strconv.Atoi(first)
		if err != nil || c < 0 || c >= p.clusters {
			return 0, false
		}
		within, cluster = rest, c
	}
	n, err := strconv.Atoi(within)
	if err != nil || n < 0 || n >= p.each {
		return 0, false
	}
	n += cluster * p.each
	return n, p.number(n) == text // no sign, no leading zeros
}

// prefix returns the prefix that the pool's counters have in their names.
func (p Pool) prefix() string { return string(p.scheme) + "/" }

// A lease is a counter that lends a number: either the number's own, or the counter of a gap that
// an operator freed. The latter begins at the gap's from, and never passes the unit before its to.
type lease struct {
	number int
	gap    *gap // nil for the number's own counter
	row    launchlog.CounterState
	// known is the last unit that its holder knows to be handed out, if the store has lost it; or
	// 0.
	known int64
	at    int64 // the unit in which its holder raised it
}

func (p Pool) counter(l lease) string {
	name := p.prefix() + p.number(l.number)
	if l.gap != nil {
		name += "/" + l.gap.String()
	}
	return name
}

// last returns the last unit that may have been stamped. It is bounded so that sums do not
// overflow.
func (l *lease) last() int64 {
	last := min(max(l.row.Value, l.known), 1<<62)
	if l.gap != nil {
		last = max(last, l.gap.from)
	}
	return last
}

// end returns the unit before which the counter lends.
func (l *lease) end() int64 {
	if l.gap != nil {
		return l.gap.to
	}
	return 1<<63 - 1
}

// A table is what the store knows about a pool.
type table struct {
	leases   []lease
	clusters launchlog.CounterState // zero if none were configured
	floor    int64                  // unit up to which any number may have been stamped, or 0
}

// page is how many counters are read at a time.
const page = 1000

// read reads the table, which is not a snapshot: a step compares the row of its lease.
func (p Pool) read(ctx context.Context, log *launchlog.Log) (t table, err error) {
	after := p.prefix()
	for {
		rows, err := log.Counters(ctx, after, page)
		if err != nil {
			return table{}, err
		}
		for _, row := range rows {
			rest, ours := strings.CutPrefix(row.Name, p.prefix())
			if !ours {
				return t, nil
			}
			if row.Name == p.clustersName() {
				t.clusters = row
			} else if row.Name == p.floorName() {
				t.floor = row.Value
			} else if l, ok := p.leaseOf(rest, row); ok {
				t.leases = append(t.leases, l)
			}
		}
		if len(rows) < page {
			return t, nil
		}
		after = rows[len(rows)-1].Name
	}
}

// leaseOf parses the rest of a counter's name, after the prefix.
func (p Pool) leaseOf(rest string, row launchlog.CounterState) (lease, bool) {
	if n, ok := p.parse(rest); ok {
		return lease{number: n, row: row}, true
	}
	i := strings.LastIndexByte(rest, '/')
	if i < 0 {
		return lease{}, false
	}
	n, ok := p.parse(rest[:i])
	g, isGap := parseGap(rest[i+1:])
	return lease{number: n, gap: &g, row: row}, ok && isGap
}

// clustersName is the name of the counter that records which clusters may be used.
func (p Pool) clustersName() string { return p.prefix() + "clusters" }

// allowed returns which clusters may be used. A pool without clusters has cluster 0.
func (p Pool) allowed(clusters launchlog.CounterState) []int {
	if p.clusters == 0 || clusters.Value == 0 {
		return []int{0}
	}
	var list []int
	for c := range p.clusters {
		if clusters.Value>>c&1 == 1 {
			list = append(list, c)
		}
	}
	return list
}

// usable reports whether a number is in the part and in one of the clusters.
func (p Pool) usable(n int, part generator.Pool, clusters []int) bool {
	within := n % p.each
	return part.Min <= within && within <= part.Max && slices.Contains(clusters, n/p.each)
}
