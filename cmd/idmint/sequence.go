package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
	"github.com/idmint/idmint/launchlog"
)

var _ = add(kind[idtype.SequenceID, schemes.SequenceFields]{
	Kind: schemes.Sequence,
	id: func(p schemes.SequenceFields) (idtype.SequenceID, error) {
		return p.ID, p.ID.Validate()
	},
	draw: func(id idtype.SequenceID) drawing {
		return drawing{
			line("sequence " + id.String()), line(schemes.Sequence.Says(id)[0].Label()),
		}
	},
	command: newSequence,
})

func newSequence(a *app, k *kind[idtype.SequenceID, schemes.SequenceFields]) *cobra.Command {
	var flags storeFlags
	var counter string
	var count int64
	c := &cobra.Command{
		Use:   "sequence --db DSN --counter NAME [-n N]",
		Short: "Mint sequence IDs",
		Long: `Mint sequence IDs, one per line, from a log counter. The counter begins at 1 when
it is first used, and never hands out a number twice. The command takes the
numbers that it prints, up to 4096 at a time. It rejects the names of counters
that idmint itself uses, such as short and sno/7, because idmint advance would
treat the counter as one of those after a restore.`,
		Example: "  idmint new sequence --db sqlite:app.db --counter orders -n 3",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := missing(c, "counter"); err != nil {
				return err
			}
			if err := checkCount(count); err != nil {
				return err
			}
			if ours(counter) {
				return usage("--counter %q: idmint itself uses a counter of that name", counter)
			}
			return a.withCounter(c, &flags, counter,
				func(ctx context.Context, numbers *launchlog.Counter) error {
					gen, err := generator.NewSequence(numbers, 1)
					if err != nil {
						return err
					}
					return mint(ctx, a, k, gen, count)
				})
		},
	}
	flags.add(c)
	c.Flags().StringVar(&counter, "counter", "", "the counter's name (required)")
	addCount(c, &count)
	return c
}
