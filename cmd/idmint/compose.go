package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

func (a *app) composeCommand() *cobra.Command {
	var name, layout string
	c := &cobra.Command{
		Use:   "compose --scheme SCHEME [FIELDS…]",
		Short: "Make IDs from their parts",
		Long: `Make IDs from their parts, and print their texts, one per line. The parts are
JSON objects as inspect --json writes them, given as arguments or one per line on
standard input. Every part is required. Fields that follow from the parts, such
as scheme and id, can be left out, and must match the parts if they are there. An
input has at most 64 KiB.

The launch log does not know about the IDs that compose makes, and no generator
avoids them.
` + strings.TrimSuffix(layoutHelp, "\n"),
		Example: `  idmint compose --scheme decimal \
    '{"counter":1415,"generator_id":92,"launch_id":65}'
  idmint compose --scheme sno '{"unix_ms":1703587783960,"tick_tock":1,
    "meta":158,"partition":34824,"sequence":56450}'`,
		RunE: func(_ *cobra.Command, args []string) error {
			if name == "" {
				return usage("--scheme is required")
			}
			s, err := schemeIn(name, layout)
			if err != nil {
				return err
			}
			return a.eachInput(args, func(text string) error {
				id, err := s.compose([]byte(text))
				if err != nil {
					return a.refuse(text, fmt.Errorf("%s: %w", schemes.Quoted(text), err))
				}
				return a.out.line(id.String())
			})
		},
	}
	c.Flags().StringVar(&name, "scheme", "", "the IDs' scheme: "+schemeNames()+" (required)")
	addLayout(c, &layout)
	return c
}

// compose makes an ID from the JSON that appendJSON writes. The names of the ID may be missing,
// because they follow from the parts.
func (k *kind[T, P]) compose(data []byte) (fmt.Stringer, error) {
	members, err := readObject(data)
	if err != nil {
		return nil, err
	}
	var parts P
	missing := len(k.PartNames)
	for _, m := range members {
		isName := slices.ContainsFunc(k.Names,
			func(n schemes.Name) bool { return n.Field == m.field })
		isPart := slices.Contains(k.PartNames, m.field)
		switch {
		case m.field == "scheme" && m.isGiven() && !m.says(string(k.Scheme)):
			return nil, fmt.Errorf("the scheme is %s, not %s", m.quoted(), k.Scheme)
		case m.field == "layout" && k.Layout != "" && m.isGiven() && !m.says(k.Layout):
			return nil, fmt.Errorf("the layout is %s, not %s", m.quoted(), k.Layout)
		case m.field == "scheme", m.field == "layout" && k.Layout != "", isName,
			!m.isGiven() && isPart:
		case !isPart:
			return nil, fmt.Errorf("unknown field %s", schemes.Quoted(m.field))
		default:
			if err := m.set(&parts); err != nil {
				return nil, err
			}
			missing--
		}
	}
	if missing > 0 {
		return nil, fmt.Errorf("must have the field%s", enumerate(k.PartNames))
	}
	id, err := k.id(parts)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		for _, n := range k.Names {
			if n.Field != m.field || !m.isGiven() {
				continue
			}
			if want := k.Form(n.Form).Write(id); !m.says(want) {
				return nil, fmt.Errorf("the %s is %s, but the other fields are those of %s",
					n.Field, m.quoted(), want)
			}
		}
	}
	return id, nil
}

// enumerate returns what follows "the field" for one or more names.
func enumerate(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return " " + names[0]
	}
	return "s " + strings.Join(names[:last], ", ") + " and " + names[last]
}

// A member is a field of the object that compose reads, with its unparsed value.
type member struct {
	field string
	value json.RawMessage
}

// readObject splits an object into its fields. Package json alone would accept a field twice, or in
// another case.
func readObject(data []byte) (members []member, err error) {
	data = bytes.TrimSpace(data)
	if len(data) > 0 && !json.Valid(data) {
		return nil, json.Unmarshal(data, new(any))
	}
	if len(data) == 0 || data[0] != '{' {
		return nil, errors.New("must be a JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	for _, err = d.Token(); err == nil && d.More(); {
		var m member
		var name json.Token
		if name, err = d.Token(); err != nil {
			break
		}
		m.field = name.(string) // nothing else names a field
		if slices.ContainsFunc(members, func(other member) bool { return other.field == m.field }) {
			return nil, fmt.Errorf("field %s occurs twice", schemes.Quoted(m.field))
		}
		err = d.Decode(&m.value)
		members = append(members, m)
	}
	return members, err
}

func (m member) isGiven() bool { return string(m.value) != "null" }

func (m member) quoted() string { return schemes.Shorten(string(m.value)) }

// says reports whether the value is a string, or an integer in the same digits.
func (m member) says(want string) bool {
	var text string
	return json.Unmarshal(m.value, &text) == nil && text == want || string(m.value) == want
}

// set stores the value in the part of its name.
func (m member) set(parts any) error {
	err := json.Unmarshal(fmt.Appendf(nil, "{%q:%s}", m.field, m.value), parts)
	wrong := (*json.UnmarshalTypeError)(nil)
	switch {
	case !errors.As(err, &wrong):
		return err
	case wrong.Type == reflect.TypeFor[idtype.EightByteMode](): // the layout checks the value
		return fmt.Errorf("%s: must be SPREAD or TIME_SEQUENTIAL as a string, not %s", m.field,
			m.quoted())
	}
	return fmt.Errorf("%s: must be an integer, not %s", m.field, m.quoted())
}
