package claims

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
)

// Claim is a number that was lent.
type Claim struct {
	Scheme idtype.Scheme `json:"scheme"`
	Number string        `json:"number"` // 7, or CLUSTER/GENERATOR for eightbyte
	Holder string        `json:"holder"` // empty if a ceiling or an operator raised the counter
	// Until is the end of the last window for which the number was lent.
	Until     time.Time `json:"until"`
	UpdatedAt time.Time `json:"updated_at"` // as in launchlog.CounterState
	// Lent is true until the window ends. A number that is not lent is free once its holder's quiet
	// time is over as well.
	Lent bool `json:"lent"`
	// Before is the end of the freed time, for a number that is lent in time that an operator has
	// freed.
	Before time.Time `json:"before,omitzero"`
	// Gap is a stretch of time that was never used and includes the present, so that [Pool.Free]
	// can free it. It is zero if there is none, or if it was freed.
	Gap [2]time.Time `json:"gap,omitzero"`
}

// List returns all numbers that were ever lent, in the order of their counters' names. Now is the
// time of this machine, which decides whether a number counts as lent. Errors come from launchlog.
func (p Pool) List(ctx context.Context, log *launchlog.Log, now time.Time) ([]Claim, error) {
	t, err := p.read(ctx, log)
	if err != nil {
		return nil, err
	}
	freed := map[int]bool{} // in a gap that includes now
	for _, l := range t.leases {
		if l.gap != nil && l.gap.from < p.units(now) && p.units(now) < l.gap.to {
			freed[l.number] = true
		}
	}
	var list []Claim
	for _, l := range t.leases {
		c := Claim{
			Scheme: p.scheme, Number: p.number(l.number), Holder: l.row.Holder,
			Until: p.time(l.last() + 1), UpdatedAt: l.row.UpdatedAt,
		}
		c.Lent = c.Until.After(now)
		if l.gap != nil {
			c.Before = p.time(l.gap.to)
		} else if g, why := p.locked(l.row, p.units(now)); why == "" && c.Lent && !freed[l.number] {
			c.Gap = [2]time.Time{p.time(g.from + 1), p.time(g.to)}
		}
		list = append(list, c)
	}
	return list, nil
}

// Size returns how many numbers the pool has in the clusters that may be used. Errors come from
// launchlog.
func (p Pool) Size(ctx context.Context, log *launchlog.Log) (int, error) {
	clusters, err := p.Clusters(ctx, log)
	return p.each * max(1, len(clusters)), err
}

// Clusters returns the clusters that may be used: cluster 0 if none were configured, and nil for a
// pool without clusters. Errors come from launchlog.
func (p Pool) Clusters(ctx context.Context, log *launchlog.Log) ([]int, error) {
	if p.clusters == 0 {
		return nil, nil
	}
	row, err := p.readClusters(ctx, log)
	return p.allowed(row), err
}

// readClusters reads the counter that holds the clusters. Its value is a version and 16 bits, of
// which bit C allows cluster C.
func (p Pool) readClusters(
	ctx context.Context, log *launchlog.Log,
) (row launchlog.CounterState, err error) {
	counter, err := log.Counter(p.clustersName())
	if err == nil {
		row.Value, err = counter.Last(ctx)
	}
	return row, err
}

// SetClusters configures which clusters may be used, provided that they are still old, as
// [Pool.Clusters] returned them. Running generators notice within their quiet time, at the next
// renewal, and give up a pair whose cluster may not be used any more. The pair may still be stamped
// until its window ends: see [Pool.List]. Actor is recorded. Errors: an [*OptionError], also if the
// clusters were changed meanwhile, or an error of launchlog.
func (p Pool) SetClusters(
	ctx context.Context, log *launchlog.Log, old, list []int, actor string,
) error {
	mask, err := p.mask(list)
	if err != nil {
		return err
	}
	row, err := p.readClusters(ctx, log)
	if err != nil {
		return err
	}
	if now := p.allowed(row); !slices.Equal(now, old) {
		return p.refuse("clusters", clusterList(old), "are no longer the configured clusters, "+
			"which are "+clusterList(now))
	}
	counter, err := log.Counter(p.clustersName())
	if err != nil {
		return err
	}
	raise := launchlog.Raise{
		From: row.Value, To: (row.Value>>clusterBits+1)<<clusterBits | mask,
		Note: launchlog.NewNote(), Holder: actor,
	}
	after, err := counter.Raise(ctx, raise)
	if err == nil && !raise.Done(after) {
		err = p.refuse("clusters", clusterList(list),
			"were not set: someone else has changed the clusters")
	}
	return err
}

