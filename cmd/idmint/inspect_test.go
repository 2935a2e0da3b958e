package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
)

// The drawing of "Pattern: ID Generation", to the letter.
const documented = `               ID 14150009200065
                  ccccggggglllll
                   ▲    ▲    ▲
   counter (1415) ─┘    │    │
generator_id (92) ──────┘    │
   launch_id (65) ───────────┘
`

var drawings = map[string]string{
	"14150009200065": documented,
	"9223372029999999999": `                  ID 9223372029999999999
                     cccccccccggggglllll
                         ▲      ▲    ▲
 counter (922337202) ────┘      │    │
generator_id (99999) ───────────┘    │
   launch_id (99999) ────────────────┘
`,
	"10000000001": `              ID 10000000001
                 cggggglllll
                 ▲  ▲    ▲
     counter (1) ┘  │    │
generator_id (0) ───┘    │
   launch_id (1) ────────┘
`,
	"120000700008": `              ID 120000700008
                 ccggggglllll
                 ▲   ▲    ▲
    counter (12) ┘   │    │
generator_id (7) ────┘    │
   launch_id (8) ─────────┘
`,
	"1230000000000": `              ID 1230000000000
                 cccggggglllll
                  ▲   ▲    ▲
   counter (123) ─┘   │    │
generator_id (0) ─────┘    │
   launch_id (0) ──────────┘
launch 0: made by a test generator
`,
	"123451234512345": `                  ID 123451234512345
                     cccccggggglllll
                       ▲    ▲    ▲
     counter (12345) ──┘    │    │
generator_id (12345) ───────┘    │
   launch_id (12345) ────────────┘
`,
}

func TestInspectDraws(t *testing.T) {
	s := newShell(t)
	for id, want := range drawings {
		for _, args := range [][]string{{"inspect", id}, {"inspect", "--scheme", "decimal", id}} {
			if got := s.must(args...); got != want {
				t.Errorf("%v:\n%s\nwant\n%s", args, got, want)
			}
		}
	}
	both := documented + "\n" + drawings["10000000001"]
	if got := s.must("inspect", "14150009200065", "10000000001"); got != both {
		t.Errorf("two IDs:\n%s", got)
	}
	if got := s.feed("14150009200065\n10000000001", "inspect"); got.stdout != both || got.status != 0 {
		t.Errorf("two lines: %v", got)
	}
	if got := s.feed("", "inspect"); got.status != 0 || got.stdout != "" || got.stderr != "" {
		t.Errorf("no lines: %v", got)
	}
}

func TestInspectJSON(t *testing.T) {
	s := newShell(t)
	got := s.feed("14150009200065\nx\n9223372029999999999\n", "inspect", "--json")
	want := `{"scheme":"decimal","id":"14150009200065","counter":1415,"generator_id":92,"launch_id":65}
{"input":"x","error":"\"x\" as DecimalID: not a plain decimal number: digits only, without sign, spaces or leading zeros"}
{"scheme":"decimal","id":"9223372029999999999","counter":922337202,"generator_id":99999,"launch_id":99999}
`
	if got.stdout != want || got.stderr != "" || got.status != 1 {
		t.Errorf("got %v\nwant %s", got, want)
	}
}

