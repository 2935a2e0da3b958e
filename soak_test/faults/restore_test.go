package faults_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// restored has a fleet at work before and after a moment, and the database forgets what comes after
// it. An operator advances the numbers, and a fleet goes on there. The numbers that the database
// has forgotten are not given again, and no ID is minted twice.
func restored(a *arena, moment, forget func()) {
	a.openDB()
	a.fleet = newFleet(a.T,
		orders{Kind: a.kind, Source: a.dsn.URL(), Keys: "restored", Budget: ample})
	run := func() *history {
		for a.until = time.Now().Add(*length / 3); a.rest(100 * time.Millisecond); {
		}
		a.fleet.end()
		h := remember(a.T, a.fleet.dir)
		a.least = h.attempts[acknowledged] + least
		return h
	}
	first := run()
	moment()
	a.fleet.start()
	both := run()
	time.Sleep(sharing) // a key whose launch is forgotten gets another launch
	forget()

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
	done := a.advance(highest)
	a.fleet.orders.Source = a.dsn.URL()
	a.fleet.start()
	all := run()
	all.calls = slices.DeleteFunc(all.calls, func(c *call) bool { return forgotten[c.Call] })
	all.calls = append(all.calls, done...)
	v := judge(all, load(a))
	a.report(v.complaints)
	ids, repeats := a.minted()
	a.Logf("%s, Restored: %d of %d calls forgotten; %d operations in %d histories; %d IDs, "+
		"%d repeats", a.kind, len(forgotten), len(both.calls), v.steps, v.lines, ids, repeats)
}

// advance does what an operator does after a restore, who knows the highest number of each kind. It
// returns that as calls.
func (a *arena) advance(highest map[[2]string]int64) (done []*call) {
	store := a.openStore()
	for name, number := range highest {
		l, err := launchlog.New(store, &launchlog.Options{Namespace: name[0]})
		if err != nil {
			a.Fatal(err)
		}
		t := try{
			record: record{Event: won, Space: name[0], Key: name[1], To: number}, began: now(),
		}
		if name[1] != "" {
			t.Op = advanceCounter
			var c *launchlog.Counter
			if c, err = l.Counter(name[1]); err == nil {
				t.Number, err = c.Advance(a.Context(), number, "operator")
			}
		} else {
			t.Op = advance
			r := storetest.Request("restored-by-hand")
			r.KnownLaunch = int(number)
			if _, err := l.Start(a.Context(), r); !errors.Is(err, launchlog.ErrBehind) {
				a.Errorf("with launch %d known, after a restore: %v", number, err)
			}
			var last int
			last, err = l.Advance(a.Context(), int(number), "operator")
			t.Number = int64(last)
		}
		if err != nil {
			a.Fatal(err)
		}
		t.ended = now()
		done = append(done, &call{record: t.record, tries: []try{t}})
	}
	return done
}

// fromBackup puts a backup into the place of the database.
func fromBackup(a *arena) {
	restored(a, func() { a.shell(a.backup) }, func() { a.recreate(); a.shell(a.restore) })
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

// A PostgreSQL standby is promoted that lacks the newest rows.
func TestStandbyPromoted(t *testing.T) {
	primary := dbtest.Run(t, databases.Postgres)
	standby := standbyOf(t, primary)
	d, _, err := primary.Create(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	leader, follower := dbtest.Open(t, d), dbtest.Open(t, standby.DSN)
	a := &arena{T: t, kind: databases.Postgres, target: targets[databases.Postgres], dsn: d}
	restored(a, func() {
		// The standby has all so far, and hears of nothing more.
		var at string
		one(t, leader, &at, "SELECT pg_current_wal_lsn()::text")
		await(t, follower, "SELECT pg_last_wal_replay_lsn() >= '"+at+"'::pg_lsn")
		dbtest.Exec(t, follower, "ALTER SYSTEM SET primary_conninfo = ''",
			"SELECT pg_reload_conf()")
		await(t, follower, "SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
	}, func() {
		a.signal(primary, "KILL")
		dbtest.Exec(t, follower, "SELECT pg_promote()")
		await(t, follower, "SELECT NOT pg_is_in_recovery()")
		a.dsn = standby.DSN.WithDatabase(d.Database())
	})
}

// standbyOf starts a server that follows another one, and does not hold it up.
func standbyOf(t *testing.T, primary *databases.Server) *databases.Server {
	t.Helper()
	db := dbtest.Open(t, primary.DSN)
	_, err := primary.Exec(t.Context(), "sh", "-c",
		`echo "host replication all all scram-sha-256" >>"$PGDATA/pg_hba.conf"`)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "SELECT pg_reload_conf()")
	var address string // within the network of containers
	one(t, db, &address, "SELECT host(inet_server_addr())")
	s := dbtest.Run(t, databases.Postgres, "sh", "-c", fmt.Sprintf(`
		rm -rf "$PGDATA"/*
		pg_basebackup -d 'host=%s user=postgres password=idmint' -D "$PGDATA" -R -X stream -c fast || exit
		[ "$(id -u)" != 0 ] || exec docker-entrypoint.sh postgres
		exec postgres`, address))
	await(t, db, "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'async')")
	return s
}

func one(t *testing.T, db *sql.DB, to any, query string) {
	t.Helper()
	if err := db.QueryRow(query).Scan(to); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// await asks until the answer is yes.
func await(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	for yes := (sql.NullBool{}); !yes.Bool; time.Sleep(20 * time.Millisecond) {
		if err := db.QueryRow(query).Scan(&yes); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
}
