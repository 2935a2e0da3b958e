package schemes

import (
	"slices"
	"time"
)

// A Fit is an ID that a text may mean, and the form in which it does.
type Fit struct {
	ID
	Form string
}

// Find reads a text by every scheme, in every form. The likelier fits come first. Where two forms
// of a scheme mean the same ID, the first one stays. Of the other [Layouts] the likely ones do.
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

// InLayouts reads a text by the other [Layouts]. Any number fits each of them, so its time is to be
// likely there. Numbers of counters are of the first days of an epoch.
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

// A Timed has the times that an ID would mean.
type Timed interface {
	Times(now time.Time) []time.Time
}

// Rank sorts what a text fits: the likelier comes first.
func Rank[T Timed](fits []T, now time.Time) {
	slices.SortStableFunc(fits, func(a, b T) int { return Doubt(a, now) - Doubt(b, now) })
}

// Doubt ranks the schemes that an ID fits by the time that it would mean: 0 is likely, 2 is not. A
// time of the last years is a sign of the scheme, unless it could be no other. A trace ID is of no
// single time: it has one in each 388 days.
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
