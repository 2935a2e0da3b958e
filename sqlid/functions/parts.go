package functions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idmint/idmint/internal/schemes"
)

// words are how a dialect says what is made of the fields of a scheme whose IDs are numbers.
type words struct {
	part, time, end                 string // behind the names of functions that return a part, the time, and a bound
	id, div, mod, shift, mask, cast string
	stamp                           string // the time of the highest bits in units, and the epoch
	clamp, scaled                   string // the milliseconds of a time, and the units of them
	least, most                     string
	layout, wordLayout              string // of the size, and as many zeros; of 8 bytes that are a number too
	nonzero                         string
	guard                           string // what it computes where {layout} is true
}

// A function is its name without idmint_ and the scheme, arguments and result, and what it
// computes. If it is valid, the result is NULL where the ID does not follow the layout.
type function struct {
	head, body string
	valid      bool
}

// functionsOf reads the SQL of a scheme.
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

// nameOf is the name in a function's head.
func nameOf(head string) string {
	name, _, _ := strings.Cut(head, "(")
	return strings.TrimSuffix(name, " AS ")
}

// functions are those of a scheme: its parts and bounds, where its IDs are numbers, and those made
// by hand. These take the place of one that has their name.
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

// body computes a part.
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

// ofScheme are the fragments of a scheme.
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
