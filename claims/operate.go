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
	Number string        `json:"number"` // 7, or CLUSTER/GENERATOR of eightbyte
	Holder string        `json:"holder"` // empty where a ceiling or an operator raised the counter
	// Until is when the last window ends that the number was lent for.
	Until     time.Time `json:"until"`
	UpdatedAt time.Time `json:"updated_at"` // as that of launchlog.CounterState
	// Lent: the window has not ended. A number that is not lent is free once its holder's quiet
	// time is over as well.
	Lent bool `json:"lent"`
	// Before is the end of the time that an operator has freed, for a number that is lent in it.
	Before time.Time `json:"before,omitzero"`
	// Gap is a stretch that was never used, and holds now: [Pool.Free] gives it back. It is zero
	// otherwise, and where that was done.
	Gap [2]time.Time `json:"gap,omitzero"`
}

// List returns the numbers that were lent ever, in the order of their counters' names. Now is this
// machine's time, by which a number counts as lent. Errors are those of launchlog.
func (p Pool) List(ctx context.Context, log *launchlog.Log, now time.Time) ([]Claim, error) {
	t, err := p.read(ctx, log)
	if err != nil {
		return nil, err
	}
	freed := map[int]bool{} // for now
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

// Size is how many numbers the pool has, in the clusters that may be used. Errors are those of
// launchlog.
func (p Pool) Size(ctx context.Context, log *launchlog.Log) (int, error) {
	clusters, err := p.Clusters(ctx, log)
	return p.each * max(1, len(clusters)), err
}

// Clusters returns the clusters that may be used: cluster 0 where none were configured, and none
// for a pool without clusters. Errors are those of launchlog.
func (p Pool) Clusters(ctx context.Context, log *launchlog.Log) ([]int, error) {
	if p.clusters == 0 {
		return nil, nil
	}
	row, err := p.readClusters(ctx, log)
	return p.allowed(row), err
}

// readClusters reads the counter that keeps the clusters. Its value is a version and 16 bits, of
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

// SetClusters configures which clusters may be used, if they are still those of old, as [Pool.
// Clusters] returned them. Generators that run hear of it within their quiet time, at the next
// renewal. They give up a pair of a cluster that is not to be used any more. Its number may have
// been stamped until its window ends: see [Pool.List]. Actor is recorded. Errors: a [*OptionError],
// also where the clusters were changed meanwhile, or those of launchlog.
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
		return p.refuse("clusters", clusterList(old), "are not those that may be used: these are "+
			clusterList(now))
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
		err = p.refuse("clusters", clusterList(list), "were not set: somebody else changed them")
	}
	return err
}

const clusterBits = 16

func (p Pool) mask(list []int) (mask int64, err error) {
	if p.clusters == 0 {
		return 0, p.refuse("clusters", clusterList(list), "are not to be had: the pool has none")
	}
	if len(list) == 0 {
		return 0, p.refuse("clusters", "", "are none: name at least one")
	}
	for _, c := range list {
		if c < 0 || c >= p.clusters {
			return 0, p.refuse("cluster", strconv.Itoa(c), fmt.Sprintf("is outside 0..%d",
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

// Free gets a number back that a clock far ahead has locked. Its counter stays where it is, and
// rises no less. A second counter, named after the number and the gap, lends the number for the
// time that was passed over. That is from where the counter stood, until where it was raised to.
// Nobody has stamped that time, and by the first counter nobody can. Free again does nothing.
// Actor is recorded.
//
// A trace node is not freed, because its IDs are the same again after 388 days: its own counter may
// stamp those of the time that was passed over. It is lent again when its time comes.
//
// Errors: a [*OptionError] for a number that is not locked, or where another raise was faster. It is
// also for a gap that is not known, since a ceiling or an operator raised the counter. Others are
// those of launchlog.
func (p Pool) Free(
	ctx context.Context, log *launchlog.Log, number string, now time.Time, actor string,
) (Claim, error) {
	n, ok := p.parse(number)
	if !ok {
		return Claim{}, p.refuse("number", number, "is none of the pool")
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
	// One more than where the gap begins, since a counter at 0 is none. That unit stays unused.
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

// locked returns the gap of a row that Free lends at a unit of time, or why there is none.
func (p Pool) locked(row launchlog.CounterState, now int64) (g gap, why string) {
	if p.repeats {
		return g, "is not freed, because its IDs repeat after 388 days: it is lent again when its " +
			"time comes, and the pool has other numbers"
	}
	for _, g := range gapsOf(row.Note) {
		if g.has(now) {
			return g, ""
		}
	}
	return g, "was not locked by a clock far ahead, as far as its counter tells"
}

// has reports whether a unit of the gap is there to be lent, and others after it.
func (g gap) has(now int64) bool { return g.from < now && now < g.to-1 }

func (p Pool) units(t time.Time) int64 { return t.UnixMilli() / p.unit.Milliseconds() }

func (p Pool) refuse(field, value, reason string) error {
	return &OptionError{p.scheme, field, value, reason}
}