// Nothing is read leniently, because what inspect takes for an ID somebody will look for in a table.
func TestInspectBadInput(t *testing.T) {
	s := newShell(t)
	long := strings.Repeat("1", 1<<20)
	for _, input := range []string{
		"", "x", "+14150009200065", "-14150009200065", " 14150009200065", "14150009200065 ", "\t14150009200065", "14150009200065\r",
		"014150009200065", "00", "0", "-0", "9223372036854775808", "18446744073709551616", "14150009200065.0", "1.415e13", "1e10", "0x10000000000",
		"10_000_000_000", "1415 00092 00065", "14150009200065\x00", "\x00", "１４１５０００９２０００６５", "\xff", "\"14150009200065\"", "null",
		"1", "65", "9200065", "9999999999", // no counter
		"9223372030000000000", "9223372036854775807", // counter 922337203
		long,
	} {
		got := s.feed("14150009200065\n"+input+"\n10000000001\n", "inspect", "--scheme", "decimal")
		if want := documented + "\n" + drawings["10000000001"]; got.stdout != want || got.status != 1 {
			t.Errorf("%.40q: the others are not answered: %v", input, got)
		}
		if strings.Count(got.stderr, "\n") != 1 || !strings.HasPrefix(got.stderr, "idmint: ") || len(got.stderr) > 300 {
			t.Errorf("%.40q: stderr %q", input, got.stderr)
		}
		if input != "" && len(input) < 64 && !strings.Contains(got.stderr, strings.Trim(fmt.Sprintf("%q", input), `"`)) {
			t.Errorf("%.40q: stderr does not name it: %q", input, got.stderr)
		}

		got = s.feed("14150009200065\n"+input+"\n10000000001\n", "inspect", "--json")
		lines := strings.Split(got.stdout, "\n")
		var refusal struct{ Input, Error string }
		if len(lines) != 4 || got.status != 1 || got.stderr != "" {
			t.Errorf("%.40q as JSON: %v", input, got)
		} else if err := json.Unmarshal([]byte(lines[1]), &refusal); err != nil || refusal.Error == "" || len(lines[1]) > 1000 || !strings.HasPrefix(strings.ToValidUTF8(input, "\ufffd"), strings.TrimSuffix(refusal.Input, "…")) {
			t.Errorf("%.40q as JSON: %.1000q, %v", input, lines[1], err)
		}

		if strings.ContainsRune(input, 0) || len(input) > 100_000 { // such arguments do not exist
			continue
		}
		got = s.run("inspect", "--", input, "14150009200065")
		if got.stdout != documented || got.status != 1 || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%.40q as argument: %v", input, got)
		}
	}
}

// Whoever asks line by line gets each answer before the next question.
func TestInspectAnswersAtOnce(t *testing.T) {
	s := newShell(t)
	cmd := s.command("inspect", "--json")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	answers := json.NewDecoder(out)
	for n := range 3 {
		fmt.Fprintf(in, "%d0000000001\n", n+1)
		var got struct{ Counter int }
		if err := answers.Decode(&got); err != nil || got.Counter != n+1 { // command ends after a minute, and so does this
			t.Fatalf("question %d: %+v, %v", n+1, got, err)
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// On a terminal, where both outputs meet, an error stands where its input was.
func TestInspectOrder(t *testing.T) {
	s := newShell(t)
	cmd := s.command("inspect", "14150009200065", "x", "10000000001")
	var both strings.Builder
	cmd.Stdout, cmd.Stderr = &both, &both
	_ = cmd.Run()
	parts := strings.Split(both.String(), "idmint: \"x\"")
	if len(parts) != 2 || parts[0] != documented || !strings.HasSuffix(parts[1], "\n\n"+drawings["10000000001"]) {
		t.Errorf("%s", both.String())
	}
}

// What inspect writes compose reads, for IDs of all widths.
func TestRoundTrip(t *testing.T) {
	const n = 100_000
	s := newShell(t)
	var ids strings.Builder
	for range n {
		parts := idtype.DecimalParts{
			Counter: 1 + rand.IntN(1+rand.IntN(idtype.DecimalMaxCounter)), Generator: rand.IntN(1 + rand.IntN(idtype.DecimalMaxGenerator+1)),
			Launch: rand.IntN(1 + rand.IntN(idtype.DecimalMaxLaunch+1)),
		}
		id, err := parts.ID()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&ids, id)
	}
	began := time.Now()
	inspect, compose := s.command("inspect", "--json"), s.command("compose", "--scheme", "decimal")
	inspect.Stdin = strings.NewReader(ids.String())
	var back, errs strings.Builder
	inspect.Stderr, compose.Stderr, compose.Stdout = &errs, &errs, &back
	var err error
	if compose.Stdin, err = inspect.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	for _, start := range []func() error{inspect.Start, compose.Start, compose.Wait, inspect.Wait} {
		if err := start(); err != nil {
			t.Fatalf("%v, %s", err, errs.String())
		}
	}
	if back.String() != ids.String() || errs.Len() > 0 {
		t.Errorf("what came back differs: %d bytes of %d, %s", back.Len(), ids.Len(), errs.String())
	}
	t.Logf("inspect --json | compose: %.0f lines a second", n/time.Since(began).Seconds())
}
