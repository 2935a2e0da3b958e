package functions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idmint/idmint/internal/schemes"
)

// words are the SQL fragments of a dialect for schemes whose IDs are numbers.
type words struct {
	// The signatures, after the name, of functions that return a part, the time, or a bound.
	part, time, end string

	id, div, mod, shift, mask, cast string
	stamp                           string // the time, from the highest bits in units and the epoch
	clamp, scaled                   string // the milliseconds of a time, and their units
	least, most                     string

	// Conditions for bytes of a size that are not all zero, and for 8 bytes that are also a number.
	layout, wordLayout string

	nonzero string
	guard   string // the body, or NULL unless {layout} is true
}

// A function consists of a head, which is its name (without idmint_ and the scheme), arguments, and
// result, and of a body. If valid is set, the result is NULL unless the ID follows the layout.
type function struct {
	head, body string
	valid      bool
}

// functionsOf parses the SQL of a scheme for one dialect.
func functionsOf(text string, d Dialect) (all []function) {
	_, text, _ = strings.Cut(text, "\n-- "+string(d)+"\n")
	text, _, _ = strings.Cut(text, "\n\n")
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, goesOn := strings.CutPrefix(line, "\t"); goesOn {
			last := &all[len(all)-1]
			last.body = strings.TrimSpace(last.body + " " + rest)
		} else if head, body, ok := strings.Cut(line, " =>"); ok {
			head, valid := strings.CutSuffix(head, " IF VALID")
			all = append(all, function{head, strings.TrimPrefix(body, " "), valid})
		}
	}
	return all
}

// nameOf returns the name in a function's head.
func nameOf(head string) string {
	name, _, _ := strings.Cut(head, "(")
	return strings.TrimSuffix(name, " AS ")
}

// functions returns the functions of a scheme: generated ones for parts and bounds if its IDs are
// numbers, and those written by hand, which replace generated ones of the same name.
func (w words) functions(f *schemes.Facts, byHand []function) (all []function) {
	for _, part := range f.PartNames {
		switch _, below := f.Part(part); {
		case below < 0 || f.Size > 0:
		case part == "unix_ms":
			at := fmt.Sprintf(w.shift, w.id, below)
			if f.Unit > time.Millisecond {
				at = fmt.Sprintf("(%s) * %d", at, f.Unit.Milliseconds())
			}
			all = append(all, function{"time" + w.time, fmt.Sprintf(w.stamp, at, f.Epoch), true})
		default:
			all = append(all, function{schemes.FunctionOf(part) + w.part, w.body(f, part), true})
		}
	}
	if _, below := f.Part("unix_ms"); below >= 0 && f.Size == 0 {
		all = append(all, function{"min" + w.end, fmt.Sprintf(w.least, below), false},
			function{"max" + w.end, fmt.Sprintf(w.most, below, f.Power(below)-1), false})
	}
	for _, own := range byHand {
		i := slices.IndexFunc(all, func(made function) bool {
			return nameOf(made.head) == nameOf(own.head)
		})
		if i < 0 {
			i, all = len(all), append(all, own)
		}
		all[i] = own
	}
	return all
}

// body returns the expression for a part.
func (w words) body(f *schemes.Facts, part string) string {
	field, below := f.Part(part)
	i := slices.Index(f.Fields, field)
	step, all, x := w.shift, w.mask, w.id
	down, size := int64(below), f.Power(field.Width)-1
	if f.Places {
		step, all, x, down, size = w.div, w.mod, "id", f.Power(below), size+1
	}
	if below > 0 {
		x = fmt.Sprintf(step, x, down)
	}
	if i > 0 && f.Fields[i-1].Letter != '0' {
		x = fmt.Sprintf(all, x, size)
	}
	return fmt.Sprintf(w.cast, x)
}

// ofScheme returns the fragments of a scheme.
func (w words) ofScheme(f *schemes.Facts) *strings.Replacer {
	layout := f.Numbers("id", w.nonzero, false)
	switch {
	case f.Size == 8 && w.wordLayout != "":
		layout = w.wordLayout
	case f.Size > 0:
		layout = fmt.Sprintf(w.layout, f.Size, strings.Repeat("00", f.Size), 2*f.Size)
	}
	_, last := f.Range("unix_ms")
	unit := fmt.Sprintf(w.clamp, f.Epoch, last, f.Epoch*1000)
	switch {
	case f.Unit > time.Millisecond:
		unit = fmt.Sprintf(w.scaled, unit, f.Epoch, f.Unit.Milliseconds())
	case f.Epoch > 0:
		unit = fmt.Sprintf("(%s - %d)", unit, f.Epoch)
	}
	pattern := strings.ReplaceAll(f.Text.Pattern, "(?:", "(")
	return strings.NewReplacer("{layout}", layout, "{unit}", unit, "{pattern}", pattern,
		"{open pattern}", strings.TrimSuffix(pattern, "$"))
}
