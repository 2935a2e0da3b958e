package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// digits tests that digits are set before the first launch, and that the range may later lose
// digits only if no launch has had them.
func digits(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	want(t, "digits", must(l.Digits(ctx))(t), launchlog.AllDigits)
	set := func(to [2]int, refused bool) {
		t.Helper()
		before, d := must(l.Digits(ctx))(t), launchlog.Digits{First: to[0], Last: to[1]}
		err := l.SetDigits(ctx, d)
		wrong := (*launchlog.RequestError)(nil)
		if errors.As(err, &wrong) != refused || err != nil && !refused {
			t.Errorf("digits %v after %v: %v", d, before, err)
		}
		if refused {
			d = before
		}
		want(t, "digits", must(l.Digits(ctx))(t), d)
	}
	for _, d := range [][2]int{{0, 9}, {5, 4}, {1, 100_000}} {
		set(d, true)
	}
	set([2]int{50_000, 99_999}, false)
	set([2]int{40, 49}, false)
	for i := range 5 {
		want(t, "launch", start(t, l, fmt.Sprint(i)).ID, 40+i)
	}
	for _, d := range [][2]int{{39, 49}, {41, 49}, {40, 50}, {40, 43}} {
		set(d, true)
	}
	set([2]int{40, 44}, false)
	set([2]int{40, 44}, false)
	other := newLog(t, store, &launchlog.Options{Namespace: "other"})
	want(t, "digits of another namespace", must(other.Digits(ctx))(t), launchlog.AllDigits)
}

// laps tests launches that reuse digits. A launch ends the previous one with its digits, and
// continues its generator numbers.
func laps(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	wantError(t, l.SetDigits(ctx, launchlog.Digits{First: 7, Last: 9}), nil)
	claim := func(launch int) int { return must(l.Claim(ctx, launch))(t).Generator }
	for i := range 3 {
		start(t, l, fmt.Sprint("first ", i))
	}
	claim(7)
	claim(7)
	claim(8)
	must(l.End(ctx, 8, launchlog.Ending{Outcome: launchlog.Failed, Actor: "bob"}))(t)

	again := start(t, l, "again")
	want(t, "launch", [3]int{again.ID, again.Digits(), again.FirstGenerator}, [3]int{100_007, 7, 2})
	want(t, "outcome", must(l.Show(ctx, 7))(t).Outcome, launchlog.HandedOn)
	fails(l.Claim(ctx, 7))(t, launchlog.ErrEnded)
	events := must(l.Events(ctx, 7))(t)
	want(t, "event", string(events[len(events)-1].Detail),
		`{"outcome":"handed-on","reason":"launch 100007 goes on with its digits"}`)
	want(t, "generator", claim(100_007), 2)

	// A running generator continues in the launch that follows.
	continued := l.Generators(7)
	launch, number, err := continued.NextGenerator(ctx)
	if err != nil || launch != 8 || number != 1 || continued.Launch() != 100_008 {
		t.Errorf("launch %d, %d of digits %d, %v", continued.Launch(), number, launch, err)
	}
	want(t, "outcome", must(l.Show(ctx, 8))(t).Outcome, launchlog.Failed)
	want(t, "launch", start(t, l, "third").FirstGenerator, 0)
	want(t, "launch", start(t, l, "round").ID, 200_007)
	want(t, "an old key", start(t, l, "first 0").ID, 7)
	want(t, "generator", claim(200_007), 3)

	var ids []int
	for _, launch := range must(l.List(ctx, launchlog.Filter{}))(t) {
		ids = append(ids, launch.ID)
	}
	want(t, "list", ids, []int{200_007, 100_009, 100_008, 100_007, 9, 8, 7})
	want(t, "claims", len(must(l.Claims(ctx, 200_007, 0, 10))(t)), 1)
	for generator, launch := range map[int]int{0: 7, 1: 7, 2: 100_007, 3: 200_007, 4: 200_007} {
		want(t, "found", must(l.Find(ctx, 7, generator))(t).ID, launch)
	}
	fails(l.Find(ctx, 10, 0))(t, launchlog.ErrNotFound)
	fails(l.Claim(ctx, 200_008))(t, launchlog.ErrNotFound)
}

// lapsAndAdvance tests that digits of launches which an advance has ended or skipped are not used
// again.
func lapsAndAdvance(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	wantError(t, l.SetDigits(ctx, launchlog.Digits{First: 1, Last: 5}), nil)
	for i := range 3 {
		start(t, l, fmt.Sprint("first ", i))
		must(l.Claim(ctx, i+1))(t)
	}
	must(l.End(ctx, 2, launchlog.Ending{Outcome: launchlog.Failed, Actor: "bob"}))(t)
	want(t, "advanced", must(l.Advance(ctx, 4, "operator"))(t), 4)
	want(t, "outcome", must(l.Show(ctx, 1))(t).Outcome, launchlog.Advanced)
	want(t, "outcome", must(l.Show(ctx, 2))(t).Outcome, launchlog.Failed)
	for i, id := range []int{5, 100_002, 100_005, 200_002} {
		launch := start(t, l, fmt.Sprint("second ", i))
		want(t, "launch", launch.ID, id)
		if launch.Digits() == 2 {
			want(t, "generator", must(l.Claim(ctx, id))(t).Generator, 1+i/2)
		}
	}
	for _, far := range []int{300_000, 300_002} { // 200_002 is the newest launch
		if _, err := l.Advance(ctx, far, "operator"); err == nil {
			t.Errorf("it advances to %d", far)
		}
	}
	want(t, "advanced", must(l.Advance(ctx, 200_005, "operator"))(t), 200_005)
	fails(l.Start(ctx, Request("one too many")))(t, launchlog.ErrLaunchesExhausted)
	want(t, "an old key still has its launch", start(t, l, "first 0").ID, 1)
}
