package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/launchlog"
)

// An advance holds what an operator knows about a restored log, and how to bring the log up to it.
type advance struct {
	store    storeFlags
	launch   string // the highest ever used
	given    []string
	counters map[string]int64 // the highest number ever handed out, or 0 to leave a counter
	ahead    time.Duration
	trust    bool // this machine's clock, however far the log's times are from it
	dry      bool
}

// An advanced describes one part of the log, and what of it counts as used now.
type advanced struct {
	Namespace string    `json:"namespace"`
	Kind      string    `json:"kind"` // launches, pool or counter
	Name      string    `json:"name,omitempty"`
	From      *int64    `json:"from,string,omitempty"` // a counter's value before
	To        int64     `json:"to,string,omitempty"`
	Until     time.Time `json:"until,omitzero"` // for what counts times
	Raised    *int      `json:"raised,omitempty"`
}

// longestAhead limits the damage of a mistake, because generators wait that long.
const longestAhead = 24 * time.Hour

// longestAge limits how far this machine's clock may be after the log's newest row. A backup is
// hours or days old, whereas a clock that is a year ahead would lock the pools for a year.
const longestAge = 30 * 24 * time.Hour

func (a *app) advanceCommand() *cobra.Command {
	var f advance
	c := &cobra.Command{
		Use:   "advance --launch N [--counter NAME=NUMBER]… --db DSN",
		Short: "Mark everything that a restored launch log may have forgotten as used",
		Long: `Mark everything that a restored launch log may have forgotten as used, in one
step. Run it after the log was restored from a backup, or failed over to a copy
that lacked its newest rows, and before any app uses it: such a log would hand
out again what it forgot.

  --launch    the highest launch number ever used. Running launches end as
              advanced, so start a new one. Their digits, and the digits that
              the number skips, are never used again. IDs show the last five
              digits of a launch number: see docs/operate/restore.md.
  --counter   the highest number that a log counter, such as a sequence's, ever
              handed out. Name each counter of the log that does not hold times,
              and each that the log has lost. NAME=0 leaves a counter as it is.
  --ahead     how far ahead of now times may have been used: the longest window
              of any app, plus the most by which a clock may be ahead.

Numbers of trace, sno, eightbyte and snowflake, and the counter short, count as
used until --ahead from now, even if their own counters were lost. Generators
wait until then. If the counter of a ceiling has another name, or was lost, name
it by --counter, in units since 1970: seconds for trace, milliseconds for short
and eightbyte, 4 ms for sno, and the layout's unit for snowflake.

Stop the apps and set the clocks right first. A clock that is wrong by a year
would lock the numbers for a year, so the command fails if this machine's clock
is more than 30 days after the newest launch and counter of the log, or before
them by more than --ahead. If you have checked the clock, --trust-clock accepts
it as it is. If launches have a range of digits, set the range again first with
idmint migrate --digits, because a backup may be older than the range.

One run covers one --namespace. It never lowers anything, and raises nothing
before it knows what to do with each counter. If it fails, run it again to
continue. Start no launch before it has succeeded. If one was started, the
command ends the launches that it was going to end and fails: run it again with
that launch as --launch, which ends it too. With --dry-run nothing is changed.`,
		Example: "  idmint advance --launch 70 --counter orders=1000000 --db sqlite:app.db\n" +
			"  idmint advance --launch 70 --counter orders=0 --ahead 1m --dry-run \\\n" +
			"    --db sqlite:app.db",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			last, err := f.parse(c)
			if err != nil {
				return err
			}
			return a.withLog(c, &f.store, func(ctx context.Context, log *launchlog.Log) error {
				return a.advance(ctx, log, &f, last)
			})
		},
	}
	f.store.add(c)
	c.Flags().StringVar(&f.launch, "launch", "",
		"the highest launch number ever used, or 0 for none (required)")
	c.Flags().StringArrayVar(&f.given, "counter", nil,
		"NAME=NUMBER: the highest number that the counter ever handed out, or 0 to leave it")
	c.Flags().DurationVar(&f.ahead, "ahead", 10*time.Second,
		"how far ahead of now times may have been used")
	c.Flags().BoolVar(&f.trust, "trust-clock", false,
		"trust this machine's clock, however far the log's times are from it")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "only print what would be done")
	return c
}

