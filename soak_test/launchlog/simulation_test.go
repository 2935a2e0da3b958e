// Package launchlog_test looks for errors of launch logs by chance, in simulations of lost answers.
// Processes on real logs are killed in soak_test/faults.
package launchlog_test

import (
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
