package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

var ctx = context.Background()

// begin is when the tests' stores and machines begin.
var begin = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func newLog(t *testing.T, store launchlog.Store) *launchlog.Log {
	t.Helper()
	log, err := launchlog.New(store, &launchlog.Options{Host: "h"})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// logAt is a log whose clock stands still.
func logAt(t *testing.T, now time.Time) *launchlog.Log {
	t.Helper()
	return newLog(t, memory.New(func() time.Time { return now }))
}

func start(t *testing.T, log *launchlog.Log, key string) int {
	t.Helper()
	launch, err := log.Start(ctx, launchlog.Request{
		Key: key, Service: "shop", Environment: "test", Initiator: "me",
	})
	if err != nil {
		t.Fatal(err)
	}
	return launch.ID
}

// raise sets a counter, as a claim does.
func raise(t *testing.T, log *launchlog.Log, name string, to int64) {
	t.Helper()
	counter, err := log.Counter(name)
	if err != nil {
		t.Fatal(err)
	}
	from, err := counter.Last(ctx)
	if err == nil && from < to {
		_, err = counter.Raise(ctx, launchlog.Raise{From: from, To: to, Note: launchlog.NewNote()})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// seen are the levels and messages by code, several of a code one after another. Those that passed
// are left out.
func seen(t *testing.T, results []doctor.Result) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, r := range results {
		if (r.Remedy == "") != (r.Level == doctor.Passed || r.Level == doctor.Unknown) ||
			r.Message == "" {
			t.Errorf("%+v", r)
		}
		if r.Level != doctor.Passed {
			got[r.Check] += fmt.Sprintf("%s: %s. ", r.Level, r.Message)
		}
	}
	return got
}

func check(t *testing.T, when string, results []doctor.Result, wanted map[string]string) {
	t.Helper()
	got := seen(t, results)
	for code, text := range wanted {
		if got[code] == "" || !strings.HasPrefix(got[code], text) {
			t.Errorf("%s: %s: %q, want %q", when, code, got[code], text)
		}
		delete(got, code)
	}
	for code, text := range got {
		t.Errorf("%s: %s: %q, want nothing", when, code, text)
	}
}

// content checks what a log holds, at the begin.
func content(t *testing.T, when string, log *launchlog.Log, wanted map[string]string) {
	t.Helper()
	results, err := doctor.Log(ctx, log, &doctor.Options{Now: func() time.Time { return begin }})
	if err != nil {
		t.Fatal(err)
	}
	check(t, when, results, wanted)
}

// What passed says what was seen.
func TestPassed(t *testing.T) {
	log := logAt(t, begin)
	start(t, log, "a")
	results, err := doctor.Log(ctx, log, &doctor.Options{Now: func() time.Time { return begin }})
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, r := range results {
		codes = append(codes, r.Check)
		if r.Level != doctor.Passed {
			t.Errorf("%+v", r)
		}
	}
	const want = "clock launches generators counters claims claims-ahead times-ahead decimal-order"
	if got := strings.Join(codes, " "); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Clocks may differ by a second, and by 30 s with a note.
func TestClock(t *testing.T) {
	for _, c := range []struct {
		offset time.Duration // of the machine
		want   string
	}{
		{0, ""},
		{time.Second, ""},
		{-time.Second, ""},
		{1001 * time.Millisecond, "note: this machine's clock is 1.001s ahead of the store's"},
		{-2 * time.Second, "note: this machine's clock is 2s behind the store's"},
		{30 * time.Second, "note: "},
		{31 * time.Second, "finding: this machine's clock is 31s ahead of the store's"},
		{-time.Hour, "finding: this machine's clock is 1h0m0s behind the store's"},
	} {
		wanted := map[string]string{}
		if c.want != "" {
			wanted["clock"] = c.want
		}
		content(t, c.offset.String(), logAt(t, begin.Add(-c.offset)), wanted)
	}
	// The time that an answer takes is no offset.
	now := begin.Add(-90 * time.Second) // asked half a minute before, answered half a minute after
	results, err := doctor.Log(ctx, logAt(t, begin), &doctor.Options{Now: func() time.Time {
		now = now.Add(time.Minute)
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "a slow answer", results, nil)
}

// clockless is a store without a clock.
type clockless struct{ *memory.Store }

func (clockless) Now(context.Context) (time.Time, error) { return time.Time{}, nil }

func TestWithoutClock(t *testing.T) {
	log := newLog(t, clockless{memory.New(func() time.Time { return begin })})
	content(t, "without a clock", log, nil)
	raise(t, log, "sno/7", begin.Add(2*time.Hour).UnixMilli()/4)
	content(t, "without a clock", log, map[string]string{
		"claims-ahead": "finding: 1 numbers of sno",
	})
}

func TestLaunches(t *testing.T) {
	log := logAt(t, begin)
	for _, c := range []struct {
		used int
		want string
	}{
		{79_999, ""},
		{80_000, "note: 80000 of 99999 launch numbers are used"},
		{89_999, "note: "},
		{90_000, "finding: 90000 of 99999 launch numbers are used"},
		{99_999, "finding: "},
	} {
		if _, err := log.Advance(ctx, c.used, "me"); err != nil {
			t.Fatal(err)
		}
		wanted := map[string]string{}
		if c.want != "" {
			wanted["launches"] = c.want
		}
		content(t, fmt.Sprint(c.used), log, wanted)
	}
}

// Generator numbers of launches that run count, on whichever page of the list they are.
func TestGenerators(t *testing.T) {
	log := logAt(t, begin)
	ended := start(t, log, "ended")
	first := start(t, log, "first")
	for i := range 1100 {
		start(t, log, fmt.Sprint(i))
	}
	take := func(launch, upto int) {
		t.Helper()
		for {
			claim, err := log.Claim(ctx, launch)
			if err != nil {
				t.Fatal(err)
			}
			if claim.Generator == upto-1 {
				return
			}
		}
	}
	take(ended, 90_000)
	if _, err := log.End(ctx, ended, launchlog.Ending{Outcome: launchlog.Failed}); err != nil {
		t.Fatal(err)
	}
	take(first, 79_999)
	content(t, "79,999", log, nil)
	take(first, 80_000)
	content(t, "80,000", log, map[string]string{
		"generators": "note: launch 2, of shop in test, has used 80000 of 100000 generator numbers",
	})
	take(first, 90_000)
	content(t, "90,000", log, map[string]string{"generators": "finding: launch 2, "})
}

func TestCounters(t *testing.T) {
	log := logAt(t, begin)
	for i := range 1100 { // more than a page
		raise(t, log, fmt.Sprintf("a/%04d", i), 1)
	}
	raise(t, log, "orders", 7_000_000_000_000_000_000)
	content(t, "76 %", log, nil)
	raise(t, log, "orders", 7_400_000_000_000_000_000)
	content(t, "80 %", log, map[string]string{
		"counters": "note: counter orders stands at 7400000000000000000 of 9223372036854775807",
	})
	raise(t, log, "orders", 8_400_000_000_000_000_000)
	content(t, "91 %", log, map[string]string{"counters": "finding: counter orders"})
}

// A pool is nearly used up where its numbers are lent, or were a moment ago, in clusters that may
// be used.
func TestClaims(t *testing.T) {
	log := logAt(t, begin)
	lend := func(cluster, from, to int, until time.Time) {
		t.Helper()
		for n := from; n < to; n++ {
			raise(t, log, fmt.Sprintf("eightbyte/%d/%d", cluster, n), until.UnixMilli())
		}
	}
	lend(0, 0, 1000, begin.Add(5*time.Second))
	lend(0, 1000, 1638, begin.Add(-59*time.Second)) // within the quiet time
	lend(0, 1638, 2000, begin.Add(-61*time.Second)) // after it
	lend(3, 0, 2000, begin.Add(5*time.Second))      // a cluster that may not be used
	content(t, "79.98 %", log, nil)
	lend(0, 1638, 1639, begin.Add(5*time.Second))
	content(t, "80 %", log, map[string]string{
		"claims": "note: 1639 of 2048 numbers of eightbyte are lent, or were within the last " +
			"minute",
	})
	lend(0, 1639, 1844, begin.Add(5*time.Second))
	content(t, "90 %", log, map[string]string{
		"claims": "finding: 1844 of 2048 numbers of eightbyte",
	})
}

// A number that a wrong clock has locked is found, until it is freed or its time has come. What a
// window of an hour reserves is no lock.
func TestAhead(t *testing.T) {
	for _, c := range []struct {
		name string
		unit time.Duration
	}{
		{"trace/7", time.Second},
		{"sno/7", 4 * time.Millisecond},
		{"eightbyte/0/7", time.Millisecond},
	} {
		log := logAt(t, begin)
		until := func(ahead time.Duration) int64 {
			return begin.Add(ahead).UnixMilli() / c.unit.Milliseconds()
		}
		raise(t, log, c.name, until(time.Hour))
		raise(t, log, "orders", 1<<60) // not a time, as far as is known
		content(t, c.name+", an hour", log, nil)
		raise(t, log, c.name, until(2*time.Hour))
		scheme, number, _ := strings.Cut(c.name, "/")
		content(t, c.name+", two hours", log, map[string]string{"claims-ahead": fmt.Sprintf(
			"finding: 1 numbers of %s are locked far ahead: %s until 2026-05-04 14:00:0", scheme,
			number)})
		raise(t, log, fmt.Sprintf("%s/1-%d", c.name, until(90*time.Minute)), until(-time.Hour))
		content(t, c.name+", freed", log, nil)
	}
	// Many are counted, and some named.
	log := logAt(t, begin)
	for n := range 9 {
		raise(t, log, fmt.Sprintf("trace/%d", n), begin.AddDate(1, 0, 0).Unix())
	}
	results, err := doctor.Log(ctx, log, &doctor.Options{Now: func() time.Time { return begin }})
	if err != nil {
		t.Fatal(err)
	}
	text := seen(t, results)["claims-ahead"]
	if !strings.Contains(text, "9 numbers of trace") || strings.Count(text, "until") != 5 {
		t.Errorf("%q", text)
	}
}

// A floor far ahead locks a whole pool, and the counter short all short IDs. An hour is none.
func TestFloorAhead(t *testing.T) {
	for _, c := range []struct {
		name string
		unit time.Duration
		want string
	}{
		{"trace/floor", time.Second, "no number of trace can be taken until 2026-05-04 14:00:0"},
		{"sno/floor", 4 * time.Millisecond, "no number of sno can be taken until 2026-05-04 14:00:0"},
		{
			"eightbyte/floor", time.Millisecond,
			"no number of eightbyte can be taken until 2026-05-04 14:00:0",
		},
		{
			"short", time.Millisecond,
			"the counter short is ahead of all short IDs until 2026-05-04 14:00:0",
		},
	} {
		log := logAt(t, begin)
		until := func(ahead time.Duration) int64 {
			return begin.Add(ahead).UnixMilli() / c.unit.Milliseconds()
		}
		raise(t, log, c.name, until(time.Hour))
		content(t, c.name+", an hour", log, nil)
		raise(t, log, c.name, until(2*time.Hour))
		wanted := map[string]string{"claims-ahead": "finding: " + c.want}
		content(t, c.name+", two hours", log, wanted)
		raise(t, log, c.name, 1<<62) // beyond the times of IDs
		wanted["claims-ahead"] = "finding: " + c.want[:strings.Index(c.want, "2026")]
		content(t, c.name+", for ever", log, wanted)
	}
}

// One process with a clock far ahead holds the times of later rows. Each kind of them is told.
func TestTimesAhead(t *testing.T) {
	const ahead = " 2026-05-04 12:00:31, which is 31s ahead. "
	for name, c := range map[string]struct {
		do   func(log *launchlog.Log)
		want string
	}{
		"a launch": {
			func(log *launchlog.Log) { start(t, log, "b") },
			"note: the start of launch 2 is of" + ahead,
		},
		"a claim": {
			func(log *launchlog.Log) { claim(t, log, 1) },
			"note: generator number 0 of launch 1 is of" + ahead,
		},
		"a counter": {
			func(log *launchlog.Log) { raise(t, log, "orders", 5) },
			"note: 1 counters have times ahead: orders. ",
		},
		"an advance": {
			func(log *launchlog.Log) {
				if _, err := log.Advance(ctx, 10, "me"); err != nil {
					t.Fatal(err)
				}
			},
			"note: the last advance is of" + ahead,
		},
	} {
		for _, offset := range []time.Duration{30 * time.Second, 31 * time.Second} {
			at := begin
			log := newLog(t, clockless{memory.New(func() time.Time { return at })})
			start(t, log, "a")
			at = begin.Add(offset)
			c.do(log)
			wanted := map[string]string{}
			if offset > 30*time.Second {
				wanted["times-ahead"] = c.want
			}
			content(t, name, log, wanted)
		}
	}
}

// The newest epoch of decimal counters counts.
func TestOrder(t *testing.T) {
	log := logAt(t, begin)
	raise(t, log, "decimal/hint/0", 737_000_000)
	raise(t, log, "decimal/hint/x", 922_337_202) // none of ours
	content(t, "79.9 %", log, nil)
	raise(t, log, "decimal/hint/0", 738_000_000)
	content(t, "80 %", log, map[string]string{
		"decimal-order": "note: decimal IDs have come to counter 738000000 of 922337202, in " +
			"epoch 0",
	})
	raise(t, log, "decimal/hint/0", 922_337_202)
	content(t, "100 %", log, map[string]string{"decimal-order": "note: "})
	raise(t, log, "decimal/hint/9", 500)
	raise(t, log, "decimal/hint/10", 600)
	content(t, "the next epoch", log, nil)
	raise(t, log, "decimal/hint/10", 900_000_000)
	content(t, "epoch 10", log, map[string]string{
		"decimal-order": "note: decimal IDs have come to counter 900000000 of 922337202, in " +
			"epoch 10",
	})
}

// away is a store that does not answer.
type away struct{ *memory.Store }

var errAway = errors.New("away")

func (away) Counters(context.Context, string, string, int) ([]launchlog.CounterState, error) {
	return nil, errAway
}

// hidden is a store that tells no time, and otherwise answers.
type hidden struct{ *memory.Store }

func (hidden) Now(context.Context) (time.Time, error) { return time.Time{}, errAway }

// ending is a store that goes away after the first answer.
type ending struct{ hidden }

func (ending) Launches(context.Context, string, launchlog.Filter) ([]launchlog.Launch, error) {
	return nil, errAway
}

// A check that cannot be made is unknown, and the others are made. A store that is away is an
// error.
func TestUnknown(t *testing.T) {
	content(t, "hidden", newLog(t, hidden{memory.New(nil)}), map[string]string{
		"clock":        "unknown: the check could not be made: launchlog: away",
		"claims-ahead": "unknown: ",
		"times-ahead":  "unknown: ",
	})
	for name, store := range map[string]launchlog.Store{
		"counters: ": away{memory.New(nil)}, "clock: ": ending{hidden{memory.New(nil)}},
	} {
		results, err := doctor.Log(ctx, newLog(t, store), nil)
		if !errors.Is(err, errAway) || !strings.HasPrefix(err.Error(), "doctor: "+name) {
			t.Errorf("%v, %v", results, err)
		}
	}
}
