package schemes

import (
	"slices"
	"time"
)

// A Fit is an ID that a text may represent, and the form in which it does.
type Fit struct {
	ID
	Form string
}

// Find parses a text with every scheme, in every form, and returns more likely matches first. If
// two forms of a scheme represent the same ID, only the first one is kept, and of the other
// [Layouts] only likely matches are included.
func Find(text string, now time.Time) []Fit {
	var fits []Fit
	for _, s := range All() {
		for _, form := range s.FormNames() {
			id, err := s.Read(form, text)
			known := func(f Fit) bool { return f.Name() == id.Name() && f.Value() == id.Value() }
			if err == nil && !slices.ContainsFunc(fits, known) {
				fits = append(fits, Fit{id, form})
			}
		}
	}
	for _, id := range InLayouts(Text, text, now) {
		fits = append(fits, Fit{id, Text})
	}
	Rank(fits, now)
	return fits
}

// InLayouts parses a text with the other [Layouts]. Because any number fits each of them, only IDs
// with a likely time are returned. Times in the first three months of an epoch do not count as
// likely, because small numbers from counters have such times.
func InLayouts(form, text string, now time.Time) (likely []ID) {
	for _, s := range Layouts {
		if !slices.Contains(s.FormNames(), form) {
			continue
		}
		id, err := s.Read(form, text)
		if err == nil && Doubt(id, now) == 0 &&
			id.Times(now)[0].After(time.UnixMilli(s.Known().Epoch).AddDate(0, 3, 0)) {
			likely = append(likely, id)
		}
	}
	return likely
}

// A Timed has the times that an ID would represent.
type Timed interface {
	Times(now time.Time) []time.Time
}

// Rank sorts matches so that more likely ones come first.
func Rank[T Timed](fits []T, now time.Time) {
	slices.SortStableFunc(fits, func(a, b T) int { return Doubt(a, now) - Doubt(b, now) })
}

// Doubt ranks the schemes that an ID fits by the time that it would represent: 0 is likely, 2 is
// unlikely. A time in the last years is evidence for the scheme. A trace ID gets 1, because it does
// not represent a single time but one in each period of 388 days.
func Doubt(id Timed, now time.Time) int {
	times := id.Times(now)
	if len(times) != 1 {
		return 1
	}
	if times[0].Before(now.AddDate(-5, 0, 0)) || times[0].After(now.AddDate(0, 0, 1)) {
		return 2
	}
	return 0
}
