package faults_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// A log does one step at a time, each between its call and its answer: so it must look to workers.
// Porcupine looks for an order of the steps that explains what they were told. The launches of a
// namespace, the generator numbers of a launch, and each counter have an order of their own.
//
// An attempt in doubt has no answer, so it has no end: it may be carried out at any time after its
// call, or never. The log tells which, by what names the attempt: a key, a token, a note or an
// event. An attempt that was not carried out is no operation. Of ranges nothing tells: what an
// attempt in doubt may have taken may be missing from then on.

// A step is an operation as porcupine takes it.
type step struct {
	op
	floor, n, from, to int64
	note               string
	// The answer: the launch, the generator number, the first number, the value. It is none for a
	// claim that was told that the launch has ended.
	number int64
	found  string // the note of the row that is there afterwards
	// below is the highest number of a counter below number that a worker was told of: its step
	// comes before this one. It spares porcupine orders that cannot be.
	below int64
	maybe bool // a raise in doubt that may not have been carried out
	// spare is how many numbers attempts in doubt may have taken before the step's end
	spare int64
}

const none = -1

// A line is a history that has an order of its own.
type line struct {
	name  string
	model porcupine.Model
	steps []porcupine.Operation
}

func (l *line) add(began, ended time.Duration, s step) {
	l.steps = append(l.steps, porcupine.Operation{
		Input: s, Call: int64(began), Return: int64(ended),
	})
}

// patience bounds how long porcupine may look for an order of a line.
const patience = time.Minute

// A verdict is what porcupine says of a history.
type verdict struct {
	complaints   []string // of each line that has no order
	lines, steps int      // how many there are
}

// linear looks for the order of each line of a history.
func linear(h *history, r *rows) (v verdict) {
	for _, l := range linesOf(h, r) {
		v.lines++
		v.steps += len(l.steps)
		result := porcupine.CheckOperationsTimeout(l.model, l.steps, patience)
		if result != porcupine.Ok {
			v.complaints = append(v.complaints, fmt.Sprintf(
				"the %d operations of %s have no order: %s\n%s", len(l.steps), l.name, result,
				l.stuck()))
		}
	}
	return v
}

// stuck tells how far the longest order came, and what does not follow.
func (l *line) stuck() string {
	_, info := porcupine.CheckOperationsVerbose(l.model, l.steps, patience)
	var longest []porcupine.Operation
	for _, order := range info.PartialLinearizationsOperations()[0] {
		if len(order) > len(longest) {
			longest = order
		}
	}
	var text strings.Builder
	placed := map[any]int{}
	for i, o := range longest {
		placed[o.Input]++
		if i >= len(longest)-20 {
			fmt.Fprintf(&text, "in order: %v\n", o)
		}
	}
	rest := slices.Clone(l.steps)
	slices.SortFunc(rest, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	left := 0
	for _, o := range rest {
		if placed[o.Input]--; placed[o.Input] < 0 && left < 20 {
			fmt.Fprintf(&text, "left: %v\n", o)
			left++
		}
	}
	return text.String()
}

// linesOf sorts the operations of a history into lines. What was read afterwards ends each line.
func linesOf(h *history, r *rows) []*line {
	lines := map[string]*line{}
	of := func(name string, model porcupine.Model) *line {
		l := lines[name]
		if l == nil {
			l = &line{name: name, model: model}
			lines[name] = l
		}
		return l
	}
	launchLines(h, r, of)
	claimLines(h, r, of)
	counterLines(h, r, of)
	return slices.SortedFunc(maps.Values(lines), func(a, b *line) int {
		return cmp.Compare(a.name, b.name)
	})
}

// A lineOf returns the line of a name, which it makes where it is missing.
type lineOf func(name string, model porcupine.Model) *line

// launches is a model of the launch numbers of a namespace. Its state is the last one.
var launches = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, input, _ any) (bool, any) {
		newest, s := state.(int64), input.(step)
		switch {
		case s.op == last:
			return s.number == newest, newest
		case s.op == start: // of a key that had no launch
			return s.number == newest+1, newest + 1
		case s.number != s.to: // others had come further
			return newest == s.number && newest > s.to, newest
		}
		return newest <= s.to, s.to
	},
}

func launchLines(h *history, r *rows, of lineOf) {
	type name struct{ space, key string }
	began, ended := map[name]time.Duration{}, map[name]time.Duration{}
	for t := range h.all() {
		n := name{t.Space, t.Key}
		switch {
		case t.Op == start && t.Event != refused:
			if at, ok := began[n]; !ok || t.began < at {
				began[n] = t.began
			}
			if at, ok := ended[n]; !ok || t.ended < at {
				ended[n] = t.ended
			}
		case t.Op == advance && t.Event == won:
			of("launches of "+t.Space, launches).add(t.began, t.ended, t.step())
		case t.Op == advance && t.Event != refused && r.advancedTo([2]string{t.Space}, t.To):
			s := t.step()
			s.number = s.to
			of("launches of "+t.Space, launches).add(t.began, never, s)
		}
	}
	for p, l := range r.launches {
		n := name{p.space, l.key}
		if at, ok := began[n]; ok { // the auditor complains of others
			of("launches of "+p.space, launches).add(at, ended[n],
				step{op: start, number: int64(p.launch)})
		}
	}
	for space, newest := range r.last {
		of("launches of "+space, launches).add(r.began, r.ended,
			step{op: last, number: int64(newest)})
	}
}

