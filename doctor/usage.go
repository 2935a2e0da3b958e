package doctor

import (
	"fmt"
	"math"
	"strconv"

	"github.com/idmint/idmint/launchlog"
)

// Numbers is a kind of numbers that a [Share] counts.
type Numbers string

// The kinds of numbers.
const (
	Launches   Numbers = "launches"   // the digits that launches of this lap have used
	Generators Numbers = "generators" // of a running launch
	Counters   Numbers = "counters"   // the range of a log counter
	Claims     Numbers = "claims"     // of a pool that claims lend from
)

// A Share is how many numbers are used, and how many there are.
type Share struct {
	Of   Numbers
	Name string // the launch's number, the counter's name, the pool's scheme; or empty
	Used int64
	Max  int64

	text string // the share in words
}

// Part returns the used share, from 0 to 1.
func (s Share) Part() float64 { return float64(s.Used) / float64(s.Max) }

// Level returns the level of launchlog.Usage: 95, 90, 80 or 0 percent. The checks make a note from
// 80 on, and a finding from 90 on, but for launches Level is always 0, because their digits are
// reused.
func (s Share) Level() int {
	if s.Of == Launches {
		return 0
	}
	return launchlog.Usage{Used: s.Used, Max: s.Max}.Level()
}

// shares returns one share for launches, and one for each running launch, log counter, and pool.
func (c *content) shares() (all []Share) {
	add := func(of Numbers, name string, used, most int64, format string, args ...any) {
		all = append(all, Share{of, name, used, most, fmt.Sprintf(format, args...)})
	}
	first, most := c.digits.First, int64(c.digits.Last-c.digits.First+1)
	had := min(max(int64(c.lastLaunch()%launchlog.Lap-first+1), 0), most)
	add(Launches, "", had, most, "%d of %d launch digits are in use", had, most)
	for _, l := range c.running {
		add(Generators, strconv.Itoa(l.ID), int64(l.NextGenerator), launchlog.MaxGenerators,
			"launch %d, of %s in %s, has used %d of %d generator numbers", l.ID, l.Service,
			l.Environment, l.NextGenerator, launchlog.MaxGenerators)
	}
	for _, counter := range c.counters {
		add(Counters, counter.Name, counter.Value, math.MaxInt64, "counter %s is at %d of %d",
			counter.Name, counter.Value, int64(math.MaxInt64))
	}
	for _, p := range c.pools {
		add(Claims, string(p.Scheme()), int64(p.use), int64(p.size),
			"%d of %d numbers of %s are lent, or were within the last minute", p.use, p.size,
			p.Scheme())
	}
	return all
}
