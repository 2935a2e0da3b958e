package launchlog_test

import (
	"context"
	"testing"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

var _ generator.Hinter = (*launchlog.Generators)(nil)

// TestHint: a register is raised and never lowered, by epoch and namespace, for all launches.
func TestHint(t *testing.T) {
	store := memory.New(nil)
	log := newLog(t, store, nil)
	first, second := log.Generators(1), log.Generators(2)
	other := newLog(t, store, &launchlog.Options{Namespace: "other"}).Generators(1)
	for i, step := range []struct {
		of             *launchlog.Generators
		epoch          int
		counter, wants int64
	}{
		{first, 0, 0, 0},
		{first, 0, 7, 0},
		{second, 0, 0, 7},
		{second, 0, 5, 7},
		{second, 0, 7, 7},
		{second, 0, 100, 7},
		{first, 0, -1, 100},
		{first, 1, 0, 0},
		{first, 1, 3, 0},
		{other, 0, 0, 0},
		{other, 0, 2, 0},
		{other, 0, 0, 2},
		{first, 1, 0, 3},
		{first, 0, 0, 100},
	} {
		got, err := step.of.Hint(ctx, step.epoch, step.counter)
		if err != nil || got != step.wants {
			t.Errorf("step %d: %d, %v, want %d", i, got, err, step.wants)
		}
	}
	counters, err := log.Counters(ctx, "", 0)
	if err != nil || len(counters) != 2 || counters[0].Name != "decimal/hint/0" ||
		counters[1].Name != launchlog.HintCounter(1) || counters[1].Value != 3 {
		t.Errorf("%+v, %v", counters, err)
	}
	// An operator raises it as any counter, and no event of the namespace tells of reports.
	if _, err := log.Counter(launchlog.HintCounter(0)); err != nil {
		t.Error(err)
	}
	if events, err := log.Events(ctx, 0); err != nil || len(events) != 0 {
		t.Errorf("%+v, %v", events, err)
	}
}

// An overtaken store is one in which somebody else raises the register before each of the first
// raises.
type overtaken struct {
	launchlog.Store
	by []int64
}

func (s *overtaken) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, step launchlog.Raise,
) (launchlog.CounterState, error) {
	if len(s.by) > 0 {
		other := launchlog.Raise{From: step.From, To: s.by[0], Note: launchlog.NewNote()}
		s.by = s.by[1:]
		if _, err := s.Store.RaiseCounter(ctx, ref, other); err != nil {
			return launchlog.CounterState{}, err
		}
	}
	return s.Store.RaiseCounter(ctx, ref, step)
}

// TestHintRaced: who is overtaken goes on, unless the other one came further.
func TestHintRaced(t *testing.T) {
	for _, test := range []struct {
		by          []int64
		heard, last int64
	}{
		{[]int64{3}, 3, 7},
		{[]int64{3, 4, 6}, 6, 7},
		{[]int64{3, 9}, 9, 9},
		{[]int64{7}, 7, 7},
	} {
		log := newLog(t, &overtaken{memory.New(nil), test.by}, nil)
		heard, err := log.Generators(1).Hint(ctx, 0, 7)
		if err != nil || heard != test.heard {
			t.Errorf("overtaken by %d: heard of %d, %v", test.by, heard, err)
		}
		if last, err := log.Generators(1).Hint(ctx, 0, 0); err != nil || last != test.last {
			t.Errorf("overtaken by %d: the register is at %d, %v", test.by, last, err)
		}
	}
}
