// Package simulations_test looks for errors by chance, in simulations of launch logs that lose
// answers and of fleets that claim their numbers. Processes on real logs are killed in
// soak_test/faults.
package simulations_test

import (
	"os/exec"
	"testing"
	"testing/synctest"

	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

// TestSimulation runs thousands of simulations, on a clock of its own that makes waiting free. A
// failing seed is printed.
func TestSimulation(t *testing.T) {
	const seeds = 5000
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) { storetest.Simulate(t, memory.New(nil), seed, 30) })
		if t.Failed() {
			return
		}
	}
	t.Logf("%d seeds: 0 repeats, 0 lost launches, with lost and late requests and lost answers "+
		"in 40 %% of the starts, claims and reservations", seeds)
}

// TestWholeFleet runs 10,000 of the simulated fleets of package claims, whose own test runs some.
func TestWholeFleet(t *testing.T) {
	cmd := exec.Command("go", "test", "-v", "-timeout=60m", "-run=^TestWholeFleet$",
		"github.com/idmint/idmint/claims", "-fleet.seeds=10000")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
