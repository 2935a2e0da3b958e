package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/checks"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/migrations"
)

// A reading has a share of each kind, of numbers that the test used up itself.
func TestShares(t *testing.T) {
	log := logAt(t, begin)
	end(t, log, start(t, log, "ended"))
	claim(t, log, start(t, log, "running"), 3)
	raise(t, log, "orders", math.MaxInt64/2)
	lent := begin.Add(time.Second).UnixMilli() / formats.SnoTimeUnit
	raise(t, log, "sno/7", lent)
	raise(t, log, "sno/8", lent)
	raise(t, log, "sno/9", lent-int64(time.Hour/(4*time.Millisecond))) // free since long
	got := func() (list []string) {
		for _, s := range read(t, log).Shares {
			if !strings.HasPrefix(s.Name, "sno/") {
				list = append(list, fmt.Sprintln(s.Of, s.Name, s.Used, s.Max))
			}
		}
		return list
	}
	if got, want := strings.Join(got(), ""), fmt.Sprintf(`launches  2 99999
generators 2 3 100000
counters orders %d %d
claims trace 0 65536
claims sno 2 65536
claims eightbyte 0 2048
claims snowflake 0 65536
`, math.MaxInt64/2, math.MaxInt64); got != want {
		t.Errorf("shares are\n%s, want\n%s", got, want)
	}
	for _, p := range claims.Pools() {
		if p.Scheme() == idtype.SchemeEightByte {
			check(t, p.SetClusters(ctx, log, []int{0}, []int{0, 1}, "me"))
		}
	}
	if got := got(); !slices.Contains(got, "claims eightbyte 0 4096\n") {
		t.Errorf("shares are %q: want both clusters", got)
	}
}

// Levels are those of launchlog.Usage.
func TestShareLevels(t *testing.T) {
	for used, want := range map[int64]int{0: 0, 799: 0, 800: 80, 900: 90, 949: 90, 950: 95} {
		s := doctor.Share{Used: used, Max: 1000}
		if s.Level() != want || s.Part() != float64(used)/1000 {
			t.Errorf("%+v: level %d, part %v", s, s.Level(), s.Part())
		}
	}
}

// What passed says what was seen.
func TestPassed(t *testing.T) {
	log := logAt(t, time.Now())
	claim(t, log, start(t, log, "a"), 1)
	results, err := doctor.Log(ctx, log)
	check(t, err)
	var codes []string
	for _, r := range results {
		codes = append(codes, r.Check)
		if r.Check != "clock" && r.Level != checks.Passed {
			t.Errorf("%+v", r)
		}
	}
	const all = "clock launches room generators counters claims claims-ahead times-ahead releases"
	if got := strings.Join(codes, " "); got != all {
		t.Errorf("%q, want %q", got, all)
	}
}

