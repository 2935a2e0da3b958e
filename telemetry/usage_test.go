package telemetry_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/telemetry"
)

// hangingStore answers no question about launches while it hangs.
type hangingStore struct {
	launchlog.Store
	hangs atomic.Bool
}

func (s *hangingStore) Launches(
	ctx context.Context, namespace string, f launchlog.Filter,
) ([]launchlog.Launch, error) {
	if s.hangs.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Store.Launches(ctx, namespace, f)
}

// watch makes a log with a launch, and a set that watches it.
func watch(
	t *testing.T, opts *telemetry.WatchOptions,
) (*telemetry.Set, *hangingStore, *launchlog.Log) {
	t.Helper()
	store := &hangingStore{Store: memory.New(nil)}
	log, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Start(ctx, launchlog.Request{
		Key: "a", Service: "shop", Environment: "test", Initiator: "ann",
	}); err != nil {
		t.Fatal(err)
	}
	set := new(telemetry.Set)
	if err := set.Watch(log, opts); err != nil {
		t.Fatal(err)
	}
	return set, store, log
}

// TestALogThatHangs costs a scrape two seconds. What was read before is told, with its age. Before
// the first reading nothing is made up, and the age is since the watch began.
func TestALogThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, store, _ := watch(t, nil)
		store.hangs.Store(true)
		scrape := func(when string, took time.Duration, want map[string]float64) {
			t.Helper()
			began := time.Now()
			got := collect(t, set)
			wantValues(t, when, got, want)
			if d := time.Since(began); d != took {
				t.Errorf("%s: a scrape took %v", when, d)
			}
			if when == "never answered" && len(got) != 2 {
				t.Errorf("told are %v, want the age and the failures", got)
			}
		}
		scrape("never answered", 2*time.Second, map[string]float64{
			"idmint.usage.age default": 2, "idmint.usage.failures default": 1,
		})
		store.hangs.Store(false)
		time.Sleep(time.Minute)
		scrape("well", 0, map[string]float64{
			"idmint.usage.age default": 0, "idmint.usage.failures default": 1,
		})
		store.hangs.Store(true)
		time.Sleep(time.Minute)
		for _, took := range []time.Duration{2 * time.Second, 0} {
			scrape("hanging", took, map[string]float64{
				"idmint.numbers.used default launches ": 1,
				"idmint.launches.running default":       1,
				"idmint.usage.age default":              62,
				"idmint.usage.failures default":         2,
			})
		}
	})
}

// TestWarnOfShares: once for each level. Who shares the readings is not asked twice.
func TestWarnOfShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		opts := &telemetry.WatchOptions{Warn: func(namespace string, s doctor.Share) {
			heard = append(heard, fmt.Sprint(namespace, " ", s.Of, " ", s.Name, " ", s.Used, " ", s.Level()))
		}}
		other, _, log := watch(t, nil)
		opts.Readings = doctor.NewWatch(log, nil)
		set := new(telemetry.Set)
		if err := set.Watch(log, opts); err != nil {
			t.Fatal(err)
		}
		orders, err := log.Counter("orders")
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			last int64
			want []string
		}{
			{70e17, nil},
			{75e17, []string{"default counters orders 7500000000000000000 80"}},
			{80e17, nil},
			{90e17, []string{"default counters orders 9000000000000000000 95"}},
			{91e17, nil},
		} {
			heard = nil
			if _, err := orders.Advance(ctx, step.last, "ann"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			at := opts.Readings.Read(ctx).Good.At
			for range 2 {
				collect(t, set)
				time.Sleep(time.Second)
			}
			if !slices.Equal(heard, step.want) || opts.Readings.Read(ctx).Good.At != at {
				t.Errorf("at %d: heard %q, want %q", step.last, heard, step.want)
			}
		}
		collect(t, other) // which hears nothing
	})
}
