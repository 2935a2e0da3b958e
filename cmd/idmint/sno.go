package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/explain"
	"github.com/idmint/idmint/internal/formats"
)

var snoKind = join(kind[idtype.SnoID, idtype.SnoParts]{
	Kind:    explain.Sno,
	id:      idtype.SnoParts.ID,
	span:    within(idtype.Bounds[idtype.SnoID]),
	command: newSno,
})

func newSno(a *app, k *kind[idtype.SnoID, idtype.SnoParts]) *cobra.Command {
	var flags timedFlags
	var partition, meta numberFlag
	var at string
	c := &cobra.Command{
		Use:   "sno [--partition P] [--meta M] [-n N] [--db DSN | --time T]",
		Short: "Mint sno IDs",
		Long: "Mint sno IDs of a partition, one per line: 65,536 in 4 ms.\n" +
			fmt.Sprintf(claimHelp, "--partition") +
			fmt.Sprintf(timedHelp, "sno/PARTITION", "0.2 s") + `

With --time the IDs carry that time. Their sequence numbers begin with the
pool's first in every run. So the partition, or the pool, is to be this run's
alone.`,
		Example: "  idmint new sno --partition 34824 --meta 158 -n 3\n" +
			"  idmint new sno --db sqlite:app.db\n" +
			"  idmint new sno --partition 8 --pool 0..999 --time 2023-12-26 -n 1000",
		RunE: func(c *cobra.Command, _ []string) error {
			if meta.value > formats.SnoMaxMeta {
				return usage("--meta %d: want 0 to %d", meta.value, formats.SnoMaxMeta)
			}
			if c.Flags().Changed("time") {
				if err := missing(c, "partition"); err != nil {
					return err
				}
				return a.mintBackdated(c, k, &flags, partition.value, at, byte(meta.value))
			}
			counter := fmt.Sprintf("sno/%d", partition.value)
			number := mintNumber[int]{
				partition.value, counter, []string{"partition"}, claims.Partitions,
			}
			return mintTimed(c, a, k, &flags, number,
				func(w generator.Windows[int], o *generator.Options) (
					generator.Source[idtype.SnoID], error,
				) {
					gen, err := generator.NewSno(w, o)
					if err != nil {
						return nil, err
					}
					return gen.With(byte(meta.value)), nil
				})
		},
	}
	flags.add(c, "sequence numbers")
	c.Flags().Var(&partition, "partition", "the partition, 0 to 65535 (default one that is lent)")
	c.Flags().Var(&meta, "meta", "the metabyte, 0 to 255 (default 0)")
	c.Flags().StringVar(&at, "time", "",
		"the time that the IDs carry, such as 2023-12-26T10:49:43.96Z or 2023-12-26 (default now)")
	return c
}

func (a *app) mintBackdated(
	c *cobra.Command, k *kind[idtype.SnoID, idtype.SnoParts], f *timedFlags, partition int,
	at string, meta byte,
) error {
	if c.Flags().Changed("db") {
		return usage("--time goes without --db")
	}
	if err := checkCount(f.count); err != nil {
		return err
	}
	opts, err := f.options(c)
	if err != nil {
		return err
	}
	t, err := moment("--time", at, false)
	if err != nil {
		return err
	}
	gen, err := generator.NewBackdatedSno(partition, opts.Pool)
	if err != nil {
		return usageError{err}
	}
	ctx, cancel := interruptible(c)
	defer cancel()
	return mint(ctx, a, k, backdated{gen, t, meta}, f.count)
}

// backdated mints IDs of one time.
type backdated struct {
	*generator.BackdatedSno
	time time.Time
	meta byte
}

func (b backdated) Fill(_ context.Context, dst []idtype.SnoID) (n int, err error) {
	for n < len(dst) {
		if dst[n], err = b.At(b.time, b.meta); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
