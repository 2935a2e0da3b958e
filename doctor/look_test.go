package doctor_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/memory"
)

// same is what a store says of itself that was not replaced.
var same = map[string]string{"server": "a", "timeline": "1"}

// A look remembers, and the next one tells what is lower.
func TestLook(t *testing.T) {
	log := logAt(t, begin)
	launch := start(t, log, "a")
	claim(t, log, launch, 3)
	raise(t, log, "orders", 500)
	first, results := look(t, log, same, nil)
	want(t, "the first look", results, nil)
	if first.LastLaunch != 1 || first.Launches[1].Generators != 3 ||
		first.Counters["orders"].Value != 500 || len(results) != 2 {
		t.Errorf("%+v, %v", first, results)
	}
	compare := func(when string, identity, wanted map[string]string) doctor.State {
		t.Helper()
		now, results := look(t, log, identity, &first)
		want(t, when, results, wanted)
		return now
	}
	compare("nothing happened", same, nil)
	start(t, log, "b")
	claim(t, log, launch, 2)
	raise(t, log, "orders", 600)
	raise(t, log, "others", 1)
	second := compare("more was used", same, nil)
	end(t, log, launch)
	compare("a launch has ended", same, nil)
	compare("another", map[string]string{"server": "a", "timeline": "2"}, map[string]string{
		"identity": "finding: timeline of the store is 2, and was 1. ",
	})
	compare("a hidden part, and a new one", map[string]string{"server": "a", "new": "1"}, nil)

	// The log goes back to a backup of before everything, and then to later ones.
	first = second
	log = logAt(t, begin)
	compare("an empty log", same, map[string]string{
		"lost": "finding: the last launch is 0, and was 2. " +
			"finding: launch 1 is gone. " +
			"finding: launch 2 is gone. finding: counter orders is 0, and was 600. " +
			"finding: counter others is 0, and was 1. ",
	})
	start(t, log, "a")
	claim(t, log, launch, 4)
	raise(t, log, "orders", 599)
	raise(t, log, "others", 1)
	compare("an earlier log", same, map[string]string{
		"lost": "finding: the last launch is 1, and was 2. " +
			"finding: launch 1 has used 4 generator numbers, and had used 5. " +
			"finding: launch 2 is gone. " +
			"finding: counter orders is 599, and was 600. ",
	})
	// It is advanced: the launch that ran gives out no number any more.
	advance(t, log, 10)
	raise(t, log, "orders", 1000)
	compare("an advanced log", same, nil)
}

// What a look could not read of the identity is kept from the one before. So one failed read does
// not hide that the log is another one.
func TestLookKeepsIdentity(t *testing.T) {
	log := logAt(t, begin)
	var before *doctor.State
	next := func(identity, wanted map[string]string) {
		t.Helper()
		now, results := look(t, log, identity, before)
		want(t, fmt.Sprint(identity), results, wanted)
		before = &now
	}
	nothing := map[string]string{"identity": "unknown: the store does not identify itself"}
	next(map[string]string{"log": "one", "cluster": "a"}, nil)
	partial := map[string]string{"cluster": "a", "new": "1"}
	next(partial, nil)
	if len(partial) != 2 {
		t.Errorf("the caller's identity is %v now", partial)
	}
	next(nil, nothing)
	next(map[string]string{"log": "two", "new": "2"}, map[string]string{
		"identity": "finding: log of the store is two, and was one. " +
			"finding: new of the store is 2, and was 1. ",
	})
	next(map[string]string{"log": "two", "cluster": "a"}, nil)
	before = nil
	next(nil, nil)
	next(nil, nothing)
	next(map[string]string{"log": "two"}, nil)
}

