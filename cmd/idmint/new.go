package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

func (a *app) newCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "new SCHEME",
		Short: "Mint IDs",
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
	for _, s := range schemes {
		mint := s.newCommand(a)
		mint.Args = noCountArg
		c.AddCommand(mint)
	}
	return c
}

// noCountArg refuses arguments, of which a number is meant as that of the flag.
func noCountArg(c *cobra.Command, args []string) error {
	err := cobra.NoArgs(c, args)
	if err != nil && new(numberFlag).Set(args[0]) == nil {
		err = fmt.Errorf("%q alone says nothing: for as many IDs write -n %[1]s", args[0])
	}
	return err
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

// mint writes count IDs. What was minted before an error is written.
func mint[T idtype.ID, P any](
	ctx context.Context, a *app, k *kind[T, P], source generator.Source[T], count int64,
) error {
	ids := make([]T, min(count, 4096))
	for count > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := source.Fill(ctx, ids[:min(count, int64(len(ids)))])
		for _, id := range ids[:n] {
			if err := a.out.id(identity[T, P]{k, id}, a.json); err != nil {
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

// timedFlags are the flags of schemes whose IDs carry the time.
type timedFlags struct {
	store storeFlags
	pool  string
	count int64
}

// ceilingLength is how far ahead the counter of a generator's number stands at most: as long the
// next command may have to wait.
const ceilingLength = 200 * time.Millisecond

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

func (f *timedFlags) add(c *cobra.Command, slots string) {
	f.store.add(c)
	c.Flag("db").Usage = "the database that keeps the times used: sqlite:PATH, postgres://… or " +
		"mysql://… (default $" + dsnVariable + ", or none)"
	c.Flags().StringVar(&f.pool, "pool", "",
		"MIN..MAX: mint "+slots+" of this range only, which commands with the same number share")
	addCount(c, &f.count)
}

func (f *timedFlags) options(c *cobra.Command) (*generator.Options, error) {
	if !c.Flags().Changed("pool") {
		return &generator.Options{}, nil
	}
	smallest, largest, ok := strings.Cut(f.pool, "..")
	var first, last numberFlag
	if !ok || first.Set(smallest) != nil || last.Set(largest) != nil {
		return nil, usage("--pool %q: want MIN..MAX", f.pool)
	}
	return &generator.Options{Pool: &generator.Pool{Min: first.value, Max: last.value}}, nil
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

// mintTimed mints with a number, whose times are kept in the counter of that name if there is a
// database. Start makes the generator.
func mintTimed[N any, T idtype.ID, P any](
	c *cobra.Command, a *app, k *kind[T, P], f *timedFlags, number N, counter string,
	start func(generator.Windows[N], *generator.Options) (generator.Source[T], error),
) error {
	if err := checkCount(f.count); err != nil {
		return err
	}
	opts, err := f.options(c)
	if err != nil {
		return err
	}
	source, err := start(generator.Given(number), opts)
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
		times, err := log.Counter(counter)
		if err != nil {
			return err
		}
		if source, err = start(generator.Ceiling(number, times, ceilingLength), opts); err != nil {
			return err
		}
	}
	return mint(ctx, a, k, source, f.count)
}
