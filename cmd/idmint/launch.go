package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/launchlog"
)

func (a *app) launchCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "launch",
		Short: "Manage launches: start, end, list, show",
		Example: `  idmint launch start --db sqlite:app.db --service shop --env production \
    --key "$CI_PIPELINE_URL" --initiator "$(id -un)"
  idmint launch list --db sqlite:app.db`,
	}, a.launchStartCommand(), a.launchEndCommand(), a.launchListCommand(),
		a.launchShowCommand())
}

// withLog runs f on the launch log of a command.
func (a *app) withLog(
	c *cobra.Command, flags *storeFlags, f func(context.Context, *launchlog.Log) error,
) error {
	ctx, cancel := interruptible(c)
	defer cancel()
	log, done, err := flags.open(ctx, a)
	if err != nil {
		return err
	}
	defer done()
	return f(ctx, log)
}

func (a *app) launchStartCommand() *cobra.Command {
	var flags storeFlags
	var r launchlog.Request
	var format, data string
	var supersede bool
	c := &cobra.Command{
		Use:   "start --db DSN --service S --env E --key K --initiator WHO",
		Short: "Start a launch and print its number",
		Long: `Start a launch and print only its number, for a deployment's configuration. Run
the command once per deployment, outside the app.

The key names the deployment, for example by the URL of the pipeline's run. With
the same key the command prints the same number again. It fails if the same key is
used for something else, or if the launch of the key has ended, because a new
deployment needs a new key.

--supersede ends the service's launches in that environment with smaller numbers
as superseded. Their apps keep the generator numbers that they have, but get no
new ones, so an old app that restarts fails. In a rolling deployment, therefore,
run the command a second time, with the same key and --supersede, when no old app
is running any more. A rollback then needs a new key. If places are deployed to
one by one, name each by --env: production-eu, production-us.`,
		Example: `  idmint launch start --db sqlite:app.db --service shop --env production \
    --key "$CI_PIPELINE_URL" --initiator "$(id -un)"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if format != "plain" && format != "env" {
				return usage("--format %q: must be plain or env", format)
			}
			for _, name := range []string{"service", "env", "key", "initiator"} {
				if c.Flag(name).Value.String() == "" {
					return usage("--%s is required", name)
				}
			}
			if data != "" {
				r.Data = json.RawMessage(data)
			}
			return a.withLog(c, &flags, func(ctx context.Context, log *launchlog.Log) error {
				launch, err := log.Start(ctx, r)
				if err != nil {
					return err
				}
				if !launch.Running() {
					return &endedError{launch}
				}
				if supersede {
					if err := a.supersede(ctx, log, launch); err != nil {
						return err
					}
				}
				switch {
				case a.json:
					return a.out.json(launch)
				case format == "env":
					err = a.out.printf("%s=%d\n", launchVariable, launch.ID)
				default:
					err = a.out.printf("%d\n", launch.ID)
				}
				return err
			})
		},
	}
	flags.add(c)
	f := c.Flags()
	f.StringVar(&r.Key, "key", "", "a name for this deployment and no other (required)")
	f.StringVar(&r.Service, "service", "", "the service that is launched (required)")
	f.StringVar(&r.Environment, "env", "",
		"where it is launched, for example production (required)")
	f.StringVar(&r.Initiator, "initiator", "", "who launches it (required)")
	f.StringVar(&r.InitiatorKind, "initiator-kind", "",
		"the kind of initiator, for example user, ci or schedule")
	f.StringVar(&r.Version, "version", "", "the version")
	f.StringVar(&r.Commit, "commit", "", "the commit")
	f.StringVar(&r.Ref, "ref", "", "the branch or tag")
	f.StringVar(&r.ArtifactDigest, "digest", "", "the artifact's digest")
	f.StringVar(&r.Ticket, "ticket", "", "the release ticket")
	f.StringVar(&r.Reason, "reason", "", "the reason")
	f.StringVar(&r.Approver, "approver", "", "who approved it")
	f.StringVar(&r.PipelineURL, "pipeline-url", "", "the URL of the pipeline's run")
	f.IntVar(&r.RollsBack, "rolls-back", 0, "the launch that this one rolls back")
	f.StringVar(&data, "data", "", "any other data, as a JSON object")
	f.IntVar(&r.KnownLaunch, "known", 0,
		"the highest launch number that you know of: the command fails if the log is behind it")
	f.BoolVar(&supersede, "supersede", false,
		"end the service's earlier launches in the environment")
	f.StringVar(&format, "format", "plain", "plain: the number; env: "+launchVariable+"=number")
	return c
}

func (a *app) launchEndCommand() *cobra.Command {
	var flags storeFlags
	var ending launchlog.Ending
	var outcome string
	c := &cobra.Command{
		Use:   "end LAUNCH --db DSN --outcome OUTCOME",
		Short: "End a launch, so that it hands out no more generator numbers",
		Long: `End a launch. Its apps keep the generator number that they have, and get no new
one. Ending a launch again changes nothing, unless the outcome differs, which is
an error. The usual outcomes are succeeded, failed, aborted, rolled-back and
superseded. The log itself ends launches as handed-on, when another launch takes
over their digits, and idmint advance ends them as advanced.`,
		Example: "  idmint launch end 65 --db sqlite:app.db --outcome succeeded",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			id, err := launchNumber("launch", args[0])
			if err != nil {
				return err
			}
			if outcome == "" {
				return usage("--outcome is required")
			}
			ending.Outcome = launchlog.Outcome(outcome)
			if ending.Actor == "" {
				ending.Actor = username()
			}
			return a.withLog(c, &flags, func(ctx context.Context, log *launchlog.Log) error {
				launch, err := log.End(ctx, id, ending)
				if err != nil {
					return err
				}
				if a.json {
					return a.out.json(launch)
				}
				return nil
			})
		},
	}
	flags.add(c)
	c.Flags().StringVar(&outcome, "outcome", "", "how it ended (required)")
	c.Flags().StringVar(&ending.Actor, "initiator", "", "who ends it (default: you)")
	c.Flags().StringVar(&ending.Reason, "reason", "", "the reason")
	return c
}

func (a *app) launchListCommand() *cobra.Command {
	flags := storeFlags{reading: true}
	var filter launchlog.Filter
	c := &cobra.Command{
		Use:     "list --db DSN",
		Short:   "List launches, the newest first",
		Example: "  idmint launch list --db sqlite:app.db --running",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if filter.Limit < 1 || filter.Before < 0 {
				return usage("--limit and --before must be positive")
			}
			return a.withLog(c, &flags, func(ctx context.Context, log *launchlog.Log) error {
				found, err := log.List(ctx, filter)
				if err != nil {
					return err
				}
				return writeList(a, found, []any{
					"LAUNCH", "SERVICE", "ENVIRONMENT", "VERSION", "INITIATOR", "STARTED",
					"STATE", "GENERATORS",
				}, func(l launchlog.Launch) []any {
					return []any{
						l.ID, l.Service, l.Environment, l.Version, l.Initiator, clock(l.StartedAt),
						state(l), l.NextGenerator,
					}
				})
			})
		},
	}
	flags.add(c)
	f := c.Flags()
	f.StringVar(&filter.Service, "service", "", "only launches of this service")
	f.StringVar(&filter.Environment, "env", "", "only launches in this environment")
	f.BoolVar(&filter.Running, "running", false, "only launches that have not ended")
	f.IntVar(&filter.Limit, "limit", 100, "list at most this many")
	f.IntVar(&filter.Before, "before", 0, "only launches below this number")
	return c
}

func state(l launchlog.Launch) string {
	if l.Running() {
		return "running"
	}
	return string(l.Outcome)
}

// An endedError is returned for a key whose launch has ended. No app could start with its number.
type endedError struct{ launch launchlog.Launch }

func (e *endedError) Error() string {
	return fmt.Sprintf("launch %d, of this key, has ended as %s, and its apps get no generator "+
		"numbers: use a new key for a new deployment", e.launch.ID, e.launch.Outcome)
}

func (e *endedError) Unwrap() error { return launchlog.ErrEnded }

// supersede ends the earlier launches of the service in the environment. Later launches stay, so
// that an old pipeline that is run again does not end a newer deployment.
func (a *app) supersede(ctx context.Context, log *launchlog.Log, by launchlog.Launch) error {
	former, err := log.List(ctx, launchlog.Filter{
		Service: by.Service, Environment: by.Environment, Running: true, Before: by.ID,
		Limit: launchlog.MaxLaunch,
	})
	if err != nil {
		return err
	}
	for _, l := range former {
		_, err := log.End(ctx, l.ID, launchlog.Ending{
			Outcome: launchlog.Superseded, Actor: by.Initiator,
			Reason: fmt.Sprintf("launch %d took its place", by.ID),
		})
		var ended *launchlog.ConflictError
		if errors.As(err, &ended) { // by somebody else, just now
			continue
		}
		if err != nil {
			return err
		}
		a.warn("ended launch %d as superseded", l.ID)
	}
	return nil
}

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
				return usage("--limit must be positive")
			}
			return a.withLog(c, &flags,
				func(ctx context.Context, log *launchlog.Log) error {
					return a.show(ctx, log, id, limit)
				})
		},
	}
	flags.add(c)
	c.Flags().IntVar(&limit, "limit", 20, "show at most this many generator numbers, the newest")
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
			row(clock(e.At),
				strings.TrimSpace(fmt.Sprintf("%s by %s %s", e.Kind, e.Actor, e.Detail)))
		}
		for _, c := range claims {
			row(clock(c.ClaimedAt), fmt.Sprintf("generator %d taken by %s, process %d", c.Generator,
				c.Host, c.PID))
		}
	})
}

// clock formats a time for people, with its zone, which is always UTC.
func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func orNothing(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// username returns the user that runs the command, for records.
func username() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}
