package doctor_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/sqlite"
)

// same is what a store says of itself that was not replaced.
var same = map[string]string{"server": "a"}

// claim takes the next n generator numbers of launch 1.
func claim(t *testing.T, log *launchlog.Log, n int) {
	t.Helper()
	for range n {
		if _, err := log.Claim(ctx, 1); err != nil {
			t.Fatal(err)
		}
	}
}

// reload is a state as a file keeps it.
func reload(t *testing.T, s doctor.State) *doctor.State {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back doctor.State
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return &back
}

// A log that was lost, and then used until its numbers passed those of the last look, is found.
// Each thing that was lost tells it.
func TestLookUsedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		kept, lost, again func(log *launchlog.Log, at func(minute int))
		want              string // begins what is found
	}{
		"launches": {
			kept: func(log *launchlog.Log, at func(int)) { start(t, log, "a") },
			lost: func(log *launchlog.Log, at func(int)) { start(t, log, "b") },
			again: func(log *launchlog.Log, at func(int)) {
				start(t, log, "c")
				start(t, log, "d")
			},
			want: `finding: launch 2 is another one: it was started at 2026-05-04 12:02:00 with ` +
				`key "c", and the one before at 2026-05-04 12:01:00 with key "b". `,
		},
		"the same launch": { // by a retry of the same step
			kept:  func(log *launchlog.Log, at func(int)) { start(t, log, "a") },
			lost:  func(log *launchlog.Log, at func(int)) { start(t, log, "b") },
			again: func(log *launchlog.Log, at func(int)) { start(t, log, "b") },
			want:  "finding: launch 2 is another one: it was started at 2026-05-04 12:02:00",
		},
		"a launch before the last": { // which an operator passed over too late
			kept: func(log *launchlog.Log, at func(int)) { start(t, log, "a") },
			lost: func(log *launchlog.Log, at func(int)) {
				n := start(t, log, "b")
				_, err := log.End(ctx, n, launchlog.Ending{Outcome: launchlog.Failed})
				if err != nil {
					t.Fatal(err)
				}
				start(t, log, "c")
			},
			again: func(log *launchlog.Log, at func(int)) {
				start(t, log, "d")
				if _, err := log.Advance(ctx, 10, "me"); err != nil {
					t.Fatal(err)
				}
			},
			want: "finding: launch 2 is another one",
		},
		"generator numbers": {
			kept:  func(log *launchlog.Log, at func(int)) { start(t, log, "a") },
			lost:  func(log *launchlog.Log, at func(int)) { claim(t, log, 3) },
			again: func(log *launchlog.Log, at func(int)) { claim(t, log, 5) },
			want: "finding: generator number 2 of launch 1 was taken again: at " +
				"2026-05-04 12:02:00, and before at 2026-05-04 12:01:00. ",
		},
		"a counter to the same value": {
			kept:  func(log *launchlog.Log, at func(int)) { raise(t, log, "orders", 100) },
			lost:  func(log *launchlog.Log, at func(int)) { raise(t, log, "orders", 200) },
			again: func(log *launchlog.Log, at func(int)) { raise(t, log, "orders", 200) },
			want: "finding: counter orders has come to 200 again: at 2026-05-04 12:02:00, and " +
				"before at 2026-05-04 12:01:00. ",
		},
		"an advance": {
			kept: func(log *launchlog.Log, at func(int)) { start(t, log, "a") },
			lost: func(log *launchlog.Log, at func(int)) {
				if _, err := log.Advance(ctx, 3, "me"); err != nil {
					t.Fatal(err)
				}
			},
			again: func(log *launchlog.Log, at func(int)) {
				for n := range 4 {
					start(t, log, fmt.Sprint(n))
				}
			},
			want: `finding: launch 3 was passed over by an advance, and now is that of key "1". ` +
				"finding: the event advanced of 2026-05-04 12:01:00, by me, is not there any more. ",
		},
	} {
		for _, where := range []string{"memory", "SQLite"} {
			t.Run(name+" in "+where, func(t *testing.T) {
				log := rigs[where](t)
				c.kept(log.now(), log.at)
				log.save()
				log.at(1)
				c.lost(log.now(), log.at)
				before, _, err := doctor.Look(ctx, log.now(), same, nil)
				if err != nil {
					t.Fatal(err)
				}
				now, results, err := doctor.Look(ctx, log.now(), same, reload(t, before))
				if err != nil {
					t.Fatal(err)
				}
				check(t, "nothing happened", results, nil)
				log.restore()
				log.at(2)
				c.again(log.now(), log.at)
				now, results, err = doctor.Look(ctx, log.now(), same, reload(t, now))
				if err != nil {
					t.Fatal(err)
				}
				want := c.want
				if where == "SQLite" {
					want, _, _ = strings.Cut(want, " at 2026") // the file's clock is the machine's
					want, _, _ = strings.Cut(want, " of 2026")
				}
				check(t, "used again", results, map[string]string{"lost": want})
				_, results, err = doctor.Look(ctx, log.now(), same, reload(t, now))
				if err != nil {
					t.Fatal(err)
				}
				check(t, "accepted", results, nil)
			})
		}
	}
}

