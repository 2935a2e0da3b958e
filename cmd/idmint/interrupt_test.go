package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Ctrl-C, and a request to terminate, end an import from a pipe that hangs. What is stored stays,
// and it can be resumed.
func TestInterrupted(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		// fed before the pipe hangs; 20 of 25 and 20 or 30 of 30 are stored, in batches of ten
		for _, rows := range []int{0, 5, 25, 30} {
			s := newShell(t)
			args := []string{
				"import", "-", "--format", "csv", "--db", "sqlite:app.db", "--table",
				"t", "--batch", "10",
			}
			cmd := s.command(args...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			pipe, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(pipe, numbered(rows))
			stored := rows / 10 * 10
			s.until("rows are stored",
				func() bool { return s.exists("t") && s.count(`SELECT count(*) FROM t`) == stored })
			s.until("the import has its launch", func() bool {
				return s.exists("idmint_import") &&
					s.count(`SELECT count(*) FROM idmint_import WHERE launch_id IS NOT NULL`) == 1
			})
			time.Sleep(200 * time.Millisecond) // now it reads
			began := time.Now()
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if d := time.Since(began); d > soon {
				t.Errorf("%v: it took %v", signal, d)
			}
			want := fmt.Sprintf("idmint: created a new launch log in sqlite:app.db, at schema "+
				"version 3\nidmint: -: interrupted; %d rows are stored, and nothing of what follows: go on "+
				"with --resume\n", stored)
			if status := cmd.ProcessState.ExitCode(); status != statusInterrupted ||
				stderr.String() != want {
				t.Errorf("%v with %d rows: status %d, %q; want %q", signal, rows, status,
					stderr.String(), want)
			}
			s.checkNumbered(stored)
			if got := s.feed(numbered(50), append(args, "--resume")...); got.status != 0 {
				t.Errorf("resumed: %v", got)
			}
			s.checkNumbered(50)
		}
	}
}

// A further Ctrl-C ends even an import that cannot be stopped, here in a transaction that takes
// its time. One of the first second does not: timeout(1) sends two at once. Nothing is lost.
func TestInterruptedTwice(t *testing.T) {
	s := newShell(t)
	s.start("a")
	s.exec("app.db", `CREATE TABLE t (id INTEGER PRIMARY KEY, n TEXT, name TEXT);
		CREATE VIEW slow AS WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c
			WHERE x < 20000000) SELECT x FROM c;
		CREATE TRIGGER slow_rows AFTER INSERT ON t WHEN NEW.n + 0 >= 10 BEGIN SELECT max(x)
			FROM slow; END`)
	s.write("f.csv", numbered(300))
	cmd := s.command("import", "f.csv", "--db", "sqlite:app.db", "--table", "t", "--batch", "10")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.until("the first batch is stored",
		func() bool { return s.count(`SELECT count(*) FROM t`) == 10 })
	db := s.open("app.db")
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA busy_timeout = 0"); err != nil {
		t.Fatal(err)
	}
	s.until("the second one is being stored, which takes minutes", func() bool {
		for range 20 { // times that the lock is held in a row
			if _, err := db.Exec("BEGIN IMMEDIATE"); err == nil {
				_, _ = db.Exec("ROLLBACK")
				return false
			}
			time.Sleep(10 * time.Millisecond)
		}
		return true
	})
	began := time.Now()
	go func() {
		for cmd.Process.Signal(os.Interrupt) == nil {
			time.Sleep(100 * time.Millisecond)
		}
	}()
	_ = cmd.Wait()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended by itself: %v, %s", cmd.ProcessState, stderr.String())
	}
	if d := time.Since(began); d < sameRequest || d > soon {
		t.Errorf("it took %v", d)
	}
	if n := s.count(`SELECT count(*) FROM t`); n != 10 {
		t.Errorf("%d rows", n)
	}
	s.exec("app.db", `DROP TRIGGER slow_rows`)
	s.must("import", "f.csv", "--db", "sqlite:app.db", "--table", "t", "--resume")
	s.checkNumbered(300)
}

