package faults_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestJudge shows that nothing is wrong with a sound history. One that lacks a step, or has one
// twice or too late, has no order, and each other breach is complained of.
func TestJudge(t *testing.T) {
	const space, counter, lent = "first", plain + "1", "sno/7"
	// Sound is a history, by names. Each attempt takes 5.
	sound := func() (map[string]*try, *rows) {
		tries := map[string]*try{
			"start a": {record: record{Op: start, Key: "a", Number: 1}, began: 10},
			"start b": {record: record{Op: start, Key: "b", Number: 2}, began: 20},
			"start b again": {
				record: record{Op: start, Key: "b", Number: 2}, began: 60,
			},
			// it was carried out
			"start c": {record: record{Op: start, Key: "c", Event: sent}, began: 22},
			// it was not
			"start d": {record: record{Op: start, Key: "d", Event: doubtful}, began: 22},
			"advance to 6": {
				record: record{Op: advance, To: 6, Number: 6}, began: 80,
			},
			"advance to 5": {
				record: record{Op: advance, To: 5, Number: 6}, began: 90,
			},
			"advance in doubt": {
				record: record{Op: advance, To: 1, Event: doubtful}, began: 15,
			},
			"claim 0": {record: record{Op: claim, Key: "t0", Launch: 1}, began: 20},
			// it was carried out
			"claim 1": {
				record: record{Op: claim, Key: "t1", Launch: 1, Event: sent}, began: 25,
			},
			"claim 2": {
				record: record{Op: claim, Key: "t2", Launch: 1, Number: 2}, began: 40,
			},
			"claim lost": {
				record: record{Op: claim, Key: "t3", Launch: 1, Event: doubtful}, began: 30,
			},
			"claim refused": {
				record: record{Op: claim, Key: "t4", Launch: 1, Event: over}, began: 95,
			},

			"reserve 1": {record: record{Op: reserve, N: 10, Number: 1}, began: 10},
			"reserve 2": {record: record{Op: reserve, N: 5, Event: doubtful}, began: 20},
			"reserve 3": {record: record{Op: reserve, N: 10, Number: 16}, began: 40},
			"reserve lost": {
				record: record{Op: reserve, N: 7, Event: doubtful}, began: 47,
			},
			"read 25":       {record: record{Op: last, Number: 25}, began: 50},
			"advance to 30": {record: record{Op: advanceCounter, To: 30, Number: 30}, began: 60},
			"advance to 20": {record: record{Op: advanceCounter, To: 20, Number: 30}, began: 70},

			"raise to 5": {
				record: record{Op: raise, To: 5, Note: "x", Number: 5, Found: "x"}, began: 10,
			},
			"raise too late": {
				record: record{Op: raise, To: 5, Note: "y", Number: 5, Found: "x"}, began: 16,
			},
			// it was carried out, and the one after it has overwritten it
			"raise in doubt": {
				record: record{Op: raise, From: 5, To: 9, Note: "z", Event: doubtful}, began: 20,
			},
			"raise in doubt again": {
				record: record{Op: raise, From: 5, To: 9, Note: "z", Event: doubtful}, began: 50,
			},
			"raise to 9 that was not carried out": {
				record: record{Op: raise, From: 2, To: 9, Note: "u", Event: doubtful}, began: 12,
			},
			"raise that was not carried out": {
				record: record{Op: raise, From: 5, To: 11, Note: "w", Event: doubtful}, began: 18,
			},
			"raise to 12": {
				record: record{Op: raise, From: 9, To: 12, Note: "v", Number: 12, Found: "v"},
				began:  30,
			},
			"raise again": {
				record: record{Op: raise, From: 9, To: 12, Note: "v", Number: 12, Found: "v"},
				began:  40,
			},
		}
		for _, t := range tries {
			t.Space, t.ended = space, t.began+5
			switch t.Op {
			case raise:
				t.Key = lent
			case reserve, last, advanceCounter:
				t.Key = counter
			}
			switch t.Event {
			case "":
				t.Event = won
			case doubtful, sent:
				t.ended = never
			}
		}
		r := newRows()
		r.began, r.ended = 1000, 1010
		r.last[space] = 6
		for i, key := range []string{"a", "b", "c"} {
			r.launches[place{space, i + 1}] = launchRow{key: key}
		}
		r.launches[place{space, 1}] = launchRow{"a", 3}
		r.claims[place{space, 1}] = map[int]string{0: "t0", 1: "t1", 2: "t2"}
		r.counters[[2]string{space, counter}] = 30
		r.counters[[2]string{space, lent}], r.notes[[2]string{space, lent}] = 12, "v"
		r.advanced[[2]string{space, counter}] = []span{{26, 30}}
		r.advanced[[2]string{space, ""}] = []span{{4, 6}}
		r.over[place{space, 1}] = true
		return tries, r
	}
	one := place{space, 1}
	for name, test := range map[string]struct {
		breach func(map[string]*try, *rows)
		want   string // part of the complaints, which a fleeting history of these names lacks
	}{
		"sound": {func(map[string]*try, *rows) {}, ""},
		"an advance in doubt that was carried out": {func(h map[string]*try, _ *rows) {
			h["claim 2"].began, h["claim 2"].ended = 16, 50
			h["claim refused"].began = 60
			delete(h, "advance to 6")
			h["advance in doubt"].To, h["advance to 5"].Number = 6, 6
		}, ""},
		"an attempt in doubt that is carried out late": {func(h map[string]*try, r *rows) {
			r.counters[[2]string{space, counter}] = 37
		}, ""},

		"a claim on a launch that was passed over": {func(h map[string]*try, _ *rows) {
			h["claim lost"].Event, h["claim lost"].Launch = missing, 5
		}, ""},
		"a call that gives up in time": {func(h map[string]*try, _ *rows) {
			h["start d"].Event, h["start d"].Limit = unresolved, time.Second
		}, ""},

		"a claim on a launch that is lost": {func(h map[string]*try, _ *rows) {
			h["claim lost"].Event, h["claim lost"].Launch = missing, 9
		}, "launch {first 9} is missing"},
		"a claim on a launch that has not ended": {func(h map[string]*try, r *rows) {
			h["claim lost"].Event, r.over[one] = ended, false
		}, "launch {first 1} has not ended"},
		"another error": {func(h map[string]*try, _ *rows) {
			h["start d"].Event = failed
		}, "failed"},
		"a call that gives up early": {func(h map[string]*try, _ *rows) {
			h["start d"].Event, h["start d"].Limit = unresolved, ample
		}, "gave up"},
		"a call that hangs": {func(h map[string]*try, _ *rows) {
			h["start d"].Took = late + time.Second
		}, "took 5m1s of 0s"},

		"an acknowledged launch with another key": {func(_ map[string]*try, r *rows) {
			r.launches[place{space, 2}] = launchRow{key: "d"}
		}, "acknowledged launch {first 2} of key b"},
		"two keys for a launch": {func(h map[string]*try, _ *rows) {
			h["start b"].Number = 1
		}, "acknowledged launch {first 1} of key b"},
		"a launch that nobody asked for": {func(_ map[string]*try, r *rows) {
			r.launches[place{space, 3}] = launchRow{key: "e"}
		}, "has key e, of which nobody knows"},
		"a launch of an attempt that was refused": {func(h map[string]*try, _ *rows) {
			h["start c"].Event = refused
		}, "has key c, of which nobody knows"},
		"an acknowledged claim is lost": {func(_ map[string]*try, r *rows) {
			r.claims[one][2] = "t3"
		}, "acknowledged generator 2"},
		"a claim of an attempt that was refused": {func(h map[string]*try, _ *rows) {
			h["claim 1"].Event = refused
		}, "has token t1, of which nobody knows"},

		"a launch twice": {func(h map[string]*try, r *rows) {
			r.launches[place{space, 4}] = launchRow{key: "a"}
		}, "launches of first"},
		"a launch is lost": {func(h map[string]*try, r *rows) {
			delete(r.launches, place{space, 2})
		}, "launches of first"},
		"a later launch has a lower number": {func(h map[string]*try, _ *rows) {
			h["start a"].began, h["start a"].ended = 65, 70
		}, "launches of first"},
		"an advance of launches is lost": {func(_ map[string]*try, r *rows) {
			r.last[space] = 3
		}, "launches of first"},
		"an advance that answers by the past": {func(h map[string]*try, _ *rows) {
			h["advance to 5"].Number = 5
		}, "launches of first"},

		"a generator number twice": {func(h map[string]*try, _ *rows) {
			h["claim 2"].Number = 0
		}, "launch 1 of first"},
		"a claim is lost": {func(_ map[string]*try, r *rows) {
			r.launches[place{space, 1}] = launchRow{"a", 2}
		}, "launch 1 of first"},
		"a claim that nobody made": {func(h map[string]*try, _ *rows) {
			delete(h, "claim 1")
		}, "launch 1 of first"},
		"a claim in doubt that was told of before it was sent": {func(h map[string]*try, _ *rows) {
			h["claim 1"].began = 50
		}, "launch 1 of first"},
		"a claim after the launch has ended": {func(h map[string]*try, _ *rows) {
			h["claim 2"].began, h["claim 2"].ended = 87, 89
		}, "launch 1 of first"},
		"a claim that was refused before an advance": {func(h map[string]*try, _ *rows) {
			h["claim refused"].began, h["claim refused"].ended = 22, 24
			delete(h, "advance in doubt")
		}, "launch 1 of first"},

		"a number twice": {func(h map[string]*try, _ *rows) {
			h["reserve 3"].Number = 10
		}, "counter plain/1"},
		"numbers that nobody took": {func(h map[string]*try, _ *rows) {
			delete(h, "reserve 2")
		}, "counter plain/1"},
		"numbers that were taken later": {func(h map[string]*try, _ *rows) {
			h["reserve 2"].began = 48
		}, "counter plain/1"},
		"numbers that an attempt took that was refused": {func(h map[string]*try, _ *rows) {
			h["reserve 2"].Event = refused
		}, "counter plain/1"},
		"a read of the past": {func(h map[string]*try, _ *rows) {
			h["read 25"].Number = 10
		}, "counter plain/1"},
		"a read of the future": {func(h map[string]*try, _ *rows) {
			h["read 25"].Number = 33
		}, "counter plain/1"},
		"a counter that is set back": {func(_ map[string]*try, r *rows) {
			r.counters[[2]string{space, counter}] = 25
		}, "counter plain/1"},
		"an advance of a counter is lost": {func(h map[string]*try, r *rows) {
			h["advance to 20"].Number = 25
		}, "counter plain/1"},

		"two raises from one value": {func(h map[string]*try, _ *rows) {
			h["raise too late"].Found = "y"
		}, "counter sno/7"},
		"a raise that was refused": {func(h map[string]*try, _ *rows) {
			h["raise in doubt"].Event = refused
		}, "counter sno/7"},
		"a raise is lost": {func(h map[string]*try, r *rows) {
			r.counters[[2]string{space, lent}] = 9
		}, "counter sno/7"},
		"a raise that is run again and finds the past": {func(h map[string]*try, r *rows) {
			h["raise again"].Number, h["raise again"].Found = 9, "z"
		}, "counter sno/7"},
	} {
		tries, r := sound()
		test.breach(tries, r)
		h := &history{}
		for _, t := range tries {
			h.calls = append(h.calls, &call{record: t.record, tries: []try{*t}})
		}
		v := judge(h, r)
		all := strings.Join(v.complaints, "\n")
		h.fleeting = true
		read := strings.HasPrefix(name, "a read ") ||
			name == "a claim on a launch that has not ended" ||
			name == "a claim that was refused before an advance"
		if judge(h, r).complaints == nil != (read || test.want == "") {
			t.Errorf("%s, of what was only read: %v", name, !read)
		}
		if (test.want == "") != (all == "") || !strings.Contains(all, test.want) {
			t.Errorf("%s: got %q, want %q", name, all, test.want)
		}
		if test.want == "" && (v.lines != 6 || v.steps < 20) {
			t.Errorf("%s: %d operations in %d lines", name, v.steps, v.lines)
		}
	}
}

