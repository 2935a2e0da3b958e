package launchlog_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

// slow is a store that takes its time for a page of a list, and longer for more than that.
type slow struct{ *memory.Store }

func (slow) page(ctx context.Context, limit int) error {
	timer := time.NewTimer(time.Duration(limit) * 20 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slow) Launches(
	ctx context.Context, namespace string, f launchlog.Filter,
) ([]launchlog.Launch, error) {
	if err := s.page(ctx, f.Limit); err != nil {
		return nil, err
	}
	return s.Store.Launches(ctx, namespace, f)
}

func (s slow) Claims(
	ctx context.Context, ref launchlog.Ref, from, limit int,
) ([]launchlog.Claim, error) {
	if err := s.page(ctx, limit); err != nil {
		return nil, err
	}
	return s.Store.Claims(ctx, ref, from, limit)
}

func (s slow) Counters(
	ctx context.Context, namespace, after string, limit int,
) ([]launchlog.CounterState, error) {
	if err := s.page(ctx, limit); err != nil {
		return nil, err
	}
	return s.Store.Counters(ctx, namespace, after, limit)
}

// A long list is read page by page, each within a budget of its own.
func TestLongLists(t *testing.T) {
	const rows = 2500
	synctest.Test(t, func(t *testing.T) {
		l := newLog(t, slow{memory.New(nil)}, nil)
		for i := range rows {
			r := launchlog.Request{
				Key: fmt.Sprint(i), Service: []string{"a", "b"}[i%2], Environment: "e",
				Initiator: "i",
			}
			if _, err := l.Start(ctx, r); err != nil {
				t.Fatal(err)
			}
			if _, err := l.Claim(ctx, 1); err != nil {
				t.Fatal(err)
			}
			c, err := l.Counter(fmt.Sprintf("c%04d", i))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Reserve(ctx, 0, 1); err != nil {
				t.Fatal(err)
			}
		}
		for _, limit := range []int{1, 999, 1000, 1001, 2000, rows, rows + 1, 99_999} {
			want := min(limit, rows)
			launches, err := l.List(ctx, launchlog.Filter{Limit: limit})
			if err != nil || len(launches) != want {
				t.Fatalf("%d of up to %d launches, %v", len(launches), limit, err)
			}
			claims, err := l.Claims(ctx, 1, 0, limit)
			if err != nil || len(claims) != want {
				t.Fatalf("%d of up to %d claims, %v", len(claims), limit, err)
			}
			counters, err := l.Counters(ctx, "", limit)
			if err != nil || len(counters) != want {
				t.Fatalf("%d of up to %d counters, %v", len(counters), limit, err)
			}
			for i := range want {
				if launches[i].ID != rows-i || claims[i].Generator != i ||
					counters[i].Name != fmt.Sprintf("c%04d", i) {
					t.Fatalf("row %d: launch %d, claim %d, counter %s", i, launches[i].ID,
						claims[i].Generator, counters[i].Name)
				}
			}
		}
		some, err := l.List(ctx, launchlog.Filter{Service: "b", Before: 2301, Limit: 1100})
		if err != nil || len(some) != 1100 || some[0].ID != 2300 || some[1099].ID != 102 {
			t.Errorf("%d launches, %v", len(some), err)
		}
		// It is a list all the same, whose caller may give up.
		calling, cancel := context.WithTimeout(ctx, 25*time.Second)
		defer cancel()
		found, err := l.List(calling, launchlog.Filter{Limit: rows})
		if err == nil || found != nil {
			t.Errorf("cut off: %d launches, %v", len(found), err)
		}
	})
}
