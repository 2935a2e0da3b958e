package faults_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ample is a budget within which every call has a result: no fault takes as long, even on a slow
// machine.
const ample = 2 * time.Minute

// An auditor compares what workers were told with what the database holds, and complains of all
// that breaks a promise of package launchlog.
type auditor struct {
	*rows
	// how much longer than its limit a call may take: the machine is slow, and processes may be
	// stopped
	late       time.Duration
	complaints []string
}

func (a *auditor) complain(format string, args ...any) {
	a.complaints = append(a.complaints, fmt.Sprintf(format, args...))
}

func audit(h *history, r *rows, late time.Duration) []string {
	a := &auditor{rows: r, late: late}
	a.endings(h.calls)
	a.launchNumbers(h.calls)
	a.generators(h.calls)
	a.reservations(h.calls)
	return a.complaints
}

// endings: every call ends in time, with a result or an error that says how it is to be repeated.
func (a *auditor) endings(calls []*call) {
	for _, c := range calls {
		if c.Event == failed && !c.told {
			a.complain("%s %s %q failed: %s", c.Call, c.Op, c.Key, c.Error)
		}
		if c.Event == unresolved && c.Limit >= ample && !c.told && !c.isOver() {
			a.complain("%s %s %q gave up: %s", c.Call, c.Op, c.Key, c.Error)
		}
		if c.Event == ended && a.events[place{c.Space, c.Launch}]["ended"] != 1 {
			a.complain("%s %s: launch %d of namespace %s has not ended", c.Call, c.Op, c.Launch,
				c.Space)
		}
		if c.Event == missing && !slices.ContainsFunc(a.advanced[[2]string{c.Space, ""}],
			func(s span) bool {
				return s.first <= int64(c.Launch) && int64(c.Launch) <= s.last
			}) {
			a.complain("%s %s: launch %d of namespace %s is missing", c.Call, c.Op, c.Launch,
				c.Space)
		}
		if c.Took > c.Limit+a.late {
			a.complain("%s %s %q took %v of %v", c.Call, c.Op, c.Key, c.Took, c.Limit)
		}
	}
}

// A grant is a call, or all calls under one key, that was given numbers: not before it began, and
// not after it ended.
type grant struct {
	span
	began, ended time.Duration
	name         string
}

// distinct: no number is given twice, and who comes later gets later numbers. It returns how many
// numbers were given.
func (a *auditor) distinct(what string, grants []grant) (count int64) {
	slices.SortFunc(grants, func(x, y grant) int { return cmp.Compare(x.first, y.first) })
	for i, g := range grants {
		count += g.last - g.first + 1
		if i > 0 && g.first <= grants[i-1].last {
			a.complain("%s: %d was given to %s and to %s", what, g.first, grants[i-1].name, g.name)
		}
	}
	earliest := time.Duration(1<<63 - 1) // end of those with higher numbers
	for _, g := range slices.Backward(grants) {
		if g.began > earliest {
			a.complain("%s: %s was given %d after a higher number had been", what, g.name, g.first)
		}
		earliest = min(earliest, g.ended)
	}
	return count
}

// launchNumbers: one launch per key and one key per launch. What was acknowledged is there, and
// what is there was asked for. There are no gaps.
func (a *auditor) launchNumbers(calls []*call) {
	type name struct{ space, key string }
	known, asked := map[name]*grant{}, map[name]bool{}
	for _, c := range calls {
		if c.Op != start {
			continue
		}
		n := name{c.Space, c.Key}
		asked[n] = asked[n] || c.doubts > 0 || c.Event == acknowledged
		k := known[n]
		if k == nil {
			k = &grant{began: c.began, name: "key " + c.Key}
			known[n] = k
		}
		k.began = min(k.began, c.began)
		if c.Event != acknowledged {
			continue
		}
		if k.first != 0 && k.first != c.Number {
			a.complain("key %s of namespace %s is launch %d and %d", c.Key, c.Space, k.first,
				c.Number)
			continue
		}
		if k.first == 0 || c.At < k.ended {
			k.ended = c.At
		}
		k.span = span{c.Number, c.Number}
		if stored := a.launches[place{c.Space, int(c.Number)}].key; stored != c.Key && !c.old {
			a.complain("acknowledged launch %d of key %s of namespace %s: the log has key %q",
				c.Number, c.Key, c.Space, stored)
		}
	}
	given := map[string][]grant{}
	for n, k := range known {
		if k.first != 0 {
			given[n.space] = append(given[n.space], *k)
		}
	}
	for space, grants := range given {
		a.distinct("launches of namespace "+space, grants)
	}
	rows := map[string]int{}
	for p, l := range a.launches {
		rows[p.space]++
		if !asked[name{p.space, l.key}] {
			a.complain("launch %d of namespace %s has key %s, of which nobody knows", p.launch,
				p.space, l.key)
		}
		if n := a.events[p]["started"]; n != 1 {
			a.complain("launch %d of namespace %s was started %d times", p.launch, p.space, n)
		}
		if p.launch < 1 || p.launch > a.last[p.space] {
			a.complain("launch %d of namespace %s is beyond the last, %d", p.launch, p.space,
				a.last[p.space])
		}
	}
	for space, last := range a.last {
		passed := int64(0)
		for _, s := range a.advanced[[2]string{space, ""}] {
			passed += s.last - s.first + 1
		}
		if gaps := int64(last) - int64(rows[space]) - passed; gaps != 0 {
			a.complain("namespace %s is at launch %d and has %d launches: %d are missing", space,
				last, rows[space], gaps)
		}
	}
}

