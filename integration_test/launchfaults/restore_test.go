package launchfaults_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// restored has a fleet at work before and after a backup, restores the backup, and has a fleet go on where an operator has advanced
// the numbers: those that the database has forgotten are not given again.
func restored(a *arena) {
	a.openDB()
	run := func() *history {
		for a.until = time.Now().Add(length(a.T) / 2); a.rest(100*time.Millisecond) || !a.allShared(); {
		}
		a.fleet.end()
		return remember(a.T, a.fleet.dir)
	}
	a.fleet = newFleet(a.T, orders{Kind: a.kind, Source: a.dsn.Source(), Keys: "restored", Budget: ample})
	first := run()
	a.shell(a.backup)
	a.fleet.start()
	both := run()
	a.recreate()
	a.shell(a.restore)

	known := map[string]bool{}
	for _, c := range first.calls {
		known[c.Call] = true
	}
	highest, forgotten := map[[2]string]int64{}, 0
	for _, c := range both.calls {
		if c.Event == acknowledged && !known[c.Call] {
			forgotten++
		}
		name := [2]string{c.Space, c.Key}
		if c.Op == "start" {
			name[1] = ""
		}
		if c.Event == acknowledged && c.Op != "claim" {
			highest[name] = max(highest[name], c.Number+max(c.N, 1)-1)
		}
	}
	a.advance(highest)
	a.fleet.start()
	all := run()
	for _, c := range all.calls {
		c.old = !known[c.Call] && slices.ContainsFunc(both.calls, func(b *call) bool { return b.Call == c.Call })
	}
	a.report(audit(all, load(a.T, a.db), late))
	a.Logf("%s: %v, restored from a backup that lacks %d acknowledged calls; %v", a.kind, a.fleet, forgotten, all)
	if forgotten < 100 || all.attempts[acknowledged]-both.attempts[acknowledged] < 100 {
		a.Errorf("%d calls forgotten, of %d, %d and %d: the test shows too little",
			forgotten, first.attempts[acknowledged], both.attempts[acknowledged], all.attempts[acknowledged])
	}
}

// allShared reports whether the workers' shared keys have their launches. One whose launch is forgotten gets another launch, which is no
// fault of the log's.
func (a *arena) allShared() bool {
	found := 0
	for _, l := range load(a.T, a.db).launches {
		if strings.Contains(l.key, "shared") {
			found++
		}
	}
	return found == 2*sharedKeys
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
	if _, err := a.server.Exec(a.Context(), "sh", "-c", fmt.Sprintf(command, a.dsn.Database())); err != nil {
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