// A log that was lost, and then used until its numbers passed those of the last look, is found.
// Each thing that was lost tells it.
func TestLookUsedAgain(t *testing.T) {
	first := func(l *launchlog.Log) { start(t, l, "a") }
	for name, c := range map[string]struct {
		kept, lost, again func(l *launchlog.Log)
		want              string // begins what is found
	}{
		"launches": {
			first, func(l *launchlog.Log) { start(t, l, "b") },
			func(l *launchlog.Log) { start(t, l, "c"); start(t, l, "d") },
			`finding: launch 2 is a different one: it was started at 2026-05-04 12:02:00 with ` +
				`key "c", and the earlier one at 2026-05-04 12:01:00 with key "b". `,
		},
		"the same launch": { // by a retry of the same step
			first, func(l *launchlog.Log) { start(t, l, "b") },
			func(l *launchlog.Log) { start(t, l, "b") },
			"finding: launch 2 is a different one: it was started at 2026-05-04 12:02:00",
		},
		"a launch before the last": { // which an operator passed over too late
			first, func(l *launchlog.Log) { end(t, l, start(t, l, "b")); start(t, l, "c") },
			func(l *launchlog.Log) { start(t, l, "d"); advance(t, l, 10) },
			"finding: launch 2 is a different one",
		},
		"generator numbers": {
			first, func(l *launchlog.Log) { claim(t, l, 1, 3) },
			func(l *launchlog.Log) { claim(t, l, 1, 5) },
			"finding: generator number 2 of launch 1 was claimed again: at 2026-05-04 12:02:00, " +
				"and before at 2026-05-04 12:01:00. ",
		},
		"a counter to the same value": {
			func(l *launchlog.Log) { raise(t, l, "orders", 100) },
			func(l *launchlog.Log) { raise(t, l, "orders", 200) },
			func(l *launchlog.Log) { raise(t, l, "orders", 200) },
			"finding: counter orders has reached 200 again: at 2026-05-04 12:02:00, and before " +
				"at 2026-05-04 12:01:00. ",
		},
		"an advance": {
			first, func(l *launchlog.Log) { advance(t, l, 3) },
			func(l *launchlog.Log) {
				for n := range 4 {
					start(t, l, fmt.Sprint(n))
				}
			},
			`finding: launch 3 was skipped by an advance, and now exists with key "1". ` +
				"finding: the event advanced of 2026-05-04 12:01:00, by me, is gone. ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock := begin
			fresh := func() *launchlog.Log {
				clock = begin
				log := newLog(t, memory.New(func() time.Time { return clock }))
				c.kept(log)
				return log
			}
			log := fresh()
			clock = begin.Add(time.Minute)
			c.lost(log)
			before, _ := look(t, log, same, nil)
			_, results := look(t, log, same, &before)
			want(t, "nothing happened", results, nil)
			log = fresh() // from the backup
			clock = begin.Add(2 * time.Minute)
			c.again(log)
			now, results := look(t, log, same, &before)
			want(t, "used again", results, map[string]string{"lost": c.want})
			_, results = look(t, log, same, &now)
			want(t, "accepted", results, nil)
		})
	}
}

// After an advance, only what it did not see to is lost: a sequence and a ceiling that were
// forgotten, and clusters.
func TestAdvancedAfterALoss(t *testing.T) {
	log := newLog(t, memory.New(nil))
	times := time.Now().UnixMilli()
	for name, value := range map[string]int64{
		"orders": 55, "invoices": 3,
		"sno/3": times / 4, "sno/3/5-900": 800, "trace/7": times / 1000,
		"eightbyte/1/2": times, "eightbyte/clusters": 1<<16 | 2, "sno/x": 9,
	} {
		raise(t, log, name, value)
	}
	ceiling, err := log.Counter("sno/4")
	check(t, err)
	_, err = ceiling.Reserve(ctx, times/4, 750)
	check(t, err)
	before, _ := look(t, log, same, nil)
	log = newLog(t, memory.New(nil))
	lost := func() string {
		_, results := look(t, log, same, &before)
		var lost strings.Builder
		for _, r := range results {
			if r.Check == "lost" {
				name, _, _ := strings.Cut(strings.TrimPrefix(r.Message, "counter "), " ")
				lost.WriteString(string(r.Level) + " " + name + "\n")
			}
		}
		return lost.String()
	}
	if lost := lost(); strings.Count(lost, "finding") != 9 {
		t.Errorf("restored: %s", lost)
	}
	for _, p := range claims.Pools() {
		_, err := p.Advance(ctx, log, time.Now().Add(time.Minute), "me")
		check(t, err)
	}
	raise(t, log, "orders", 60)
	const forgotten = "finding eightbyte/clusters\nfinding invoices\n" +
		"finding sno/4\nfinding sno/x\n"
	if lost := lost(); lost != forgotten {
		t.Errorf("advanced: %s, want %s", lost, forgotten)
	}
}

