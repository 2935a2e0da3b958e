// Package upgrades_test upgrades a launch log and its apps without a stop: two builds on one log.
package upgrades_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/migrations"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// builds are the worker of the commit before the latest version of the tables, and that of today.
func builds(t *testing.T) (before, today string) {
	t.Helper()
	const root = "../.."
	command := func(folder, name string, args ...string) []byte {
		t.Helper()
		cmd := exec.Command(name, args...)
		var complaint bytes.Buffer
		cmd.Dir, cmd.Stderr = folder, &complaint
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, &complaint)
		}
		return out
	}
	build := func(tree, name string) string {
		path := filepath.Join(t.TempDir(), name)
		command(tree, "go", "build", "-buildvcs=false", "-o", path, "./soak_test/upgrades/worker")
		return path
	}
	git := func(args ...string) string {
		return strings.TrimSpace(string(command(root, "git",
			append([]string{"-c", "safe.directory=*"}, args...)...)))
	}
	if git("rev-parse", "--is-shallow-repository") != "false" {
		t.Fatal("the build before is made of git's history: git fetch --unshallow")
	}
	latest := fmt.Sprintf("migrations/sqlite/%04d_*.up.sql", migrations.Latest(migrations.SQLite))
	commit := git("log", "-1", "--diff-filter=A", "--format=%H", "--", latest) + "^"
	tree := t.TempDir()
	archive := filepath.Join(t.TempDir(), "tree.tar")
	git("archive", "-o", archive, commit)
	command(tree, "tar", "xf", archive)
	const worker = "soak_test/upgrades/worker"
	if _, err := os.Stat(filepath.Join(tree, worker)); err != nil { // older than this test
		if err := os.CopyFS(filepath.Join(tree, worker), os.DirFS("worker")); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("before: %s", git("log", "-1", "--format=%h %s", commit))
	return build(tree, "before"), build(root, "today")
}

// A fleet is the workers of a log. What they print is gathered.
type fleet struct {
	*testing.T
	log    string // the DSN
	mu     sync.Mutex
	minted map[string]bool // guarded by mu
}

type worker struct {
	build string
	cmd   *exec.Cmd
	input io.Closer
	lines chan string // what it prints, a line at a time, until it ends
}

// start starts a build, and returns when it mints.
func (f *fleet) start(build string) *worker {
	f.Helper()
	cmd := exec.Command(build, "run", f.log)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		f.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		f.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.Fatal(err)
	}
	w := &worker{build, cmd, in, make(chan string, 1)}
	f.Cleanup(func() { cmd.Process.Kill() })
	go func() {
		defer close(w.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil { // a worker that was killed leaves half a line
				return
			}
			w.lines <- line
		}
	}()
	f.progress(w)
	return w
}

// take takes a line, and reports whether there was one.
func (f *fleet) take(w *worker) (string, bool) {
	line, ok := <-w.lines
	if ok {
		if strings.HasPrefix(line, "error:") {
			f.Errorf("%s: %s", filepath.Base(w.build), line)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.minted[line] {
			f.Errorf("minted twice: %s", line)
		}
		f.minted[line] = true
	}
	return line, ok
}

// progress returns when each worker has started anew five times.
func (f *fleet) progress(workers ...*worker) {
	f.Helper()
	var group sync.WaitGroup
	for _, w := range workers {
		group.Go(func() {
			for rounds := 0; rounds < 5; {
				line, ok := f.take(w)
				if !ok {
					f.Errorf("%s ended", filepath.Base(w.build))
					return
				}
				if strings.HasPrefix(line, "number ") {
					rounds++
				}
			}
		})
	}
	group.Wait()
	if f.Failed() {
		f.FailNow()
	}
}

// stop ends a worker, or kills it.
func (f *fleet) stop(w *worker, kill bool) {
	if kill {
		w.cmd.Process.Kill()
	} else {
		w.input.Close()
	}
	for ok := true; ok; {
		_, ok = f.take(w)
	}
	if err := w.cmd.Wait(); err != nil && !kill {
		f.Error(err)
	}
}

// replace replaces workers one by one, while the others mint.
func (f *fleet) replace(workers []*worker, build string) {
	for i, w := range workers {
		f.stop(w, i%2 == 1)
		workers[i] = f.start(build)
		f.progress(workers...)
	}
}

func (f *fleet) migrate(build string, from, to int) {
	f.Helper()
	out, err := exec.Command(build, "migrate", f.log).CombinedOutput()
	if want := fmt.Sprintln(from, to); string(out) != want || err != nil {
		f.Fatalf("%s migrates: %s, %v, want %s", filepath.Base(build), out, err, want)
	}
}

// TestUpgrade upgrades tables under apps of the release before, brings the apps to today's, back, and
// forward again. At each moment apps mint, and start. None fails, and nothing is minted twice.
func TestUpgrade(t *testing.T) {
	before, today := builds(t)
	for _, kind := range []databases.Kind{
		"SQLite", databases.Postgres, databases.MariaDB, databases.Etcd, databases.ZooKeeper,
		databases.Cassandra,
	} {
		t.Run(string(kind), func(t *testing.T) {
			f := &fleet{T: t, minted: map[string]bool{}}
			older, latest := 1, 1 // etcd, ZooKeeper and Cassandra have had one version
			switch kind {
			case "SQLite":
				f.log = "sqlite:" + filepath.Join(t.TempDir(), "log.db")
				latest = migrations.Latest(dialect.SQLite)
			case databases.Postgres, databases.MariaDB:
				latest = migrations.Latest(dialect.Postgres)
			}
			if latest > 1 {
				older = latest - 1
			}
			if f.log == "" {
				f.log = dbtest.New(t, kind).URL()
			}
			f.migrate(before, 0, older)
			workers := []*worker{f.start(before), f.start(before), f.start(before)}
			f.progress(workers...)
			if older != latest { // tables first
				out, err := exec.Command(today, "run", f.log).CombinedOutput()
				if err == nil || !strings.Contains(string(out), "idmint migrate") {
					t.Errorf("today's build before the upgrade: %s, %v", out, err)
				}
			}
			f.migrate(today, older, latest)
			f.progress(workers...)
			f.migrate(before, latest, latest) // a pipeline that was not upgraded yet
			f.replace(workers, today)
			f.replace(workers, before)
			f.replace(workers, today)
			for _, w := range workers {
				f.stop(w, false)
			}
			t.Logf("%d IDs and numbers, 0 twice", len(f.minted))
		})
	}
}
