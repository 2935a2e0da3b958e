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
		buf := make([]byte, 64<<10)
		var got string
		for strings.Count(got, "\n") < strings.Count(bitDrawings["8fhmi7mfls62jp64"], "\n") {
			n, err := ours.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			got += string(bytes.ReplaceAll(buf[:n], []byte("\r\n"), []byte("\n")))
		}
		if coloured := strings.Contains(got, "\x1b["); coloured != want {
			t.Errorf("%s: in colour %v, want %v: %q", variable, coloured, want, got)
		}
		if plain := escapes.ReplaceAllString(got, ""); plain != bitDrawings["8fhmi7mfls62jp64"] {
			t.Errorf("%s:\n%s", variable, plain)
		}
	}
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
