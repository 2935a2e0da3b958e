package generator

import (
	"context"
	"testing"
)

// TestOvershot: a call that adds a slot too many puts the word back, whatever happens to it then.
// Else such calls would add up to the next tick.
func TestOvershot(t *testing.T) {
	const calls = 100
	for name, fails := range map[string]func() int64{
		"the clock leaves the layout": func() int64 { return 1 << 40 },
		"the clock panics":            func() int64 { panic("no time") },
	} {
		t.Run(name, func(t *testing.T) {
			clock := &turning{fails: fails}
			line := &timeline{clock: clock, rules: rules{
				layout: layout{unit: 1, maxTick: 5, shift: 3, last: 3},
			}}
			s := line.newSpan(0, 1, 3)
			s.word.Store(line.word(2, 3)) // the last of its slots
			s.tick.Store(2)
			line.span.Store(s)
			for range calls {
				clock.asked = 0
				func() {
					defer func() { _ = recover() }()
					if _, _, err := line.next(context.Background()); err == nil {
						t.Fatal("a slot was minted")
					}
				}()
				if word := s.word.Load(); word != line.word(2, 3) {
					t.Fatalf("the word is %#x, not put back", word)
				}
			}
		})
	}
}

// turning is a clock that stands at tick 2, and fails when it is asked again.
type turning struct {
	Clock
	asked int
	fails func() int64
}

func (c *turning) UnixNano() int64 {
	if c.asked++; c.asked == 1 {
		return 2
	}
	return c.fails()
}
