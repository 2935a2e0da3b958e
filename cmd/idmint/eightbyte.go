package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/explain"
)

var eightByteKind = join(kind[idtype.EightByteID, idtype.EightByteParts]{
	Kind:    explain.EightByte,
	id:      idtype.EightByteParts.ID,
	span:    eightByteSpan,
	command: newEightByte,
	layouts: []layout[idtype.EightByteID, idtype.EightByteParts]{
		{"v1", idtype.EightByteParts.V1ID, idtype.EightByteID.ValidateV1, "mode"},
		{"v2", idtype.EightByteParts.V2ID, idtype.EightByteID.ValidateV2, "mode"},
		{"v3", idtype.EightByteParts.V3ID, idtype.EightByteID.ValidateV3, ""},
	},
})

// eightByteSpan is two ranges of numbers where the IDs turn negative in between.
func eightByteSpan(form string, from, to time.Time) ([][2]idtype.EightByteID, error) {
	ranges, err := one(idtype.MinEightByteID, idtype.MaxEightByteID)(form, from, to)
	if err != nil || form != explain.Number {
		return ranges, err
	}
	const seam = 1 << 63
	if r := ranges[0]; r[0].Uint64() < seam && r[1].Uint64() >= seam {
		return [][2]idtype.EightByteID{
			{r[0], idtype.EightByteFromUint64(seam - 1)},
			{idtype.EightByteFromUint64(seam), r[1]},
		}, nil
	}
	return ranges, nil
}

func newEightByte(a *app, k *kind[idtype.EightByteID, idtype.EightByteParts]) *cobra.Command {
	var flags timedFlags
	var gen, cluster numberFlag
	var mode string
	c := &cobra.Command{
		Use:   "eightbyte [--generator G --cluster C] --mode MODE [-n N] [--db DSN]",
		Short: "Mint eightbyte IDs",
		Long: "Mint eightbyte IDs of a generator, one per line: 64 in a millisecond.\n" +
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
				return usage("--mode %q: want spread or time", mode)
			}
			pair := generator.EightBytePair{Generator: gen.value, Cluster: cluster.value}
			return mintTimed(c, a, k, &flags,
				mintNumber[generator.EightBytePair]{
					pair, fmt.Sprintf("eightbyte/%d/%d", pair.Cluster, pair.Generator),
					[]string{"generator", "cluster"},
					claims.Pairs,
				},
				func(
					w generator.Windows[generator.EightBytePair], o *generator.Options,
				) (generator.Source[idtype.EightByteID], error) {
					return generator.NewEightByte(m, w, o)
				})
		},
	}
	flags.add(c, "sequence numbers")
	c.Flags().Var(&gen, "generator", "the generator's number, 0 to 2047 (default one that is lent)")
	c.Flags().Var(&cluster, "cluster", "the cluster's number, 0 to 15 (default one of the pool)")
	c.Flags().StringVar(&mode, "mode", "",
		"time: IDs ascend with the time; spread: writes spread over the keys (required)")
	return c
}
