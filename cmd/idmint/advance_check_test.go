package main

import (
	"bufio"
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

// A bare store has no clock of its own. An advance of launches may have been cut off in it.
type bare struct {
	*memory.Store
	cut int // the number that it was to; 0 for none
}

func (b *bare) Now(context.Context) (time.Time, error) { return time.Time{}, nil }

func (b *bare) AdvanceLaunches(
	ctx context.Context, namespace string, to int, ending launchlog.Ending,
) (last, finished int, err error) {
	last, _, err = b.Store.AdvanceLaunches(ctx, namespace, to, ending)
	finished, b.cut = b.cut, 0
	return last, finished, err
}

// advanceIn runs the command's work on a log. Said is all that it wrote.
func advanceIn(
	t *testing.T, log *launchlog.Log, f advance, last int,
) (said string, err error) {
	t.Helper()
	var out, stderr bytes.Buffer
	a := &app{err: &stderr, out: printer{w: bufio.NewWriter(&out)}}
	if f.counters == nil {
		f.counters = map[string]int64{}
	}
	if f.ahead == 0 {
		f.ahead = 10 * time.Second
	}
	f.store.namespace = launchlog.DefaultNamespace
	err = a.advance(t.Context(), log, &f, last)
	if err := a.out.flush(); err != nil {
		t.Fatal(err)
	}
	return out.String() + stderr.String(), err
}

func newBare(t *testing.T, clock func() time.Time) (*bare, *launchlog.Log) {
	t.Helper()
	store := &bare{Store: memory.New(clock)}
	log, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	return store, log
}

// The command asks about each counter that idmint has not made itself, whatever its name begins
// with. It knows those of its own by their whole names.
func TestAdvanceAsksAboutNames(t *testing.T) {
	const word = "abcdefghijklmnopqrstuvwxyz"
	times := time.Now().UnixMilli()
	for _, test := range []struct {
		name  string
		value int64
		known bool
	}{
		{"doctor/visits", 3, false},
		{"doctor/" + word, 3, true},
		{"doctor/" + word[1:], 3, false},
		{"doctor/" + word + "a", 3, false},
		{"doctor/" + word[1:] + "1", 3, false},
		{"doctor/x/" + word, 3, false},
		{"sno/floor", times / 4, true},
		{"sno/floor/a", 3, false},
		{"sno/floors", 3, false},
		{"sno/7", times / 4, true},
		{"sno/07", 3, false},
		{"sno/7/1-5", 3, true},
		{"sno/7/a", 3, false},
		{"sno/clusters", 3, false},
		{"eightbyte/clusters", 3, true},
		{"eightbyte/16/1", 3, false},
		{"trace/65536", 3, false},
		{"short", times, true},
		{"short", 3, false}, // no time: a sequence of that name
		{"short/1", 3, false},
	} {
		_, log := newBare(t, time.Now)
		counter, err := log.Counter(test.name)
		if err == nil {
			_, err = counter.Reserve(t.Context(), test.value, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		said, err := advanceIn(t, log, advance{}, 0)
		if asked := err != nil && strings.HasSuffix(err.Error(), "=0 to leave it: "+test.name); asked ==
			test.known || test.known && err != nil {
			t.Errorf("counter %s at %d: %v, %q; want it known: %v", test.name, test.value, err, said,
				test.known)
		}
		if value, err := counter.Last(t.Context()); !test.known && (err != nil || value != test.value) {
			t.Errorf("counter %s went to %d, %v, before it was named", test.name, value, err)
		}
	}
	// Named, it is the number that it was given, and no time.
	_, log := newBare(t, time.Now)
	said, err := advanceIn(t, log, advance{counters: map[string]int64{"short": 70}}, 0)
	said = strings.Join(strings.Fields(said), " ")
	if err != nil || !strings.Contains(said, "counter short 0 70") {
		t.Errorf("a sequence named short: %v, %q", err, said)
	}
}

// An advance was cut off before launches had ended, and a launch was started since. Run again, the
// command has the store finish it before anything is refused. Else it says what was done.
func TestAdvanceFinishesWhatWasCutOff(t *testing.T) {
	store, log := newBare(t, time.Now)
	for _, key := range []string{"a", "b"} {
		if _, err := log.Start(t.Context(), storetest.Request(key)); err != nil {
			t.Fatal(err)
		}
	}
	counter, err := log.Counter("orders")
	if err == nil {
		_, err = counter.Reserve(t.Context(), 1, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	const (
		below  = "--launch 1 is below the last launch, 2"
		remedy = ": use 2 or more, after a look at \"When it refuses\" in docs/operate/restore.md"
	)
	for _, test := range []struct {
		cut  int
		dry  bool
		last int
		want string
		left int // of cut
	}{
		{0, false, 1, below + remedy, 0},
		{1, true, 1, below + remedy, 1},
		{1, false, 0, "--launch 0 is below the last launch, 2" + remedy, 1},
		{1, false, 1, below + "; an unfinished advance to 1 has now been completed" + remedy, 0},
		{2, false, 1, below + "; an unfinished advance to 2 has now been completed" + remedy, 0},
	} {
		store.cut = test.cut
		said, err := advanceIn(t, log, advance{dry: test.dry}, test.last)
		if err == nil || err.Error() != test.want || said != "" || store.cut != test.left {
			t.Errorf("%+v: %v, %q, left %d; want %q", test, err, said, store.cut, test.want)
		}
	}
	found, err := log.Counters(t.Context(), "", 0)
	if err != nil || len(found) != 1 {
		t.Errorf("counters %+v, %v; want those of before", found, err)
	}
}

// A clock is refused that is far from all that the log has, and a log that is old takes a flag.
func TestAdvanceLooksAtTheClock(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		age          time.Duration // of the launch, and of what came after it
		end, counter time.Duration // ages; 0 for none
		f            advance
		want         string
	}{
		{29 * day, 0, 0, advance{}, ""},
		{31 * day, 0, 0, advance{}, "add --trust-clock"},
		{31 * day, 0, 0, advance{dry: true}, "add --trust-clock"},
		{31 * day, 0, 0, advance{trust: true}, ""},
		{365 * day, 40 * day, 0, advance{}, "add --trust-clock"},
		{365 * day, 29 * day, 0, advance{}, ""},
		{365 * day, 0, 40 * day, advance{}, "add --trust-clock"},
		{365 * day, 0, 29 * day, advance{}, ""},
		{365 * day, 40 * day, 29 * day, advance{}, ""},
		{time.Hour, 0, 0, advance{}, ""},
		{-time.Hour, 0, 0, advance{}, "use --ahead to say how far"},
		{-time.Hour, 0, 0, advance{ahead: 2 * time.Hour}, ""},
		{-365 * day, 0, 0, advance{ahead: longestAhead}, "add --trust-clock"},
		{-365 * day, 0, 0, advance{trust: true}, ""},
	} {
		age := test.age
		_, log := newBare(t, func() time.Time { return time.Now().Add(-age) })
		launch, err := log.Start(t.Context(), storetest.Request("a"))
		if err == nil && test.end != 0 {
			age = test.end
			_, err = log.End(t.Context(), launch.ID, launchlog.Ending{Outcome: launchlog.Succeeded})
		}
		f := test.f
		f.counters = map[string]int64{}
		if test.counter != 0 {
			age = test.counter
			var counter *launchlog.Counter
			if counter, err = log.Counter("orders"); err == nil {
				_, err = counter.Reserve(t.Context(), 1, 1)
			}
			f.counters["orders"] = 0
		}
		if err != nil {
			t.Fatal(err)
		}
		before, _ := log.Counters(t.Context(), "", 0)
		_, err = advanceIn(t, log, f, 1)
		if test.want == "" && err != nil ||
			test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%+v: %v", test, err)
		}
		after, err := log.Counters(t.Context(), "", 0)
		changed := len(after) != len(before)
		if err != nil || changed != (test.want == "" && !f.dry) {
			t.Errorf("%+v: counters %v, %v", test, after, err)
		}
	}
	_, log := newBare(t, time.Now)
	if _, err := advanceIn(t, log, advance{}, 9); err != nil {
		t.Errorf("a log without rows: %v", err)
	}
}
