package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/idtype/formats"
)

// The drawing of "Pattern: ID Generation".
const documented = `               ID 14150009200065
                  ccccggggglllll
                   ▲    ▲    ▲
   counter (1415) ─┘    │    │
generator_id (92) ──────┘    │
   launch_id (65) ───────────┘
`

// Whoever asks line by line gets each answer before the next question.
func TestInspectAnswersAtOnce(t *testing.T) {
	s := newShell(t)
	cmd := s.command("inspect", "--scheme", "decimal", "--json")
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
		// command ends after a minute, and so does this
		if err := answers.Decode(&got); err != nil || got.Counter != n+1 {
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
	cmd := s.command("inspect", "--scheme", "decimal", "14150009200065", "x", "10000000001")
	var both strings.Builder
	cmd.Stdout, cmd.Stderr = &both, &both
	_ = cmd.Run()
	before, after, ok := strings.Cut(both.String(), "idmint: \"x\"")
	if !ok || before != documented || !strings.Contains(after, "\n\n") {
		t.Errorf("%s", both.String())
	}
}

// The widest numbers fit a terminal, too.
func TestDrawingsFit(t *testing.T) {
	for _, widest := range [][2]string{
		{"decimal", fmt.Sprint(formats.DecimalMax)},
		{"trace", fmt.Sprint(math.MaxInt64)},
		{"eightbyte", "ffffffffffffffff"},
		{"eightbyte", "ffffffffffffefff"},
		{"short", idtype.ShortID(1<<60 - 1).String()},
		{"sno", "xxxxxxxxxxxxxxxx"},
	} {
		id, err := readText(widest[0], widest[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range id.drawing(time.Now()) {
			if len(l) > drawingWidth {
				t.Errorf("%s: %d columns: %v", id.Name(), len(l), l)
			}
		}
	}
}
