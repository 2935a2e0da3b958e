package faults_test

import (
	"fmt"
	"slices"
	"time"
)

// ample is a budget within which every call has a result: no fault takes as long, even on a slow
// machine.
const ample = 2 * time.Minute

// An auditor compares what workers were told with what the log holds, and complains of all that
// breaks a promise of package launchlog. Whether the answers are those of one log is for porcupine:
// no number is given twice, and none is skipped.
type auditor struct {
	*rows
	complaints []string
}

func (a *auditor) complain(format string, args ...any) {
	a.complaints = append(a.complaints, fmt.Sprintf(format, args...))
}

// judge audits a history, and has porcupine look for its order.
func judge(h *history, r *rows) verdict {
	a := &auditor{rows: r}
	a.endings(h)
	a.records(h)
	v := linear(h, r)
	v.complaints = append(a.complaints, v.complaints...)
	return v
}

// endings: every call ends in time, with a result or an error that says how it is to be repeated.
func (a *auditor) endings(h *history) {
	for _, c := range h.calls {
		p := place{c.Space, c.Launch}
		switch {
		case c.Event == failed && !c.told:
			a.complain("%s %s %q failed: %s", c.Call, c.Op, c.Key, c.Error)
		case c.Event == unresolved && c.Limit >= ample && !c.told && !c.isOver():
			a.complain("%s %s %q gave up: %s", c.Call, c.Op, c.Key, c.Error)
		case c.Event == ended && !a.over[p] && !h.fleeting:
			a.complain("%s %s: launch %v has not ended", c.Call, c.Op, p)
		case c.Event == missing && !slices.ContainsFunc(a.advanced[[2]string{c.Space, ""}],
			func(s span) bool { return s.first <= int64(c.Launch) && int64(c.Launch) <= s.last }):
			a.complain("%s %s: launch %v is missing", c.Call, c.Op, p)
		}
		if c.Took > c.Limit+late {
			a.complain("%s %s %q took %v of %v", c.Call, c.Op, c.Key, c.Took, c.Limit)
		}
	}
}

// records: what was acknowledged is there, under its key or token, and what is there was asked for.
func (a *auditor) records(h *history) {
	type key struct{ space, key string }
	keys, tokens := map[key]bool{}, map[string]bool{}
	for t := range h.all() {
		switch {
		case t.Event == refused || t.Event == over: // it changed nothing
		case t.Op == start:
			keys[key{t.Space, t.Key}] = true
			p := place{t.Space, int(t.Number)}
			if stored := a.launches[p].key; t.Event == won && stored != t.Key {
				a.complain("acknowledged launch %v of key %s: the log has key %q", p, t.Key, stored)
			}
		case t.Op == claim:
			tokens[t.Key] = true
			p := place{t.Space, t.Launch}
			if stored := a.claims[p][int(t.Number)]; t.Event == won && stored != t.Key {
				a.complain("acknowledged generator %d of launch %v with token %s: the log has %q",
					t.Number, p, t.Key, stored)
			}
		}
	}
	for p, l := range a.launches {
		if !keys[key{p.space, l.key}] {
			a.complain("launch %v has key %s, of which nobody knows", p, l.key)
		}
	}
	for p, all := range a.claims {
		for number, token := range all {
			if !tokens[token] {
				a.complain("generator %d of launch %v has token %s, of which nobody knows", number,
					p, token)
			}
		}
	}
}