// A launchState is the state of the model claimed.
type launchState struct {
	next  int64
	ended bool
}

// claimed is a model of the generator numbers of a launch.
var claimed = porcupine.Model{
	Init: func() any { return launchState{} },
	Step: func(state, input, _ any) (bool, any) {
		l, s := state.(launchState), input.(step)
		switch {
		case s.op == advance:
			l.ended = true
			return true, l
		case s.op == last:
			return l.next == s.number, l
		case s.number == none:
			return l.ended, l
		}
		return !l.ended && s.number == l.next, launchState{next: l.next + 1}
	},
}

func claimLines(h *history, r *rows, of lineOf) {
	nameOf := func(p place) string { return fmt.Sprintf("launch %d of %s", p.launch, p.space) }
	type taking struct {
		place
		began, ended time.Duration
		number       int64
	}
	takings := map[string]*taking{} // by token
	advances := map[string][]*try{}
	for t := range h.all() {
		p := place{t.Space, t.Launch}
		switch {
		case t.Op == claim && t.Event == over && h.fleeting: // which is read
		case t.Op == claim && t.Event == over:
			of(nameOf(p), claimed).add(t.began, t.ended, step{op: claim, number: none})
		case t.Op == claim && t.Event != refused:
			k := takings[t.Key]
			if k == nil {
				k = &taking{p, t.began, never, none}
				takings[t.Key] = k
			}
			if k.began = min(k.began, t.began); t.Event == won {
				k.ended, k.number = min(k.ended, t.ended), t.Number
			}
		case t.Op == advance && t.Event == doubtful, t.Op == advance && t.Event == sent,
			t.Op == advance && t.Event == won && t.Number == t.To:
			advances[t.Space] = append(advances[t.Space], t)
		}
	}
	for _, tokens := range r.claims {
		for number, token := range tokens {
			if k := takings[token]; k != nil && k.number == none {
				k.number = int64(number) // it was carried out, and nobody was told
			}
		}
	}
	for _, k := range takings {
		if k.number != none {
			of(nameOf(k.place), claimed).add(k.began, k.ended,
				step{op: claim, number: k.number})
		}
	}
	for p, l := range r.launches {
		line := of(nameOf(p), claimed)
		line.add(r.began, r.ended, step{op: last, number: int64(l.next)})
		until := never
		for _, t := range advances[p.space] {
			if t.Event == won && t.To >= int64(p.launch) {
				until = min(until, t.ended)
			}
		}
		doubt := never // when the first one in doubt began, which is as good as all of them
		for _, t := range advances[p.space] {
			switch {
			case t.To < int64(p.launch):
			case t.Event != won:
				doubt = min(doubt, t.began)
			case t.began <= until: // the launch has ended when others begin
				line.add(t.began, t.ended, step{op: advance})
			}
		}
		if doubt < until {
			line.add(doubt, never, step{op: advance})
		}
	}
}

// A counterState is the state of the model counted.
type counterState struct {
	value   int64
	note    string
	missing int64 // how many numbers attempts in doubt have taken
}

// reach is the state with a value that attempts in doubt may have led to.
func (c counterState) reach(value, spare int64) (counterState, bool) {
	missing := value - c.value
	if missing == 0 {
		return c, true
	}
	if missing < 0 || missing > spare-c.missing {
		return c, false
	}
	return counterState{value, "", c.missing + missing}, true
}

// counted is a model of a counter.
var counted = porcupine.Model{
	Init: func() any { return counterState{} },
	Step: func(state, input, _ any) (bool, any) {
		c, s := state.(counterState), input.(step)
		switch {
		case c.value < s.below:
			return false, c
		case s.maybe && c.value != s.from:
			return true, c
		}
		return c.next(s)
	},
}

// next is the state after a step, and whether the step's answer is the right one.
func (c counterState) next(s step) (ok bool, _ any) {
	switch s.op {
	case reserve:
		if max(c.value, s.floor-1) != s.number-1 {
			if c, ok = c.reach(s.number-1, s.spare); !ok || s.number < s.floor {
				return false, c
			}
		}
		c.value, c.note = s.number+s.n-1, ""
		return true, c
	case advanceCounter:
		if s.number == s.to {
			if c.value < s.to {
				c.value, c.note = s.to, ""
			}
			return c.value == s.to, c
		}
		c, ok = c.reach(s.number, s.spare)
		return ok && s.number > s.to, c
	case raise:
		if s.number == s.to && s.found == s.note {
			if c.value == s.to && c.note == s.note { // an earlier attempt did it
				return true, c
			}
			c, ok = c.reach(s.from, s.spare)
			c.value, c.note = s.to, s.note
			return ok, c
		}
		c, ok = c.reach(s.number, s.spare)
		return ok && c.note == s.found && c.value != s.from, c
	default: // reads
		c, ok = c.reach(s.number, s.spare)
		return ok && (s.op == last || c.note == s.found), c
	}
}