const clusterBits = 16

func (p Pool) mask(list []int) (mask int64, err error) {
	if p.clusters == 0 {
		return 0, p.refuse("clusters", clusterList(list), "cannot be set: the pool has no clusters")
	}
	if len(list) == 0 {
		return 0, p.refuse("clusters", "", "must name at least one cluster")
	}
	for _, c := range list {
		if c < 0 || c >= p.clusters {
			return 0, p.refuse("cluster", strconv.Itoa(c), fmt.Sprintf("must be in 0..%d",
				p.clusters-1))
		}
		mask |= 1 << c
	}
	return mask, nil
}

func clusterList(list []int) string {
	var texts []string
	for _, c := range list {
		texts = append(texts, strconv.Itoa(c))
	}
	return strings.Join(texts, ",")
}

// Free makes a number available again that a clock far ahead has locked. The number's counter stays
// where it is. A second counter, named after the number and the gap, lends the number for the time
// that the first counter jumped over, which lasts from its old value to its new one. Nobody has
// stamped that time, and with the first counter nobody can. Freeing a number again does nothing.
// Actor is recorded.
//
// Free rejects trace nodes: their IDs repeat after 388 days, so that a node's own counter may stamp
// the same IDs as the freed time. The node is lent again when its time comes.
//
// Errors: an [*OptionError] if the number is not locked, if another raise came first, or if the gap
// is unknown because a ceiling or an operator raised the counter. Other errors come from launchlog.
func (p Pool) Free(
	ctx context.Context, log *launchlog.Log, number string, now time.Time, actor string,
) (Claim, error) {
	n, ok := p.parse(number)
	if !ok {
		return Claim{}, p.refuse("number", number, "is not in the pool")
	}
	t, err := p.read(ctx, log)
	if err != nil {
		return Claim{}, err
	}
	i := slices.IndexFunc(t.leases, func(l lease) bool { return l.number == n && l.gap == nil })
	if i < 0 || !p.time(t.leases[i].last()+1).After(now) {
		return Claim{}, p.refuse("number", number, "is not lent: there is nothing to free")
	}
	g, why := p.locked(t.leases[i].row, p.units(now))
	if why != "" {
		return Claim{}, p.refuse("number", number, why)
	}
	freed := lease{number: n, gap: &g}
	counter, err := log.Counter(p.counter(freed))
	if err != nil {
		return Claim{}, err
	}
	// Begin one unit after the gap begins, because a counter at 0 does not exist. The gap's first
	// unit stays unused.
	raise := launchlog.Raise{To: g.from + 1, Note: launchlog.NewNote(), Holder: actor}
	freed.row, err = counter.Raise(ctx, raise)
	if err != nil {
		return Claim{}, err
	}
	return Claim{
		Scheme: p.scheme, Number: number, Holder: freed.row.Holder,
		Until: p.time(freed.last() + 1), UpdatedAt: freed.row.UpdatedAt, Before: p.time(g.to),
		Lent: p.time(freed.last() + 1).After(now),
	}, nil
}

// locked returns the gap of a row that Free would lend at a unit of time, or the reason why there
// is none.
func (p Pool) locked(row launchlog.CounterState, now int64) (g gap, why string) {
	if p.repeats {
		return g, "cannot be freed, because its IDs repeat after 388 days: the number is lent " +
			"again when its time comes, and the pool has other numbers"
	}
	for _, g := range gapsOf(row.Note) {
		if g.has(now) {
			return g, ""
		}
	}
	return g, "was not locked by a clock far ahead, according to its counter"
}

// has reports whether a unit of the gap can be lent, and more units after it.
func (g gap) has(now int64) bool { return g.from < now && now < g.to-1 }

func (p Pool) units(t time.Time) int64 { return t.UnixMilli() / p.unit.Milliseconds() }

func (p Pool) refuse(field, value, reason string) error {
	return &OptionError{p.scheme, field, value, reason}
}
