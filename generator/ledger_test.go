package generator_test

import (
	"slices"
	"testing"
)

// A ledger finds repeats among any number of IDs. They come as numbers of 64 bits, and neighbouring
// IDs are neighbouring numbers. It needs memory for the runs of consecutive numbers alone.
type ledger struct {
	sorted  []run // disjoint, ascending
	recent  []run // as they came
	repeats int64
}

// A run is the numbers from first to last, both included.
type run struct{ first, last uint64 }

func (l *ledger) add(n uint64) {
	if k := len(l.recent) - 1; k >= 0 && l.recent[k].last+1 == n && n != 0 {
		l.recent[k].last = n
		return
	}
	if len(l.recent) >= 1<<20 && len(l.recent) >= len(l.sorted) {
		l.settle()
	}
	l.recent = append(l.recent, run{n, n})
}

// settle counts the repeats, and joins the runs that touch.
func (l *ledger) settle() {
	runs := append(l.sorted, l.recent...)
	l.recent = l.recent[:0]
	slices.SortFunc(runs, func(a, b run) int {
		if a.first < b.first {
			return -1
		}
		return b2i(a.first > b.first)
	})
	joined := runs[:0]
	for _, r := range runs {
		if k := len(joined) - 1; k < 0 || r.first > joined[k].last && r.first-joined[k].last > 1 {
			joined = append(joined, r)
		} else {
			if r.first <= joined[k].last {
				l.repeats += int64(min(r.last, joined[k].last) - r.first + 1)
			}
			joined[k].last = max(joined[k].last, r.last)
		}
	}
	l.sorted = joined
}

// count returns how many different numbers there were, and how often one came again.
func (l *ledger) count() (different, repeats int64) {
	l.settle()
	for _, r := range l.sorted {
		different += int64(r.last - r.first + 1)
	}
	return different, l.repeats
}

// TestLedger compares ledgers with a map.
func TestLedger(t *testing.T) {
	const top = ^uint64(0)
	lists := [][]uint64{
		{},
		{5, 6, 7, 5},
		{5, 6, 7, 9, 8, 7, 8},
		{10, 1, 2, 3, 4, 3, 2, 2, 2, 11, 10},
		{top, 0, 1, top - 1, top, 0},
		{1, 2, 3, 4, 5, 6, 3, 4, 9, 8, 7, 6, 5, 4},
	}
	for _, list := range lists {
		for _, often := range []int{1, 2, 100} { // how many come between two settlements
			l, seen := &ledger{}, map[uint64]int{}
			for i, n := range list {
				l.add(n)
				seen[n]++
				if i%often == often-1 {
					l.settle()
				}
			}
			different, repeats := l.count()
			if int(different) != len(seen) || int(repeats) != len(list)-len(seen) {
				t.Errorf("%v: %d different, %d repeats, want %d, %d", list, different, repeats,
					len(seen), len(list)-len(seen))
			}
		}
	}
}
