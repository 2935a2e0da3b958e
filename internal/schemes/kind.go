package schemes

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/idmint/idmint/idtype"
)

// A Part is a group of consecutive bits or decimal places of an ID, and their meaning.
type Part struct {
	Letter byte // '0' for reserved bits
	Width  int
	Name   string // empty for reserved bits, and for the first of two fields that form one part
	Value  string
	Note   string // additional information
}

// Label returns the part in words: its name, its value and the note.
func (p Part) Label() string {
	words := slices.DeleteFunc([]string{p.Name, p.Value, p.Note},
		func(s string) bool { return s == "" })
	return strings.Join(words, " ")
}

// TimeLetter is the letter of the parts that carry the time.
const TimeLetter = 't'

// A Kind is a scheme whose IDs have type T.
type Kind[T idtype.ID] struct {
	Facts
	Forms  []Form[T]      // text first
	Values func(T) any    // its parts as in JSON
	Says   func(T) []Part // its parts, if they are not its fields
	Note   func(T) string // additional information about its time
	Span   span[T]        // nil if IDs carry no time
}

// A span returns the IDs of a span of time, as ranges that sort in a form.
type span[T any] func(form string, from, to time.Time) ([]idtype.Range[T], error)

// A Name is a field in JSON that contains the ID in a form.
type Name struct{ Field, Form string }

// A Scheme is a [Kind] of any type.
type Scheme interface {
	// Name returns the scheme's name.
	Name() idtype.Scheme
	// FormNames returns the names of its forms, text first.
	FormNames() []string
	// Read parses an ID that follows the layout, in a form that the scheme has.
	Read(form, text string) (ID, error)
	// Parse parses an ID of the whole domain.
	Parse(form, text string) (ID, error)
	// FromBytes parses the binary form of an ID of the whole domain.
	FromBytes(b []byte) (ID, error)
	// Bounds returns the ranges of a span of time, in a form. Without a form it uses the first one
	// that sorts as the IDs do.
	Bounds(form string, from, to time.Time) ([]Bound, error)
	Known() *Facts
}

// A Bound is the smallest and the largest ID of a range, as text.
type Bound struct {
	Scheme idtype.Scheme `json:"scheme"`
	Min    string        `json:"min"`
	Max    string        `json:"max"`
}

// An ID is an ID together with its scheme.
type ID interface {
	Name() idtype.Scheme
	Known() *Facts
	FormNames() []string
	// Validate checks the ID against the layout.
	Validate() error
	// In returns the ID in a form of its scheme.
	In(form string) string
	// String returns the ID in the form text.
	String() string
	// Times returns when the ID was minted: none, one, or for a trace ID the last and the next
	// time.
	Times(now time.Time) []time.Time
	// When returns the times in words.
	When(now time.Time) string
	Parts() []Part
	// Bits returns the ID's bits in order, or "" if the parts are decimal places or missing.
	Bits() string
	// Summary describes the ID in one line.
	Summary(now time.Time) string
	// Value returns the ID itself, which has a type of package idtype.
	Value() any
	AppendText(b []byte) ([]byte, error)
	// AppendJSON appends the scheme, the ID and its parts as an object.
	AppendJSON(b []byte) ([]byte, error)
}

// Name returns the scheme's name.
func (k *Kind[T]) Name() idtype.Scheme { return k.Scheme }

// FormNames returns the names of the forms, text first.
func (k *Kind[T]) FormNames() []string {
	var names []string
	for _, f := range k.Forms {
		names = append(names, f.Name)
	}
	return names
}

// Form returns the form with that name, which the kind must have.
func (k *Kind[T]) Form(name string) Form[T] {
	return k.Forms[slices.IndexFunc(k.Forms, func(f Form[T]) bool { return f.Name == name })]
}

// Parse parses an ID.
func (k *Kind[T]) Parse(form, text string) (ID, error) { return k.of(k.Form(form).Read(text)) }

// FromBytes parses an ID.
func (k *Kind[T]) FromBytes(b []byte) (ID, error) { return k.of(idtype.FromBytes[T](b)) }

func (k *Kind[T]) of(id T, err error) (ID, error) {
	if err != nil {
		return nil, err
	}
	return Identity[T]{k, id}, nil
}

// Read parses an ID that follows the layout.
func (k *Kind[T]) Read(form, text string) (ID, error) {
	id, err := k.Parse(form, text)
	if err != nil {
		return nil, err
	}
	if err := id.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return id, nil
}

// A BoundsError is returned for bounds that do not exist.
type BoundsError string

func (e BoundsError) Error() string { return string(e) }

