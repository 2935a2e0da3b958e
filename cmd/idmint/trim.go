package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/launchlog"
)

func (a *app) trimCommand() *cobra.Command {
	var flags storeFlags
	var age time.Duration
	c := &cobra.Command{
		Use:   "trim --older-than AGE --db DSN",
		Short: "Remove old claims from the launch log, which else grows with every start",
		Long: `Remove the claims of generator numbers that are older than an age. Each start of an
app adds one, and nothing else removes it.

Launches stay, with their events, how many numbers they gave out, and their
newest claim. Of a number whose claim is gone, launch show and serve still know
the launch, and the process no more. No ID repeats by a trim.

The age is a day at least. Apps may run meanwhile. Run it on a schedule, such as
once a day, for each --namespace. Where it fails, run it again: it goes on. A
user of PostgreSQL, MySQL or MariaDB needs the right to delete from
idmint_generator.`,
		Example: "  idmint trim --older-than 720h --db sqlite:app.db",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := missing(c, "older-than"); err != nil {
				return err
			}
			if age < launchlog.MinTrimAge {
				return usage("--older-than %v: want %v or more", age, launchlog.MinTrimAge)
			}
			return a.withLog(c, &flags, func(ctx context.Context, log *launchlog.Log) error {
				removed, err := log.Trim(ctx, age)
				if err != nil {
					a.warn("%s removed", plural(removed, "claim"))
					return err
				}
				return a.answer(struct {
					Removed int `json:"removed"`
				}{removed}, "%s removed\n", plural(removed, "claim"))
			})
		},
	}
	flags.add(c)
	c.Flags().DurationVar(&age, "older-than", 0, "the least age of what is removed (required)")
	return c
}
