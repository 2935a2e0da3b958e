package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/launchlog"
)

func (a *app) counterCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "counter",
		Short: "Manage the launch log's counters: list, show, advance",
		Long: `Manage the launch log's counters. They hold the numbers of sequence IDs, and the
times that generators with a ceiling have reserved. You never create one: a
counter begins when it is first used.`,
		Example: "  idmint counter list --db sqlite:app.db",
	}, a.counterListCommand(), a.counterShowCommand(), a.counterAdvanceCommand())
}

func (a *app) counterListCommand() *cobra.Command {
	flags := storeFlags{reading: true}
	var after string
	var limit int
	c := &cobra.Command{
		Use:     "list --db DSN",
		Short:   "List counters in the order of their names",
		Example: "  idmint counter list --db sqlite:app.db",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 1 {
				return usage("--limit must be positive")
			}
			return a.withLog(c, &flags, func(ctx context.Context, log *launchlog.Log) error {
				found, err := log.Counters(ctx, after, limit)
				if err != nil {
					return err
				}
				return writeList(a, found, []any{"COUNTER", "VALUE", "UPDATED"},
					func(c launchlog.CounterState) []any {
						return []any{c.Name, c.Value, clock(c.UpdatedAt)}
					})
			})
		},
	}
	flags.add(c)
	c.Flags().IntVar(&limit, "limit", 100, "list at most this many")
	c.Flags().StringVar(&after, "after", "", "only names after this one")
	return c
}

// withCounter runs f on a counter of the launch log.
func (a *app) withCounter(
	c *cobra.Command, flags *storeFlags, name string,
	f func(context.Context, *launchlog.Counter) error,
) error {
	return a.withLog(c, flags, func(ctx context.Context, log *launchlog.Log) error {
		counter, err := log.Counter(name)
		if err != nil {
			return usageError{err}
		}
		return f(ctx, counter)
	})
}

// writeCounter writes a counter's value, and with --json its name and namespace too.
func (a *app) writeCounter(flags *storeFlags, name string, value int64) error {
	return a.answer(struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
		Value     int64  `json:"value,string"`
	}{flags.namespace, name, value}, "%d\n", value)
}

func (a *app) counterShowCommand() *cobra.Command {
	var flags storeFlags
	c := &cobra.Command{
		Use:     "show COUNTER --db DSN",
		Short:   "Show a counter's value: the last number that it handed out",
		Example: "  idmint counter show orders --db sqlite:app.db",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return a.withCounter(c, &flags, args[0],
				func(ctx context.Context, counter *launchlog.Counter) error {
					value, err := counter.Last(ctx)
					if err != nil {
						return err
					}
					if value == 0 { // a counter that was ever used is higher
						return fmt.Errorf("counter %q of namespace %s: no such counter: it begins "+
							"when it is first used", args[0], flags.namespace)
					}
					return a.writeCounter(&flags, args[0], value)
				})
		},
	}
	flags.add(c)
	return c
}

func (a *app) counterAdvanceCommand() *cobra.Command {
	var flags storeFlags
	var to string
	c := &cobra.Command{
		Use:   "advance COUNTER --to NUMBER --db DSN",
		Short: "Mark numbers of a counter as handed out, after a restore",
		Long: `Mark all numbers of a counter up to the given one as handed out.

Do so after the log was restored from a backup, or failed over to a copy that
lacked its newest rows, because such a log would hand out again what it forgot.
Advance every counter to at least the highest number that it ever handed out. A
counter is never lowered. A counter that keeps a generator's times counts them
since 1970, in the scheme's unit of time, which bounds --help names.

After a restore, idmint advance does all of this in one step, for counters, lent
numbers and launches.`,
		Example: "  idmint counter advance orders --to 1000000 --db sqlite:app.db",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			last, err := strconv.ParseInt(to, 10, 64)
			if err != nil || last < 1 || strconv.FormatInt(last, 10) != to {
				return usage("--to %q: must be a number from 1 to %d", to, int64(math.MaxInt64))
			}
			return a.withCounter(c, &flags, args[0],
				func(ctx context.Context, counter *launchlog.Counter) error {
					before, err := counter.Last(ctx)
					if err != nil {
						return err
					}
					ofPool := func(p claims.Pool) bool { return p.Has(args[0]) }
					if before == 0 && !slices.ContainsFunc(claims.Pools(), ofPool) {
						a.warn("counter %s of namespace %s had handed out nothing: are the names "+
							"right?", args[0], flags.namespace)
					}
					now, err := counter.Advance(ctx, last, username())
					if err == nil && now > last {
						err = fmt.Errorf("counter %s: --to %d is below its value, %d", args[0],
							last, now)
					}
					if err != nil {
						return err
					}
					return a.writeCounter(&flags, args[0], now)
				})
		},
	}
	flags.add(c)
	c.Flags().StringVar(&to, "to", "", "the highest number that was ever handed out (required)")
	return c
}