// Other commands wait, too: for a lock, which need not be let go.
func TestInterruptedWhileLocked(t *testing.T) {
	s := newShell(t)
	s.write("f.csv", numbered(3))
	id := s.start("a")
	db := s.open("app.db")
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	type process struct {
		*exec.Cmd
		stdout, stderr bytes.Buffer
	}
	var all []*process
	for _, args := range [][]string{
		{"import", "f.csv", "--table", "t"},
		{"new", "decimal", "--launch", id},
		{"launch", "start", "--service", "s", "--env", "e", "--key", "k", "--initiator", "i"},
		{"launch", "end", id, "--outcome", "failed"},
	} {
		p := &process{Cmd: s.command(append(args, "--db", "sqlite:app.db")...)}
		p.Stdout, p.Stderr = &p.stdout, &p.stderr
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	for _, p := range all {
		s.opens(p.Process.Pid, "app.db")
	}
	for _, p := range all {
		_ = p.Process.Signal(os.Interrupt)
		began := time.Now()
		_ = p.Wait()
		if p.ProcessState.ExitCode() != statusInterrupted ||
			!strings.Contains(p.stderr.String(), "interrupted") || p.stdout.Len() > 0 ||
			strings.Count(p.stderr.String(), "\n") != 1 {
			t.Errorf("%v: %v, %q", p.Args[1:], p.ProcessState, p.stderr.String())
		}
		if d := time.Since(began); d > soon {
			t.Errorf("%v: it took %v", p.Args[1:], d)
		}
	}
}

// interrupt starts a command, interrupts it a moment after its first output, and returns what it
// wrote, and how long it took to end.
func (s *shell) interrupt(args string) (string, time.Duration) {
	s.Helper()
	cmd := s.command(strings.Fields(args)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(out, first); err != nil {
		s.Fatalf("%s: %v, %q", args, err, stderr.String())
	}
	began := make(chan time.Time, 1)
	time.AfterFunc(rand.N(200*time.Millisecond), func() {
		began <- time.Now()
		_ = cmd.Process.Signal(os.Interrupt)
	})
	all, err := io.ReadAll(out)
	if err != nil {
		s.Fatal(err)
	}
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != statusInterrupted ||
		stderr.String() != "idmint: interrupted\n" {
		s.Errorf("%s: %v, %q", args, cmd.ProcessState, stderr.String())
	}
	return string(first) + string(all), time.Since(<-began)
}

// Ctrl-C ends a stream of IDs in a whole line, and what was minted was printed.
func TestInterruptedStream(t *testing.T) {
	all, _ := newShell(t).interrupt("new decimal --test -n 900000000")
	lines := strings.Split(all, "\n")
	n := len(lines) - 1
	if n == 0 || lines[n] != "" || lines[n-1] != fmt.Sprintf("%d0000000000", n) {
		t.Errorf("%d lines, the last ones %q", n, lines[max(0, n-2):])
	}
}

// So it does where minting waits for the clock, at 64 IDs per millisecond or for the next second,
// and for a counter.
func TestInterruptedClock(t *testing.T) {
	s := newShell(t)
	s.must("migrate", "--db", "sqlite:app.db")
	for _, args := range []string{
		"new eightbyte --generator 1 --cluster 2 --mode time -n 900000000",
		"new eightbyte --generator 1 --cluster 2 --mode spread --db sqlite:app.db -n 900000000",
		"new trace --node 3 -n 900000000",
		"new sequence --counter c --db sqlite:app.db -n 900000000",
	} {
		all, took := s.interrupt(args)
		// trace IDs may have a second to wait: that is not waited out
		if took > 500*time.Millisecond {
			t.Errorf("%s: it took %v", args, took)
		}
		out := strings.Split(all, "\n")
		n := len(out)
		if out[n-1] != "" ||
			n > 2 && len(out[n-2]) != len(out[0]) && !strings.Contains(args, "sequence") {
			t.Errorf("%s: it ends with %q", args, out[max(0, n-2):])
		}
	}
}

// Whoever reads the output may have enough of it, as head(1) has: no complaint, and no work for
// nobody.
func TestClosedOutput(t *testing.T) {
	s := newShell(t)
	s.write("ids", strings.Repeat("14150009200065\n", 500_000))
	for _, args := range []string{"new decimal --test -n 100000000", "inspect --json", "inspect"} {
		cmd := s.command(strings.Fields(args)...)
		ids, err := os.Open(s.dir + "/ids")
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd.Stdin, cmd.Stderr = ids, &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line == "" {
			t.Errorf("%s: %q, %v", args, line, err)
		}
		out.Close()
		began := time.Now()
		err = cmd.Wait()
		ids.Close()
		var exit *exec.ExitError
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !errors.As(err, &exit) || !ok || status.Signal() != syscall.SIGPIPE {
			t.Errorf("%s: ended with %v", args, err)
		}
		if d := time.Since(began); stderr.Len() > 0 || d > soon {
			t.Errorf("%s: %v, stderr %q", args, d, stderr.String())
		}
	}
}

// An output that takes no more for another reason is an error: the answer is not whole.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("SKIPPED: no /dev/full: %v", err)
	}
	defer full.Close()
	s := newShell(t)
	id := s.start("a")
	for _, args := range [][]string{
		{"new", "decimal", "--test"},
		{"new", "decimal", "--test", "-n", "100000"},
		{"inspect", "14150009200065"},
		{"launch", "list", "--db", "sqlite:app.db"},
		{"launch", "show", id, "--db", "sqlite:app.db"},
		{"--help"},
	} {
		cmd := s.command(args...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &stderr
		_ = cmd.Run()
		if cmd.ProcessState.ExitCode() != 1 ||
			!strings.Contains(stderr.String(), "no space left") ||
			strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%v: %v, %q", args, cmd.ProcessState, stderr.String())
		}
	}
}
