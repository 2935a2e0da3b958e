package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/internal/schemes"
)

var _ = add(kind[idtype.SnoID, idtype.SnoParts]{
	Kind:    schemes.Sno,
	id:      idtype.SnoParts.ID,
	command: newSno,
})

func newSno(a *app, k *kind[idtype.SnoID, idtype.SnoParts]) *cobra.Command {
	var flags timedFlags
	var partition, meta numberFlag
	c := &cobra.Command{
		Use:   "sno [--partition P] [--meta M] [-n N] [--db DSN]",
		Short: "Mint sno IDs",
		Long: "Mint sno IDs of a partition, one per line, at most 65,536 per 4 ms.\n" +
			fmt.Sprintf(claimHelp, "--partition") +
			fmt.Sprintf(timedHelp, "sno/PARTITION", "0.2 s"),
		Example: "  idmint new sno --partition 34824 --meta 158 -n 3\n" +
			"  idmint new sno --db sqlite:app.db",
		RunE: func(c *cobra.Command, _ []string) error {
			if meta.value > formats.SnoMaxMeta {
				return usage("--meta %d: must be 0 to %d", meta.value, formats.SnoMaxMeta)
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
	flags.add(c)
	c.Flags().Var(&partition, "partition", "the partition, 0 to 65535 (default: a lent one)")
	c.Flags().Var(&meta, "meta", "the metabyte, 0 to 255 (default 0)")
	return c
}
