package kv_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
	"github.com/idmint/idmint/launchlog/storetest"
)

func TestStore(t *testing.T) {
	var engines sync.Map // of stores
	storetest.Run(t, func(t *testing.T) launchlog.Store {
		t.Parallel()
		memory := kvtest.NewMemory()
		s := kv.New(memory, nil)
		engines.Store(s, memory)
		return s
	}, func(s launchlog.Store, ref launchlog.Ref, next int) error {
		memory, _ := engines.Load(s)
		return kvtest.Jump(memory.(kv.Engine), ref, next)
	})
}

// TestSimulation runs simulations on a clock of its own that makes waiting free. There are faults
// between the log and the store, and between the store and its engine. A failing seed is printed.
func TestSimulation(t *testing.T) {
	const seeds = 40
	faults := map[string]int{}
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) {
			engine := newFaulty(kvtest.NewMemory(), seed, 0.2)
			storetest.Simulate(t, kv.New(engine, nil), seed, 30)
			for kind, n := range engine.Faults {
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
