package main

import (
	"fmt"
	"slices"
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
	if n := s.count(`SELECT value FROM idmint_order`); n != len(ids) {
		t.Errorf("the register is at %d", n)
	}
}
