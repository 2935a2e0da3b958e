package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/idtype"
)

// A scheme is what the commands need to know of an ID scheme. Fields are its struct for JSON.
type scheme struct {
	name idtype.Scheme
	// inspect explains an ID: parsed strictly, and checked against the layout.
	inspect func(text string) (fields any, err error)
	// draw shows the fields of inspect to a person, and summary says them in one line.
	draw    func(w io.Writer, fields any)
	summary func(fields any) string
	// compose makes an ID of its fields.
	compose func(fields json.RawMessage) (id fmt.Stringer, err error)
}

var schemes = []scheme{decimalScheme}

func schemeNamed(name string) (scheme, error) {
	var names []string
	for _, s := range schemes {
		if string(s.name) == name {
			return s, nil
		}
		names = append(names, string(s.name))
	}
	return scheme{}, usage("unknown scheme %q: want %s", name, strings.Join(names, ", "))
}

type decimalFields struct {
	Scheme idtype.Scheme `json:"scheme"`
	ID     string        `json:"id"`
	idtype.DecimalParts
}

var decimalScheme = scheme{
	name: idtype.SchemeDecimal,
	inspect: func(text string) (any, error) {
		id, err := idtype.ParseDecimalID(text)
		if err == nil {
			if err = id.Validate(); err != nil {
				err = fmt.Errorf("%s: %w", text, err)
			}
		}
		return decimalFields{idtype.SchemeDecimal, text, id.Parts()}, err
	},
	summary: func(fields any) string {
		f := fields.(decimalFields)
		text := fmt.Sprintf("counter %d, generator %d, launch %d", f.Counter, f.Generator, f.Launch)
		if f.Launch == 0 {
			text += " (a test)"
		}
		return text
	},
	draw: func(w io.Writer, fields any) { drawDecimal(w, fields.(decimalFields)) },
	compose: func(fields json.RawMessage) (fmt.Stringer, error) {
		var f struct {
			Scheme    *idtype.Scheme   `json:"scheme"`
			ID        idtype.DecimalID `json:"id"` // what inspect wrote; it follows from the other fields
			Counter   *int             `json:"counter"`
			Generator *int             `json:"generator_id"`
			Launch    *int             `json:"launch_id"`
		}
		if err := decodeFields(fields, &f); err != nil {
			return nil, err
		}
		if f.Scheme != nil && *f.Scheme != idtype.SchemeDecimal {
			return nil, fmt.Errorf("the scheme is %q", *f.Scheme)
		}
		if f.Counter == nil || f.Generator == nil || f.Launch == nil {
			return nil, errors.New("want the fields counter, generator_id and launch_id")
		}
		id, err := idtype.DecimalParts{Counter: *f.Counter, Generator: *f.Generator, Launch: *f.Launch}.ID()
		if err == nil && !f.ID.IsZero() && f.ID != id {
			err = fmt.Errorf("the id is %v, but the other fields are those of %v", f.ID, id)
		}
		return id, err
	},
}

// decodeFields reads one JSON object without unknown fields.
func decodeFields(data json.RawMessage, into any) error {
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.As(err, &kind) && kind.Field == "":
		return errors.New("want a JSON object")
	case kind != nil && kind.Type.Kind() == reflect.Int:
		return fmt.Errorf("%s: want an integer, not %s", kind.Field, kind.Value)
	case kind != nil:
		return fmt.Errorf("%s: want a %v, not %s", kind.Field, kind.Type.Kind(), kind.Value)
	case err != nil:
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("want one JSON object")
	}
	return nil
}

