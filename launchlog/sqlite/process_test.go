package sqlite_test

import (
	"bufio"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
)

func TestMain(m *testing.M) {
	workers := storesuite.Workers(func(path string) (launchlog.Store, error) {
		return sqlite.Open(ctx, path)
	})
	maps.Copy(workers, map[string]func([]string) error{
		"mixed": mixedWorker, "ranges": rangesWorker, "hold": holdWorker,
		"attacked": attackedWorker, "integrity": integrityWorker,
	})
	subprocess.Main(m, workers)
}

func workerLog(path string) (*launchlog.Log, error) {
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return launchlog.New(store, nil)
}

// TestManyProcesses is the contention that read-then-write in deferred transactions does not
// survive.
func TestManyProcesses(t *testing.T) {
	storesuite.ManyProcesses(t, func(t *testing.T) (string, launchlog.Store) {
		path := newFile(t)
		return path, open(t, path)
	}, 8, size(300, 50))
}

// mixedWorker starts launches, some under keys that others use too, and claims numbers, until it is
// killed. What was acknowledged is written down at once, in a file of its own.
func mixedWorker(args []string) error {
	l, err := workerLog(args[0])
	if err != nil {
		return err
	}
	out, err := os.OpenFile(args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		key := fmt.Sprintf("shared-%d", rand.N(200))
		if n%8 == 0 {
			key = fmt.Sprintf("own-%d-%d", os.Getpid(), n)
		}
		launch, err := l.Start(ctx, storetest.Request(key))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "launch %s %d\n", key, launch.ID)
		for range 3 {
			c, err := l.Claim(ctx, launch.ID)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "claim %d %d\n", c.Launch, c.Generator)
		}
	}
}

// TestKills kills, and now and then stops, processes at random moments, and then audits the log
// against what they were told.
func TestKills(t *testing.T) {
	const processes = 8
	path := newFile(t)
	saw := endure(t, "mixed", path, processes, size(200, 40), size(2000, 200))
	launches, claims := map[string]string{}, map[string]bool{}
	repeats := 0
	for _, line := range saw.lines {
		kind, rest, _ := strings.Cut(line, " ")
		if kind == "claim" {
			if claims[rest] {
				repeats++
				t.Errorf("claim %s was handed out twice", rest)
			}
			claims[rest] = true
			continue
		}
		key, id, _ := strings.Cut(rest, " ")
		if other, ok := launches[key]; ok && other != id {
			t.Errorf("key %s is launch %s and %s", key, other, id)
		}
		launches[key] = id
	}
	rows := audit(t, path, launches, claims)
	t.Logf("%v: %d launches and %d claims acknowledged, %d launches and %d claims in the log, "+
		"%d repeats", saw, len(launches), len(claims), rows.launches, rows.claims, repeats)
	if len(claims) < size(1000, 100) {
		t.Errorf("only %d claims: the test shows too little", len(claims))
	}
	if lost := rows.claims - len(claims); lost > saw.processes {
		t.Errorf("%d claims were never acknowledged, more than the %d processes that died",
			lost, saw.processes)
	}
}

// endurance is what happened to processes, and what they wrote down.
type endurance struct {
	processes, stops int // all were killed in the end
	lines            []string
}

func (e endurance) String() string {
	return fmt.Sprintf("%d processes killed, %d stopped", e.processes, e.stops)
}

