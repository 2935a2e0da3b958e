package faults_test

import (
	"strings"
	"testing"
	"time"
)

// TestAudit shows that the audit finds nothing in a sound log, and complains of each way in which
// one is not sound.
func TestAudit(t *testing.T) {
	const space = "first"
	one, two := place{space, 1}, place{space, 2}
	counter, advanced := [2]string{space, plain}, [2]string{space, ""}
	// sound is a log with three launches, the last of which an attempt in doubt has started, and
	// their history.
	sound := func() (map[string]*call, *rows) {
		calls := map[string]*call{
			"start a":       {record: record{Op: start, Key: "a", Number: 1}, began: 10},
			"start a again": {record: record{Op: start, Key: "a", Number: 1}, began: 90},
			"start b":       {record: record{Op: start, Key: "b", Number: 2}, began: 30},
			"start c": {
				record: record{Op: start, Key: "c", Event: unresolved}, began: 30,
				doubts: 2,
			},
			"start d": {record: record{Op: start, Key: "d", Event: unresolved}, began: 30},
			"claim 0": {
				record: record{Op: claim, Key: "t0", Launch: 1, Number: 0},
				began:  20,
			},
			"claim 1": {
				record: record{Op: claim, Key: "t1", Launch: 1, Event: sent},
				began:  20, doubts: 1,
			},
			"claim 2": {
				record: record{Op: claim, Key: "t2", Launch: 1, Number: 2},
				began:  40,
			},
			"claim lost": {
				record: record{Op: claim, Key: "t3", Launch: 1, Event: unresolved},
				began:  40,
			},
			"reserve 1": {
				record: record{Op: reserve, Key: plain, N: 10, Number: 1},
				began:  20,
			},
			"reserve 2": {
				record: record{Op: reserve, Key: plain, N: 5, Event: unresolved},
				began:  40, doubts: 1,
			},
			"reserve 3": {
				record: record{Op: reserve, Key: plain, N: 10, Floor: 16, Number: 16},
				began:  60,
			},
		}
		for name, c := range calls {
			c.Call, c.Space, c.Limit, c.At = name, space, time.Second, c.began+5
			if c.Event == "" {
				c.Event = acknowledged
			}
		}
		return calls, &rows{
			last:     map[string]int{space: 3},
			launches: map[place]launchRow{one: {"a", 3}, two: {"b", 0}, {space, 3}: {"c", 0}},
			claims:   map[place]map[int]string{one: {0: "t0", 1: "t1", 2: "t2"}},
			counters: map[[2]string]int64{counter: 25},
			events: map[place]map[string]int{
				one: {"started": 1}, two: {"started": 1},
				{space, 3}: {"started": 1},
			},
			advanced: map[[2]string][]span{},
		}
	}
	for name, test := range map[string]struct {
		breach func(map[string]*call, *rows)
		want   string // part of the first complaint
	}{
		"sound": {func(map[string]*call, *rows) {}, ""},
		"a launch of an attempt in doubt that was not carried out": {func(_ map[string]*call, r *rows) {
			r.last[space] = 2
			delete(r.launches, place{space, 3})
		}, ""},
		"advanced": {func(_ map[string]*call, r *rows) {
			r.last[space], r.advanced[advanced] = 10, []span{{4, 10}}
			r.counters[counter], r.advanced[counter] = 100, []span{{26, 100}}
		}, ""},
		"a claim on a launch that has ended": {func(c map[string]*call, r *rows) {
			c["claim lost"].Event, r.events[one]["ended"] = ended, 1
		}, ""},
		"a claim on a launch that has not": {func(c map[string]*call, _ *rows) {
			c["claim lost"].Event = ended
		}, "has not ended"},
		"another error": {func(c map[string]*call, _ *rows) {
			c["start d"].Event = failed
		}, "failed"},
		"a claim on a launch that was passed over": {func(c map[string]*call, r *rows) {
			c["claim lost"].Event, c["claim lost"].Launch = missing, 7
			r.last[space], r.advanced[advanced] = 10, []span{{4, 10}}
		}, ""},
		"a claim on a launch that is lost": {func(c map[string]*call, _ *rows) {
			c["claim lost"].Event = missing
		}, "is missing"},
		"a call that gives up early": {func(c map[string]*call, _ *rows) {
			c["start d"].Limit = ample
		}, "gave up"},
		"a call that hangs": {func(c map[string]*call, _ *rows) {
			c["start d"].Took = 4 * time.Second
		}, "took 4s of 1s"},
		"an acknowledged launch is lost": {func(_ map[string]*call, r *rows) {
			r.last[space] = 2
			r.launches = map[place]launchRow{one: {"a", 3}, two: {"c", 0}}
		}, "acknowledged launch 2 of key b"},
		"two launches for a key": {func(c map[string]*call, _ *rows) {
			c["start a again"].Number = 3
		}, "key a of namespace first is launch"},
		"two keys for a launch": {func(c map[string]*call, _ *rows) {
			c["start b"].Number = 1
		}, "launch 1 of key b"},
		"a launch that nobody asked for": {func(_ map[string]*call, r *rows) {
			r.launches[place{space, 3}] = launchRow{"e", 0}
		}, "of which nobody knows"},
		"a launch of a refused attempt": {func(_ map[string]*call, r *rows) {
			r.launches[place{space, 3}] = launchRow{"d", 0}
		}, "of which nobody knows"},
		"a gap between launches": {func(_ map[string]*call, r *rows) {
			r.last[space] = 4
		}, "1 are missing"},
		"launches beyond the counter": {func(_ map[string]*call, r *rows) {
			r.last[space] = 2
		}, "beyond the last"},
		"a launch without its event": {func(_ map[string]*call, r *rows) {
			delete(r.events, two)
		}, "started 0 times"},
		"a lower launch number later": {func(c map[string]*call, _ *rows) {
			c["start a"].began, c["start a again"].began = 80, 80
		}, "after a higher"},
		"a pair twice": {func(c map[string]*call, _ *rows) {
			c["claim 2"].Number = 0
		}, "0 of launch {first 1} with token t2"},
		"an acknowledged claim is lost": {func(_ map[string]*call, r *rows) {
			r.claims[one][2] = "t3"
		}, "acknowledged generator 2"},
		"a claim of a refused attempt": {func(_ map[string]*call, r *rows) {
			r.claims[one][1] = "t3"
		}, "of which nobody knows"},
		"a claim that nobody made": {func(_ map[string]*call, r *rows) {
			r.claims[one][1] = "t9"
		}, "of which nobody knows"},
		"a gap between generators": {func(_ map[string]*call, r *rows) {
			delete(r.claims[one], 1)
		}, "1 has no record"},
		"a generator beyond the launch's": {func(_ map[string]*call, r *rows) {
			r.launches[one] = launchRow{"a", 2}
		}, "has 3 records"},
		"two generators for a token": {func(_ map[string]*call, r *rows) {
			r.claims[one][1] = "t0"
		}, "token t0 has"},
		"a lower generator later": {func(c map[string]*call, _ *rows) {
			c["claim 0"].began = 80
		}, "after a higher"},
		"a range twice": {func(c map[string]*call, _ *rows) {
			c["reserve 3"].Number = 10
		}, "10 was given"},
		"a range below its floor": {func(c map[string]*call, _ *rows) {
			c["reserve 3"].Floor = 17
		}, "below its floor"},
		"a counter that was set back": {func(_ map[string]*call, r *rows) {
			r.counters[counter] = 24
		}, "has given 25 and is at 24"},
		"more numbers missing than in doubt": {func(_ map[string]*call, r *rows) {
			r.counters[counter] = 26
		}, "6 numbers are missing of which 5"},
	} {
		calls, r := sound()
		test.breach(calls, r)
		h := &history{}
		for _, c := range calls {
			h.calls = append(h.calls, c)
		}
		all := strings.Join(audit(h, r, 2*time.Second), "\n")
		if (test.want == "") != (all == "") || !strings.Contains(all, test.want) {
			t.Errorf("%s: got %q, want %q", name, all, test.want)
		}
	}
}
