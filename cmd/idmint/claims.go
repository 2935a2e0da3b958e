package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/launchlog"
)

func (a *app) claimsCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "claims",
		Short: "Manage the numbers that the launch log lends: list, clusters, free",
		Long: `Manage the numbers that the launch log lends to generators: nodes of trace and
snowflake, partitions of sno, and pairs of cluster and generator of eightbyte.
Apps take one by package claims, and commands by idmint new. Nobody gives one
back: it is free once its counter is a quiet time behind the clock.`,
		Example: "  idmint claims list --db sqlite:app.db",
	}, a.claimsListCommand(), a.claimsClustersCommand(), a.claimsFreeCommand())
}

// poolFlag returns the pool that --pool names by its scheme.
func poolFlag(text string) (claims.Pool, error) {
	for _, p := range claims.Pools() {
		if string(p.Scheme()) == text {
			return p, nil
		}
	}
	return claims.Pool{}, usage("--pool %q: must be trace, sno, eightbyte or snowflake", text)
}

func (a *app) claimsListCommand() *cobra.Command {
	flags := storeFlags{reading: true}
	var pool string
	var lent bool
	c := &cobra.Command{
		Use:   "list [--pool P] --db DSN",
		Short: "List numbers, who has them, and until when",
		Long: `List every number ever lent, who has it, and until when. A number that is not
lent is free once its holder's quiet time is over: a minute, unless the app says
otherwise. For a locked number, the list shows the time that idmint claims free
would give back. A holder may renew its number at any moment. The share of each
pool that is lent goes to standard error.`,
		Example: "  idmint claims list --db sqlite:app.db\n" +
			"  idmint claims list --pool sno --lent --db sqlite:app.db",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			pools := claims.Pools()
			if c.Flags().Changed("pool") {
				p, err := poolFlag(pool)
				if err != nil {
					return err
				}
				pools = []claims.Pool{p}
			}
			return a.withLog(c, &flags, func(ctx context.Context, log *launchlog.Log) error {
				return a.listClaims(ctx, log, pools, lent)
			})
		},
	}
	flags.add(c)
	c.Flags().StringVar(&pool, "pool", "", "trace, sno, eightbyte or snowflake (default all)")
	c.Flags().BoolVar(&lent, "lent", false, "only numbers that are lent now")
	return c
}

func (a *app) listClaims(
	ctx context.Context, log *launchlog.Log, pools []claims.Pool, lent bool,
) error {
	now := time.Now()
	var found []claims.Claim
	for _, p := range pools {
		list, err := p.List(ctx, log, now)
		if err != nil {
			return err
		}
		size, err := p.Size(ctx, log)
		if err != nil {
			return err
		}
		numbers := map[string]bool{}
		for _, claim := range list {
			if claim.Lent {
				numbers[claim.Number] = true
			} else if lent {
				continue
			}
			found = append(found, claim)
		}
		if len(list) > 0 && !a.json {
			a.warn("%s: %d of %d numbers are lent (%.1f %%)", string(p.Scheme()), len(numbers),
				size, 100*float64(len(numbers))/float64(size))
		}
	}
	return writeList(a, found, []any{"POOL", "NUMBER", "STATE", "HOLDER"},
		func(c claims.Claim) []any {
			return []any{c.Scheme, c.Number, claimState(c, now), c.Holder}
		})
}

func claimState(c claims.Claim, now time.Time) string {
	state := "unused since "
	if c.Lent {
		state = "lent until "
	}
	state += clock(c.Until)
	if !c.Before.IsZero() {
		state += ", freed before " + clock(c.Before)
	}
	if !c.Gap[0].IsZero() {
		state += ", locked: claims free gives it back"
	}
	return state
}

func (a *app) claimsClustersCommand() *cobra.Command {
	var flags storeFlags
	var set string
	c := &cobra.Command{
		Use:   "clusters [--set LIST] --db DSN",
		Short: "Show or set which clusters of eightbyte may be used",
		Long: `Show which clusters generators of eightbyte IDs may use, or set them. There are
16, each with 2048 generators. The default is cluster 0. Two systems without a
common launch log need different clusters.

Running generators notice a change when they renew, within a minute. They give up
a pair of a cluster that was removed, and take another. Before the cluster is
used elsewhere, wait until idmint claims list shows none of its pairs as lent.`,
		Example: "  idmint claims clusters --set 0,1 --db sqlite:app.db",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var list []int
			if c.Flags().Changed("set") {
				var err error
				if list, err = parseClusters(set); err != nil {
					return err
				}
			}
			return a.withLog(c, &flags, func(ctx context.Context, log *launchlog.Log) error {
				p, err := poolFlag(string(idtype.SchemeEightByte))
				if err != nil {
					return err
				}
				now, err := p.Clusters(ctx, log)
				if err != nil {
					return err
				}
				if list != nil {
					if err := p.SetClusters(ctx, log, now, list, username()); err != nil {
						return err
					}
					now = list
				}
				return a.writeClusters(&flags, now)
			})
		},
	}
	flags.add(c)
	c.Flags().StringVar(&set, "set", "", "the clusters, 0 to 15, separated by commas")
	return c
}

// parseClusters parses a list of clusters, and returns them in ascending order, each once.
func parseClusters(text string) (list []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		var n numberFlag
		if n.Set(part) != nil || n.value > formats.EightByteMaxCluster {
			return nil, usage("--set %q: must be numbers from 0 to %d, separated by commas", text,
				formats.EightByteMaxCluster)
		}
		list = append(list, n.value)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

func (a *app) writeClusters(flags *storeFlags, list []int) error {
	var texts []string
	for _, n := range list {
		texts = append(texts, strconv.Itoa(n))
	}
	return a.answer(struct {
		Namespace string `json:"namespace"`
		Clusters  []int  `json:"clusters"`
	}{flags.namespace, list}, "%s\n", strings.Join(texts, ","))
}

func (a *app) claimsFreeCommand() *cobra.Command {
	var flags storeFlags
	var pool string
	c := &cobra.Command{
		Use:   "free NUMBER --pool P --db DSN",
		Short: "Free a number that a clock far ahead has locked",
		Long: `Free a number that a clock far ahead has locked. A counter never goes back, but
nobody used the time that it skipped. From now until that time ends, a second
counter lends the number. When the clock reaches the point at which the number
was locked, the first counter lends it again.

First correct the wrong clock, and end the process that holds the number. If an
operator or a ceiling raised the counter, the skipped time is not known, and the
number stays locked until its time has come. So does a trace node, because its
IDs repeat after 388 days.`,
		Example: "  idmint claims free 7 --pool sno --db sqlite:app.db\n" +
			"  idmint claims free 11/1161 --pool eightbyte --db sqlite:app.db",
		Args: oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			if err := missing(c, "pool"); err != nil {
				return err
			}
			p, err := poolFlag(pool)
			if err != nil {
				return err
			}
			return a.withLog(c, &flags, func(ctx context.Context, log *launchlog.Log) error {
				now := time.Now()
				claim, err := p.Free(ctx, log, args[0], now, username())
				if err != nil {
					return err
				}
				return a.answer(claim, "%s %s is free until %s\n", claim.Scheme, claim.Number,
					clock(claim.Before))
			})
		},
	}
	flags.add(c)
	c.Flags().StringVar(&pool, "pool", "", "trace, sno, eightbyte or snowflake (required)")
	return c
}
