package main

import (
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

var _ = add(kind[idtype.UUID7ID, idtype.UUID7Parts]{
	Kind:    schemes.UUID7,
	id:      idtype.UUID7Parts.ID,
	command: newUUID7,
})

func newUUID7(a *app, k *kind[idtype.UUID7ID, idtype.UUID7Parts]) *cobra.Command {
	var count int64
	c := &cobra.Command{
		Use:   "uuid7 [-n N]",
		Short: "Mint UUIDs of version 7",
		Long: `Mint UUIDs of version 7, one per line. They need neither a number nor a log,
because random bits distinguish the UUIDs of a millisecond.`,
		Example: "  idmint new uuid7 -n 3",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkCount(count); err != nil {
				return err
			}
			gen, err := generator.NewUUID7(uuid.NewV7)
			if err != nil {
				return err
			}
			return mint(c.Context(), a, k, gen, count)
		},
	}
	addCount(c, &count)
	return c
}
