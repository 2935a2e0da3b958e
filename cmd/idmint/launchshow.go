package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/launchlog"
)

func (a *app) launchShowCommand() *cobra.Command {
	flags := storeFlags{reading: true}
	var limit int
	c := &cobra.Command{
		Use:     "show LAUNCH --db DSN",
		Short:   "Show a launch, its events and who took its generator numbers",
		Example: "  idmint launch show 65 --db sqlite:app.db",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			id, err := launchNumber("launch", args[0])
			if err != nil {
				return err
			}
			if limit < 1 {
				return usage("--limit is positive")
			}
			return a.withLog(c, &flags,
				func(ctx context.Context, log *launchlog.Log) error {
					return a.show(ctx, log, id, limit)
				})
		},
	}
	flags.add(c)
	c.Flags().IntVar(&limit, "limit", 20, "at most as many generator numbers, the newest")
	return c
}

func (a *app) show(ctx context.Context, log *launchlog.Log, id, limit int) error {
	launch, err := log.Show(ctx, id)
	if err != nil {
		return err
	}
	events, err := log.Events(ctx, id)
	if err != nil {
		return err
	}
	claims, err := log.Claims(ctx, id, max(0, launch.NextGenerator-limit), limit)
	if err != nil {
		return err
	}
	if a.json {
		return a.out.json(struct {
			launchlog.Launch
			Events []launchlog.Event `json:"events"`
			Claims []launchlog.Claim `json:"claims"`
		}{launch, events, claims})
	}
	return a.out.table(func(row func(...any)) {
		for _, f := range [...]struct{ name, value string }{
			{"launch", fmt.Sprint(launch.ID)},
			{"namespace", launch.Namespace},
			{"key", launch.Key},
			{"service", launch.Service},
			{"environment", launch.Environment},
			{"version", launch.Version},
			{"commit", launch.Commit},
			{"ref", launch.Ref},
			{"artifact digest", launch.ArtifactDigest},
			{"ticket", launch.Ticket},
			{"reason", launch.Reason},
			{"initiator", strings.TrimSpace(launch.Initiator + " " + launch.InitiatorKind)},
			{"approver", launch.Approver},
			{"pipeline", launch.PipelineURL},
			{"rolls back", orNothing(launch.RollsBack)},
			{"data", string(launch.Data)},
			{"host", launch.Host},
			{"started", clock(launch.StartedAt)},
			{"state", state(launch)},
			{"generators", fmt.Sprintf("%d of %d", launch.NextGenerator, launchlog.MaxGenerators)},
		} {
			if f.value != "" {
				row(f.name, f.value)
			}
		}
		for _, e := range events {
			row(clock(e.At), strings.TrimSpace(fmt.Sprintf("%s by %s %s", e.Kind, e.Actor, e.Detail)))
		}
		for _, c := range claims {
			row(clock(c.ClaimedAt), fmt.Sprintf("generator %d taken by %s, process %d", c.Generator,
				c.Host, c.PID))
		}
	})
}

// clock is a time as people read it, with its zone, which is always UTC.
func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func orNothing(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