// endure runs processes of a worker on the log in path, each with a file of its own to write to. It
// kills them at random moments, and now and then stops them, until they have written at least so
// many lines. On a slow machine that takes more kills.
func endure(t *testing.T, worker, path string, processes, kills, lines int) (saw endurance) {
	t.Helper()
	dir := t.TempDir()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	begin := func() *exec.Cmd {
		cmd := subprocess.Command(worker, path, filepath.Join(dir, strconv.Itoa(saw.processes)))
		saw.processes++
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	written := func() (all []string) {
		for i := range saw.processes {
			text, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
			if err != nil && !os.IsNotExist(err) { // one that was killed early wrote nothing
				t.Fatal(err)
			}
			all = slices.AppendSeq(all, strings.Lines(string(text)))
		}
		return all
	}
	all := make([]*exec.Cmd, processes)
	for i := range all {
		all[i] = begin()
	}
	late := time.Now().Add(5 * time.Minute)
	for n := 0; n < kills || len(written()) < lines && time.Now().Before(late); n++ {
		time.Sleep(time.Duration(random.IntN(50)) * time.Millisecond)
		i := random.IntN(processes)
		// A process that stands still may hold SQLite's lock: the others wait, and nothing is lost.
		if random.IntN(10) == 0 {
			saw.stops++
			_ = all[i].Process.Signal(syscall.SIGSTOP)
			time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
			_ = all[i].Process.Signal(syscall.SIGCONT)
		}
		subprocess.Kill(t, all[i])
		all[i] = begin()
	}
	for _, cmd := range all {
		subprocess.Kill(t, cmd)
	}
	for _, line := range written() {
		saw.lines = append(saw.lines, strings.TrimSuffix(line, "\n"))
	}
	return saw
}

type counts struct{ launches, claims int }

// audit checks that what was acknowledged is in the log, that numbers have no gaps, and that each
// number taken has its record.
func audit(
	t *testing.T, path string, launches map[string]string, claims map[string]bool,
) (n counts) {
	t.Helper()
	db := openDB(t, path)
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity: %s, %v", verdict, err)
	}
	for key, id := range launches {
		var stored string
		err := db.QueryRow(`SELECT launch_id FROM idmint_launch
			WHERE namespace = 'default' AND idempotency_key = ?`, key).Scan(&stored)
		if err != nil || stored != id {
			t.Errorf("acknowledged launch %s of key %s: the log has %q, %v", id, key, stored, err)
		}
	}
	for claim := range claims {
		launch, generator, _ := strings.Cut(claim, " ")
		var one int
		err := db.QueryRow(`SELECT 1 FROM idmint_generator
			WHERE namespace = 'default' AND launch_id = ? AND generator_id = ?`,
			launch, generator).Scan(&one)
		if err != nil {
			t.Errorf("acknowledged claim %s: %v", claim, err)
		}
	}
	for query, want := range map[string]int{
		`SELECT count(*) FROM idmint_launch l WHERE next_generator_id <>
			(SELECT count(*) FROM idmint_generator g
				WHERE g.namespace = l.namespace AND g.launch_id = l.launch_id)`: 0,
		`SELECT last_launch_id - (SELECT count(*) FROM idmint_launch) FROM idmint_namespace`: 0,
		`SELECT (SELECT count(*) FROM idmint_launch) -
			(SELECT count(*) FROM idmint_launch_event WHERE kind = 'started')`: 0,
	} {
		var got int
		if err := db.QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d, %v", query, got, err)
		}
	}
	if err := db.QueryRow("SELECT count(*) FROM idmint_launch").Scan(&n.launches); err != nil {
		t.Error(err)
	}
	if err := db.QueryRow("SELECT count(*) FROM idmint_generator").Scan(&n.claims); err != nil {
		t.Error(err)
	}
	return n
}

// holdWorker takes SQLite's write lock and keeps it.
func holdWorker(args []string) error {
	db, err := sql.Open("sqlite3", sqlite.DSN(args[0], sqlite.Existing))
	if err != nil {
		return err
	}
	if _, err := db.Begin(); err != nil {
		return err
	}
	fmt.Println("held")
	select {}
}

// TestLocked: a call ends within its budget while another process holds the lock, and succeeds when
// that one has died.
func TestLocked(t *testing.T) {
	t.Parallel() // to others that wait as well
	path := newFile(t)
	l, err := launchlog.New(open(t, path), &launchlog.Options{Budget: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	holder := subprocess.Command("hold", path)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	store := open(t, path) // reading takes no lock, and neither does opening
	waiting := make(chan error, 1)
	go func() {
		_, err := l.Start(ctx, storetest.Request("a"))
		waiting <- err
	}()
	if _, err := store.Launches(ctx, "default", launchlog.Filter{Limit: 1}); err != nil {
		t.Errorf("reading, while others wait: %v", err)
	}
	late := <-waiting
	assertUnresolved(t, late)
	if !strings.Contains(late.Error(), "Ready") {
		t.Errorf("got %v, want advice for a transaction of this process", late)
	}
	if found, err := l.List(ctx, launchlog.Filter{}); err != nil || len(found) != 0 {
		t.Errorf("reading goes on: %v, %v", found, err)
	}
	subprocess.Kill(t, holder)
	if l, err = launchlog.New(store, nil); err != nil { // with time for a slow disk
		t.Fatal(err)
	}
	if launch, err := l.Start(ctx, storetest.Request("a")); err != nil || launch.ID != 1 {
		t.Errorf("after the holder died: %+v, %v", launch, err)
	}
}
