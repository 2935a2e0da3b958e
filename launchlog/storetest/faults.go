package storetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/idmint/idmint/launchlog"
)

// ErrInjected is wrapped in the errors of calls that were made to fail.
var ErrInjected = errors.New("injected fault")

// A Network decides from a seed which calls fail, and how.
type Network struct {
	Rate float64 // the share of calls that fail

	mu     sync.Mutex // guards the fields below
	random *rand.Rand
	late   []func()
	Faults map[string]int
}

// NewNetwork returns a network.
func NewNetwork(seed uint64, rate float64) *Network {
	return &Network{
		Rate: rate, random: rand.New(rand.NewPCG(seed, 0)), Faults: map[string]int{},
	}
}

// Call begins a call. It draws one of the kinds of faults, or "", and a coin. The end of the call
// runs the requests that were already [Network.Late] when it began.
func (n *Network) Call(kinds ...string) (fault string, coin bool, end func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	late := n.late
	n.late = nil
	coin = n.random.IntN(2) == 0
	if n.random.Float64() < n.Rate {
		fault = kinds[n.random.IntN(len(kinds))]
		n.Faults[fault]++
	}
	return fault, coin, func() {
		for _, run := range late {
			run()
		}
	}
}

// Late makes a request arrive after its caller has tried again.
func (n *Network) Late(run func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.late = append(n.late, run)
}

// Int64N draws a number.
func (n *Network) Int64N(end int64) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.random.Int64N(end)
}

// Faulty wraps a store and simulates the failures of a network: a request never arrives, an answer
// is lost, or a request arrives late, after its caller has tried again. Faulty reports each as a
// store over a network would.
type Faulty struct {
	launchlog.Store
	*Network
}

// NewFaulty returns the wrapper, with faults that depend on seed.
func NewFaulty(store launchlog.Store, seed uint64, rate float64) *Faulty {
	return &Faulty{store, NewNetwork(seed, rate)}
}

func spoil[T any](f *Faulty, run func() (T, error)) (v T, err error) {
	fault, ambiguous, end := f.Call("lost request", "lost answer", "late request")
	defer end()
	switch fault {
	case "lost request":
		return v, &launchlog.AttemptError{Ambiguous: ambiguous, Err: ErrInjected}
	case "late request":
		f.Late(func() { _, _ = run() })
		return v, &launchlog.AttemptError{Ambiguous: true, Err: ErrInjected}
	case "lost answer":
		if _, err = run(); err == nil {
			err = &launchlog.AttemptError{Ambiguous: true, Err: ErrInjected}
		}
		return v, err
	}
	return run()
}

// StartLaunch implements launchlog.Store.
func (f *Faulty) StartLaunch(ctx context.Context, s launchlog.Launch) (launchlog.Launch, error) {
	return spoil(f, func() (launchlog.Launch, error) {
		return f.Store.StartLaunch(context.WithoutCancel(ctx), s)
	})
}

// ClaimGenerator implements launchlog.Store.
func (f *Faulty) ClaimGenerator(
	ctx context.Context, take launchlog.Claim,
) (launchlog.Claim, error) {
	return spoil(f, func() (launchlog.Claim, error) {
		return f.Store.ClaimGenerator(context.WithoutCancel(ctx), take)
	})
}

// TrimClaims implements launchlog.Store.
func (f *Faulty) TrimClaims(ctx context.Context, ref launchlog.Ref, below int) error {
	_, err := spoil(f, func() (any, error) {
		return nil, f.Store.TrimClaims(context.WithoutCancel(ctx), ref, below)
	})
	return err
}

// ReserveNumbers implements launchlog.Store.
func (f *Faulty) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	return spoil(f, func() (int64, error) {
		return f.Store.ReserveNumbers(context.WithoutCancel(ctx), ref, floor, n)
	})
}

// AdvanceCounter implements launchlog.Store.
func (f *Faulty) AdvanceCounter(
	ctx context.Context, ref launchlog.CounterRef, to int64, actor string,
) (int64, error) {
	return spoil(f, func() (int64, error) {
		return f.Store.AdvanceCounter(context.WithoutCancel(ctx), ref, to, actor)
	})
}

// RaiseCounter implements launchlog.Store.
func (f *Faulty) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, raise launchlog.Raise,
) (launchlog.CounterState, error) {
	return spoil(f, func() (launchlog.CounterState, error) {
		return f.Store.RaiseCounter(context.WithoutCancel(ctx), ref, raise)
	})
}
