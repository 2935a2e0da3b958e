package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

var _ = add(kind[idtype.TraceID, idtype.TraceParts]{
	Kind:    schemes.Trace,
	id:      idtype.TraceParts.ID,
	command: newTrace,
})

func newTrace(a *app, k *kind[idtype.TraceID, idtype.TraceParts]) *cobra.Command {
	var flags timedFlags
	var node numberFlag
	c := &cobra.Command{
		Use:   "trace [--node N] [-n N] [--db DSN]",
		Short: "Mint trace IDs",
		Long: "Mint trace IDs of a node, one per line, at most 4,194,303 per second. They\n" +
			"repeat after 388 days.\n" +
			fmt.Sprintf(claimHelp, "--node") + fmt.Sprintf(timedHelp, "trace/NODE", "3 s"),
		Example: "  idmint new trace --node 7 -n 3\n  idmint new trace --db sqlite:app.db",
		RunE: func(c *cobra.Command, _ []string) error {
			counter := fmt.Sprintf("trace/%d", node.value)
			number := mintNumber[int]{node.value, counter, []string{"node"}, claims.Nodes}
			return mintTimed(c, a, k, &flags, number, generator.NewTrace)
		},
	}
	flags.add(c)
	c.Flags().Var(&node, "node", "the node's number, 0 to 65535 (default: a lent one)")
	return c
}
