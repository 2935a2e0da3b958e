package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idmint/idmint/idtype"
)

// A Part is consecutive bits of an ID, or decimal places, and what they say.
type Part struct {
	Letter byte // '0' for reserved bits
	Width  int
	Name   string // empty for reserved bits, and for the first of two fields that are one part
	Value  string
	Note   string // what else there is to say
}

// Label is the part in words: its name, its value and the note.
func (p Part) Label() string {
	words := slices.DeleteFunc([]string{p.Name, p.Value, p.Note},
		func(s string) bool { return s == "" })
	return strings.Join(words, " ")
}

// TimeLetter is the letter of the parts that carry the time.
const TimeLetter = 't'

// A Kind is a scheme, whose IDs are of type T.
type Kind[T idtype.ID] struct {
	Scheme idtype.Scheme
	Forms  []Form[T] // text first
	Names  []Name    // what names the ID in JSON, before its parts
	Fields func(T) any
	Parts  func(T) []Part
	Clock  string // the layout of its times
	Places bool   // the parts are places of the decimal number, and not bits
}

// A Name is a field in JSON that holds the ID in a form.
type Name struct{ Field, Form string }

// A Scheme is a [Kind] of any type.
type Scheme interface {
	// Name is the scheme's.
	Name() idtype.Scheme
	// FormNames are those of its forms, text first.
	FormNames() []string
	// Read reads an ID that follows the layout, in a form that the scheme has.
	Read(form, text string) (ID, error)
}

// An ID is one together with its scheme.
type ID interface {
	Name() idtype.Scheme
	FormNames() []string
	// Validate checks the ID against the layout.
	Validate() error
	// In is the ID in a form of its scheme.
	In(form string) string
	// String is the ID in the form text.
	String() string
	// Times are when the ID was made: none, one, or for a trace ID the last and the next.
	Times(now time.Time) []time.Time
	// When is the times in words.
	When(now time.Time) string
	Parts() []Part
	// Bits are those of the ID in their order. They are empty where the parts are decimal places,
	// or there are none.
	Bits() string
	// Summary says the ID in one line.
	Summary(now time.Time) string
	// Value is the ID itself, of a type of package idtype.
	Value() any
	AppendText(b []byte) ([]byte, error)
	// AppendJSON writes the scheme, the ID and its parts as an object.
	AppendJSON(b []byte) ([]byte, error)
}

// Name is the scheme's name.
func (k *Kind[T]) Name() idtype.Scheme { return k.Scheme }

// FormNames are the names of the forms, text first.
func (k *Kind[T]) FormNames() []string {
	var names []string
	for _, f := range k.Forms {
		names = append(names, f.Name)
	}
	return names
}

// Form is the form of a name that the kind has.
func (k *Kind[T]) Form(name string) Form[T] {
	return k.Forms[slices.IndexFunc(k.Forms, func(f Form[T]) bool { return f.Name == name })]
}

// Read reads an ID.
func (k *Kind[T]) Read(form, text string) (ID, error) {
	id, err := k.Form(form).Read(text)
	if err != nil {
		return nil, err
	}
	if err := id.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return Identity[T]{k, id}, nil
}

// An Identity is an ID of a kind.
type Identity[T idtype.ID] struct {
	*Kind[T]
	ID T
}

// In is the ID in a form of its scheme.
func (i Identity[T]) In(form string) string { return i.Form(form).Write(i.ID) }

// String is the ID's text.
func (i Identity[T]) String() string { return i.ID.String() }

// Validate checks the ID against the layout.
func (i Identity[T]) Validate() error { return i.ID.Validate() }

// Value is the ID.
func (i Identity[T]) Value() any { return i.ID }

// Parts are those of the ID.
func (i Identity[T]) Parts() []Part { return i.Kind.Parts(i.ID) }

// Bits are those of the ID, as 0 and 1.
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

// Times are when the ID was made.
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

// When is the times in words.
func (i Identity[T]) When(now time.Time) string {
	var words []string
	for _, t := range i.Times(now) {
		words = append(words, t.Format(i.Clock))
	}
	return strings.Join(words, " or ")
}

// Summary says the ID in one line.
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
	return strings.Join(words, ", ")
}

// AppendText appends the ID's text.
func (i Identity[T]) AppendText(b []byte) ([]byte, error) { return i.ID.AppendText(b) }

// AppendJSON appends the object that the command compose reads. No form needs an escape.
func (i Identity[T]) AppendJSON(b []byte) ([]byte, error) {
	b = append(append(append(b, `{"scheme":"`...), i.Scheme...), '"')
	for _, n := range i.Names {
		b = append(append(append(b, `,"`...), n.Field...), `":"`...)
		b = append(append(b, i.In(n.Form)...), '"')
	}
	fields, err := json.Marshal(i.Fields(i.ID))
	if err != nil {
		return nil, err
	}
	return append(append(b, ','), fields[1:]...), nil
}
