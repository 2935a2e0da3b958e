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
		// The flags depend on the scheme, so an unknown scheme is reported before an unknown flag.
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
		return usage("-n %d: must be at least 1", count)
	}
	return nil
}

// A filler is the part of a generator that mint needs.
type filler[T any] interface {
	Fill(ctx context.Context, dst []T) (int, error)
}

// mint writes count IDs. After an error it has written the IDs that were minted before.
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

// A numberFlag is a number that distinguishes a generator from others. It has no default, because a
// number that everybody uses distinguishes nothing.
type numberFlag struct {
	value int
	given bool
}

func (f *numberFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || strconv.Itoa(n) != text {
		return errors.New("must be digits without leading zeros")
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

// claimLength is the most that a lent number is used ahead of time by a command. Two seconds are
// two units of trace.
const claimLength = 2 * time.Second

// timedFlags are the flags of schemes whose IDs carry the time.
type timedFlags struct {
	store storeFlags
	count int64
}

// ceilingLength is the most that the counter of a generator's number is ahead of time, and
// therefore the longest that the next command may have to wait.
const ceilingLength = 200 * time.Millisecond

// claimHelp says where the number comes from if none is named.
const claimHelp = `
Without %s, the database lends a
number that nobody has: see idmint claims.
`

// timedHelp says what the number and its ceiling guarantee.
const timedHelp = `
With --db, or ` + dsnVariable + `, the log counter
%s keeps the times that the command uses.
No other run then repeats its IDs, neither at the same time nor after the clock
was set back. An app that mints with the same number must share that counter: see
generator.Ceiling. A run may have to wait until the times that the last run
reserved have passed, up to %s.

Without a database, you must make sure that nobody else mints with the number at
the same time, with or without a database, and that the clock was not set back
since the last run.`

func (f *timedFlags) add(c *cobra.Command) {
	f.store.add(c)
	c.Flag("db").Usage = "the database of the launch log, which keeps the times used (default $" +
		dsnVariable + ", or none)"
	addCount(c, &f.count)
}

// missing returns a usage error for the first of the required flags that was not given.
func missing(c *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if !c.Flags().Changed(name) {
			return usage("--%s is required", name)
		}
	}
	return nil
}

// A mintNumber is the number that no other generator has: one that flags name, or one that the
// launch log lends.
type mintNumber[N any] struct {
	value   N
	counter string   // keeps its times
	flags   []string // name it; none for a scheme without numbers
	claim   func(*launchlog.Log, *claims.Options) (*claims.Source[N], error)
}

// isNamed reports whether all flags of the number are given.
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

// mintTimed mints with a number, whose counter keeps the times if there is a database. Start
// creates the generator.
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

// windows returns the windows of the number that is named, or of one that is lent for as long as
// the command runs.
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
