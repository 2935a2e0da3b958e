package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/schemes"
)

// A scheme is what the commands need to know about an ID scheme. Each scheme is a [kind].
type scheme interface {
	schemes.Scheme
	read(form, input string) (identified, error)
	compose(fields []byte) (fmt.Stringer, error)
	newCommand(*app) *cobra.Command
}

// kinds are all schemes, in the order in which they are listed.
var kinds []scheme

// schemeNames lists the names of all schemes for people.
func schemeNames() string {
	var names []idtype.Scheme
	for _, s := range kinds {
		names = append(names, s.Name())
	}
	return commas(names)
}

// commas lists names for people. Each must be one word.
func commas[T ~string](names []T) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(names), " ", ", "), "[]")
}

func schemeNamed(name string) (scheme, error) {
	for _, s := range kinds {
		if string(s.Name()) == name {
			return s, nil
		}
	}
	return nil, usage("unknown scheme %q: want %s", name, schemeNames())
}

// An identified is an ID together with its scheme.
type identified interface {
	schemes.ID
	// drawing shows the ID on several lines.
	drawing(now time.Time) drawing
}

// A kind is the scheme of the IDs of type T, with what commands do apart from explaining them. P is
// a struct of the parts of an ID, in the order of the layout, with their names in JSON.
type kind[T idtype.ID, P any] struct {
	*schemes.Kind[T]
	id      func(P) (T, error)
	draw    func(T) drawing // [drawBits] if nil
	command func(*app, *kind[T, P]) *cobra.Command
}

// add adds a kind to kinds.
func add[T idtype.ID, P any](k kind[T, P]) *kind[T, P] {
	kinds = append(kinds, &k)
	slices.SortFunc(kinds, func(a, b scheme) int { return a.Known().Place - b.Known().Place })
	return &k
}

func (k *kind[T, P]) newCommand(a *app) *cobra.Command { return k.command(a, k) }

func (k *kind[T, P]) read(form, input string) (identified, error) {
	id, err := k.Form(form).Read(input)
	return k.of(id), err
}

// of returns an ID together with its kind.
func (k *kind[T, P]) of(id T) identity[T, P] {
	return identity[T, P]{schemes.Identity[T]{Kind: k.Kind, ID: id}, k}
}

// readValid reads an ID that follows the layout.
func readValid(s scheme, form, input string) (identified, error) {
	id, err := s.read(form, input)
	if err != nil {
		return nil, err
	}
	if err := id.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", input, err)
	}
	return id, nil
}

// An identity is an ID of a kind.
type identity[T idtype.ID, P any] struct {
	schemes.Identity[T]
	kind *kind[T, P]
}

func (i identity[T, P]) drawing(now time.Time) drawing {
	if i.kind.draw != nil {
		return i.kind.draw(i.ID)
	}
	var fields []field
	for _, p := range i.Parts() {
		f := field{p.Letter, p.Width, p.Label()}
		if p.Letter == schemes.TimeLetter {
			f.label += ", " + i.When(now)
		}
		fields = append(fields, f)
	}
	title := string(i.Scheme) + " " + i.String()
	if i.Layout != "" {
		title += ", layout " + i.Layout
	}
	d := drawing{line(title)}
	for _, f := range i.Forms {
		if text := f.Write(i.ID); text != i.String() {
			d = append(d, line(fmt.Sprintf("%-*s %s", len(i.Scheme), f.Name, text)))
		}
	}
	return append(d, drawBits(i.Bits(), fields)...)
}
