package generator_test

import (
	"math/bits"
	"slices"
	"sync/atomic"
	"testing"
)

// A bitmap marks the slots of one number's ticks as they are minted, by many goroutines. Its memory is 8 KiB per tick and value
// of the tick-tock bit that was used, at most 512 MiB.
type bitmap struct {
	first   uint64 // the tick of the first pages
	pages   [1 << 16]atomic.Pointer[page]
	repeats atomic.Int64
}

// A page is the slots of a tick with one value of the tick-tock bit.
type page [1 << 16 / 64]atomic.Uint64

// mark notes a slot, and whether it was noted before. It returns false for a tick that the bitmap does not cover.
func (b *bitmap) mark(tick, tickTock, slot uint64) bool {
	i := (tick-b.first)<<1 | tickTock
	if i >= uint64(len(b.pages)) {
		return false
	}
	p := b.pages[i].Load()
	if p == nil {
		p = new(page)
		if !b.pages[i].CompareAndSwap(nil, p) {
			p = b.pages[i].Load()
		}
	}
	if bit := uint64(1) << (slot % 64); p[slot/64].Or(bit)&bit != 0 {
		b.repeats.Add(1)
	}
	return true
}

// count returns the slots that were marked, the pages that have any, and those that have all.
func (b *bitmap) count() (slots, used, full int) {
	for i := range b.pages {
		p := b.pages[i].Load()
		if p == nil {
			continue
		}
		n := 0
		for j := range p {
			n += bits.OnesCount64(p[j].Load())
		}
		slots += n
		used++
		if n == len(p)*64 {
			full++
		}
	}
	return slots, used, full
}

// A ledger finds repeats among any number of IDs, in memory for the runs of consecutive ones among them: they come as numbers of 64
// bits, of which those of neighbouring IDs are neighbours.
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

// TestBitmap: a repeat is found, whoever minted it first, and nothing else is.
func TestBitmap(t *testing.T) {
	b := &bitmap{first: 1000}
	mark := func(tick, tickTock, slot uint64) {
		t.Helper()
		if !b.mark(tick, tickTock, slot) {
			t.Fatalf("tick %d is not covered", tick)
		}
	}
	want := func(slots, used, full int, repeats int64) {
		t.Helper()
		if s, u, f := b.count(); s != slots || u != used || f != full || b.repeats.Load() != repeats {
			t.Fatalf("%d slots, %d pages, %d full, %d repeats, want %d, %d, %d, %d", s, u, f, b.repeats.Load(), slots, used, full, repeats)
		}
	}
	for slot := range uint64(1 << 16) {
		mark(1001, 0, slot)
	}
	mark(1001, 1, 7)
	mark(1002, 0, 7)
	mark(1002, 0, 8)
	mark(1000+1<<15-1, 1, 1<<16-1)
	want(1<<16+4, 4, 1, 0)
	mark(1001, 0, 1<<16-1)
	want(1<<16+4, 4, 1, 1)
	inParallel(8, func(int) {
		for slot := range uint64(100) {
			mark(1003, 0, slot)
		}
	})
	want(1<<16+104, 5, 1, 1+7*100)
	if b.mark(999, 1, 0) || b.mark(1000+1<<15, 0, 0) {
		t.Error("a tick beyond the bitmap is taken for one within")
	}
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
				t.Errorf("%v: %d different, %d repeats, want %d, %d", list, different, repeats, len(seen), len(list)-len(seen))
			}
		}
	}
}

// twoWords is how others share a generator: the time is changed first, and then the sequence begins again. Between the two steps
// another goroutine may come and go.
type twoWords struct {
	tick, slot atomic.Uint64
	between    func()
}

func (g *twoWords) next(now uint64) (tick, slot uint64) {
	if old := g.tick.Load(); now > old && g.tick.CompareAndSwap(old, now) {
		g.between()
		g.slot.Store(0)
		return now, 0
	}
	return g.tick.Load(), g.slot.Add(1)
}

// TestTwoWords: the bitmap finds the repeat that such a generator mints.
func TestTwoWords(t *testing.T) {
	b := &bitmap{}
	g := &twoWords{between: func() {}}
	mint := func(now uint64) {
		tick, slot := g.next(now)
		b.mark(tick, 0, slot)
	}
	for range 6 {
		mint(1)
	}
	g.between = func() { g.between = func() {}; mint(2) } // slot 6 of tick 2, which begins with slot 0
	for range 7 {
		mint(2)
	}
	if n := b.repeats.Load(); n != 1 {
		t.Errorf("%d repeats, want 1", n)
	}
}
