package doctor_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/formats"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

// TestUsage has a share of each kind, of numbers that the test used up itself.
func TestUsage(t *testing.T) {
	log := logAt(t, begin)
	start(t, log, "ended")
	running := start(t, log, "running")
	if _, err := log.End(ctx, 1, launchlog.Ending{Outcome: launchlog.Succeeded}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := log.Claim(ctx, running); err != nil {
			t.Fatal(err)
		}
	}
	raise(t, log, "orders", math.MaxInt64/2)
	raise(t, log, launchlog.HintCounter(0), formats.DecimalMaxCounter)
	raise(t, log, launchlog.HintCounter(1), 700)
	lent := begin.Add(time.Second).UnixMilli() / formats.SnoTimeUnit
	raise(t, log, "sno/7", lent)
	raise(t, log, "sno/8", lent)
	raise(t, log, "sno/9", lent-int64(time.Hour/(4*time.Millisecond))) // free since long

	now := &doctor.Options{Now: func() time.Time { return begin }}
	got, err := doctor.Usage(ctx, log, now)
	if err != nil {
		t.Fatal(err)
	}
	got = slices.DeleteFunc(got, func(s doctor.Share) bool { // those of the pool
		return s.Of == doctor.Counters && strings.Contains(s.Name, "sno/")
	})
	want := []doctor.Share{
		{Of: doctor.Launches, Used: 2, Max: 99_999},
		{Of: doctor.Generators, Name: "2", Used: 3, Max: 100_000},
		{Of: doctor.Counters, Name: "decimal/hint/0", Used: 922_337_202, Max: math.MaxInt64},
		{Of: doctor.Counters, Name: "decimal/hint/1", Used: 700, Max: math.MaxInt64},
		{Of: doctor.Counters, Name: "orders", Used: math.MaxInt64 / 2, Max: math.MaxInt64},
		{Of: doctor.Claims, Name: "trace", Max: 65_536},
		{Of: doctor.Claims, Name: "sno", Used: 2, Max: 65_536},
		{Of: doctor.Claims, Name: "eightbyte", Max: 2048},
		{Of: doctor.Decimal, Name: "1", Used: 700, Max: 922_337_202},
	}
	if !slices.Equal(got, want) {
		t.Errorf("shares are\n%+v, want\n%+v", got, want)
	}
	pairs, err := claims.ByScheme(idtype.SchemeEightByte)
	if err != nil {
		t.Fatal(err)
	}
	if err := pairs.SetClusters(ctx, log, []int{0}, []int{0, 1}, "me"); err != nil {
		t.Fatal(err)
	}
	got, err = doctor.Usage(ctx, log, now)
	if err != nil || !slices.Contains(got,
		doctor.Share{Of: doctor.Claims, Name: "eightbyte", Max: 4096}) {
		t.Errorf("shares are %+v, %v: want both clusters", got, err)
	}
}

// TestShareLevels are those of launchlog.Usage.
func TestShareLevels(t *testing.T) {
	for used, want := range map[int64]int{0: 0, 799: 0, 800: 80, 900: 90, 949: 90, 950: 95} {
		s := doctor.Share{Used: used, Max: 1000}
		if s.Level() != want || s.Part() != float64(used)/1000 {
			t.Errorf("%+v: level %d, part %v", s, s.Level(), s.Part())
		}
	}
}

// TestUsageOfAStoreThatIsAway says which figure is missing.
func TestUsageOfAStoreThatIsAway(t *testing.T) {
	away := errors.New("away")
	_, err := doctor.Usage(ctx, newLog(t, &failing{memory.New(nil), away}), nil)
	if !errors.Is(err, away) || !strings.HasPrefix(err.Error(), "doctor: launches: ") {
		t.Errorf("%v", err)
	}
}

// failing answers nothing about launches.
type failing struct {
	launchlog.Store
	err error
}

func (s *failing) Launches(
	context.Context, string, launchlog.Filter,
) ([]launchlog.Launch, error) {
	return nil, s.err
}

// Health says what Usage and Log say, and reads what takes all rows of a kind once.
func TestHealth(t *testing.T) {
	steps := map[string]int{}
	log, err := launchlog.New(memory.New(func() time.Time { return begin }), &launchlog.Options{
		Observe: func(_ context.Context, s launchlog.Step) { steps[s.Op]++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	running := start(t, log, "running")
	if _, err := log.Claim(ctx, running); err != nil {
		t.Fatal(err)
	}
	raise(t, log, "orders", math.MaxInt64/100*85)
	now := &doctor.Options{Now: func() time.Time { return begin }}
	shares, err := doctor.Usage(ctx, log, now)
	if err != nil {
		t.Fatal(err)
	}
	results, err := doctor.Log(ctx, log, now)
	if err != nil {
		t.Fatal(err)
	}
	apart := maps.Clone(steps)
	clear(steps)
	both, told, err := doctor.Health(ctx, log, now)
	if err != nil || !slices.Equal(both, shares) || !slices.Equal(told, results) {
		t.Errorf("%v, %v, %v; want %v, %v", both, told, err, shares, results)
	}
	for op, fewer := range map[string]int{"list": 1, "counters": 4} {
		if want := apart[op] - fewer; steps[op] > want {
			t.Errorf("%d steps %s, want %d at most", steps[op], op, want)
		}
	}
}
