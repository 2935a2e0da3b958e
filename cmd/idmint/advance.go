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

// An advance is what an operator knows of a log that was restored, and what is to be done about it.
type advance struct {
	store    storeFlags
	launch   string // the highest ever used
	given    []string
	counters map[string]int64 // the highest number ever handed out, or 0 to leave a counter
	ahead    time.Duration
	trust    bool // this machine's clock, however far the log's times are
	dry      bool
}

// An advanced is what counts as used now.
type advanced struct {
	Namespace string    `json:"namespace"`
	Kind      string    `json:"kind"` // launches, pool or counter
	Name      string    `json:"name,omitempty"`
	From      *int64    `json:"from,string,omitempty"` // what a counter was
	To        int64     `json:"to,string,omitempty"`
	Until     time.Time `json:"until,omitzero"` // of what counts times
	Raised    *int      `json:"raised,omitempty"`
}

// longestAhead bounds a mistake: nobody mints until then.
const longestAhead = 24 * time.Hour

// longestAge bounds another one: how long after the log's newest row the clock may be. A backup is
// hours or days old. A clock that is a year ahead would lock the pools for a year.
const longestAge = 30 * 24 * time.Hour

func (a *app) advanceCommand() *cobra.Command {
	var f advance
	c := &cobra.Command{
		Use:   "advance --launch N [--counter NAME=NUMBER]… --db DSN",
		Short: "Count all that a restored launch log may have forgotten as used",
		Long: `Count all that a restored launch log may have forgotten as used, in one step.

Run it after the log was restored from a backup, or failed over to a copy that
lacked its newest rows, and before any app uses it. Such a log would give out
again what it forgot.

  --launch    the highest launch number that was ever used. The launches that
              run end as advanced, so start a new one. Their digits, and those
              that the number skips, are never used again. IDs show the last
              five digits of a number: see docs/operate/restore.md.
  --counter   the highest number that a counter ever handed out, of a sequence
              for example. Name each counter of the log that holds no times, and
              each that it has lost. NAME=0 leaves a counter as it is.
  --ahead     how far ahead of now times may have been used. It is the longest
              window of any app, and what clocks are ahead at most.

Numbers of trace, sno, eightbyte and snowflake, and the counter short, count as
used until --ahead from now. That holds for numbers whose counters were lost as
well. Generators wait until then. A ceiling whose counter has another name, or
was lost, is a --counter: seconds for trace, milliseconds for short and
eightbyte, 4 ms for sno, units of the layout for snowflake, since 1970.

A clock that is wrong by a year locks the numbers for a year. So the command
refuses where this machine's clock is more than 30 days after the newest launch
and counter of the log, or before them by more than --ahead. With --trust-clock
it takes the clock as it is. Look at the clock before.

A log with a range of digits is told the range again before, by idmint migrate
--digits: a backup may be older than the range. One run is for one --namespace.
Stop the apps before, and set the clocks right.
Nothing is lowered. Where it fails, run it again: it goes on. Start no launch
before it has succeeded. If one was started, the command ends the launches that
it was to end, and fails: --launch is to be that one then, which ends too. It
raises nothing before it knows what to do with each counter. With --dry-run it
changes nothing at all.`,
		Example: "  idmint advance --launch 70 --counter orders=1000000 --db sqlite:app.db\n" +
			"  idmint advance --launch 70 --counter orders=0 --ahead 1m --dry-run --db sqlite:app.db",
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
		"the highest launch number that was ever used, or 0 for none (required)")
	c.Flags().StringArrayVar(&f.given, "counter", nil,
		"NAME=NUMBER: the highest number that the counter ever handed out, or 0 to leave it")
	c.Flags().DurationVar(&f.ahead, "ahead", 10*time.Second,
		"how far ahead of now times may have been used")
	c.Flags().BoolVar(&f.trust, "trust-clock", false,
		"take this machine's clock as right, however far the log's times are")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "only say what would be done")
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
		return 0, usage("--ahead %v: want more than 0, and %v at most", f.ahead, longestAhead)
	}
	f.counters = map[string]int64{}
	for _, text := range f.given {
		name, number, ok := strings.Cut(text, "=")
		to, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil || to < 0 || strconv.FormatInt(to, 10) != number {
			return 0, usage("--counter %q: want NAME=NUMBER, and a number from 0 to %d", text,
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
	// Launches come last: to end many takes long.
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

// until is the time up to which times count as used: ahead of this machine's clock, and of the
// log's, where it has one. Newest is the log's newest time, zero for none.
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
				"differ by %v, more than --ahead: set them right, or say how far ahead of now times "+
				"were used", d.Abs().Round(time.Millisecond))
		} else if d > 0 {
			now = theirs
		}
	}
	if err := f.plausible(now, newest); err != nil {
		return time.Time{}, err
	}
	return now.Add(f.ahead + time.Second - 1).Truncate(time.Second).UTC(), nil
}

