package launchlog_test

import (
	"errors"
	"testing"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

var _ generator.Ordered = (*launchlog.Generators)(nil)

// TestOrder: the launches of a service share a register, and no other service has it.
func TestOrder(t *testing.T) {
	store := memory.New(nil)
	log := newLog(t, store, nil)
	numbers := map[string]*launchlog.Generators{}
	for i, service := range []string{"shop", "shop", "mail"} {
		request := storetest.Request(launchlog.NewNote())
		request.Service = service
		launch, err := log.Start(ctx, request)
		if err != nil {
			t.Fatal(err)
		}
		numbers[service+string(rune('1'+i))] = log.Generators(launch.ID)
	}
	for i, step := range []struct {
		of                 string
		reached, is, looks int64
	}{
		{"shop1", 0, 0, 1},
		{"shop1", 7, 7, 2},
		{"shop2", 0, 7, 3},
		{"shop2", 5, 7, 4},
		{"mail3", 2, 2, 1},
		{"shop2", 100, 100, 5},
	} {
		is, looks, err := numbers[step.of].Order(ctx, step.reached)
		if err != nil || is != step.is || looks != step.looks {
			t.Errorf("step %d: %d, %d, %v, want %d, %d", i, is, looks, err, step.is, step.looks)
		}
	}
	if _, _, err := log.Generators(7).Order(ctx, 1); !errors.Is(err, launchlog.ErrNotFound) {
		t.Errorf("a launch that is not there: %v", err)
	}
}

// TestOrderOfOlderCopy: a look sees that an older copy took the store's place, if it lacks the
// number that was handed out last, or has another one's claim there. Then the log takes no number any
// more.
func TestOrderOfOlderCopy(t *testing.T) {
	for _, others := range []int{0, 3} { // claims in the copy
		older, store := memory.New(nil), &swapped{Store: memory.New(nil)}
		for _, s := range []launchlog.Store{older, store.Store} {
			if _, err := newLog(t, s, nil).Start(ctx, storetest.Request("a")); err != nil {
				t.Fatal(err)
			}
		}
		log := newLog(t, store, nil)
		numbers := log.Generators(1)
		look := func() error { _, _, err := numbers.Order(ctx, 1); return err }
		if _, _, err := numbers.NextGenerator(ctx); err != nil {
			t.Fatal(err)
		}
		if err := look(); err != nil {
			t.Fatal(err)
		}
		for range others {
			if _, err := newLog(t, older, nil).Claim(ctx, 1); err != nil {
				t.Fatal(err)
			}
		}
		store.Store = older
		if err := look(); !errors.Is(err, launchlog.ErrBehind) {
			t.Errorf("beside %d others: %v, want ErrBehind", others, err)
		}
		if _, err := log.Claim(ctx, 1); !errors.Is(err, launchlog.ErrBehind) {
			t.Errorf("beside %d others, a claim after that: %v, want ErrBehind", others, err)
		}
	}
}

// A launch whose last number a claim has taken is handed on nevertheless: in stores of keys and values
// a start may have chosen it before. Who comes before and who comes after continue in one launch.
func TestContinuesBesideHandingOn(t *testing.T) {
	log := newLog(t, memory.New(nil), nil)
	if _, err := log.Start(ctx, storetest.Request("a")); err != nil {
		t.Fatal(err)
	}
	for range launchlog.MaxGenerators {
		if _, err := log.Claim(ctx, 1); err != nil {
			t.Fatal(err)
		}
	}
	for number := range 2 {
		launch, got, err := log.Generators(1).NextGenerator(ctx)
		if err != nil || launch != 2 || got != number {
			t.Errorf("launch %d, %d, %v, want launch 2, %d", launch, got, err, number)
		}
		if _, err := log.End(ctx, 1, launchlog.Ending{Outcome: launchlog.HandedOn}); err != nil {
			t.Fatal(err)
		}
	}
}
