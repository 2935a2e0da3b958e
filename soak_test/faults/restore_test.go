package faults_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// restored has a fleet at work before and after a backup, and restores the backup. An operator
// advances the numbers, and a fleet goes on there. The numbers that the database has forgotten are
// not given again.
func restored(a *arena) {
	a.openDB()
	a.fleet = newFleet(a.T,
		orders{Kind: a.kind, Source: a.dsn.Source(), Keys: "restored", Budget: ample})
	run := func() *history {
		for a.until = time.Now().Add(*length / 3); a.rest(100 * time.Millisecond); {
		}
		a.fleet.end()
		h := remember(a.T, a.fleet.dir)
		a.least = h.attempts[acknowledged] + least
		return h
	}
	first := run()
	a.shell(a.backup)
	a.fleet.start()
	both := run()
	time.Sleep(sharing) // a key whose launch is forgotten gets another launch
	a.recreate()
	a.shell(a.restore)

	forgotten := map[string]bool{} // calls
	highest := map[[2]string]int64{}
	for _, c := range both.calls {
		forgotten[c.Call] = true
		name := [2]string{c.Space, c.Key}
		if c.Op == start {
			name[1] = ""
		}
		if c.Event == acknowledged && c.Op != claim && c.Op != mint && c.Number != 0 {
			highest[name] = max(highest[name], c.Number+max(c.N, 1)-1)
		}
	}
	for _, c := range first.calls {
		delete(forgotten, c.Call)
	}
	a.advance(highest)
	a.fleet.start()
	all := run()
	for _, c := range all.calls {
		c.old = forgotten[c.Call]
	}
	a.report(audit(all, load(a.T, a.db), late))
	ids, repeats := a.minted()
	a.Logf("%s, Restored: %v; restored from a backup that lacks %d of %d calls; %v; "+
		"%d IDs, %d repeats", a.kind, a.fleet, len(forgotten), len(both.calls), all, ids, repeats)
}

// advance does what an operator does after a restore, who knows the highest number of each kind.
func (a *arena) advance(highest map[[2]string]int64) {
	store, err := a.open(a.Context(), a.dsn.Source())
	if err != nil {
		a.Fatal(err)
	}
	defer store.Close()
	for name, number := range highest {
		l, err := launchlog.New(store, &launchlog.Options{Namespace: name[0]})
		if err != nil {
			a.Fatal(err)
		}
		if name[1] != "" {
			c, err := l.Counter(name[1])
			if err == nil {
				_, err = c.Advance(a.Context(), number, "operator")
			}
			if err != nil {
				a.Fatal(err)
			}
			continue
		}
		r := storetest.Request("restored-by-hand")
		r.KnownLaunch = int(number)
		if launch, err := l.Start(a.Context(), r); !errors.Is(err, launchlog.ErrBehind) {
			a.Errorf("with launch %d known, after a restore: launch %d, %v", number, launch.ID, err)
		}
		if _, err := l.Advance(a.Context(), int(number), "operator"); err != nil {
			a.Fatal(err)
		}
	}
}

// shell runs a command of the target in the server's container.
func (a *arena) shell(command string) {
	a.Helper()
	_, err := a.server.Exec(a.Context(), "sh", "-c", fmt.Sprintf(command, a.dsn.Database()))
	if err != nil {
		a.Fatal(err)
	}
}

// recreate drops the database and makes an empty one of its name.
func (a *arena) recreate() {
	a.Helper()
	if err := a.drop(a.Context()); err != nil {
		a.Fatal(err)
	}
	if _, _, err := a.server.Create(a.Context(), a.dsn.Database()); err != nil {
		a.Fatal(err)
	}
}
