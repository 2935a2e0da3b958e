package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

func (a *app) inspectCommand() *cobra.Command {
	var name, form, layout string
	c := &cobra.Command{
		Use:   "inspect [--scheme SCHEME] [--form FORM] [--json] [ID…]",
		Short: "Explain IDs",
		Long: `Explain IDs, given as arguments or one per line on standard input. If --scheme is
given, or only one scheme fits, the ID is drawn. Otherwise every scheme that the
ID fits is listed, with the time that the ID would mean there. Schemes whose time
is within the last five years come first, and other times come last. Between them
are decimal and sequence IDs, which carry no time, and trace IDs, whose times
repeat every 388 days. Snowflake IDs do not carry their layout: layouts other than
Twitter's are listed if their time is within the five years.

An input is read as it is, without trimming. What is not an ID, or does not
follow the scheme's layout, is an error, and the command continues with the next
input. An input of more than 64 KiB ends the command. Put -- before IDs that begin
with -, as short ones may do.

--form says how the IDs are written:

  text     as the app and idmint write them (default)
  number   as a BIGINT column shows them
  hex      their bytes in hexadecimal digits, as a column of bytes shows them,
           optionally after \x or 0x: eightbyte, sno
  uuid     as a UUID column shows them: sno
` + strings.TrimSuffix(layoutHelp, "\n"),
		Example: `  idmint inspect 14150009200065
  idmint inspect --scheme decimal --json < ids.txt
  idmint inspect --form hex '\x335f48168d9e8808dc82'
  idmint inspect --scheme eightbyte --form number -- -3795148059625652224`,
		RunE: func(_ *cobra.Command, args []string) error {
			candidates, err := schemesOf(name, form, layout)
			if err != nil {
				return err
			}
			return a.eachInput(args,
				func(text string) error { return a.inspect(candidates, form, text) })
		},
	}
	c.Flags().StringVar(&name, "scheme", "", "the IDs' scheme: "+schemeNames())
	c.Flags().StringVar(&form, "form", schemes.Text,
		"how the IDs are written: text, number, hex or uuid")
	addLayout(c, &layout)
	return c
}

// schemesOf returns the scheme with a name, or all schemes, if they have the form.
func schemesOf(name, form, layout string) ([]scheme, error) {
	if layout != "" {
		name = cmp.Or(name, string(idtype.SchemeSnowflake))
	}
	if name != "" {
		s, err := schemeIn(name, layout)
		if err != nil {
			return nil, err
		}
		return []scheme{s}, hasForm(s, form)
	}
	found := slices.DeleteFunc(slices.Clone(kinds),
		func(s scheme) bool { return hasForm(s, form) != nil })
	if len(found) == 0 {
		return nil, usage("--form %q: must be text, number, hex or uuid", form)
	}
	return found, nil
}

// hasForm returns an error unless the scheme has the form.
func hasForm(s scheme, form string) error {
	if !slices.Contains(s.FormNames(), form) {
		return usage("--form %q: must be one of the forms of %s IDs, %s", form, s.Name(),
			strings.Join(s.FormNames(), ", "))
	}
	return nil
}

func (a *app) inspect(candidates []scheme, form, text string) error {
	var fits []schemes.ID
	var reason error
	now := time.Now()
	for _, s := range candidates {
		id, err := readValid(s, form, text)
		if err == nil {
			fits = append(fits, id)
		} else if reason = err; len(candidates) > 1 {
			reason = fmt.Errorf("%s fits no scheme: inspect --scheme says why",
				schemes.Quoted(text))
		}
	}
	if len(candidates) > 1 {
		fits = append(fits, schemes.InLayouts(form, text, now)...)
	}
	if len(fits) == 0 {
		return a.refuse(text, reason)
	}
	if len(fits) > 1 {
		schemes.Rank(fits, now)
	}
	if a.json {
		for _, id := range fits {
			if err := a.out.id(id, a.json); err != nil {
				return err
			}
		}
		return nil
	}
	if a.explained {
		a.out.line("")
	}
	a.explained = true
	if only, ok := fits[0].(identified); ok && len(fits) == 1 {
		return a.out.draw(only.drawing(now))
	}
	a.out.line(text)
	for _, id := range fits {
		a.out.printf("  %-*s %s\n", len(idtype.SchemeEightByte), id.Name(), id.Summary(now))
	}
	return nil
}

// refuse reports a bad input as a line of JSON among the others, or on standard error.
func (a *app) refuse(input string, reason error) error {
	a.badInput = true
	if !a.json {
		err := a.out.flush() // earlier answers come first
		a.warn("%s", inWords(reason))
		return err
	}
	return a.out.json(struct {
		Input string `json:"input"`
		Error string `json:"error"`
	}{schemes.Shorten(input), inWords(reason)})
}
