// Package faults_test injects faults into real databases, and into the clients of launch logs
// there. Then it audits the logs. Worker processes write down what they are about to do and what
// they were told. The audit compares that with the tables.
package faults_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/smalldisk"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
)

func TestMain(m *testing.M) {
	subprocess.Work(map[string]func([]string) error{"work": work})
	dbtest.Main(m)
}

// An arena is a launch log with a fleet at work on it.
type arena struct {
	*testing.T
	kind databases.Kind
	target
	server  *databases.Server  // nil unless it may be killed
	cluster *databases.Cluster // of a store of keys and values, or nil
	drop    func(context.Context) error
	dsn     dsn.DSN
	db      *sql.DB // past stores and proxies; nil where there is no server of SQL
	fleet   *fleet
	proxy   *proxy
	until   time.Time
	least   int // how many calls are to be acknowledged
}

var length = flag.Duration("length", 3*time.Second, "how long a fault is injected, at least")

// rest waits at least a quarter of d, up to all of it, and reports whether the workers are to go
// on: until the time is over and there is enough to audit.
func (a *arena) rest(d time.Duration) bool {
	time.Sleep(d/4 + rand.N(d*3/4))
	return a.more() || !a.enough()
}

// more reports whether there is time left for another fault.
func (a *arena) more() bool { return time.Now().Before(a.until) }

// enough reports whether there is enough to audit. It takes long on a slow machine.
func (a *arena) enough() bool {
	return a.proxy.enough() && remember(a.T, a.fleet.dir).attempts[acknowledged] >= a.least
}

// least is how many calls are to be acknowledged while a fault is injected.
const least = 100

// late is how much longer than its limit a call may take. It is minutes, because the machine may
// be busy and processes are stopped: a call that never ends is found all the same.
const late = 5 * time.Minute

// A fault is a test: what is done while a fleet is at work.
type fault struct {
	name   string
	budget time.Duration // of the fleet's calls
	hurry  float64       // the share of calls whose context ends soon
	server bool          // it takes a server
	file   bool          // it takes a file
	pooled bool          // a connection pooler is between, for the databases that have one
	spoil  odds          // of a proxy between
	// clients are told of the fault, by target.full, and do not try again
	told  bool
	kills bool // the server, at least for want of a disk
	// the fault, over and over, until the time is over; it returns what it did
	inflict func(*arena) string
}

var faults = []fault{
	{name: "Contention", budget: ample, inflict: wait},
	{name: "Hurry", budget: ample, hurry: 0.3, inflict: wait},
	{name: "ClientsKilled", budget: ample, hurry: 0.1, inflict: killClients},
	{name: "ClientsStopped", budget: 3 * time.Second, hurry: 0.1, inflict: stopClients},
	{name: "Pooled", budget: ample, hurry: 0.1, pooled: true, inflict: killClients},
	{name: "FilesRemoved", budget: ample, file: true, inflict: removeFiles},
	{name: "SessionsEnded", budget: ample, server: true, inflict: endSessions},
	{
		name: "LostAnswers", budget: ample, server: true,
		spoil: odds{
			commit: 0.1, other: 0.005, ways: []spoiling{lostRequest, lostAnswer, lostAnswer},
		},
		inflict: wait,
	},
	{
		name: "LateAnswers", budget: 1500 * time.Millisecond, hurry: 0.05, server: true,
		spoil: odds{
			commit: 0.05, other: 0.001, ways: []spoiling{lateRequest, lateAnswer},
			most: 2500 * time.Millisecond,
		}, inflict: wait,
	},
	{
		name: "NoAnswers", budget: 3 * time.Second, server: true,
		spoil: odds{commit: 0.02, other: 0.002, ways: []spoiling{noAnswer}}, inflict: wait,
	},
}

// Faults of a server need one of their own.
var serverFaults = []fault{
	{name: "ServerKilled", budget: ample, kills: true, inflict: killServer},
	{name: "ServerStopped", budget: 1500 * time.Millisecond, inflict: stopServer},
}