// TestMinted shows that an ID that two workers minted is found. Half a line, of a worker that was
// killed over it, does not count.
func TestMinted(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ids-sno-1": "a\nb\nc\n", "ids-sno-2": "d\nb\ne\na", "ids-trace-1": "b\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ids, repeats, which := minted(t, dir)
	if ids != 7 || repeats != 1 || len(which) != 1 || which[0] != "sno b" {
		t.Errorf("%d IDs, %d repeats: %q; want 7, and sno b", ids, repeats, which)
	}
}

// TestPage shows that the page has the sums of all results, and says which of them failed.
func TestPage(t *testing.T) {
	text := pageOf([]result{
		{
			server: "b 1", fault: "Killed", did: "2 nodes killed", calls: 1200, acknowledged: 1000,
			doubts: 7, ids: 999_000, ops: 5, longest: 2 * time.Second, took: 40 * time.Second,
		},
		{server: "a 2", fault: "Cut", calls: 34, ids: 1000, repeats: 2, failed: true},
	}, time.Minute)
	for _, want := range []string{
		"faults of each kind for 1m0s", "2 tests, 1 failed", "made 1,234 calls", "1,000,000 IDs",
		"**2 repeats**", "| Cut, **failed** |",
		"| Killed | 2 nodes killed | 1,200 | 1,000 | 7 | 999,000 | 0 | 5 | 2.0 s | 40 s |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if strings.Index(text, "## a 2") > strings.Index(text, "## b 1") {
		t.Error("servers are not in order")
	}
}
