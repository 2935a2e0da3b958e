package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// On a terminal drawings are in colour, unless somebody wants none.
func TestTerminal(t *testing.T) {
	for variable, want := range map[string]bool{
		"TERM=xterm": true, "NO_COLOR=": true,
		"NO_COLOR=1": false, "TERM=dumb": false,
	} {
		s := newShell(t)
		s.env = append(s.env, "TERM=xterm", "NO_COLOR=", variable)
		ours, theirs := openTerminal(t)
		cmd := s.command("inspect", "8fhmi7mfls62jp64")
		cmd.Stdout = theirs
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		got := readLines(t, ours, strings.Count(bitDrawings["8fhmi7mfls62jp64"], "\n"))
		if coloured := strings.Contains(got, "\x1b["); coloured != want {
			t.Errorf("%s: in colour %v, want %v: %q", variable, coloured, want, got)
		}
		if plain := escapes.ReplaceAllString(got, ""); plain != bitDrawings["8fhmi7mfls62jp64"] {
			t.Errorf("%s:\n%s", variable, plain)
		}
	}
}

// A list fits the terminal, whatever names its rows have. Elsewhere the names are whole.
func TestListOnTerminal(t *testing.T) {
	s := newShell(t)
	s.must("migrate", "--db", "sqlite:app.db")
	// Each takes 255 bytes, the most of a name, or one less.
	long := func(c string) string { return strings.Repeat(c, 255/len(c)) }
	start := func(key, service, env, initiator string) {
		s.must("launch", "start", "--db", "sqlite:app.db", "--key", key, "--service", service,
			"--env", env, "--initiator", initiator)
	}
	start("1", "shop", "production", "ann")
	start("2", long("s"), long("é"), long("i"))
	for columns, want := range map[int]string{
		120: strings.Repeat("s", 17) + "…  " + strings.Repeat("é", 17) + "…",
		40:  strings.Repeat("s", 11) + "…  " + strings.Repeat("é", 11) + "…", // no less
		900: long("s") + "  " + long("é"),
		0:   long("s") + "  " + long("é"), // a terminal that has no width
	} {
		ours, theirs := openTerminal(t)
		size := &unix.Winsize{Col: uint16(columns), Row: 25}
		if err := unix.IoctlSetWinsize(int(theirs.Fd()), unix.TIOCSWINSZ, size); err != nil {
			t.Fatal(err)
		}
		cmd := s.command("launch", "list", "--db", "sqlite:app.db")
		cmd.Stdout = theirs
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		got := readLines(t, ours, 3)
		if !strings.Contains(got, want+"  ") || !strings.Contains(got, "shop") {
			t.Errorf("on %d columns:\n%s", columns, got)
		}
		for _, line := range lines(got) {
			if n := len([]rune(line)); columns >= 120 && n > columns {
				t.Errorf("on %d columns a line of %d: %s", columns, n, line)
			}
		}
	}
	for _, args := range [][]string{nil, {"--json"}} {
		got := s.must(append([]string{"launch", "list", "--db", "sqlite:app.db"}, args...)...)
		for _, c := range []string{"s", "é", "i"} {
			if !strings.Contains(got, long(c)) {
				t.Errorf("%v: a name is cut: %s", args, got)
			}
		}
	}
}

// readLines reads so many lines that were written to a terminal.
func readLines(t *testing.T, terminal *os.File, n int) (got string) {
	t.Helper()
	buf := make([]byte, 64<<10)
	for strings.Count(got, "\n") < n {
		n, err := terminal.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got += string(bytes.ReplaceAll(buf[:n], []byte("\r\n"), []byte("\n")))
	}
	return got
}

// openTerminal makes a terminal that nobody sees: what is written to theirs is read from ours.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	return ours, theirs
}