// plausible compares a clock with the newest time in the log. Many stores have no clock of their
// own, and SQLite has this machine's.
func (f *advance) plausible(now, newest time.Time) error {
	remedy := ""
	switch age := now.Sub(newest); {
	case newest.IsZero() || f.trust:
		return nil
	case age > longestAge:
		remedy = "if the clock is right, and the log is that old, add --trust-clock"
	case age < -f.ahead:
		remedy = "set it right; if other clocks were ahead, say by --ahead how far; if it is right " +
			"and that row is wrong, add --trust-clock"
	default:
		return nil
	}
	return fmt.Errorf("the clock is at %s, and the newest row of namespace %s is of %s: %s",
		clock(now), f.store.namespace, clock(newest),
		remedy)
}

// check compares what the operator knows with the log, before anything is raised. It returns the
// newest time of the rows that it reads.
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
				return newest, fmt.Errorf("--counter %s=%d: the log knows that it has come to %d: "+
					"say how far it came, or =0 to leave it", c.Name, to, c.Value)
			}
		}
		if len(found) < page {
			break
		}
	}
	if len(unknown) > 0 {
		return newest, fmt.Errorf("how far have counters come? Name each by --counter NAME=NUMBER, or =0 to "+
			"leave it: %s", few(unknown))
	}
	for _, name := range slices.Sorted(maps.Keys(f.counters)) {
		if !there[name] {
			a.warn("counter %s of namespace %s had handed out nothing: is the name right?", name,
				f.store.namespace)
		}
	}
	return newest, nil
}

// few is a list of names for people, of which it shows ten.
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

// below is the error for a launch number that the log has passed. An advance that was cut off is
// finished before, because till then a launch of a restored log gives out numbers again.
func (f *advance) below(ctx context.Context, log *launchlog.Log, last, newest int) error {
	reason := fmt.Sprintf("is below the last launch, %d", newest)
	if last > 0 && !f.dry {
		_, err := log.Advance(ctx, last, username()) // which raises nothing, and ends none else
		if below := (*launchlog.RequestError)(nil); errors.As(err, &below) {
			reason = below.Reason
		} else if err != nil {
			return err
		}
	}
	return fmt.Errorf("--launch %d %s", last, reason)
}

// known reports whether the command knows how far to advance a counter, or that it need not. A
// counter of times has passed the first time that its IDs have. One below holds something else.
func known(c launchlog.CounterState) bool {
	return ours(c.Name) && (c.Name != shortCounter || c.Value >= formats.ShortEpoch)
}

// ours reports whether a name is one that idmint itself gives to counters. They hold times, and the
// clusters of eightbyte, which stay as they are. Counters of doctor count its looks.
func ours(counter string) bool {
	return counter == shortCounter || doctor.IsMark(counter) ||
		slices.ContainsFunc(claims.Pools(), func(p claims.Pool) bool { return p.Has(counter) })
}

// pool advances a pool, and returns how many counters of numbers were below.
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
	next := "start the apps after that, because they wait for it no longer than their MaxWait"
	if f.dry {
		next = "this was a dry run, and nothing was changed"
	}
	a.warn("times count as used until %s: %s", clock(until), next)
	for i := range done {
		done[i].Namespace = f.store.namespace
	}
	return writeList(a, done, []any{"ADVANCED", "FROM", "TO", ""}, advanced.row)
}

// row is a line for people.
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

// value is a number as people read it: a time, where the counter counts milliseconds.
func (d advanced) value(n int64) string {
	if d.Until.IsZero() || n < formats.ShortEpoch {
		return strconv.FormatInt(n, 10)
	}
	return clock(time.UnixMilli(n))
}