// Launches that come to digits again are foreseen.
func TestForecast(t *testing.T) {
	now := begin
	log := newLog(t, memory.New(func() time.Time { return now }))
	says := func(want string) {
		t.Helper()
		results, err := doctor.Log(ctx, log)
		check(t, err)
		i := slices.IndexFunc(results, func(r checks.Result) bool { return r.Check == "launches" })
		if got := results[i]; got.Message != want || got.Level != checks.Passed {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	for i := range 101 {
		start(t, log, fmt.Sprint(i))
		now = now.Add(24 * time.Hour / 200)
	}
	says("the latest launch is 101, and about 10000 million starts of apps are left; at 200 launches a day, digits repeat from " +
		now.AddDate(0, 0, 99_898/200).Format("January 2006") + " on")
	check(t, log.SetDigits(ctx, launchlog.Digits{First: 1, Last: 101}))
	says("the latest launch is 101, and about 10 million starts of apps are left; the next one reuses the digits of an earlier one")
	start(t, log, "in the second lap")
	says("the latest launch is 100001, and about 10 million starts of apps are left; the next one reuses the digits of an earlier one")
}

// A small store has room for a number of claims.
type small struct {
	*memory.Store
	room int64
	err  error
}

func (s *small) Room(context.Context) (int64, error) { return s.room, s.err }

// A store that tells its limit is forecast to be full, at the pace of the newest launches.
func TestRoom(t *testing.T) {
	now := begin
	store := &small{Store: memory.New(func() time.Time { return now })}
	log := newLog(t, store)
	claim(t, log, start(t, log, "a"), 100)
	says := func(when, want string) {
		t.Helper()
		results, err := doctor.Log(ctx, log)
		check(t, err)
		i := slices.IndexFunc(results, func(r checks.Result) bool { return r.Check == "room" })
		if got := fmt.Sprintf("%s: %s", results[i].Level, results[i].Message); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	now = begin.Add(time.Hour) // which counts as a day
	for days, level := range map[int64]string{90: "passed", 89: "note", 14: "note", 13: "finding", 0: "finding"} {
		store.room = 100 * days
		says("an hour", fmt.Sprintf("%s: the store has room for %d more starts of apps: at 100 a day it is "+
			"full in %d days", level, store.room, days))
	}
	now = begin.Add(48 * time.Hour)
	store.room = 5000
	says("two days", "passed: the store has room for 5000 more starts of apps: at 50 a day it is full in 100 days")
	store.room = -1
	says("no limit", "passed: the store has no known limit")
	store.err = errors.New("refused")
	says("no answer", "unknown: the check could not be made: launchlog: refused")
}

// Clocks may differ by a second, and by 30 s with a note.
func TestClock(t *testing.T) {
	for offset, want := range map[time.Duration]string{ // of the machine
		0: "", time.Second: "", -time.Second: "", 30 * time.Second: "note: ",
		1001 * time.Millisecond: "note: this machine's clock is 1.001s ahead of the store's",
		-2 * time.Second:        "note: this machine's clock is 2s behind the store's",
		31 * time.Second:        "finding: this machine's clock is 31s ahead of the store's",
		-time.Hour:              "finding: this machine's clock is 1h0m0s behind the store's",
	} {
		wantOne(t, offset.String(), logAt(t, begin.Add(-offset)), "clock", want)
	}
	// The time that an answer takes is no offset.
	now := begin.Add(-95 * time.Minute)
	slow := doctor.NewWatch(logAt(t, begin), &doctor.WatchOptions{Now: func() time.Time {
		now = now.Add(15 * time.Minute) // the store is asked between the sixth call and the seventh
		return now
	}})
	want(t, "a slow answer", slow.Read(ctx).Results, nil)
}

// What is used up by 80 % is a note, and by 90 % a finding, on whichever page it is read.
func TestUsedUp(t *testing.T) {
	generators, counters, lent := logAt(t, begin), logAt(t, begin), logAt(t, begin)
	ended := start(t, generators, "ended")
	claim(t, generators, ended, 80_000)
	end(t, generators, ended)
	start(t, generators, "first")
	for i := range 1100 { // more than a page
		start(t, generators, fmt.Sprint(i))
		raise(t, counters, fmt.Sprintf("a/%04d", i), 1)
	}
	lend := func(cluster, from, to int, until time.Duration) {
		for n := from; n < to; n++ {
			raise(t, lent, fmt.Sprintf("eightbyte/%d/%d", cluster, n), begin.Add(until).UnixMilli())
		}
	}
	lend(0, 0, 1000, 5*time.Second)
	lend(0, 1000, 1638, -59*time.Second) // within the quiet time
	lend(0, 1638, 2000, -61*time.Second) // after it
	lend(3, 0, 2000, 5*time.Second)      // a cluster that may not be used
	for _, c := range []struct {
		log        *launchlog.Log
		do         func(log *launchlog.Log)
		code, want string
	}{
		{generators, func(l *launchlog.Log) { claim(t, l, 2, 79_999) }, "", ""},
		{
			generators, func(l *launchlog.Log) { claim(t, l, 2, 1) }, "generators",
			"note: launch 2, of shop in test, has used 80000 of 100000 generator numbers",
		},
		{counters, func(l *launchlog.Log) { raise(t, l, "orders", 7e18) }, "", ""},
		{
			counters, func(l *launchlog.Log) { raise(t, l, "orders", 84e17) }, "counters",
			"finding: counter orders is at 8400000000000000000 of 9223372036854775807",
		},
		{lent, func(*launchlog.Log) {}, "", ""},
		{
			lent, func(*launchlog.Log) { lend(0, 1638, 1639, 5*time.Second) }, "claims",
			"note: 1639 of 2048 numbers of eightbyte are lent, or were within the last minute",
		},
		{
			lent, func(*launchlog.Log) { lend(0, 1639, 1844, 5*time.Second) }, "claims",
			"finding: 1844 of 2048 numbers of eightbyte",
		},
	} {
		c.do(c.log)
		wantOne(t, c.want, c.log, c.code, c.want)
	}
}

// What a wrong clock has locked is found: a number, until it is freed or its time has come, a whole
// pool by its floor, and all short IDs. What a window of an hour reserves is no lock.
func TestAhead(t *testing.T) {
	for _, c := range []struct {
		name string
		unit time.Duration
		want string
	}{
		{"trace/7", time.Second, "1 numbers of trace are locked far into the future: 7 until "},
		{"sno/7", 4 * time.Millisecond, "1 numbers of sno are locked far into the future: 7 until "},
		{
			"eightbyte/0/7", time.Millisecond,
			"1 numbers of eightbyte are locked far into the future: 0/7 until ",
		},
		{"trace/floor", time.Second, "no number of trace can be claimed until "},
		{"sno/floor", 4 * time.Millisecond, "no number of sno can be claimed until "},
		{"eightbyte/floor", time.Millisecond, "no number of eightbyte can be claimed until "},
		{"short", time.Millisecond, "the counter short blocks all short IDs until "},
	} {
		for _, of := range []string{"", "without a clock"} { // then it is this machine's
			log := newLog(t, broken{memory.New(func() time.Time { return begin }), of})
			until := func(ahead time.Duration) int64 {
				return begin.Add(ahead).UnixMilli() / c.unit.Milliseconds()
			}
			raise(t, log, c.name, until(time.Hour))
			raise(t, log, "orders", 1<<60) // not a time, as far as is known
			wantOne(t, c.name+", an hour", log, "", "")
			raise(t, log, c.name, until(2*time.Hour))
			wantOne(t, c.name+", two hours", log, "claims-ahead",
				"finding: "+c.want+"2026-05-04 14:00:0")
			if strings.HasSuffix(c.name, "/7") {
				freed := fmt.Sprintf("%s/1-%d", c.name, until(90*time.Minute))
				raise(t, log, freed, until(-time.Hour))
				wantOne(t, c.name+", freed", log, "", "")
			} else {
				raise(t, log, c.name, 1<<62) // beyond the times of IDs
				wantOne(t, c.name+", for ever", log, "claims-ahead", "finding: "+c.want)
			}
		}
	}
	log := logAt(t, begin)
	for n := range 9 { // which are counted, and some named
		raise(t, log, fmt.Sprintf("trace/%d", n), begin.AddDate(1, 0, 0).Unix())
	}
	text := seen(t, read(t, log).Results)["claims-ahead"]
	if !strings.Contains(text, "9 numbers of trace") || strings.Count(text, "until") != 5 {
		t.Errorf("%q", text)
	}
}

// One process with a clock far ahead holds the times of later rows. Each kind of them is told.
func TestTimesAhead(t *testing.T) {
	const ahead = " 2026-05-04 12:00:31, which is 31s ahead. "
	for want, do := range map[string]func(log *launchlog.Log){
		"note: the start of launch 2 is dated" + ahead: func(l *launchlog.Log) { start(t, l, "b") },
		"note: generator number 0 of launch 1 is dated" + ahead: func(l *launchlog.Log) {
			claim(t, l, 1, 1)
		},
		"note: 1 counters were updated at times in the future: orders. ": func(l *launchlog.Log) {
			raise(t, l, "orders", 5)
		},
		"note: the last advance is dated" + ahead: func(l *launchlog.Log) { advance(t, l, 10) },
	} {
		for _, offset := range []time.Duration{30 * time.Second, 31 * time.Second} {
			at := begin
			log := newLog(t, broken{memory.New(func() time.Time { return at }), "without a clock"})
			start(t, log, "a")
			at = begin.Add(offset)
			do(log)
			if offset == 30*time.Second {
				wantOne(t, want, log, "", "")
			} else {
				wantOne(t, want, log, "times-ahead", want)
			}
		}
	}
}

// Launches that an older release runs are named, until this one has started in them.
func TestReleases(t *testing.T) {
	store := memory.New(func() time.Time { return begin })
	log := newLog(t, store)
	launch := start(t, log, "a")
	for _, token := range []string{"OLDER", "g-ONE-BEFORE"} {
		_, err := store.ClaimGenerator(ctx, launchlog.Claim{
			Namespace: launchlog.DefaultNamespace, Launch: launch, Token: token, Host: "web-1",
		})
		check(t, err)
		wantOne(t, token, log, "releases", fmt.Sprintf("note: 1 launches run a release for tables "+
			"older than version %d: launch 1 of shop in test on web-1", migrations.Latest(migrations.SQLite)))
	}
	claim(t, log, launch, 1)
	wantOne(t, "this release", log, "", "")
}

// A store that tells no time is checked otherwise. One that is away is an error.
func TestBroken(t *testing.T) {
	wantOne(t, "no time", newLog(t, broken{memory.New(func() time.Time { return begin }), "now"}),
		"clock", "unknown: the check could not be made: launchlog: away")
	for of, code := range map[string]string{"counters": "counters", "launches": "launches"} {
		results, err := doctor.Log(ctx, newLog(t, broken{memory.New(nil), of}))
		if !errors.Is(err, errAway) || !strings.HasPrefix(err.Error(), "doctor: "+code+": ") {
			t.Errorf("%v, %v", results, err)
		}
	}
}
