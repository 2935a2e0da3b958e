package kv_test

import (
	"os"
	"testing"
	"testing/synctest"

	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
	"github.com/idmint/idmint/launchlog/storetest"
)

// TestStore takes all the numbers of a launch where IDMINT_TEST_WHOLE is set.
func TestStore(t *testing.T) {
	engines := map[launchlog.Store]kv.Engine{}
	jump := func(store launchlog.Store, ref launchlog.Ref, next int) error {
		return kvtest.Jump(engines[store], ref, next)
	}
	if os.Getenv("IDMINT_TEST_WHOLE") != "" {
		jump = nil
	}
	storetest.Run(t, func(*testing.T) launchlog.Store {
		memory := kvtest.NewMemory()
		s := kv.New(memory, nil)
		engines[s] = memory
		return s
	}, jump)
}

// TestSimulation runs many simulations, on a clock of its own that makes waiting free. There are
// faults between the log and the store, and in a second run also between the store and its engine.
// A failing seed is printed.
func TestSimulation(t *testing.T) {
	const seeds = 150
	faults := map[string]int{}
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			storesuite.Simulate(t, kv.New(kvtest.NewMemory(), nil), seed, 30)
		})
		synctest.Test(t, func(t *testing.T) {
			faulty := kvtest.NewFaulty(kvtest.NewMemory(), seed, 0.2)
			storesuite.Simulate(t, kv.New(faulty, nil), seed, 30)
			for kind, n := range faulty.Faults {
				faults[kind] += n
			}
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d seeds: 0 repeats, 0 lost launches, with faults of the engine: %v", seeds, faults)
	for _, kind := range []string{"lost request", "lost answer", "late request", "twice"} {
		if faults[kind] < seeds {
			t.Errorf("%d faults %q: the test shows too little", faults[kind], kind)
		}
	}
}