// A counterLine is what is known of a counter.
type counterLine struct {
	*line
	ends   []int64 // of the ranges that were handed out, in their order
	doubts []*try  // attempts whose outcome their workers did not know
	// raised are the values that are known to have been there, with their notes where those are
	raised map[int64]string
}

func counterLines(h *history, r *rows, of lineOf) {
	all := map[[2]string]*counterLine{}
	get := func(name [2]string) *counterLine {
		c := all[name]
		if c == nil {
			text := fmt.Sprintf("counter %s of %s", name[1], name[0])
			c = &counterLine{line: of(text, counted), raised: map[int64]string{}}
			all[name] = c
		}
		return c
	}
	for t := range h.all() {
		switch t.Op {
		case last:
			if h.fleeting {
				continue
			}
			fallthrough
		case reserve, advanceCounter, raise:
			if c := get([2]string{t.Space, t.Key}); t.Event == won {
				c.told(t)
			} else if t.Event != refused && t.Op != last {
				c.doubts = append(c.doubts, t)
			}
		}
	}
	for name, value := range r.counters {
		c := get(name)
		c.add(r.began, r.ended, step{op: listed, number: value, found: r.notes[name]})
		c.saw(value, r.notes[name])
	}
	for name, c := range all {
		slices.Sort(c.ends)
		slices.SortFunc(c.doubts, func(a, b *try) int { return cmp.Compare(a.began, b.began) })
		c.settleRaises()
		c.settleAdvances(func(to int64) bool { return r.advancedTo(name, to) })
		c.bound()
	}
}

// told adds an attempt with an answer.
func (c *counterLine) told(t *try) {
	c.add(t.began, t.ended, t.step())
	switch t.Op {
	case reserve:
		c.ends = append(c.ends, t.Number+t.N-1)
	case raise:
		c.saw(t.Number, t.Found)
		if t.Number == t.To && t.Found == t.Note {
			c.saw(t.From, "")
		}
	}
}

func (c *counterLine) saw(value int64, note string) {
	if c.raised[value] == "" {
		c.raised[value] = note
	}
}

// settleRaises adds the raises in doubt that may have been carried out. What one has raised the
// counter to was read, or another one has raised it from there. Of two from one value to another,
// where nobody saw whose note it had, the first explains as much as the other one. Where they are
// from different values, nothing tells which it was.
func (c *counterLine) settleRaises() {
	explained := map[int64]bool{}
	for again := true; again; {
		again = false
		for to, note := range maps.Clone(c.raised) {
			if explained[to] {
				continue
			}
			explained[to], again = true, true
			var found []*try
			for _, t := range c.doubts {
				from := func(other *try) bool { return other.From == t.From }
				if t.Op == raise && t.To == to && (note == "" || note == t.Note) &&
					!slices.ContainsFunc(found, from) {
					found = append(found, t)
				}
			}
			for _, t := range found {
				s := t.step()
				s.number, s.found, s.maybe = s.to, s.note, len(found) > 1
				c.add(t.began, never, s)
				c.saw(t.From, "")
			}
		}
	}
}

// settleAdvances adds the advances in doubt that were carried out: they have an event. Two to the
// same number are as good as the one that began first.
func (c *counterLine) settleAdvances(done func(to int64) bool) {
	added := map[int64]bool{}
	for _, t := range c.doubts {
		if t.Op == advanceCounter && !added[t.To] && done(t.To) {
			added[t.To] = true
			s := t.step()
			s.number = s.to
			c.add(t.began, never, s)
		}
	}
}

// bound says of each step what comes before it, and what attempts in doubt may have taken.
func (c *counterLine) bound() {
	for i, o := range c.steps {
		s := o.Input.(step)
		behind := s.number // what is at most behind the step
		if s.op == reserve {
			behind--
		}
		if n, _ := slices.BinarySearch(c.ends, behind+1); n > 0 && s.op != raise {
			s.below = c.ends[n-1]
		}
		for _, t := range c.doubts {
			switch {
			case t.Op != reserve || int64(t.began) > o.Return:
			case t.Floor > 0 || s.spare > math.MaxInt64-t.N: // it took any number
				s.spare = math.MaxInt64
			default:
				s.spare += t.N
			}
		}
		c.steps[i].Input = s
	}
}

// step is the operation of an attempt.
func (t *try) step() step {
	return step{
		op: t.Op, floor: t.Floor, n: t.N, from: t.From, to: t.To,
		note: t.Note, number: t.Number, found: t.Found,
	}
}
