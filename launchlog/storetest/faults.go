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

func (f *Faulty) spoil(run func() error) error {
	f.mu.Lock()
	late := f.late
	f.late = nil
	fault, ambiguous := "", f.random.IntN(2) == 0
	if f.random.Float64() < f.Rate {
		fault = []string{"lost request", "lost answer", "late request"}[f.random.IntN(3)]
		f.Faults[fault]++
	}
	if fault == "late request" {
		f.late = append(f.late, func() { _ = run() })
	}
	f.mu.Unlock()
	var err error
	switch fault {
	case "":
		err = run()
	case "lost request":
		err = &launchlog.AttemptError{Ambiguous: ambiguous, Err: errInjected}
	case "lost answer":
		if err = run(); err == nil {
			err = &launchlog.AttemptError{Ambiguous: true, Err: errInjected}
		}
	case "late request":
		err = &launchlog.AttemptError{Ambiguous: true, Err: errInjected}
	}
	for _, run := range late {
		run()
	}
	return err
}

// StartLaunch implements launchlog.Store.
func (f *Faulty) StartLaunch(ctx context.Context, s launchlog.Start) (l launchlog.Launch, started bool, err error) {
	err = f.spoil(func() (err error) {
		l, started, err = f.Store.StartLaunch(context.WithoutCancel(ctx), s)
		return err
	})
	return l, started, err
}

// EndLaunch implements launchlog.Store.
func (f *Faulty) EndLaunch(ctx context.Context, ref launchlog.Ref, e launchlog.Ending) (l launchlog.Launch, ended bool, err error) {
	err = f.spoil(func() (err error) {
		l, ended, err = f.Store.EndLaunch(context.WithoutCancel(ctx), ref, e)
		return err
	})
	return l, ended, err
}

// ClaimGenerator implements launchlog.Store.
func (f *Faulty) ClaimGenerator(ctx context.Context, take launchlog.Take) (c launchlog.Claim, err error) {
	err = f.spoil(func() (err error) {
		c, err = f.Store.ClaimGenerator(context.WithoutCancel(ctx), take)
		return err
	})
	return c, err
}

// lostAnswers runs one worker against faults that follow from a seed, so that a failure can be run again, and audits the log.
func lostAnswers(t *testing.T, store launchlog.Store) {
	const rounds = 60
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	faulty := NewFaulty(store, seed, 0.4)
	l := newLog(t, faulty, nil)

	keys := map[string]int{}
	pairs := map[[2]int]bool{}
	acknowledged := 0
	for range rounds {
		key := fmt.Sprint("key ", random.IntN(rounds/2))
		launch, err := l.Start(ctx, Request(key))
		if err != nil {
			t.Fatalf("start: %v", err)
		}
		if id, ok := keys[key]; ok && id != launch.ID {
			t.Fatalf("key %q was launch %d, and is now %d", key, id, launch.ID)
		}
		keys[key] = launch.ID
		c, err := l.Claim(ctx, launch.ID)
		if err != nil {
			t.Fatalf("claim: %v", err)
		}
		pair := [2]int{c.Launch, c.Generator}
		if pairs[pair] {
			t.Fatalf("pair %v was handed out twice", pair)
		}
		pairs[pair] = true
		acknowledged++
	}
	launches, err := l.List(ctx, launchlog.Filter{Limit: launchlog.MaxLaunch})
	wantError(t, err, nil)
	want(t, "launches: one per key, none for a lost answer", len(launches), len(keys))
	recorded := 0
	for _, launch := range launches {
		want(t, "launch of the key", keys[launch.Key], launch.ID)
		claims, err := l.Claims(ctx, launch.ID, 0, launchlog.MaxGenerators)
		wantError(t, err, nil)
		want(t, "every number has its record", len(claims), launch.NextGenerator)
		recorded += len(claims)
	}
	want(t, "claims: one per call, as retries carry its token", recorded, acknowledged)
	if len(faulty.Faults) < 3 {
		t.Errorf("too few kinds of faults to show anything: %v", faulty.Faults)
	}
	t.Logf("%d launches, %d claims, faults %v", len(launches), recorded, faulty.Faults)
}
