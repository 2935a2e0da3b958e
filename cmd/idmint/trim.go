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
		Short: "Remove old claims from the launch log, so that it does not grow with every start",
		Long: `Remove the claims of generator numbers that are older than an age, which must be
at least a day. Each start of an app adds a claim, and nothing else removes one.

Launches stay, with their events, how many numbers they handed out, and their
newest claim. For a number whose claim was removed, launch show and serve still
know the launch, but no longer the process. A trim never causes an ID to repeat.

Apps may run meanwhile. Run the command on a schedule, such as once a day, for
each --namespace. If it fails, run it again to continue. A user of PostgreSQL,
MySQL or MariaDB needs the right to delete from idmint_generator.`,
		Example: "  idmint trim --older-than 720h --db sqlite:app.db",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := missing(c, "older-than"); err != nil {
				return err
			}
			if age < launchlog.MinTrimAge {
				return usage("--older-than %v: must be at least %v", age, launchlog.MinTrimAge)
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
	c.Flags().DurationVar(&age, "older-than", 0,
		"the minimum age of the claims to remove (required)")
	return c
}
