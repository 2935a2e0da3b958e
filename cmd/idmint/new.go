package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
)

func (a *app) newCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "new SCHEME",
		Short: "Mint IDs",
		Example: `  idmint new short
  idmint new decimal --db sqlite:app.db --launch 65 -n 3`,
		// Flags are those of a scheme: an unknown scheme is what to complain about.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("which scheme? want %s", schemeNames())
			}
			_, err := schemeNamed(args[0])
			return err
		},
	}
	for _, s := range kinds {
		mint := s.newCommand(a)
		mint.Args = cobra.NoArgs
		c.AddCommand(mint)
	}
	return c
}

func addCount(c *cobra.Command, count *int64) {
	c.Flags().Int64VarP(count, "count", "n", 1, "how many")
}

func checkCount(count int64) error {
	if count < 1 {
		return usage("-n %d: want at least 1", count)
	}
	return nil
}

// A filler is what mint needs of a generator.
type filler[T any] interface {
	Fill(ctx context.Context, dst []T) (int, error)
}

// mint writes count IDs. What was minted before an error is written.
func mint[T idtype.ID, P any](
	ctx context.Context, a *app, k *kind[T, P], source filler[T], count int64,
) error {
	ids := make([]T, min(count, 4096))
	for count > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := source.Fill(ctx, ids[:min(count, int64(len(ids)))])
		for _, id := range ids[:n] {
			if err := a.out.id(k.of(id), a.json); err != nil {
				return err
			}
		}
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		count -= int64(n)
	}
	return nil
}

// A numberFlag is a number that tells a generator from others. There is no default: a number that
// everybody has tells nothing.
type numberFlag struct {
	value int
	given bool
}

func (f *numberFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || strconv.Itoa(n) != text {
		return errors.New("want digits, without leading zeros")
	}
	f.value, f.given = n, true
	return nil
}

func (f *numberFlag) Type() string { return "int" }

func (f *numberFlag) String() string {
	if !f.given {
		return ""
	}
	return strconv.Itoa(f.value)
}

// claimLength is how far ahead a number that is lent to a command is used at most: two seconds are
// two units of trace.
const claimLength = 2 * time.Second

// timedFlags are the flags of schemes whose IDs carry the time.
type timedFlags struct {
	store storeFlags
	count int64
}

// ceilingLength is how far ahead the counter of a generator's number stands at most: as long the
// next command may have to wait.
const ceilingLength = 200 * time.Millisecond

// claimHelp says where the number comes from where none is named.
const claimHelp = `
Without %s, the database lends one
that nobody has: see idmint claims.
`

// timedHelp says what the number and its ceiling promise.
const timedHelp = `
With --db, or ` + dsnVariable + `, a counter of the launch log keeps the times
that the command uses. It is named %s.
So no other run repeats its IDs, not at the same time, and not after the clock
was set back. An app that mints with the same number shares that counter:
generator.Ceiling. A run may have to wait until the times that the last one
reserved have passed, up to %s.

Without a database the number is taken on your word. Nobody else mints with it.
No other run goes on at the same time, with or without a database. The clock
was not set back since the last run.`

func (f *timedFlags) add(c *cobra.Command) {
	f.store.add(c)
	c.Flag("db").Usage = "the database that keeps the times used, as launch takes it (default $" +
		dsnVariable + ", or none)"
	addCount(c, &f.count)
}

// missing is the first of the flags that is required and was not given.
func missing(c *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if !c.Flags().Changed(name) {
			return usage("--%s is required", name)
		}
	}
	return nil
}

// A mintNumber is what makes a command's IDs its own: one that was named, or one that the launch
// log lends.
type mintNumber[N any] struct {
	value   N
	counter string   // that keeps its times
	flags   []string // that name it; none for a scheme without numbers
	claim   func(*launchlog.Log, *claims.Options) (*claims.Source[N], error)
}

// isNamed reports whether the number is named, wholly.
func (n mintNumber[N]) isNamed(c *cobra.Command, f *timedFlags) (bool, error) {
	named := 0
	for _, flag := range n.flags {
		if c.Flags().Changed(flag) {
			named++
		}
	}
	switch {
	case named == len(n.flags):
		return true, nil
	case named > 0:
		return false, missing(c, n.flags...)
	case !f.store.name.isGiven():
		return false, usage("--%s is required, or a database that lends one: --db",
			strings.Join(n.flags, " and --"))
	}
	return false, nil
}

// mintTimed mints with a number. If there is a database, its counter keeps the times. Start makes
// the generator.
func mintTimed[N any, T idtype.ID, P any, G filler[T]](
	c *cobra.Command, a *app, k *kind[T, P], f *timedFlags, number mintNumber[N],
	start func(generator.Windows[N], *generator.Options) (G, error),
) error {
	named, err := number.isNamed(c, f)
	if err != nil {
		return err
	}
	if err := checkCount(f.count); err != nil {
		return err
	}
	opts := &generator.Options{}
	if f.store.name.isGiven() {
		opts.MaxWait = f.store.wait
	}
	source, err := start(generator.Given(number.value), opts)
	if err != nil {
		return usageError{err}
	}
	ctx, cancel := interruptible(c)
	defer cancel()
	if f.store.name.isGiven() {
		log, done, err := f.store.open(ctx, a)
		if err != nil {
			return err
		}
		defer done()
		windows, err := number.windows(a, log, named)
		if err != nil {
			return err
		}
		if source, err = start(windows, opts); err != nil {
			return err
		}
	}
	return mint(ctx, a, k, source, f.count)
}

// windows are those of the number that was named, or of one that is lent for as long as the command
// runs.
func (n mintNumber[N]) windows(
	a *app, log *launchlog.Log, named bool,
) (generator.Windows[N], error) {
	if !named {
		what := "cluster/generator"
		if len(n.flags) == 1 {
			what = n.flags[0]
		}
		return n.claim(log, &claims.Options{Length: claimLength, Notify: func(e claims.Event) {
			if e.Kind == claims.Taken {
				a.warn("%s %s is lent to this command", what, e.Number)
			}
		}})
	}
	times, err := log.Counter(n.counter)
	if err != nil {
		return nil, err
	}
	return generator.Ceiling(n.value, times, ceilingLength), nil
}
