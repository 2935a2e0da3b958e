package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/explain"
)

// A scheme is what the commands need to know of an ID scheme: a [kind] for them all.
type scheme interface {
	Name() idtype.Scheme
	FormNames() []string // text first
	read(form, input string) (identified, error)
	compose(fields []byte) (fmt.Stringer, error)
	bounds(form string, from, to time.Time) ([]bound, error)
	newCommand(*app) *cobra.Command
}

// schemes are all of them, in the order in which they are listed.
var schemes = []scheme{decimalKind, traceKind, eightByteKind, shortKind, snoKind, sequenceKind}

// schemeNames is the list for people.
func schemeNames() string {
	var names []idtype.Scheme
	for _, s := range schemes {
		names = append(names, s.Name())
	}
	return commas(names)
}

// commas is a list of names for people.
func commas[T ~string](names []T) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}

func schemeNamed(name string) (scheme, error) {
	for _, s := range schemes {
		if string(s.Name()) == name {
			return s, nil
		}
	}
	return nil, usage("unknown scheme %q: want %s", name, schemeNames())
}

// An identified is an ID together with its scheme.
type identified interface {
	explain.ID
	// drawing shows the ID on several lines.
	drawing(now time.Time) drawing
}

// A kind is the scheme of the IDs of type T, with what commands do beside explaining them. P has
// the parts of one, in the order of the layout, with their names in JSON.
type kind[T idtype.ID, P any] struct {
	*explain.Kind[T]
	id      func(P) (T, error)
	span    func(form string, from, to time.Time) ([]idtype.Range[T], error)
	draw    func(T) drawing // [drawBits] if nil
	command func(*app, *kind[T, P]) *cobra.Command

	partNames []string
}

// join completes a kind.
func join[T idtype.ID, P any](k kind[T, P]) *kind[T, P] {
	for f := range reflect.TypeFor[P]().Fields() {
		k.partNames = append(k.partNames, f.Tag.Get("json"))
	}
	return &k
}

func (k *kind[T, P]) newCommand(a *app) *cobra.Command { return k.command(a, k) }

func (k *kind[T, P]) read(form, input string) (identified, error) {
	id, err := k.Form(form).Read(input)
	return k.of(id), err
}

// of is an ID of the kind.
func (k *kind[T, P]) of(id T) identity[T, P] {
	return identity[T, P]{explain.Identity[T]{Kind: k.Kind, ID: id}, k}
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
	explain.Identity[T]
	kind *kind[T, P]
}

func (i identity[T, P]) drawing(now time.Time) drawing {
	if i.kind.draw != nil {
		return i.kind.draw(i.ID)
	}
	var fields []field
	for _, p := range i.Parts() {
		f := field{p.Letter, p.Width, p.Label()}
		if p.Letter == explain.TimeLetter {
			f.label += ", " + i.When(now)
		}
		fields = append(fields, f)
	}
	d := drawing{line(string(i.Scheme) + " " + i.String())}
	for _, f := range i.Forms {
		if text := f.Write(i.ID); text != i.String() {
			d = append(d, line(fmt.Sprintf("%-*s %s", len(i.Scheme), f.Name, text)))
		}
	}
	return append(d, drawBits(i.Bits(), fields)...)
}

// A bound is the smallest and the largest ID of a range, as text.
type bound struct {
	Scheme idtype.Scheme `json:"scheme"`
	Min    string        `json:"min"`
	Max    string        `json:"max"`
}

// bounds returns the ranges of IDs of a span of time, in a form. Without one it takes the first
// form that sorts as the IDs do.
func (k *kind[T, P]) bounds(form string, from, to time.Time) ([]bound, error) {
	if k.span == nil {
		return nil, usage("%s IDs carry no time", k.Scheme)
	}
	if form == "" {
		form = k.Forms[slices.IndexFunc(k.Forms, k.sorts)].Name
	}
	f := k.Form(form)
	if f.Unsorted {
		return nil, usage("--form %s: the order of these is not that of time", form)
	}
	ranges, err := k.span(form, from, to)
	var bounds []bound
	for _, r := range ranges {
		bounds = append(bounds, bound{k.Scheme, f.Write(r.Min), f.Write(r.Max)})
	}
	return bounds, err
}

func (k *kind[T, P]) sorts(f explain.Form[T]) bool { return !f.Unsorted }

// within makes the span of a kind whose bounds are the same in all forms.
func within[T any](
	bounds func(from, to time.Time) ([]idtype.Range[T], error),
) func(string, time.Time, time.Time) ([]idtype.Range[T], error) {
	return func(_ string, from, to time.Time) ([]idtype.Range[T], error) { return bounds(from, to) }
}
