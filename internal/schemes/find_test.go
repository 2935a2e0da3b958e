package schemes

import (
	"slices"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// Find knows every form of every scheme, and shows an ID once.
func TestFind(t *testing.T) {
	for _, s := range All() {
		id := s.Known().Text.Example
		for i, form := range s.FormNames() {
			of, err := s.Read(Text, id)
			if err != nil {
				t.Fatal(err)
			}
			text := of.In(form)
			fits := Find(text, now)
			n := 0
			for _, f := range fits {
				if f.Name() != s.Name() || f.Value() != of.Value() {
					continue
				}
				n++
				if at := slices.Index(s.FormNames(), f.Form); at > i {
					t.Errorf("%s: form %s was found for %s", text, f.Form, form)
				}
			}
			if n != 1 {
				t.Errorf("%s as %s: %d fits of %d", text, form, n, len(fits))
			}
		}
	}
	if fits := Find("no ID at all", now); len(fits) != 0 {
		t.Errorf("%v", fits)
	}
}

// A time of the last years makes a scheme likely, one of another time unlikely.
func TestDoubt(t *testing.T) {
	for years, want := range map[int]int{0: 0, -4: 0, -6: 2, 1: 2} {
		id, err := idtype.ShortParts{
			UnixMs: now.AddDate(years, 0, 0).UnixMilli(), Random: 1,
		}.ID()
		if err != nil {
			t.Fatal(err)
		}
		if got := Doubt(Identity[idtype.ShortID]{Short, id}, now); got != want {
			t.Errorf("%d years: %d, want %d", years, got, want)
		}
	}
	if got := Doubt(Identity[idtype.DecimalID]{Decimal, 14150009200065}, now); got != 1 {
		t.Errorf("decimal: %d", got)
	}
}
