package main

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

func (a *app) boundsCommand() *cobra.Command {
	var from, to, form, layout string
	c := &cobra.Command{
		Use:   "bounds SCHEME --from T --to T [--form FORM]",
		Short: "Print the smallest and the largest ID of a span of time",
		Long: `Print the smallest and the largest ID of a span of time on one line, for a query
by ID: WHERE id BETWEEN … AND ….

T is a date, or a time with its zone: 2025-03-01, 2025-03-01T12:00:00Z,
2025-03-01T12:00:00.5+01:00. A date is a day in UTC: --from means its beginning,
and --to its end. Both ends are included, with the whole second (trace), 4 ms
(sno) or millisecond that contains them.

` + boundsHelp() + `
IDs of other schemes carry no time. For --form, see inspect.
` + strings.TrimSuffix(layoutHelp, "\n"),
		Example: `  idmint bounds sno --from 2025-03-01 --to 2025-03-31
  idmint bounds eightbyte --form number \
    --from 2025-03-01T12:00:00Z --to 2025-03-01T12:59:59.999Z`,
		Args: oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := schemeIn(args[0], layout)
			if err != nil {
				return err
			}
			if form != "" {
				if err := hasForm(s, form); err != nil {
					return err
				}
			}
			if err := missing(c, "from", "to"); err != nil {
				return err
			}
			first, err := moment("--from", from, false)
			if err != nil {
				return err
			}
			last, err := moment("--to", to, true)
			if err != nil {
				return err
			}
			if last.Before(first) {
				return usage("--to %s is before --from %s", to, from)
			}
			found, err := s.Bounds(form, first, last)
			if errors.As(err, new(schemes.BoundsError)) {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			if s.Name() == idtype.SchemeEightByte {
				a.warn("these bound TIME_SEQUENTIAL IDs only: SPREAD IDs have no order by time")
			}
			for _, b := range found {
				if err := a.answer(b, "%s %s\n", b.Min, b.Max); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&from, "from", "", "when the span begins (required)")
	c.Flags().StringVar(&to, "to", "", "when it ends (required)")
	c.Flags().StringVar(&form, "form", "", "how to write the IDs (default text; number for short)")
	addLayout(c, &layout)
	return c
}

// boundsHelp describes each scheme whose IDs carry a time.
func boundsHelp() (text string) {
	for _, k := range kinds {
		text += k.Known().BoundsHelp
	}
	return text
}

// moment parses a time, or a date, which means the beginning of that day in UTC or its end.
func moment(flag, text string, end bool) (time.Time, error) {
	var t time.Time
	if t.UnmarshalText([]byte(text)) == nil {
		return t.UTC(), nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return t, usage("%s %s: must be a date or a time with its zone, such as 2025-03-01 or "+
			"2025-03-01T12:00:00Z", flag, schemes.Quoted(text))
	}
	if end {
		t = t.AddDate(0, 0, 1).Add(-1)
	}
	return t, nil
}
