package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

var errInjected = errors.New("injected fault")

// Faulty wraps a store and spoils what a network would: a request that never arrives, an answer that is lost, and a
// request that arrives late, after its caller has tried again. Each is reported as a store over a network would report it.
type Faulty struct {
	launchlog.Store
	Rate float64 // of calls that are spoilt

	mu     sync.Mutex // guards what follows
	random *rand.Rand
	late   []func()
	Faults map[string]int
}

// NewFaulty makes the wrapper, with faults that follow from seed.
func NewFaulty(store launchlog.Store, seed uint64, rate float64) *Faulty {
	return &Faulty{Store: store, Rate: rate, random: rand.New(rand.NewPCG(seed, 0)), Faults: map[string]int{}}
}

func spoil[T any](f *Faulty, run func() (T, error)) (T, error) {
	f.mu.Lock()
	late := f.late
	f.late = nil
	fault, ambiguous := "", f.random.IntN(2) == 0
	if f.random.Float64() < f.Rate {
		fault = []string{"lost request", "lost answer", "late request"}[f.random.IntN(3)]
		f.Faults[fault]++
	}
	if fault == "late request" {
		f.late = append(f.late, func() { _, _ = run() })
	}
	f.mu.Unlock()
	var v T
	var err error
	switch fault {
	case "":
		v, err = run()
	case "lost request":
		err = &launchlog.AttemptError{Ambiguous: ambiguous, Err: errInjected}
	case "lost answer":
		if _, err = run(); err == nil {
			err = &launchlog.AttemptError{Ambiguous: true, Err: errInjected}
		}
	case "late request":
		err = &launchlog.AttemptError{Ambiguous: true, Err: errInjected}
	}
	for _, run := range late {
		run()
	}
	return v, err
}

// StartLaunch implements launchlog.Store.
func (f *Faulty) StartLaunch(ctx context.Context, s launchlog.Start) (launchlog.Launch, error) {
	return spoil(f, func() (launchlog.Launch, error) { return f.Store.StartLaunch(context.WithoutCancel(ctx), s) })
}

// ClaimGenerator implements launchlog.Store.
func (f *Faulty) ClaimGenerator(ctx context.Context, take launchlog.Take) (launchlog.Claim, error) {
	return spoil(f, func() (launchlog.Claim, error) { return f.Store.ClaimGenerator(context.WithoutCancel(ctx), take) })
}

// lostAnswers is one simulation against the store.
func lostAnswers(t *testing.T, store launchlog.Store) {
	Simulate(t, store, uint64(time.Now().UnixNano()), 60)
}

// Simulate has a few workers start launches and claim numbers through a [Faulty] store, and audits the log. Faults and the
// workers' choices follow from seed.
func Simulate(t *testing.T, store launchlog.Store, seed uint64, rounds int) {
	const workers = 3
	faulty := NewFaulty(store, seed, 0.4)
	l := newLog(t, faulty, &launchlog.Options{Budget: time.Hour})
	var mu sync.Mutex // guards what follows
	keys := map[string]int{}
	pairs := map[[2]int]bool{}
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(w+1)))
			for range rounds / workers {
				key := fmt.Sprint("key ", random.IntN(rounds/2))
				launch, err := l.Start(ctx, Request(key))
				if err != nil {
					t.Errorf("seed %d: start: %v", seed, err)
					return
				}
				c, err := l.Claim(ctx, launch.ID)
				if err != nil {
					t.Errorf("seed %d: claim: %v", seed, err)
					return
				}
				mu.Lock()
				if id, ok := keys[key]; ok && id != launch.ID {
					t.Errorf("seed %d: key %q was launch %d, and is now %d", seed, key, id, launch.ID)
				}
				keys[key] = launch.ID
				if pair := [2]int{c.Launch, c.Generator}; pairs[pair] {
					t.Errorf("seed %d: pair %v was handed out twice", seed, pair)
				} else {
					pairs[pair] = true
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	launches, err := l.List(ctx, launchlog.Filter{Limit: launchlog.MaxLaunch})
	wantError(t, err, nil)
	want(t, fmt.Sprintf("seed %d: launches: one per key, none for a lost answer", seed), len(launches), len(keys))
	recorded := 0
	for _, launch := range launches {
		want(t, "launch of the key", keys[launch.Key], launch.ID)
		claims, err := l.Claims(ctx, launch.ID, 0, launchlog.MaxGenerators)
		wantError(t, err, nil)
		want(t, "every number has its record", len(claims), launch.NextGenerator)
		recorded += len(claims)
	}
	want(t, fmt.Sprintf("seed %d: claims: one per call, as retries carry its token", seed), recorded, len(pairs))
	if rounds >= 60 && len(faulty.Faults) < 3 {
		t.Errorf("seed %d: too few kinds of faults to show anything: %v", seed, faulty.Faults)
	}
	if rounds >= 60 {
		t.Logf("seed %d: %d launches, %d claims, faults %v", seed, len(launches), recorded, faulty.Faults)
	}
}
