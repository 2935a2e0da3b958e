package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/idtype"
)

// A scheme is what the commands need to know of an ID scheme: a [kind] for them all.
type scheme interface {
	name() idtype.Scheme
	formNames() []string // text first
	// former is the scheme by a former layout, "" for the present one.
	former(layout string) (scheme, error)
	storage() idtype.Storage
	read(form, input string) (identified, error)
	compose(fields []byte) (fmt.Stringer, error)
	bounds(form string, from, to time.Time) ([]bound, error)
	newCommand(*app) *cobra.Command
}

// schemes are all of them, in the order in which they are listed.
var schemes = []scheme{decimalKind, traceKind, eightByteKind, shortKind, snoKind, sequenceKind}

// schemeNames is the list for people.
func schemeNames() string {
	var names []string
	for _, s := range schemes {
		names = append(names, string(s.name()))
	}
	return strings.Join(names, ", ")
}

func schemeNamed(name string) (scheme, error) {
	for _, s := range schemes {
		if string(s.name()) == name {
			return s, nil
		}
	}
	return nil, usage("unknown scheme %q: want %s", name, schemeNames())
}

// An identified is an ID together with its scheme.
type identified interface {
	name() idtype.Scheme
	// validate checks the ID against the layout: what was read is in the domain only.
	validate() error
	in(form string) string
	// times are when the ID was made: none, one, or for a trace ID the last and the next.
	times(now time.Time) []time.Time
	appendText(b []byte) ([]byte, error)
	appendJSON(b []byte) ([]byte, error)
	// summary says the ID in one line, and drawing shows it on several.
	summary(now time.Time) string
	drawing(now time.Time) drawing
}

// milliseconds is the layout of times of that resolution.
const milliseconds = "2006-01-02T15:04:05.000Z07:00"

// A kind is the scheme of the IDs of type T. P has the parts of one, in the order of the layout,
// with their names in JSON.
type kind[T idtype.ID, P any] struct {
	scheme  idtype.Scheme
	forms   []form[T] // text first
	names   []name    // what names the ID in JSON, before its parts
	parts   func(T) P
	id      func(P) (T, error)
	fields  func(T) []field // the ID as it is drawn
	clock   string          // the layout of its times
	span    func(form string, from, to time.Time) ([][2]T, error)
	draw    func(T, []field) drawing // [drawBits] if nil
	command func(*app, *kind[T, P]) *cobra.Command
	layouts []layout[T, P] // those that the scheme had before, the first one first

	partNames []string
	optional  string        // a part that may be left out, and is zero then
	validate  func(T) error // T.Validate if nil
}

// A layout is one that a scheme had: some of the IDs of the present one.
type layout[T idtype.ID, P any] struct {
	name     string
	id       func(P) (T, error)
	validate func(T) error
	lacks    string // the part that it has no bits for
}

// A name is a field in JSON that holds the ID in a form.
type name struct{ field, form string }

// join completes a kind.
func join[T idtype.ID, P any](k kind[T, P]) *kind[T, P] {
	for f := range reflect.TypeFor[P]().Fields() {
		k.partNames = append(k.partNames, f.Tag.Get("json"))
	}
	return &k
}

func (k *kind[T, P]) name() idtype.Scheme { return k.scheme }

func (k *kind[T, P]) storage() idtype.Storage { return (*new(T)).Storage() }

func (k *kind[T, P]) former(name string) (scheme, error) {
	if name == "" {
		return k, nil
	}
	var names []string
	for _, l := range k.layouts {
		if l.name == name {
			by := *k
			by.id, by.validate, by.optional = l.id, l.validate, l.lacks
			return &by, nil
		}
		names = append(names, l.name)
	}
	if len(names) == 0 {
		return nil, usage("--layout %q: %s IDs have one layout", name, k.scheme)
	}
	return nil, usage("--layout %q: want one of the former layouts of %s IDs, %s",
		name, k.scheme, strings.Join(names, ", "))
}

func (k *kind[T, P]) newCommand(a *app) *cobra.Command { return k.command(a, k) }

func (k *kind[T, P]) formNames() []string {
	var names []string
	for _, f := range k.forms {
		names = append(names, f.name)
	}
	return names
}

// form is the form of a name that the kind has.
func (k *kind[T, P]) form(name string) form[T] {
	return k.forms[slices.IndexFunc(k.forms, func(f form[T]) bool { return f.name == name })]
}

func (k *kind[T, P]) read(form, input string) (identified, error) {
	id, err := k.form(form).read(input)
	return identity[T, P]{k, id}, err
}

