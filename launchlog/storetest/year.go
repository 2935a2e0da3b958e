package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// Year simulates a year of launches, starts, crash loops and an advance, and trims the log each
// month. Old claims are removed, except the newest claim of each launch, and no number is handed
// out twice. Sleep lets time pass by the clock of the store.
func Year(t *testing.T, store launchlog.Store, sleep func(time.Duration)) {
	t.Helper()
	const months, launches, starts, loop = 12, 100, 3, 600
	const month, age = 30 * 24 * time.Hour, 45 * 24 * time.Hour
	l := newLog(t, store, nil)
	taken := map[[2]int]bool{}
	claim := func(launch launchlog.Launch, times int) {
		for range times {
			c := must(l.Claim(ctx, launch.ID))(t)
			number := [2]int{launch.Digits(), c.Generator}
			want(t, fmt.Sprint("repeated: ", number), taken[number], false)
			taken[number] = true
		}
	}
	removed := 0 // by a month, from the month before
	for n := range months {
		var launch launchlog.Launch
		for day := range launches {
			launch = start(t, l, fmt.Sprint(n, " ", day))
			claim(launch, starts)
		}
		claim(launch, loop)
		if n == months/2 {
			must(l.Advance(ctx, launch.ID+5, "operator"))(t)
		}
		sleep(month)
		want(t, fmt.Sprint("claims removed after month ", n), must(l.Trim(ctx, age))(t), removed)
		want(t, "once more", must(l.Trim(ctx, age))(t), 0)
		removed = launches*(starts-1) + loop
	}
	sleep(launchlog.MinTrimAge)
	_, err := l.Trim(ctx, launchlog.MinTrimAge-1)
	if refused := (*launchlog.RequestError)(nil); !errors.As(err, &refused) {
		t.Errorf("claims of less than a day: %v", err)
	}
	want(t, "claims removed in the end", must(l.Trim(ctx, launchlog.MinTrimAge))(t), removed)
	all := must(l.List(ctx, launchlog.Filter{Limit: launchlog.MaxLaunch}))(t)
	want(t, "launches", len(all), months*launches)
	for _, launch := range all {
		left := must(l.Claims(ctx, launch.ID, 0, 9))(t)
		if len(left) != 1 || left[0].Generator != launch.NextGenerator-1 {
			t.Errorf("claims of launch %d: %+v, want the newest", launch.ID, left)
		}
	}
}