// A launch that an operator passed over is not missed: none has taken its place. Launches beyond
// the last 100 are looked for one by one.
func TestLookFarBehind(t *testing.T) {
	log := logAt(t, begin)
	for n := range 3 {
		start(t, log, fmt.Sprint(n))
	}
	end(t, log, 2)
	before, _ := look(t, log, same, nil)
	for n := range 150 {
		end(t, log, start(t, log, fmt.Sprint("more", n)))
	}
	now, results := look(t, log, same, &before)
	if len(before.Launches) != 3 || len(now.Launches) != 102 { // the last 100, and two that run
		t.Errorf("%d launches, and %d before", len(now.Launches), len(before.Launches))
	}
	want(t, "more launches", results, nil)
	other := before.Launches[2]
	other.RequestHash = "another"
	before.Launches[2] = other
	_, results = look(t, log, same, &before)
	want(t, "another launch", results, map[string]string{
		"lost": "finding: launch 2 is a different one",
	})
}

// A mark tells of a loss that the numbers do not tell, and is raised by nobody else.
func TestMark(t *testing.T) {
	log := logAt(t, begin)
	raise(t, log, "orders", 100)
	state, _ := look(t, log, same, nil)
	for range 3 {
		check(t, state.Leave(ctx, log))
		var results []checks.Result
		state, results = look(t, log, same, &state)
		want(t, "marked", results, nil)
	}
	if state.Counters[state.Mark].Value != 3 || !doctor.IsMark(state.Mark) ||
		doctor.IsMark("doctor/orders") {
		t.Errorf("%+v", state)
	}
	// Where the log goes back between the look and the mark, there is no mark.
	older, newer := logAt(t, begin), logAt(t, begin)
	raise(t, older, state.Mark, 2)
	raise(t, newer, state.Mark, 4) // by somebody with the same state
	for name, log := range map[string]*launchlog.Log{
		"without the counter": logAt(t, begin), "lower": older, "higher": newer,
	} {
		before := state.Counters[state.Mark]
		err := state.Leave(ctx, log)
		if err == nil || !strings.HasPrefix(err.Error(), "doctor: lost: no mark was left") ||
			!strings.Contains(err.Error(), state.Mark+" is") ||
			state.Counters[state.Mark] != before {
			t.Errorf("%s: %v, the state has %+v", name, err, state.Counters[state.Mark])
		}
	}
	// The log goes back to before the last mark, and its counter comes further than it was.
	raise(t, older, "orders", 900)
	now, results := look(t, older, same, &state)
	want(t, "restored", results, map[string]string{
		"lost": "finding: counter " + state.Mark + " is 2, and was 3. ",
	})
	if err := now.Leave(ctx, older); err != nil || now.Mark != state.Mark ||
		now.Counters[now.Mark].Value != 3 {
		t.Errorf("accepted: %+v, %v", now, err)
	}
	if err := state.Leave(ctx, newLog(t, broken{memory.New(nil), "raise"})); !errors.Is(err,
		errAway) || !strings.HasPrefix(err.Error(), "doctor: ") {
		t.Error(err)
	}
}

// The error of a store that does not answer is not taken for a loss.
func TestLookErrors(t *testing.T) {
	for _, of := range []string{"counters", "launches", "launch"} {
		before := doctor.State{LastLaunch: 1, Launches: map[int]doctor.LaunchMark{1: {}}}
		_, results, err := doctor.Look(ctx, newLog(t, broken{memory.New(nil), of}), nil, &before)
		if !errors.Is(err, errAway) || !strings.HasPrefix(err.Error(), "doctor: ") {
			t.Errorf("%s: %v, %v", of, results, err)
		}
	}
}