func TestFaults(t *testing.T) {
	for _, kind := range []databases.Kind{SQLite, databases.Postgres, databases.MariaDB} {
		target := targets[kind]
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			for _, f := range faults {
				if f.pooled && target.pooler == nil ||
					f.server && kind == SQLite || f.file && kind != SQLite {
					continue
				}
				t.Run(f.name, func(t *testing.T) {
					a := &arena{T: t, kind: kind, target: target}
					if kind == SQLite {
						a.dsn = dsn.DSN{Kind: dsn.SQLite, Path: filepath.Join(t.TempDir(), "log.db")}
					} else {
						a.dsn = dbtest.New(t, kind)
					}
					f.test(a)
				})
			}
		})
	}
}

func TestServerFaults(t *testing.T) {
	for _, kind := range []databases.Kind{databases.Postgres, databases.MariaDB} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			server := dbtest.Run(t, kind, targets[kind].args...)
			for _, f := range serverFaults {
				t.Run(f.name, func(t *testing.T) { f.test(newArena(t, server)) })
			}
			t.Run("Restored", func(t *testing.T) { fromBackup(newArena(t, server)) })
			t.Run("OlderCopy", func(t *testing.T) { olderServer(newArena(t, server)) })
		})
	}
}

// TestDiskFull has a server run out of disk, again and again, with its data and its log on a disk
// of 512 MB.
func TestDiskFull(t *testing.T) {
	for kind, target := range targets {
		if kind == SQLite { // which package sqlite tests
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			disk := smalldisk.Mount(t, 512<<20)
			// the server is another user
			err := errors.Join(os.Remove(smalldisk.Ballast(disk)), os.Chmod(disk, 0o777))
			if err != nil {
				t.Fatal(err)
			}
			args := append(slices.Clone(target.args), target.small...)
			a := newArena(t, dbtest.RunOn(t, kind, disk, args...))
			fault{
				name: "DiskFull", budget: ample, told: true, kills: true,
				inflict: func(a *arena) string { return fillDisk(a, disk) },
			}.test(a)
		})
	}
}

