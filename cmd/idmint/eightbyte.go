package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

var _ = add(kind[idtype.EightByteID, idtype.EightByteParts]{
	Kind:    schemes.EightByte,
	id:      idtype.EightByteParts.ID,
	command: newEightByte,
})

func newEightByte(a *app, k *kind[idtype.EightByteID, idtype.EightByteParts]) *cobra.Command {
	var flags timedFlags
	var gen, cluster numberFlag
	var mode string
	c := &cobra.Command{
		Use:   "eightbyte [--generator G --cluster C] --mode MODE [-n N] [--db DSN]",
		Short: "Mint eightbyte IDs",
		Long: "Mint eightbyte IDs of a generator, one per line, at most 64 per millisecond.\n" +
			fmt.Sprintf(claimHelp, "--generator and --cluster") +
			fmt.Sprintf(timedHelp, "eightbyte/CLUSTER/GENERATOR", "0.2 s"),
		Example: "  idmint new eightbyte --generator 1161 --cluster 11 --mode time -n 3\n" +
			"  idmint new eightbyte --mode spread --db sqlite:app.db",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := missing(c, "mode"); err != nil {
				return err
			}
			modes := map[string]idtype.EightByteMode{
				"spread": idtype.EightByteSpread,
				"time":   idtype.EightByteTimeSequential,
			}
			m, ok := modes[mode]
			if !ok {
				return usage("--mode %q: must be spread or time", mode)
			}
			pair := generator.EightBytePair{Generator: gen.value, Cluster: cluster.value}
			number := mintNumber[generator.EightBytePair]{
				pair, fmt.Sprintf("eightbyte/%d/%d", pair.Cluster, pair.Generator),
				[]string{"generator", "cluster"},
				claims.Pairs,
			}
			return mintTimed(c, a, k, &flags, number,
				func(w generator.Windows[generator.EightBytePair], o *generator.Options) (
					*generator.EightByte, error,
				) {
					return generator.NewEightByte(m, w, o)
				})
		},
	}
	flags.add(c)
	c.Flags().Var(&gen, "generator", "the generator's number, 0 to 2047 (default: a lent one)")
	c.Flags().Var(&cluster, "cluster", "the cluster's number, 0 to 15 (default: one of the pool)")
	c.Flags().StringVar(&mode, "mode", "",
		"time: IDs ascend with the time; spread: writes spread over the key space (required)")
	return c
}
