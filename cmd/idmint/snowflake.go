package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

var _ = add(kind[idtype.SnowflakeID, idtype.SnowflakeParts]{
	Kind:    schemes.Snowflake,
	id:      idtype.SnowflakeParts.ID,
	command: newSnowflake,
})

// given is the layout of --layout. A command has only one.
type given struct{}

var givenLayout *idtype.SnowflakeLayout

func (given) Layout() *idtype.SnowflakeLayout { return givenLayout }

type (
	givenID   = idtype.SnowflakeIn[any, given]
	givenKind = kind[givenID, idtype.SnowflakeParts]
)

const layoutHelp = `
--layout names the layout of snowflake IDs: twitter, discord, tsid, pgedge,
unixepoch, sonyflakev1 or sonyflakev2, or your own, such as
epoch=1672531200000,node=3,step=8. Its epoch is Unix time in milliseconds. It may
also have unit=10ms, time=39, stepfirst, and a text: decimal, base58, base32 or
crockford.
`

func addLayout(c *cobra.Command, text *string) {
	c.Flags().StringVar(text, "layout", "", "the layout of snowflake IDs (default twitter)")
}

// layoutNamed returns the kind of IDs in a layout.
func layoutNamed(text string) (*givenKind, error) {
	name, names := text, []string{"twitter"}
	givenLayout = idtype.Twitter{}.Layout()
	for _, s := range schemes.Layouts {
		names = append(names, s.Known().Layout)
		if names[len(names)-1] == text {
			givenLayout = s.Known().Bits
		}
	}
	switch {
	case text == "twitter":
		name = "" // the scheme's own layout
	case strings.Contains(text, "="):
		var err error
		if givenLayout, err = schemes.ParseLayout(text); err != nil {
			return nil, usageError{err}
		}
	case !slices.Contains(names, text):
		return nil, usage("unknown layout %q: want %s, or bits such as "+
			"epoch=1672531200000,node=3,step=8", text, commas(names))
	}
	return &givenKind{
		Kind: schemes.SnowflakeIn[given](name),
		id: func(p idtype.SnowflakeParts) (givenID, error) {
			id, err := givenLayout.ID(p)
			return givenID(id), err
		},
	}, nil
}

// schemeIn returns a scheme, in a layout if text is not empty.
func schemeIn(name, text string) (scheme, error) {
	switch {
	case text == "":
		return schemeNamed(name)
	case name != string(idtype.SchemeSnowflake):
		return nil, usage("--layout is for snowflake IDs, not for %s", name)
	}
	return layoutNamed(text)
}

func newSnowflake(a *app, _ *kind[idtype.SnowflakeID, idtype.SnowflakeParts]) *cobra.Command {
	var flags timedFlags
	var node numberFlag
	var text string
	c := &cobra.Command{
		Use:   "snowflake [--node N] [--layout LAYOUT] [-n N] [--db DSN]",
		Short: "Mint snowflake IDs",
		Long: "Mint snowflake IDs of a node, one per line, at most 4,096 per millisecond.\n" +
			layoutHelp + fmt.Sprintf(claimHelp, "--node") +
			fmt.Sprintf(timedHelp, "snowflake/NODE", "0.2 s"),
		Example: "  idmint new snowflake --node 7 -n 3\n" +
			"  idmint new snowflake --layout tsid --db sqlite:app.db",
		RunE: func(c *cobra.Command, _ []string) error {
			k, err := layoutNamed(cmp.Or(text, "twitter"))
			if err != nil {
				return err
			}
			counter := fmt.Sprintf("snowflake/%d", node.value)
			number := mintNumber[int]{
				node.value, counter, []string{"node"}, claims.Snowflakes[given],
			}
			return mintTimed(c, a, k, &flags, number, generator.NewSnowflakeIn[given])
		},
	}
	flags.add(c)
	addLayout(c, &text)
	c.Flags().Var(&node, "node", "the node, 0 to 1023 in most layouts (default: a lent one)")
	return c
}
