package kv

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Rows of counters are in the order of the counters' names, and no two have the same.
func TestCounterRow(t *testing.T) {
	const signs, first = "-./059_abz", "059abz"
	random := rand.New(rand.NewPCG(1, 1))
	names := []string{"a", "a/", "a.", "a./", "a/.", "a..", "a//", "a/a", "a.a", "a-a", "a0", "a_"}
	for range 20_000 {
		name := []byte{first[random.IntN(len(first))]}
		for range random.IntN(6) {
			name = append(name, signs[random.IntN(len(signs))])
		}
		names = append(names, string(name))
	}
	names = append(names, "a"+strings.Repeat("/", 127))
	slices.Sort(names)
	names = slices.Compact(names)
	for i, name := range names {
		if row := counterRow(name); len(row) > 255 || strings.Contains(row, "/") {
			t.Errorf("%q has the row %q", name, row)
		}
		if i > 0 && cmp.Compare(counterRow(names[i-1]), counterRow(name)) >= 0 {
			t.Errorf("%q is not before %q", counterRow(names[i-1]), counterRow(name))
		}
	}
}

// A text that cannot be part of a row's name is there by its hash. No two have the same row.
func TestSegment(t *testing.T) {
	for text, want := range map[string]string{
		"abc": "abc", "A-1_b.c": "A-1_b.c", "": "",
		"a/b": "c14cddc033f64b9dea80ea675cf280a015e672516090a5626781153dc68fea11", // SHA-256
	} {
		if got := segment(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := segment("a/b"); segment(got) == got { // as long as a hash: it may be one
		t.Errorf("%q is its own segment, and that of another text", got)
	}
}

func TestSettle(t *testing.T) {
	changes := []Change{
		{Name: "a", Version: 3, Value: []byte("ours")}, {Name: "b", Value: []byte("ours")},
	}
	const none, ours, others = "", "ours", "others"
	for _, test := range []struct {
		a           int64
		aValue      string
		b           int64
		bValue      string
		done, known bool
	}{
		{3, others, 0, none, false, false}, // not yet
		{4, ours, 1, ours, true, true},
		{4, others, 0, none, false, true}, // somebody was faster
		{3, others, 1, others, false, true},
		{9, others, 1, ours, true, true}, // others came after it
		{4, ours, 5, others, true, true},
		{9, others, 0, none, false, true},
		{9, others, 2, others, false, false},
	} {
		done, known := Settle(changes, []Row{
			{"a", []byte(test.aValue), test.a}, {"b", []byte(test.bValue), test.b},
		})
		if done != test.done || known != test.known {
			t.Errorf("%+v: %t, %t", test, done, known)
		}
	}
}
