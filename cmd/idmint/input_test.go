package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// A repeated reader gives letters as long as bytes are left.
type repeated struct {
	letters string
	left    int64
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := 0
	for p = p[:min(int64(len(p)), r.left)]; n < len(p); {
		n += copy(p[n:], r.letters)
	}
	r.left -= int64(n)
	return n, nil
}

// A line of 64 MiB is refused in the memory of a short one, and the next line is answered.
func TestLongLine(t *testing.T) {
	t.Setenv(keyVariable, "00112233445566778899aabbccddeeff")
	const parts = `{"counter":1415,"generator_id":92,"launch_id":65}`
	for _, test := range []struct {
		args      string
		good, out string
	}{
		{
			"inspect --scheme decimal --json", "14150009200065",
			`{"scheme":"decimal","id":"14150009200065","counter":1415,"generator_id":92,` +
				`"launch_id":65}` + "\n",
		},
		{"inspect --scheme decimal", "14150009200065", ""},
		{"compose --scheme decimal", parts, "14150009200065\n"},
		{"compose --scheme decimal --json", parts, "14150009200065\n"},
		{"scramble --scheme decimal", "14150009200065", ""},
		{"unscramble", "14150009200065", ""},
	} {
		for i, end := range []string{"\n" + test.good + "\n", "\n" + test.good, "\n", ""} {
			size := int64(64) << 20
			if i > 0 {
				size = longestInput + 1
			}
			var in io.Reader = io.MultiReader(strings.NewReader(test.good+"\n"),
				&repeated{strings.Repeat("1", 4096), size}, strings.NewReader(end))
			var out, errs bytes.Buffer
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			status := run(strings.Fields(test.args), in, &out, &errs)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 4<<20 {
				t.Errorf("%s: %d bytes were allocated", test.args, n)
			}
			want := fmt.Sprintf(`"… has %d bytes: an input has at most 65536`, size)
			refusal := errs.String()
			if strings.Contains(test.args, "--json") {
				var refused struct{ Input, Error string }
				for _, line := range lines(out.String()) {
					if strings.Contains(line, "error") {
						err := json.Unmarshal([]byte(line), &refused)
						if err != nil || refused.Input != strings.Repeat("1", 256)+"…" {
							t.Errorf("%s: %s, %v", test.args, line, err)
						}
						out = *bytes.NewBufferString(
							strings.Replace(out.String(), line+"\n", "", 1))
					}
				}
				refusal = refused.Error
			}
			if status != statusBadInput || !strings.Contains(refusal, want) || len(refusal) > 200 {
				t.Errorf("%s: status %d, %s", test.args, status, refusal)
			}
			answers := strings.Count("\n"+test.good+end, test.good)
			n := len(out.String())
			if n == 0 || test.out != "" && out.String() != strings.Repeat(test.out, answers) {
				t.Errorf("%s: %q for %d lines", test.args, out.String(), answers)
			}
		}
	}
}

// An input may be as long as the limit says, on a line as in an argument.
func TestLongestInput(t *testing.T) {
	s := inside(t)
	spaces := func(n int) string {
		const parts = `{"counter":1415,"generator_id":92,"launch_id":65}`
		return strings.Repeat(" ", n-len(parts)) + parts
	}
	for _, end := range []string{"\n", ""} {
		got := s.feed(spaces(longestInput)+end, "compose", "--scheme", "decimal")
		if got.status != 0 || got.stdout != "14150009200065\n" {
			t.Errorf("a line: %v", got)
		}
		got = s.feed(spaces(longestInput+1)+end, "compose", "--scheme", "decimal")
		if got.status != 1 || got.stdout != "" || !strings.Contains(got.stderr, "has 65537 bytes") {
			t.Errorf("a line with a byte more: %v", got)
		}
	}
	if got := s.run("compose", "--scheme", "decimal", spaces(longestInput)); got.status != 0 ||
		got.stdout != "14150009200065\n" {
		t.Errorf("an argument: %v", got)
	}
	got := s.run("compose", "--scheme", "decimal", spaces(longestInput+1), spaces(100))
	if got.status != 1 || got.stdout != "14150009200065\n" ||
		!strings.Contains(got.stderr, "has 65537 bytes") {
		t.Errorf("an argument with a byte more: %v", got)
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
