package launchlog_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

var shopRequest = launchlog.Request{
	Key: "deploy-1", Service: "shop", Environment: "test", Initiator: "ann",
}

// slowStore takes a second for a claim, and loses the first answers.
type slowStore struct {
	launchlog.Store
	lose int
}

func (s *slowStore) ClaimGenerator(
	ctx context.Context, take launchlog.Claim,
) (launchlog.Claim, error) {
	time.Sleep(time.Second) // of synctest
	if s.lose--; s.lose >= 0 {
		return launchlog.Claim{}, &launchlog.AttemptError{Ambiguous: true, Err: errAway}
	}
	return s.Store.ClaimGenerator(ctx, take)
}

// TestObserve: each attempt is told of once, with what the store said and the time that it took.
func TestObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var steps []launchlog.Step
		ctx := context.WithValue(t.Context(), slowStore{}, "traced")
		log, err := launchlog.New(&slowStore{memory.New(nil), 2}, &launchlog.Options{
			Namespace: "shop",
			Observe: func(ctx context.Context, s launchlog.Step) {
				if ctx.Value(slowStore{}) != "traced" {
					t.Error("the context is not the call's")
				}
				steps = append(steps, s)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		launch, err := log.Start(ctx, shopRequest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := log.Claim(ctx, launch.ID); err != nil {
			t.Fatal(err)
		}
		_, missing := log.Show(ctx, 99)
		if !errors.Is(missing, launchlog.ErrNotFound) {
			t.Fatal(missing)
		}
		want := []launchlog.Step{
			{Op: "start", Attempt: 1},
			{Op: "claim", Attempt: 1, Duration: time.Second, Err: errAway},
			{Op: "claim", Attempt: 2, Duration: time.Second, Err: errAway},
			{Op: "claim", Attempt: 3, Duration: time.Second},
			{Op: "show", Attempt: 1, Err: launchlog.ErrNotFound},
		}
		if !slices.EqualFunc(steps, want, func(a, b launchlog.Step) bool {
			return a.Namespace == "shop" && a.Op == b.Op && a.Attempt == b.Attempt &&
				a.Duration == b.Duration && errors.Is(a.Err, b.Err)
		}) {
			t.Errorf("steps are %+v, want %+v", steps, want)
		}
	})
}

// TestTaken: every number is told of, not only those from 80 % on.
func TestTaken(t *testing.T) {
	var taken, warned []launchlog.Usage
	log, err := launchlog.New(memory.New(nil), &launchlog.Options{
		Namespace: "shop",
		Taken:     func(u launchlog.Usage) { taken = append(taken, u) },
		Warn:      func(u launchlog.Usage) { warned = append(warned, u) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	launch, err := log.Start(ctx, shopRequest)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := log.Generators(launch.ID).NextGenerator(ctx); err != nil {
		t.Fatal(err)
	}
	counter, err := log.Counter("orders")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := counter.Reserve(ctx, 1, 100); err != nil {
		t.Fatal(err)
	}
	const most = 1<<63 - 1
	if _, err := counter.Reserve(ctx, most-1, 2); err != nil {
		t.Fatal(err)
	}
	want := []launchlog.Usage{
		{Namespace: "shop", Used: 1, Max: launchlog.MaxLaunch},
		{Namespace: "shop", Launch: 1, Used: 1, Max: launchlog.MaxGenerators},
		{Namespace: "shop", Counter: "orders", Used: 100, Max: most},
		{Namespace: "shop", Counter: "orders", Used: most, Max: most},
	}
	if !slices.Equal(taken, want) {
		t.Errorf("taken are %+v, want %+v", taken, want)
	}
	if !slices.Equal(warned, want[3:]) {
		t.Errorf("warned of %+v, want %+v", warned, want[3:])
	}
	if log.Namespace() != "shop" || (*launchlog.Log)(nil).Namespace() != "" {
		t.Errorf("the namespace is %q", log.Namespace())
	}
}