// readValid reads an ID that follows the layout.
func readValid(s scheme, form, input string) (identified, error) {
	id, err := s.read(form, input)
	if err != nil {
		return nil, err
	}
	if err := id.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", input, err)
	}
	return id, nil
}

// An identity is an ID of a kind.
type identity[T idtype.ID, P any] struct {
	*kind[T, P]
	id T
}

func (i identity[T, P]) in(form string) string { return i.form(form).write(i.id) }

func (i identity[T, P]) validate() error {
	if i.kind.validate != nil {
		return i.kind.validate(i.id)
	}
	return i.id.Validate()
}

func (i identity[T, P]) times(now time.Time) []time.Time {
	switch id := any(i.id).(type) {
	case interface{ Time() time.Time }:
		return []time.Time{id.Time()}
	case interface {
		Times(around time.Time) (last, next time.Time)
	}:
		last, next := id.Times(now)
		return []time.Time{last, next}
	}
	return nil
}

// when is the times in words.
func (i identity[T, P]) when(now time.Time) string {
	var words []string
	for _, t := range i.times(now) {
		words = append(words, t.Format(i.clock))
	}
	return strings.Join(words, " or ")
}

func (i identity[T, P]) appendText(b []byte) ([]byte, error) { return i.id.AppendText(b) }

func (i identity[T, P]) appendJSON(b []byte) ([]byte, error) { return i.kind.appendJSON(b, i.id) }

// appendJSON writes the object that compose reads. No form needs an escape.
func (k *kind[T, P]) appendJSON(b []byte, id T) ([]byte, error) {
	b = append(append(append(b, `{"scheme":"`...), k.scheme...), '"')
	for _, n := range k.names {
		b = append(append(append(b, `,"`...), n.field...), `":"`...)
		b = append(append(b, k.form(n.form).write(id)...), '"')
	}
	parts, err := json.Marshal(k.parts(id))
	if err != nil {
		return nil, err
	}
	return append(append(b, ','), parts[1:]...), nil
}

func (i identity[T, P]) summary(now time.Time) string {
	var words []string
	if when := i.when(now); when != "" {
		words = append(words, when)
	}
	for _, f := range i.fields(i.id) {
		if f.label != "" {
			words = append(words, f.label)
		}
	}
	return strings.Join(words, ", ")
}

func (i identity[T, P]) drawing(now time.Time) drawing {
	fields := i.fields(i.id)
	if i.draw != nil {
		return i.draw(i.id, fields)
	}
	for n := range fields {
		if fields[n].letter == 't' {
			fields[n].label += ", " + i.when(now)
		}
	}
	d := drawing{line(string(i.scheme) + " " + i.id.String())}
	for _, f := range i.forms {
		if text := f.write(i.id); text != i.id.String() {
			d = append(d, line(fmt.Sprintf("%-*s %s", len(i.scheme), f.name, text)))
		}
	}
	bits, _ := i.id.AppendBinary(nil) // it never fails
	return append(d, drawBits(bits, fields)...)
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
		return nil, usage("%s IDs carry no time", k.scheme)
	}
	if form == "" {
		form = k.forms[slices.IndexFunc(k.forms, k.sorts)].name
	}
	f := k.form(form)
	if f.unsorted {
		return nil, usage("--form %s: the order of these is not that of time", form)
	}
	ranges, err := k.span(form, from, to)
	var bounds []bound
	for _, r := range ranges {
		bounds = append(bounds, bound{k.scheme, f.write(r[0]), f.write(r[1])})
	}
	return bounds, err
}

func (k *kind[T, P]) sorts(f form[T]) bool { return !f.unsorted }

// one makes a single range of the functions for the smallest and the largest ID of a moment.
func one[T any](
	smallest, largest func(time.Time) (T, error),
) func(string, time.Time, time.Time) ([][2]T, error) {
	return func(_ string, from, to time.Time) ([][2]T, error) {
		first, err := smallest(from)
		if err != nil {
			return nil, err
		}
		last, err := largest(to)
		return [][2]T{{first, last}}, err
	}
}

// quoted is an input as errors name it, and bounded.
func quoted(input string) string {
	text := shorten(input)
	if strings.Contains(text, `"`) && strconv.CanBackquote(text) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}

// shorten bounds what is repeated of an input.
func shorten(s string) string {
	const most = 256
	if len(s) <= most {
		return s
	}
	return beginning(s, most) + "…"
}

// beginning is the first bytes of a text, at most n, and no part of a rune.
func beginning(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for cut := n; cut > n-utf8.UTFMax && cut >= 0; cut-- {
		if utf8.RuneStart(s[cut]) {
			return s[:cut]
		}
	}
	return s[:n] // within bytes that are no UTF-8
}
