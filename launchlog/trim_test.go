package launchlog_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

// TestTrim: what is old goes, of all launches, but for the newest claim of each.
func TestTrim(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	log := newLog(t, memory.New(func() time.Time { return now }), nil)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	claim := func(launch, n int) {
		t.Helper()
		for range n {
			_, err := log.Claim(ctx, launch)
			must(err)
		}
	}
	const launches = 1100 // more than a page
	for n := range launches {
		_, err := log.Start(ctx, storetest.Request(fmt.Sprint(n)))
		must(err)
	}
	claim(1, 600) // more than a step removes
	claim(2, 2)
	claim(3, 2)
	claim(launches, 3)
	now = now.Add(30 * day)
	claim(2, 2)
	_, err := log.End(ctx, 3, launchlog.Ending{Outcome: launchlog.Failed})
	must(err)
	now = now.Add(day + time.Second)

	refused := (*launchlog.RequestError)(nil)
	if n, err := log.Trim(ctx, day-1); !errors.As(err, &refused) || n != 0 {
		t.Errorf("%d claims of less than a day: %v", n, err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if n, err := log.Trim(ended, day); !errors.Is(err, context.Canceled) || n != 0 {
		t.Errorf("%d claims without time: %v", n, err)
	}
	for _, test := range []struct {
		age  time.Duration
		want int
		left map[int]int // claims of launches
	}{
		{40 * day, 0, map[int]int{1: 600, 2: 4, 3: 2, launches: 3}},
		{20 * day, 599 + 2 + 1 + 2, map[int]int{1: 1, 2: 2, 3: 1, launches: 1}},
		{20 * day, 0, map[int]int{1: 1, 2: 2, 3: 1, launches: 1}},
		{day, 1, map[int]int{2: 1}},
	} {
		if n, err := log.Trim(ctx, test.age); n != test.want || err != nil {
			t.Errorf("older than %v: %d claims, want %d: %v", test.age, n, test.want, err)
		}
		for id, want := range test.left {
			launch, err := log.Show(ctx, id)
			must(err)
			left, err := log.Claims(ctx, id, 0, launchlog.MaxGenerators)
			if err != nil || len(left) != want ||
				left[want-1].Generator != launch.NextGenerator-1 {
				t.Errorf("older than %v: launch %d has %d claims, want %d and the newest: %v", test.age,
					id, len(left), want, err)
			}
		}
	}
}
