package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

var shortKind = join(kind[idtype.ShortID, idtype.ShortParts]{
	scheme: idtype.SchemeShort,
	forms: []form[idtype.ShortID]{
		{name: formText, read: idtype.ParseShortID, write: idtype.ShortID.String, unsorted: true},
		{
			name: formNumber, read: readShortNumber,
			write: func(id idtype.ShortID) string { return strconv.FormatInt(int64(id), 10) },
		},
	},
	names:   []name{{"id", formNumber}, {"text", formText}},
	parts:   idtype.ShortID.Parts,
	id:      idtype.ShortParts.ID,
	fields:  shortFields,
	clock:   milliseconds,
	span:    one(idtype.MinShortID, idtype.MaxShortID),
	command: newShort,
})

func readShortNumber(text string) (id idtype.ShortID, err error) {
	err = id.Scan(text)
	return id, err
}

func shortFields(id idtype.ShortID) []field {
	const reserved = 64 - idtype.ShortTimeBits - idtype.ShortSequenceBits - idtype.ShortRandomBits
	return []field{
		{'0', reserved, ""},
		{'t', idtype.ShortTimeBits, fmt.Sprintf("unix_ms %d", id.UnixMs())},
		{'s', idtype.ShortSequenceBits, fmt.Sprintf("sequence %d", id.Sequence())},
		{'r', idtype.ShortRandomBits, fmt.Sprintf("random %d", id.Random())},
	}
}

// shortCounter keeps the times of short IDs, in milliseconds.
const shortCounter = "short"

func newShort(a *app, k *kind[idtype.ShortID, idtype.ShortParts]) *cobra.Command {
	var flags timedFlags
	c := &cobra.Command{
		Use:   "short [-n N] [--db DSN]",
		Short: "Mint short IDs",
		Long: `Mint short IDs, one per line: 512 in a millisecond.

The IDs do not say who minted them. Whoever mints at the same time, an app or
another command, needs another --pool, or the same counter.
` + fmt.Sprintf(timedHelp, "short", "0.2 s"),
		Example: "  idmint new short -n 3\n  idmint new short --db sqlite:app.db",
		RunE: func(c *cobra.Command, _ []string) error {
			return mintTimed(c, a, k, &flags, mintNumber[struct{}]{counter: shortCounter},
				func(
					w generator.Windows[struct{}], o *generator.Options,
				) (generator.Source[idtype.ShortID], error) {
					return generator.NewShort(w, o)
				})
		},
	}
	flags.add(c, "sequence numbers")
	return c
}