// drawDecimal draws the decimal places as "Pattern: ID Generation" does:
//
//	               ID 14150009200065
//	                  ccccggggglllll
//	                   ▲    ▲    ▲
//	   counter (1415) ─┘    │    │
//	generator_id (92) ──────┘    │
//	   launch_id (65) ───────────┘
func drawDecimal(w io.Writer, f decimalFields) {
	labels := []string{
		fmt.Sprintf("counter (%d)", f.Counter), fmt.Sprintf("generator_id (%d)", f.Generator), fmt.Sprintf("launch_id (%d)", f.Launch),
	}
	width := 0
	for _, l := range labels {
		width = max(width, len(l))
	}
	counterPlaces := len(f.ID) - 10
	columns := []int{(counterPlaces - 1) / 2, counterPlaces + 2, counterPlaces + 7} // the middle of each part
	fmt.Fprintf(w, "%*s %s\n", width, "ID", f.ID)
	fmt.Fprintf(w, "%*s %s%s%s\n", width, "", strings.Repeat("c", counterPlaces), "ggggg", "lllll")
	row := func(label string, cells map[int]string, from int) {
		line := []rune(strings.Repeat(" ", columns[2]+1))
		for column, cell := range cells {
			line[column] = []rune(cell)[0]
		}
		if from >= 0 {
			for i := range from {
				line[i] = '─'
			}
		}
		fmt.Fprintf(w, "%*s %s\n", width, label, strings.TrimRight(string(line), " "))
	}
	row("", map[int]string{columns[0]: "▲", columns[1]: "▲", columns[2]: "▲"}, -1)
	for i, label := range labels {
		cells := map[int]string{columns[i]: "┘"}
		for _, c := range columns[i+1:] {
			cells[c] = "│"
		}
		row(label, cells, columns[i])
	}
	if f.Launch == 0 {
		fmt.Fprintf(w, "launch 0: made by a test generator\n")
	}
}

func (a *app) inspectCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "inspect [--scheme SCHEME] [--json] [ID…]",
		Short: "Explain IDs",
		Long: `Explain IDs, given as arguments or one per line on standard input. Without --scheme, every scheme that an ID fits is listed.

An input is taken as it is: what is not an ID, or does not follow the scheme's layout, is an error.`,
		Example: "  idmint inspect 14150009200065\n  idmint inspect --scheme decimal --json < ids.txt",
		RunE: func(_ *cobra.Command, args []string) error {
			fitting := schemes
			if name != "" {
				s, err := schemeNamed(name)
				if err != nil {
					return err
				}
				fitting = []scheme{s}
			}
			return a.eachInput(args, func(text string) error { return a.inspect(fitting, text) })
		},
	}
	c.Flags().StringVar(&name, "scheme", "", "the IDs' scheme: decimal")
	return c
}

func (a *app) inspect(fitting []scheme, text string) error {
	var refusals []error
	var fits []scheme
	var fields []any
	for _, s := range fitting {
		f, err := s.inspect(text)
		if err != nil {
			refusals = append(refusals, err)
			continue
		}
		fits, fields = append(fits, s), append(fields, f)
	}
	if len(fits) == 0 {
		return a.refuse(text, errors.Join(refusals...))
	}
	if a.explained && !a.json {
		a.out.WriteByte('\n')
	}
	a.explained = true
	for i, s := range fits {
		switch {
		case a.json:
			if err := writeJSON(a.out, fields[i]); err != nil {
				return err
			}
		case len(fits) == 1:
			s.draw(a.out, fields[i])
		default:
			fmt.Fprintf(a.out, "%s: %s\n", s.name, s.summary(fields[i]))
		}
	}
	return nil
}

// refuse reports a bad input: as a line of JSON among the others, or on standard error.
func (a *app) refuse(input string, reason error) error {
	a.badInput = true
	if !a.json {
		err := a.out.Flush() // the answers before it come first
		a.warn("%s", inWords(reason))
		return err
	}
	return writeJSON(a.out, struct {
		Input string `json:"input"`
		Error string `json:"error"`
	}{shorten(input), inWords(reason)})
}

// shorten bounds what is repeated of an input.
func shorten(s string) string {
	const most = 256
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}

func writeJSON(w *bufio.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Write(b)
	return w.WriteByte('\n')
}

func (a *app) composeCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "compose --scheme SCHEME [FIELDS…]",
		Short: "Make IDs of their parts",
		Long: `Make IDs of their parts: JSON objects as inspect --json writes them, given as arguments or one per line on standard input.
Each gives a line with the ID. What it makes is not known to the launch log, and no generator avoids it.`,
		Example: `  idmint compose --scheme decimal '{"counter":1415,"generator_id":92,"launch_id":65}'`,
		RunE: func(_ *cobra.Command, args []string) error {
			if name == "" {
				return usage("--scheme is required")
			}
			s, err := schemeNamed(name)
			if err != nil {
				return err
			}
			return a.eachInput(args, func(text string) error {
				id, err := s.compose(json.RawMessage(text))
				if err != nil {
					return a.refuse(text, fmt.Errorf("%q: %w", shorten(text), err))
				}
				_, err = fmt.Fprintln(a.out, id)
				return err
			})
		},
	}
	c.Flags().StringVar(&name, "scheme", "", "the IDs' scheme: decimal (required)")
	return c
}