// Bounds returns the ranges of IDs of a span of time.
func (k *Kind[T]) Bounds(form string, from, to time.Time) ([]Bound, error) {
	if k.Span == nil {
		return nil, BoundsError(k.Scheme + " IDs carry no time")
	}
	if form == "" {
		form = k.Forms[slices.IndexFunc(k.Forms, func(f Form[T]) bool { return !f.Unsorted })].Name
	}
	f := k.Form(form)
	if f.Unsorted {
		return nil, BoundsError("--form " + form + ": IDs in this form are not ordered by time")
	}
	ranges, err := k.Span(form, from, to)
	var bounds []Bound
	for _, r := range ranges {
		bounds = append(bounds, Bound{k.Scheme, f.Write(r.Min), f.Write(r.Max)})
	}
	return bounds, err
}

// within returns the span of a kind whose bounds are the same in all forms.
func within[T any](bounds func(from, to time.Time) ([]idtype.Range[T], error)) span[T] {
	return func(_ string, from, to time.Time) ([]idtype.Range[T], error) { return bounds(from, to) }
}

// parts returns the Values of a kind.
func parts[T, P any](of func(T) P) func(T) any { return func(id T) any { return of(id) } }

// An Identity is an ID of a kind.
type Identity[T idtype.ID] struct {
	*Kind[T]
	ID T
}

// In returns the ID in a form of its scheme.
func (i Identity[T]) In(form string) string { return i.Form(form).Write(i.ID) }

// String returns the ID's text.
func (i Identity[T]) String() string { return i.ID.String() }

// Validate checks the ID against the layout.
func (i Identity[T]) Validate() error { return i.ID.Validate() }

// Value returns the ID.
func (i Identity[T]) Value() any { return i.ID }

// Parts returns the parts of the ID.
func (i Identity[T]) Parts() []Part {
	if i.Says != nil {
		return i.Says(i.ID)
	}
	values := map[string]any{}
	for v, n := reflect.ValueOf(i.Values(i.ID)), 0; n < v.NumField(); n++ {
		values[v.Type().Field(n).Tag.Get("json")] = v.Field(n).Interface()
	}
	var all []Part
	for n, f := range i.Fields {
		p := Part{Letter: f.Letter, Width: f.Width}
		if countDigits(i.Fields[n+1:], named(f.Name)) == 0 && f.Letter != '0' {
			p.Name, p.Value = f.Name, fmt.Sprint(values[f.Name])
		}
		if f.Letter == TimeLetter && i.Note != nil {
			p.Note = i.Note(i.ID)
		}
		all = append(all, p)
	}
	if i.Places { // the highest field has no leading zeros
		all[0].Width += len(i.String()) - countDigits(i.Fields, func(Field) bool { return true })
	}
	return all
}

// Bits returns the bits of the ID, as 0 and 1.
func (i Identity[T]) Bits() string {
	width := 0
	for _, p := range i.Parts() {
		width += p.Width
	}
	if i.Places || width == 0 {
		return ""
	}
	id := idtype.AppendBytes(nil, i.ID)
	bits := make([]byte, 8*len(id))
	for n := range bits {
		bits[n] = '0' + id[n/8]>>(7-n%8)&1
	}
	return string(bits)
}

// Times returns when the ID was minted.
func (i Identity[T]) Times(now time.Time) []time.Time {
	switch id := any(i.ID).(type) {
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

// When returns the times in words.
func (i Identity[T]) When(now time.Time) string {
	layout := "2006-01-02T15:04:05.000Z07:00"
	if i.Unit == time.Second {
		layout = time.RFC3339
	}
	var words []string
	for _, t := range i.Times(now) {
		words = append(words, t.Format(layout))
	}
	return strings.Join(words, " or ")
}

// Summary describes the ID in one line.
func (i Identity[T]) Summary(now time.Time) string {
	var words []string
	if when := i.When(now); when != "" {
		words = append(words, when)
	}
	for _, p := range i.Parts() {
		if label := p.Label(); label != "" {
			words = append(words, label)
		}
	}
	if i.Layout != "" {
		words = append(words, "layout "+i.Layout)
	}
	return strings.Join(words, ", ")
}

// AppendText appends the ID's text.
func (i Identity[T]) AppendText(b []byte) ([]byte, error) { return i.ID.AppendText(b) }

// AppendJSON appends the object that the command compose reads, in which no form needs escaping.
func (i Identity[T]) AppendJSON(b []byte) ([]byte, error) {
	b = append(append(append(b, `{"scheme":"`...), i.Scheme...), '"')
	if i.Layout != "" {
		b = append(append(append(b, `,"layout":"`...), i.Layout...), '"')
	}
	for _, n := range i.Names {
		b = append(append(append(b, `,"`...), n.Field...), `":"`...)
		b = append(append(b, i.In(n.Form)...), '"')
	}
	fields, err := json.Marshal(i.Values(i.ID))
	if err != nil {
		return nil, err
	}
	return append(append(b, ','), fields[1:]...), nil
}
