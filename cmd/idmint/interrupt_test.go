package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// Ctrl-C, and a request to terminate, end an import from a pipe that hangs. What is stored stays,
// and it can be resumed.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		signal os.Signal
		rows   int // fed before the pipe hangs; in batches of ten, 20 of 25 are stored
	}{
		{os.Interrupt, 25}, {syscall.SIGTERM, 30},
	} {
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
		fmt.Fprint(pipe, numbered(test.rows))
		stored := test.rows / 10 * 10
		s.until("it reads the next batch",
			func() bool { return s.exists("t") && s.count(`SELECT count(*) FROM t`) == stored })
		if err := cmd.Process.Signal(test.signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		want := fmt.Sprintf("idmint: created a new launch log in sqlite:app.db, at schema "+
			"version 7\nidmint: -: interrupted; %d rows are stored, and nothing after them: continue "+
			"with --resume\n", stored)
		if status := cmd.ProcessState.ExitCode(); status != statusInterrupted ||
			settled(&stderr) != want {
			t.Errorf("%v with %d rows: status %d, %q; want %q", test.signal, test.rows, status,
				settled(&stderr), want)
		}
		s.checkNumbered(stored)
		if got := s.feed(numbered(50), append(args, "--resume")...); got.status != 0 {
			t.Errorf("resumed: %v", got)
		}
		s.checkNumbered(50)
	}
}

// stuckVariable has the test program be a command that is asked to end, says so, and does not end.
const stuckVariable = "IDMINT_TEST_STUCK"

func stuck() {
	c := new(cobra.Command)
	c.SetContext(context.Background())
	ctx, cancel := interruptible(c)
	defer cancel()
	fmt.Println("ready")
	<-ctx.Done()
	fmt.Println(context.Cause(ctx))
	time.Sleep(processTime)
}

// A further Ctrl-C ends even what cannot be stopped. One of the first second does not: timeout(1)
// sends two at once.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), stuckVariable+"=1")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	expect := func(want string) {
		t.Helper()
		if line, err := out.ReadString('\n'); err != nil || line != want+"\n" {
			t.Errorf("%q, %v; want %q", line, err, want)
		}
	}
	expect("ready")
	began := time.Now()
	for range 2 {
		_ = cmd.Process.Signal(os.Interrupt)
	}
	expect("interrupted")
	go func() {
		for cmd.Process.Signal(os.Interrupt) == nil {
			time.Sleep(100 * time.Millisecond)
		}
	}()
	_ = cmd.Wait()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended by itself: %v", cmd.ProcessState)
	}
	if d := time.Since(began); d < sameRequest {
		t.Errorf("it took %v", d)
	}
}

// Other commands wait, too: for a lock, which need not be let go.
func TestInterruptedWhileLocked(t *testing.T) {
	t.Parallel()
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
		p := &process{Cmd: s.command(append(args, "--db", "sqlite:app.db", "--wait", "1h")...)}
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
		_ = p.Wait()
		if p.ProcessState.ExitCode() != statusInterrupted ||
			!strings.Contains(settled(&p.stderr), "interrupted") || p.stdout.Len() > 0 ||
			strings.Count(settled(&p.stderr), "\n") != 1 {
			t.Errorf("%v: %v, %q", p.Args[1:], p.ProcessState, settled(&p.stderr))
		}
	}
}

// interrupt starts a command, interrupts it after its first output, and returns what it wrote.
func (s *shell) interrupt(args string) string {
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
	_ = cmd.Process.Signal(os.Interrupt)
	all, err := io.ReadAll(out)
	if err != nil {
		s.Fatal(err)
	}
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != statusInterrupted ||
		settled(&stderr) != "idmint: interrupted\n" {
		s.Errorf("%s: %v, %q", args, cmd.ProcessState, settled(&stderr))
	}
	return string(first) + string(all)
}

// Ctrl-C ends a stream of IDs in a whole line, and what was minted was printed.
func TestInterruptedStream(t *testing.T) {
	all := newShell(t).interrupt("new decimal --test -n 900000000")
	lines := strings.Split(all, "\n")
	n := len(lines) - 1
	if n == 0 || lines[n] != "" || lines[n-1] != fmt.Sprintf("%d0000000000", n) {
		t.Errorf("%d lines, the last ones %q", n, lines[max(0, n-2):])
	}
}

// Whoever reads the output may have enough of it, as head(1) has: no complaint, and no work for
// nobody.
func TestClosedOutput(t *testing.T) {
	s := newShell(t)
	s.write("ids", strings.Repeat("14150009200065\n", 500_000))
	for _, args := range []string{"new decimal --test -n 900000000", "inspect --json", "inspect"} {
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
		err = cmd.Wait()
		ids.Close()
		var exit *exec.ExitError
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !errors.As(err, &exit) || !ok || status.Signal() != syscall.SIGPIPE {
			t.Errorf("%s: ended with %v", args, err)
		}
		if stderr.Len() > 0 {
			t.Errorf("%s: stderr %q", args, stderr.String())
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
		said := settled(&stderr)
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said, "no space left") ||
			strings.Count(said, "\n") != 1 {
			t.Errorf("%v: %v, %q", args, cmd.ProcessState, said)
		}
	}
}