// parse reads the flags, and returns the launch number.
func (f *advance) parse(c *cobra.Command) (last int, err error) {
	if err := missing(c, "launch"); err != nil {
		return 0, err
	}
	if f.launch != "0" {
		if last, err = launchNumber("--launch", f.launch); err != nil {
			return 0, err
		}
	}
	if f.ahead <= 0 || f.ahead > longestAhead {
		return 0, usage("--ahead %v: must be more than 0 and at most %v", f.ahead, longestAhead)
	}
	f.counters = map[string]int64{}
	for _, text := range f.given {
		name, number, ok := strings.Cut(text, "=")
		to, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil || to < 0 || strconv.FormatInt(to, 10) != number {
			return 0, usage("--counter %q: must be NAME=NUMBER, with a number from 0 to %d", text,
				int64(math.MaxInt64))
		}
		if _, twice := f.counters[name]; twice {
			return 0, usage("--counter %q: the counter is named twice", text)
		}
		f.counters[name] = to
	}
	return last, nil
}

func (a *app) advance(ctx context.Context, log *launchlog.Log, f *advance, last int) error {
	newest, err := f.check(ctx, a, log, last)
	if err != nil {
		return err
	}
	until, err := f.until(ctx, log, newest)
	if err != nil {
		return err
	}
	if _, given := f.counters[shortCounter]; !given {
		f.counters[shortCounter] = until.UnixMilli()
	}
	var done []advanced
	// Launches come last, because ending many of them takes long.
	for _, p := range claims.Pools() {
		raised, err := f.pool(ctx, log, p, until)
		if err != nil {
			return fmt.Errorf("%w; what was advanced stays: run it again", err)
		}
		done = append(done, advanced{
			Kind: "pool", Name: string(p.Scheme()), Until: until, Raised: &raised,
		})
	}
	for _, name := range slices.Sorted(maps.Keys(f.counters)) {
		from, to, err := f.counter(ctx, log, name)
		if err != nil {
			return fmt.Errorf("%w; what was advanced stays: run it again", err)
		}
		one := advanced{Kind: "counter", Name: name, From: &from, To: to}
		if name == shortCounter && to >= formats.ShortEpoch {
			one.Until = time.UnixMilli(to).UTC()
		}
		done = append(done, one)
	}
	if last > 0 {
		done = append(done, advanced{Kind: "launches", To: int64(last)})
		if !f.dry {
			if _, err := log.Advance(ctx, last, username()); err != nil {
				return fmt.Errorf("%w; what was advanced stays: run it again", err)
			}
		}
	}
	return a.writeAdvanced(f, done, until)
}

// until returns the time up to which times count as used: --ahead after this machine's clock, or
// after the log's if that has one and it is later. Newest is the log's newest time, or zero.
func (f *advance) until(
	ctx context.Context, log *launchlog.Log, newest time.Time,
) (time.Time, error) {
	theirs, err := log.Now(ctx)
	if err != nil {
		return time.Time{}, err
	}
	now := time.Now()
	if !theirs.IsZero() {
		if d := theirs.Sub(now); d.Abs() > f.ahead {
			return time.Time{}, fmt.Errorf("the clocks of this machine and of the log's database "+
				"differ by %v, more than --ahead: set them right, or use --ahead to say how far "+
				"ahead of now times were used", d.Abs().Round(time.Millisecond))
		} else if d > 0 {
			now = theirs
		}
	}
	if err := f.plausible(now, newest); err != nil {
		return time.Time{}, err
	}
	return now.Add(f.ahead + time.Second - 1).Truncate(time.Second).UTC(), nil
}

// plausible compares a clock with the newest time in the log, because many stores have no clock,
// and SQLite uses this machine's.
func (f *advance) plausible(now, newest time.Time) error {
	remedy := ""
	switch age := now.Sub(newest); {
	case newest.IsZero() || f.trust:
		return nil
	case age > longestAge:
		remedy = "if the clock is right, and the log is that old, add --trust-clock"
	case age < -f.ahead:
		remedy = "set it right; if other clocks were ahead, use --ahead to say how far; if it is " +
			"right and that row is wrong, add --trust-clock"
	default:
		return nil
	}
	return fmt.Errorf("the clock is at %s, and the newest row of namespace %s is of %s: %s",
		clock(now), f.store.namespace, clock(newest), remedy)
}

