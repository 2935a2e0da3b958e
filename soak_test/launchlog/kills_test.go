package launchlog_test

import (
	"fmt"
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

	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
)

// mixedWorker starts launches, some under keys that others use too, and claims numbers, until it is
// killed. What was acknowledged is written down at once, in a file of its own.
func mixedWorker(args []string) error {
	l, err := logIn(args[0])
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
	saw := endure(t, "mixed", path, processes, 200, 2000)
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
	for n := 0; n < kills || len(written()) < lines; n++ {
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

// rangesWorker reserves blocks, some of them above a floor, until it is killed. Each is written
// down before it would be used.
func rangesWorker(args []string) error {
	l, err := logIn(args[0])
	if err != nil {
		return err
	}
	c, err := l.Counter("c")
	if err != nil {
		return err
	}
	out, err := os.OpenFile(args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for floor := int64(0); ; {
		n := []int64{1, 10, 1000}[rand.N(3)]
		first, err := c.Reserve(ctx, floor, n)
		if err != nil {
			return err
		}
		if first < floor {
			return fmt.Errorf("numbers from %d on, for floor %d", first, floor)
		}
		if _, err := fmt.Fprintf(out, "%d %d\n", first, n); err != nil {
			return err
		}
		floor = max(0, first+rand.N[int64](3000)-2000)
	}
}

// TestCounterKills kills, and now and then stops, processes that reserve from one counter.
func TestCounterKills(t *testing.T) {
	path := newFile(t)
	saw := endure(t, "ranges", path, 6, 100, 1000)
	var ranges []storetest.Range
	numbers, highest := int64(0), int64(0)
	for _, line := range saw.lines {
		var r storetest.Range
		if _, err := fmt.Sscanf(line, "%d %d", &r.First, &r.N); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		ranges = append(ranges, r)
		numbers, highest = numbers+r.N, max(highest, r.First+r.N-1)
	}
	repeats := storetest.Repeats(ranges)
	if repeats != 0 {
		t.Errorf("%d of %d ranges have numbers of another", repeats, len(ranges))
	}
	l, err := logIn(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.Counter("c")
	if err != nil {
		t.Fatal(err)
	}
	last, err := c.Last(ctx)
	if err != nil || last < highest {
		t.Errorf("number %d was handed out, and the counter is at %d, %v", highest, last, err)
	}
	if first, err := c.Reserve(ctx, 0, 1); err != nil || first != last+1 {
		t.Errorf("the next number after %d: %d, %v", last, first, err)
	}
	t.Logf("%v: %d ranges of %d numbers, up to %d: %d repeats",
		saw, len(ranges), numbers, highest, repeats)
}

// A backup has all that was acknowledged before it began, while this process and others go on. The
// locks of this process are not lost by it: no number comes twice, and none is missing.
func TestBackup(t *testing.T) {
	path, dir := newFile(t), t.TempDir()
	l, err := logIn(path)
	if err != nil {
		t.Fatal(err)
	}
	launches, claims := map[string]string{}, map[string]bool{}
	work := func(round int) {
		t.Helper()
		key := fmt.Sprint("round ", round)
		launch, err := l.Start(ctx, storetest.Request(key))
		if err != nil {
			t.Fatal(err)
		}
		launches[key] = fmt.Sprint(launch.ID)
		for range 20 {
			c, err := l.Claim(ctx, launch.ID)
			if err != nil {
				t.Fatal(err)
			}
			claim := fmt.Sprint(c.Launch, " ", c.Generator)
			if claims[claim] {
				t.Errorf("claim %s was handed out twice", claim)
			}
			claims[claim] = true
		}
	}
	var others []*exec.Cmd
	for i := range 2 {
		cmd := subprocess.Command("mixed", path, filepath.Join(dir, fmt.Sprint("told ", i)))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		others = append(others, cmd)
	}
	for round := range 5 {
		work(round)
		to := filepath.Join(dir, fmt.Sprintf("backup ü?#%d.db", round))
		if err := sqlite.Backup(ctx, path, to); err != nil {
			t.Fatal(err)
		}
		rows := audit(t, to, launches, claims)
		t.Logf("backup %d: %d launches, %d claims", round, rows.launches, rows.claims)
	}
	work(5)
	for i, cmd := range others {
		subprocess.Kill(t, cmd)
		told, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("told ", i)))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(told)) {
			if claim, ok := strings.CutPrefix(strings.TrimSpace(line), "claim "); ok {
				if claims[claim] {
					t.Errorf("claim %s was handed out twice", claim)
				}
				claims[claim] = true
			}
		}
	}
	audit(t, path, launches, claims)
}