// generators: no pair is given twice, what was acknowledged is there, what is there was asked for,
// and there are no gaps.
func (a *auditor) generators(calls []*call) {
	byToken, given := map[string]*call{}, map[place][]grant{}
	for _, c := range calls {
		if c.Op != claim || c.Key == "" {
			continue
		}
		byToken[c.Key] = c
		if c.Event != acknowledged {
			continue
		}
		p := place{c.Space, c.Launch}
		given[p] = append(given[p], grant{span{c.Number, c.Number}, c.began, c.At, c.Call})
		if stored := a.claims[p][int(c.Number)]; stored != c.Key && !c.old {
			a.complain("acknowledged generator %d of launch %v with token %s: the log has token %q",
				c.Number, p, c.Key, stored)
		}
	}
	for p, grants := range given {
		a.distinct(fmt.Sprint("generators of launch ", p), grants)
	}
	for p, tokens := range a.claims {
		for generator, token := range tokens {
			c := byToken[token]
			if c == nil || c.Event != acknowledged && c.doubts == 0 {
				a.complain("generator %d of launch %v has token %s, of which nobody knows",
					generator, p, token)
			} else if c.Event == acknowledged && c.Number != int64(generator) {
				a.complain("token %s has generators %d and %d of launch %v", token, c.Number,
					generator, p)
			}
		}
	}
	for p, l := range a.launches {
		for generator := range l.next {
			if _, ok := a.claims[p][generator]; !ok {
				a.complain("launch %v is at generator %d, and %d has no record", p, l.next,
					generator)
			}
		}
		if len(a.claims[p]) > l.next {
			a.complain("launch %v is at generator %d, and has %d records", p, l.next,
				len(a.claims[p]))
		}
	}
}

// reservations: no number is given twice, none below its floor, none beyond the counter's value,
// and as many numbers are lost as were in doubt.
func (a *auditor) reservations(calls []*call) {
	given, doubts := map[[2]string][]grant{}, map[[2]string]int64{}
	for _, c := range calls {
		if c.Op != reserve {
			continue
		}
		name := [2]string{c.Space, c.Key}
		doubts[name] += int64(c.doubts) * c.N
		if c.Event != acknowledged {
			continue
		}
		given[name] = append(given[name],
			grant{span{c.Number, c.Number + c.N - 1}, c.began, c.At, c.Call})
		if c.Number < c.Floor || c.Number < 1 {
			a.complain("%s was given %d of %v, below its floor of %d", c.Call, c.Number, name,
				c.Floor)
		}
	}
	for name, grants := range given {
		reached := a.counters[name]
		missing := reached - a.distinct(fmt.Sprint("numbers of ", name), grants)
		for _, s := range a.advanced[name] {
			missing -= s.last - s.first + 1
			for _, g := range grants { // the database has forgotten those that were given
				missing += max(0, min(g.last, s.last)-max(g.first, s.first)+1)
			}
		}
		if highest := grants[len(grants)-1].last; highest > reached {
			a.complain("%v has given %d and is at %d", name, highest, reached)
		}
		if strings.HasPrefix(name[1], plain) && missing > doubts[name] {
			a.complain("%v is at %d, and %d numbers are missing of which %d were in doubt", name,
				reached, missing, doubts[name])
		}
	}
}