// After an advance, only what it did not see to is lost: a sequence and a ceiling that were
// forgotten, and clusters. How far decimal IDs have come is a matter of their order.
func TestAdvancedAfterALoss(t *testing.T) {
	for _, where := range []string{"memory", "SQLite"} {
		t.Run(where, func(t *testing.T) {
			log := rigs[where](t)
			log.save()
			log.at(1)
			times := time.Now().UnixMilli()
			for name, value := range map[string]int64{
				"orders": 55, "invoices": 3, "decimal/hint/0": 6, "decimal/hint/orders": 4,
				"sno/3": times / 4, "sno/3/5-900": 800, "trace/7": times / 1000,
				"eightbyte/1/2": times, "eightbyte/clusters": 1<<16 | 2, "sno/x": 9,
			} {
				raise(t, log.now(), name, value)
			}
			ceiling, err := log.now().Counter("sno/4")
			if err == nil {
				_, err = ceiling.Reserve(ctx, times/4, 750)
			}
			if err != nil {
				t.Fatal(err)
			}
			before, _, err := doctor.Look(ctx, log.now(), same, nil)
			if err != nil {
				t.Fatal(err)
			}
			log.restore()
			look := func() (string, doctor.State) {
				t.Helper()
				now, results, err := doctor.Look(ctx, log.now(), same, reload(t, before))
				if err != nil {
					t.Fatal(err)
				}
				var lost strings.Builder
				for _, r := range results {
					if r.Check == "lost" {
						name, _, _ := strings.Cut(strings.TrimPrefix(r.Message, "counter "), " ")
						lost.WriteString(string(r.Level) + " " + name + "\n")
					}
				}
				return lost.String(), now
			}
			const forgotten = "note decimal/hint/0\nfinding decimal/hint/orders\n" +
				"finding eightbyte/clusters\nfinding invoices\nfinding sno/4\nfinding sno/x\n"
			if lost, _ := look(); strings.Count(lost, "finding") != 10 {
				t.Errorf("restored: %s", lost)
			}
			for _, p := range claims.Pools() {
				_, err := p.Advance(ctx, log.now(), time.Now().Add(time.Minute), "me")
				if err != nil {
					t.Fatal(err)
				}
			}
			raise(t, log.now(), "orders", 60)
			if lost, _ := look(); lost != forgotten {
				t.Errorf("advanced: %s, want %s", lost, forgotten)
			}
		})
	}
}

// A rig is a log that can be put back to what it was.
type rig struct {
	now           func() *launchlog.Log
	at            func(minute int)
	save, restore func()
}

