package main

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
)

// ones gives the digit 1 for ever.
type ones struct{}

func (ones) Read(p []byte) (int, error) {
	return copy(p, bytes.Repeat([]byte("1"), len(p))), nil
}

// A line that is too long ends the command, behind the answers before it, without being read.
func TestLongLine(t *testing.T) {
	var out, errs bytes.Buffer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in := io.MultiReader(strings.NewReader("14150009200065\n"), ones{})
	status := run([]string{"inspect", "--scheme", "decimal", "--json"}, in, &out, &errs)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
	if status != statusBadInput || strings.Count(out.String(), "\n") != 1 ||
		!strings.Contains(errs.String(), `"… is too long: an input has at most 65536 bytes`) {
		t.Errorf("status %d, %s, %s", status, &out, &errs)
	}
}

// An input may be as long as the limit says, on a line as in an argument.
func TestLongestInput(t *testing.T) {
	s := inside(t)
	const parts = `{"counter":1415,"generator_id":92,"launch_id":65}`
	for size, want := range map[int]answer{
		longestInput:     {stdout: "14150009200065\n"},
		longestInput + 1: {status: statusBadInput},
	} {
		input := strings.Repeat(" ", size-len(parts)) + parts
		for _, got := range []answer{
			s.feed(input+"\n", "compose", "--scheme", "decimal"),
			s.feed(input, "compose", "--scheme", "decimal"),
			s.run("compose", "--scheme", "decimal", input),
		} {
			if got.status != want.status || got.stdout != want.stdout {
				t.Errorf("%d bytes: %v", size, got)
			}
		}
	}
}

// Lines may end as Windows ends them. A carriage return elsewhere is part of the input.
func TestLinesOfWindows(t *testing.T) {
	s := inside(t)
	got := s.feed("14150009200065\r\n10000000001\r\n", "inspect", "--scheme", "decimal", "--json")
	if got.status != 0 || got.stderr != "" || strings.Count(got.stdout, "\n") != 2 {
		t.Errorf("%v", got)
	}
	for _, bad := range []string{
		"14150009200065\r\r\n", "1415\r0009200065\r\n", "14150009200065\r",
	} {
		if got := s.feed(bad, "inspect", "--scheme", "decimal"); got.status != statusBadInput {
			t.Errorf("%q: %v", bad, got)
		}
	}
}
