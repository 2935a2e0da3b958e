package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/idtype"
)

// TestAscendingRuns: runs of each of three launches, one after another, mint IDs that ascend as a
// whole. So do imports between them, and a demo's app would.
func TestAscendingRuns(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.must("migrate", "--db", "sqlite:app.db")
	var ids []idtype.DecimalID
	for launch := range 3 {
		number := s.start(fmt.Sprint("deployment ", launch))
		for run := range 3 {
			for _, line := range lines(s.must("new", "decimal", "-n", fmt.Sprint(1+run*3),
				"--db", "sqlite:app.db", "--launch", number)) {
				ids = append(ids, idtype.MustParse[idtype.DecimalID](line))
			}
		}
	}
	if len(ids) != 3*(1+4+7) || !slices.IsSorted(ids) || ids[0].Parts().Counter != 1 {
		t.Errorf("%d IDs, which do not ascend from counter 1: %v", len(ids), ids)
	}
	if got, want := ids[len(ids)-1].Parts().Counter, len(ids); got != want {
		t.Errorf("the last counter is %d: want %d, because none was left out", got, want)
	}
	if out := s.must("counter", "list", "--db", "sqlite:app.db"); !strings.Contains(out,
		"decimal/hint/0") {
		t.Errorf("%q", out)
	}
}

// TestAscendingImports: an import's IDs are above those of earlier imports and of other commands.
func TestAscendingImports(t *testing.T) {
	s := inside(t)
	s.must("migrate", "--db", "sqlite:app.db")
	s.write("f.csv", numbered(500))
	last := 0
	for i := range 4 {
		out := s.must("import", "f.csv", "--db", "sqlite:app.db", "--table", fmt.Sprint("t", i))
		if want := fmt.Sprintf("IDs %d00000%05d to %d00000%05d\n", last+1, i+1, last+500,
			i+1); !strings.Contains(out, want) {
			t.Errorf("%q: %q is missing", out, want)
		}
		last += 500
	}
	number := s.start("an app")
	got := s.must("new", "decimal", "--db", "sqlite:app.db", "--launch", number)
	if id := idtype.MustParse[idtype.DecimalID](strings.TrimSpace(got)); id.Parts().Counter != last+1 {
		t.Errorf("after the imports: %d", id)
	}
	// An operator ends an epoch: then numbering begins at 1 again.
	s.must("counter", "advance", "decimal/hint/0", "--to", "922337202", "--db", "sqlite:app.db")
	got = s.must("new", "decimal", "-n", "2", "--db", "sqlite:app.db", "--launch", number)
	if ids := lines(got); idtype.MustParse[idtype.DecimalID](ids[1]).Parts().Counter != 2 {
		t.Errorf("in the new epoch: %v", ids)
	}
	if got := s.must("counter", "show", "decimal/hint/1", "--db", "sqlite:app.db"); got != "2\n" {
		t.Errorf("its register: %q", got)
	}
}