var rigs = map[string]func(t *testing.T) rig{
	// What was kept is done once more, at the same time: it is the same as far as a look sees.
	"memory": func(t *testing.T) rig {
		clock := begin
		var log *launchlog.Log
		r := rig{
			now: func() *launchlog.Log { return log },
			at:  func(minute int) { clock = begin.Add(time.Duration(minute) * time.Minute) },
		}
		fresh := func() { log = newLog(t, memory.New(func() time.Time { return clock })) }
		fresh()
		var launches int
		var orders int64
		r.save = func() {
			list, err := log.List(ctx, launchlog.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			launches = len(list)
			counter, err := log.Counter("orders")
			if err == nil {
				orders, err = counter.Last(ctx)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		r.restore = func() {
			clock = begin
			fresh()
			for range launches {
				start(t, log, "a")
			}
			if orders > 0 {
				raise(t, log, "orders", orders)
			}
		}
		return r
	},
	"SQLite": func(t *testing.T) rig {
		path := filepath.Join(t.TempDir(), "a.db")
		newFile(t, path)
		var store *sqlite.Store
		var log *launchlog.Log
		open := func() {
			var err error
			if store, err = sqlite.Open(ctx, path); err != nil {
				t.Fatal(err)
			}
			log = newLog(t, store)
		}
		open()
		t.Cleanup(func() { store.Close() })
		return rig{
			now: func() *launchlog.Log { return log },
			at:  func(int) {},
			save: func() {
				if err := sqlite.Backup(ctx, path, path+".backup"); err != nil {
					t.Fatal(err)
				}
			},
			restore: func() { // a process does not take a file for the log that it replaced
				store.Close()
				path += ".backup"
				open()
			},
		}
	},
}

// A launch that an operator passed over is not missed: none has taken its place. Launches beyond
// the last 100 are looked for one by one.
func TestLookFarBehind(t *testing.T) {
	log := logAt(t, begin)
	for n := range 3 {
		start(t, log, fmt.Sprint(n))
	}
	if _, err := log.End(ctx, 2, launchlog.Ending{Outcome: launchlog.Failed}); err != nil {
		t.Fatal(err)
	}
	before, _, err := doctor.Look(ctx, log, same, nil)
	if err != nil || len(before.Launches) != 3 {
		t.Fatalf("%+v, %v", before, err)
	}
	for n := range 150 {
		id := start(t, log, fmt.Sprint("more", n))
		if _, err := log.End(ctx, id, launchlog.Ending{Outcome: launchlog.Failed}); err != nil {
			t.Fatal(err)
		}
	}
	now, results, err := doctor.Look(ctx, log, same, &before)
	if err != nil || len(now.Launches) != 102 { // the last 100, and two that run
		t.Errorf("%d launches, %v", len(now.Launches), err)
	}
	check(t, "more launches", results, nil)
	other := before.Launches[2]
	other.RequestHash = "another"
	before.Launches[2] = other
	_, results, err = doctor.Look(ctx, log, same, &before)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "another launch", results, map[string]string{
		"lost": "finding: launch 2 is another one",
	})
}

// A mark tells of a loss that the numbers do not tell, and is raised by nobody else.
func TestMark(t *testing.T) {
	log := logAt(t, begin)
	raise(t, log, "orders", 100)
	state, _, err := doctor.Look(ctx, log, same, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := state.Leave(ctx, log); err != nil {
			t.Fatal(err)
		}
		var results []doctor.Result
		if state, results, err = doctor.Look(ctx, log, same, reload(t, state)); err != nil {
			t.Fatal(err)
		}
		check(t, "marked", results, nil)
	}
	if state.Counters[state.Mark].Value != 3 || !strings.HasPrefix(state.Mark, "doctor/") {
		t.Errorf("%+v", state)
	}
	// The log goes back to before the last mark, and its counter comes further than it was.
	restored := logAt(t, begin)
	raise(t, restored, "orders", 100)
	raise(t, restored, state.Mark, 2)
	raise(t, restored, "orders", 900)
	now, results, err := doctor.Look(ctx, restored, same, reload(t, state))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "restored", results, map[string]string{
		"lost": "finding: counter " + state.Mark + " is 2, and was 3. ",
	})
	if err := now.Leave(ctx, restored); err != nil || now.Mark != state.Mark ||
		now.Counters[now.Mark].Value != 3 {
		t.Errorf("accepted: %+v, %v", now, err)
	}
	if err := state.Leave(ctx, newLog(t, raiseless{memory.New(nil)})); err == nil ||
		!strings.HasPrefix(err.Error(), "doctor: ") {
		t.Error(err)
	}
}

// Where the log goes back between the look and the mark, there is no mark.
func TestMarkOfAnotherLog(t *testing.T) {
	log := logAt(t, begin)
	state, _, err := doctor.Look(ctx, log, same, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := state.Leave(ctx, log); err != nil {
			t.Fatal(err)
		}
	}
	older, newer := logAt(t, begin), logAt(t, begin)
	raise(t, older, state.Mark, 2)
	raise(t, newer, state.Mark, 4) // by somebody with the same state
	for name, log := range map[string]*launchlog.Log{
		"without the counter": logAt(t, begin), "lower": older, "higher": newer,
	} {
		before := state.Counters[state.Mark]
		err := state.Leave(ctx, log)
		if err == nil || !strings.HasPrefix(err.Error(), "doctor: lost: no mark was left") ||
			!strings.Contains(err.Error(), state.Mark+" is") {
			t.Errorf("%s: %v", name, err)
		}
		if now := state.Counters[state.Mark]; now != before || now.Value != 3 {
			t.Errorf("%s: the state has %+v, and had %+v", name, now, before)
		}
	}
}