// newArena makes a database on a server that may be killed.
func newArena(t *testing.T, server *databases.Server) *arena {
	t.Helper()
	d, drop, err := server.Create(t.Context(), fmt.Sprint("t_", rand.Uint64()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &arena{
		T: t, kind: server.Kind, target: targets[server.Kind], server: server, drop: drop, dsn: d,
	}
}

// openDB opens the database and makes the tables, or prepares the store.
func (a *arena) openDB() {
	a.Helper()
	a.proxy, a.least = &proxy{}, least
	if err := a.prepare(a.Context(), a.dsn); err != nil {
		a.Fatal(err)
	}
	if a.sessions != "" {
		a.db = dbtest.Open(a.T, a.dsn)
	}
}

func (f fault) test(a *arena) {
	a.openDB()
	o := orders{
		Kind: a.kind, Source: a.dsn.URL(), Keys: f.name, Budget: f.budget,
		Hurry: f.hurry, Advance: true,
	}
	if a.dsn.IsKeyValue() { // the nodes need the processors as well
		o.Processes = 4
	}
	if a.kind == databases.Cassandra { // all the more where one of them starts
		o.Pause = 400 * time.Millisecond
	}
	if f.pooled {
		o.Source = a.pooler(a.T, a.dsn).URL()
	}
	if f.spoil.ways != nil {
		var address string
		a.proxy, address = newProxy(a.T, a.dsn.Host(), f.spoil)
		o.Source = a.dsn.WithHost(address).URL()
	}
	a.fleet = newFleet(a.T, o)
	began := time.Now()
	a.until = began.Add(*length)
	did := f.inflict(a)
	a.fleet.end()
	h := remember(a.T, a.fleet.dir)
	h.fleeting = f.kills && a.early
	told := 0
	for _, c := range h.calls {
		if f.told && (c.Event == failed || c.Event == unresolved) &&
			strings.Contains(c.Error, a.full) {
			c.told = true
			told++
		}
	}
	checked := judge(h, load(a))
	a.report(checked.complaints)
	ids, repeats := a.minted()
	if spoilt := a.proxy.spoilt(); len(spoilt) != 0 {
		did = "a proxy: " + inWords(spoilt)
	}
	found := result{
		server: a.version(), fault: f.name, did: did, ids: ids, repeats: repeats,
		ops: checked.steps, took: time.Since(began), failed: a.Failed(),
	}
	found.count(h)
	a.Logf("%s, %d histories, %d calls told of the fault: %+v", a.kind, checked.lines, told, found)
	if err := found.add(); err != nil {
		a.Error(err)
	}
}

// minted counts the IDs that the fleet minted, and reports repeats.
func (a *arena) minted() (ids, repeats int) {
	a.Helper()
	ids, repeats, some := minted(a.T, a.fleet.dir)
	if repeats != 0 {
		a.Errorf("%d of %d IDs are repeats: %q", repeats, ids, some)
	}
	return ids, repeats
}

// version is what the server calls itself, and how many there are.
func (a *arena) version() string {
	name, more := "", ""
	switch {
	case a.cluster != nil:
		name, more = a.cluster.Nodes[0].Version, ", three nodes"
	case a.server != nil:
		name = a.server.Version
	case a.kind == SQLite:
		name, _, _ = sqlite3.Version()
		name = string(SQLite) + " " + name
	default:
		name = dbtest.Server(a.T, a.kind).Version
	}
	name, _, _ = strings.Cut(name, " (") // where it came from
	return name + more
}

// report reports the first complaints.
func (a *arena) report(complaints []string) {
	a.Helper()
	for i, c := range complaints {
		if i == 20 {
			a.Errorf("… and %d more", len(complaints)-i)
			break
		}
		a.Error(c)
	}
}

// wait leaves it to the proxy and the workers themselves.
func wait(a *arena) string {
	if !a.more() {
		a.until = time.Now() // the server was slow to come back
	}
	for a.rest(100 * time.Millisecond) {
	}
	return "nothing killed"
}

// killClients kills clients, one after the other, and starts others.
func killClients(a *arena) string {
	for a.rest(300 * time.Millisecond) {
		if a.more() {
			a.fleet.kill()
		}
	}
	return "clients killed"
}

// stopClients stops clients for a while, several at a time.
func stopClients(a *arena) string {
	var group sync.WaitGroup
	for a.rest(300 * time.Millisecond) {
		if a.more() {
			group.Go(a.fleet.stop)
		}
	}
	group.Wait()
	return fmt.Sprintf("clients stopped for up to %v", longestStop)
}

// endSessions has the server end sessions, or their statements, while they are in use.
func endSessions(a *arena) string {
	count := map[string]int{}
	few := func(how string) bool { return count[how] < 5 }
	for a.rest(20*time.Millisecond) || slices.ContainsFunc(a.ends, few) {
		var id int
		how := a.ends[rand.IntN(len(a.ends))]
		err := a.db.QueryRowContext(a.Context(), a.sessions+" LIMIT 1").Scan(&id)
		if err == nil {
			_, err = a.db.ExecContext(a.Context(), fmt.Sprintf(how, id))
		}
		if err == nil {
			count[how]++
		}
	}
	return "sessions ended: " + strings.ReplaceAll(inWords(count), "%d", "ID")
}

// inWords says how often what was done.
func inWords(times map[string]int) string {
	var all []string
	for _, what := range slices.Sorted(maps.Keys(times)) {
		all = append(all, fmt.Sprintf("%d × %s", times[what], what))
	}
	return strings.Join(all, ", ")
}

// removeFiles removes the files beside the log's, such as the journal of a commit under way.
func removeFiles(a *arena) string {
	removed := 0
	for a.more() || removed < 100 {
		time.Sleep(rand.N(10 * time.Millisecond))
		for _, end := range []string{"-journal", "-wal", "-shm"} {
			if os.Remove(a.dsn.Path+end) == nil {
				removed++
			}
		}
	}
	wait(a)
	return fmt.Sprintf("%d files removed beside the log's", removed)
}

// killServer kills the server in the middle of what it does, and starts it again.
func killServer(a *arena) string {
	kills := 0
	for ; kills < 3 || a.more(); kills++ {
		a.rest(2 * time.Second)
		if err := a.server.Signal(a.Context(), "KILL"); err != nil {
			a.Fatal(err)
		}
		if err := a.server.Restart(a.Context()); err != nil {
			a.Fatal(err)
		}
	}
	wait(a)
	return fmt.Sprintf("the server killed %d times", kills)
}

// fillDisk leaves the server no room for a while. It starts again what ended for that.
func fillDisk(a *arena, disk string) string {
	piece := make([]byte, 1<<20)
	met := func() bool {
		seen := remember(a.T, a.fleet.dir).attempts
		return seen[refused]+seen[doubtful] > 0
	}
	fills, ended, least := 0, 0, 3
	if a.db == nil { // each ends the server, which is slow to start again
		least = 1
	}
	for ; fills < least || a.more() || !met(); fills++ {
		a.rest(time.Second)
		ballast, err := os.Create(smalldisk.Ballast(disk))
		if err != nil {
			a.Fatal(err)
		}
		for err == nil {
			_, err = ballast.Write(piece)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			a.Fatal(err)
		}
		limited, cancel := context.WithTimeout(a.Context(), time.Second)
		for ; limited.Err() == nil; time.Sleep(100 * time.Millisecond) {
			if a.db != nil {
				_, _ = a.db.ExecContext(limited, a.enlarge)
			}
		}
		cancel()
		if err := errors.Join(ballast.Close(), os.Remove(ballast.Name())); err != nil {
			a.Fatal(err)
		}
		for tries := 1; a.ping() != nil; tries++ { // it may be about to end
			running := a.running()
			if running && a.db == nil && tries > 10 { // and does nothing more
				a.signal(a.server, "KILL")
				running = false
			}
			if !running {
				ended++
				if err := a.server.Restart(a.Context()); err != nil {
					a.Fatal(err)
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	wait(a)
	return fmt.Sprintf("the disk full %d times, of which the server ended %d times", fills, ended)
}

func (a *arena) running() bool {
	a.Helper()
	running, err := a.server.Running(a.Context())
	if err != nil {
		a.Fatal(err)
	}
	return running
}

func (a *arena) ping() error {
	ctx, cancel := context.WithTimeout(a.Context(), 10*time.Second)
	defer cancel()
	if a.db != nil {
		return a.db.PingContext(ctx)
	}
	s, err := a.open(ctx, a.dsn)
	if err != nil {
		return err
	}
	_, err = s.ReserveNumbers(ctx, launchlog.CounterRef{Namespace: "ping", Name: "a"}, 0, 1)
	return errors.Join(err, s.Close())
}

// stopServer stops all processes of the server for longer than the budget, and has them go on.
func stopServer(a *arena) string {
	signal := func(name string) {
		// all but the first
		_, err := a.server.Exec(a.Context(), "sh", "-c", "kill -"+name+" -1 || true")
		if err != nil {
			a.Fatal(err)
		}
		if err := a.server.Signal(a.Context(), name); err != nil {
			a.Fatal(err)
		}
	}
	stops := 0
	for ; stops < 2 || a.more(); stops++ {
		a.rest(time.Second)
		signal("STOP")
		time.Sleep(2 * a.fleet.orders.Budget)
		signal("CONT")
	}
	wait(a)
	return fmt.Sprintf("the server stopped %d times for %v", stops, 2*a.fleet.orders.Budget)
}