// check compares the flags with the log before anything is raised. It returns the newest time of
// the rows that it reads.
func (f *advance) check(
	ctx context.Context, a *app, log *launchlog.Log, last int,
) (newest time.Time, err error) {
	launches, err := log.List(ctx, launchlog.Filter{Limit: 1})
	switch {
	case err != nil:
		return newest, err
	case len(launches) == 0 && last > 0:
		a.warn("namespace %s had no launches: is the name right?", f.store.namespace)
	case len(launches) > 0 && launches[0].ID > last:
		return newest, f.below(ctx, log, last, launches[0].ID)
	}
	for _, l := range launches {
		newest = later(l.StartedAt, l.EndedAt)
	}
	for _, name := range slices.Sorted(maps.Keys(f.counters)) {
		if _, err := log.Counter(name); err != nil {
			return newest, usageError{err}
		}
	}
	there := map[string]bool{}
	var unknown []string
	for after := ""; ; {
		const page = 1000
		found, err := log.Counters(ctx, after, page)
		if err != nil {
			return newest, err
		}
		for _, c := range found {
			after = c.Name
			there[c.Name] = true
			newest = later(newest, c.UpdatedAt)
			switch to, given := f.counters[c.Name]; {
			case !given && !known(c):
				unknown = append(unknown, c.Name)
			case given && to != 0 && to < c.Value:
				return newest, fmt.Errorf("--counter %s=%d: in the log it has already come to %d: "+
					"say how far it came, or =0 to leave it", c.Name, to, c.Value)
			}
		}
		if len(found) < page {
			break
		}
	}
	if len(unknown) > 0 {
		return newest, fmt.Errorf("how far have these counters come? Name each by --counter "+
			"NAME=NUMBER, or =0 to leave it: %s", few(unknown))
	}
	for _, name := range slices.Sorted(maps.Keys(f.counters)) {
		if !there[name] {
			a.warn("counter %s of namespace %s had handed out nothing: is the name right?", name,
				f.store.namespace)
		}
	}
	return newest, nil
}

// few lists names for people, and shows at most ten of them.
func few(names []string) string {
	const most = 10
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ") + more
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// below returns the error for a --launch that is below the log's newest launch. It first finishes
// an advance that was interrupted, because until then a launch of a restored log hands out numbers
// again.
func (f *advance) below(ctx context.Context, log *launchlog.Log, last, newest int) error {
	reason := fmt.Sprintf("is below the last launch, %d", newest)
	if last > 0 && !f.dry {
		_, err := log.Advance(ctx, last, username()) // raises nothing, and ends no other launch
		if below := (*launchlog.RequestError)(nil); errors.As(err, &below) {
			reason = below.Reason
		} else if err != nil {
			return err
		}
	}
	return fmt.Errorf("--launch %d %s: use %d or more, after a look at \"When it refuses\" in "+
		"docs/operate/restore.md", last, reason, newest)
}

// known reports whether the command knows how far to advance a counter, or that it need not. A
// counter of times is at least at the first time that its IDs can carry, so a lower one holds
// something else.
func known(c launchlog.CounterState) bool {
	return ours(c.Name) && (c.Name != shortCounter || c.Value >= formats.ShortEpoch)
}

// ours reports whether a counter's name is one that idmint itself uses. Such counters hold times,
// or the clusters of eightbyte, which stay as they are, or count the looks of doctor.
func ours(counter string) bool {
	return counter == shortCounter || doctor.IsMark(counter) ||
		slices.ContainsFunc(claims.Pools(), func(p claims.Pool) bool { return p.Has(counter) })
}

// pool advances a pool, and returns how many of its numbers had a lower counter.
func (f *advance) pool(
	ctx context.Context, log *launchlog.Log, p claims.Pool, until time.Time,
) (below int, err error) {
	if !f.dry {
		return p.Advance(ctx, log, until, username())
	}
	list, err := p.List(ctx, log, until)
	for _, c := range list {
		if !c.Lent {
			below++
		}
	}
	return below, err
}

// counter advances a counter, and returns its values before and after.
func (f *advance) counter(
	ctx context.Context, log *launchlog.Log, name string,
) (from, to int64, err error) {
	c, err := log.Counter(name)
	if err != nil {
		return 0, 0, err
	}
	if from, err = c.Last(ctx); err != nil {
		return 0, 0, err
	}
	to = f.counters[name]
	if to > 0 && !f.dry {
		to, err = c.Advance(ctx, to, username())
	}
	return from, max(from, to), err
}

func (a *app) writeAdvanced(f *advance, done []advanced, until time.Time) error {
	next := "start the apps after that, because they wait no longer than their MaxWait"
	if f.dry {
		next = "this was a dry run, and nothing was changed"
	}
	a.warn("times count as used until %s: %s", clock(until), next)
	for i := range done {
		done[i].Namespace = f.store.namespace
	}
	return writeList(a, done, []any{"ADVANCED", "FROM", "TO", ""}, advanced.row)
}

// row returns the columns of a table for people.
func (d advanced) row() []any {
	from, to, note := "", d.value(d.To), ""
	if d.From != nil {
		from = d.value(*d.From)
	}
	if d.Raised != nil {
		to = clock(d.Until)
		note = plural(*d.Raised, "counter") + ", and the numbers that have none"
	}
	return []any{strings.TrimSpace(d.Kind + " " + d.Name), from, to, note}
}

// value formats a number for people, as a time if the counter counts milliseconds.
func (d advanced) value(n int64) string {
	if d.Until.IsZero() || n < formats.ShortEpoch {
		return strconv.FormatInt(n, 10)
	}
	return clock(time.UnixMilli(n))
}
