package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

var _ = add(kind[idtype.ShortID, idtype.ShortParts]{
	Kind:    schemes.Short,
	id:      idtype.ShortParts.ID,
	command: newShort,
})

// shortCounter keeps the times of short IDs, in milliseconds.
const shortCounter = "short"

func newShort(a *app, k *kind[idtype.ShortID, idtype.ShortParts]) *cobra.Command {
	var flags timedFlags
	c := &cobra.Command{
		Use:   "short [-n N] [--db DSN]",
		Short: "Mint short IDs",
		Long: `Mint short IDs, one per line, at most 512 per millisecond. The IDs do not carry who
minted them, so every app or command that mints at the same time must use the same
counter.
` + fmt.Sprintf(timedHelp, "short", "0.2 s"),
		Example: "  idmint new short -n 3\n  idmint new short --db sqlite:app.db",
		RunE: func(c *cobra.Command, _ []string) error {
			number := mintNumber[struct{}]{counter: shortCounter}
			return mintTimed(c, a, k, &flags, number, generator.NewShort)
		},
	}
	flags.add(c)
	return c
}
