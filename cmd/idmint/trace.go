package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/explain"
)

var traceKind = join(kind[idtype.TraceID, idtype.TraceParts]{
	Kind:    explain.Trace,
	id:      idtype.TraceParts.ID,
	span:    within(idtype.Bounds[idtype.TraceID]),
	command: newTrace,
})

func newTrace(a *app, k *kind[idtype.TraceID, idtype.TraceParts]) *cobra.Command {
	var flags timedFlags
	var node numberFlag
	c := &cobra.Command{
		Use:   "trace [--node N] [-n N] [--db DSN]",
		Short: "Mint trace IDs",
		Long: "Mint trace IDs of a node, one per line: 4,194,303 in a second.\n" +
			fmt.Sprintf(claimHelp, "--node") + fmt.Sprintf(timedHelp, "trace/NODE", "3 s"),
		Example: "  idmint new trace --node 7 -n 3\n  idmint new trace --db sqlite:app.db",
		RunE: func(c *cobra.Command, _ []string) error {
			return mintTimed(c, a, k, &flags,
				mintNumber[int]{
					node.value, fmt.Sprintf("trace/%d", node.value), []string{"node"}, claims.Nodes,
				},
				func(
					w generator.Windows[int], o *generator.Options,
				) (generator.Source[idtype.TraceID], error) {
					return generator.NewTrace(w, o)
				})
		},
	}
	flags.add(c, "bottoms")
	c.Flags().Var(&node, "node", "the node's number, 0 to 65535 (default one that is lent)")
	return c
}
