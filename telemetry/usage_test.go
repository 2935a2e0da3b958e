package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/telemetry"
)

// hangingStore counts readings. Those that hang end with their context.
type hangingStore struct {
	launchlog.Store
	hangs    atomic.Bool
	readings atomic.Int32
}

func (s *hangingStore) Launches(
	ctx context.Context, namespace string, f launchlog.Filter,
) ([]launchlog.Launch, error) {
	if !f.Running { // the first question of a reading
		s.readings.Add(1)
	}
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
	start(t, log, "a")
	set := new(telemetry.Set)
	if err := set.Watch(log, opts); err != nil {
		t.Fatal(err)
	}
	return set, store, log
}

func start(t *testing.T, log *launchlog.Log, key string) {
	t.Helper()
	if _, err := log.Start(ctx, launchlog.Request{
		Key: key, Service: "shop", Environment: "test", Initiator: "ann",
	}); err != nil {
		t.Fatal(err)
	}
}

// TestReadingsAreBounded: however often a set is collected, its log is read once a minute.
func TestReadingsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, store, log := watch(t, nil)
		want := func(when string, readings int32, launches, age float64) {
			t.Helper()
			wantValues(t, when, collect(t, set), map[string]between{
				"idmint.numbers.used default launches ": exactly(launches),
				"idmint.usage.age default":              exactly(age),
				"idmint.usage.failures default":         exactly(0),
			})
			if n := store.readings.Load(); n != readings {
				t.Errorf("%s: %d readings, want %d", when, n, readings)
			}
		}
		want("at first", 1, 1, 0)
		start(t, log, "b")
		want("at once", 1, 1, 0)
		time.Sleep(time.Minute - time.Nanosecond)
		want("before a minute", 1, 1, 59.999999999)
		time.Sleep(time.Nanosecond)
		want("after a minute", 2, 2, 0)
	})
}

// TestALogThatHangs costs a scrape two seconds a minute. What was read before is told, with its
// age.
func TestALogThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, store, _ := watch(t, nil)
		collect(t, set)
		store.hangs.Store(true)
		time.Sleep(time.Minute)
		began := time.Now()
		wantValues(t, "hanging", collect(t, set), map[string]between{
			"idmint.numbers.used default launches ": exactly(1),
			"idmint.launches.running default":       exactly(1),
			"idmint.usage.age default":              exactly(62),
			"idmint.usage.failures default":         exactly(1),
		})
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("a scrape took %v", took)
		}
		began = time.Now()
		wantValues(t, "at once", collect(t, set), map[string]between{
			"idmint.usage.failures default": exactly(1),
		})
		if took := time.Since(began); took != 0 {
			t.Errorf("the next scrape took %v", took)
		}
		store.hangs.Store(false)
		time.Sleep(time.Minute)
		wantValues(t, "back", collect(t, set), map[string]between{
			"idmint.usage.age default":      exactly(0),
			"idmint.usage.failures default": exactly(1),
		})
	})
}

// TestALogThatNeverAnswered: nothing is made up, and the age is since the watch began.
func TestALogThatNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, store, _ := watch(t, &telemetry.WatchOptions{Timeout: time.Second})
		store.hangs.Store(true)
		got := collect(t, set)
		if len(got) != 2 {
			t.Errorf("told are %v, want the age and the failures", got)
		}
		wantValues(t, "never", got, map[string]between{
			"idmint.usage.age default":      exactly(1),
			"idmint.usage.failures default": exactly(1),
		})
	})
}

// TestOneReadsAtATime: others get what was read before, and do not wait.
func TestOneReadsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, store, _ := watch(t, nil)
		collect(t, set)
		time.Sleep(time.Minute)
		store.hangs.Store(true)
		var first sync.WaitGroup
		first.Go(func() { set.Collect(ctx, func(telemetry.Sample) {}) })
		synctest.Wait()
		began := time.Now()
		wantValues(t, "meanwhile", collect(t, set), map[string]between{
			"idmint.numbers.used default launches ": exactly(1),
		})
		if took := time.Since(began); took != 0 {
			t.Errorf("a scrape beside another one took %v", took)
		}
		first.Wait()
		if n := store.readings.Load(); n != 2 {
			t.Errorf("%d readings", n)
		}
	})
}

// TestACallerThatGivesUp does not wait for the log.
func TestACallerThatGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, store, _ := watch(t, nil)
		store.hangs.Store(true)
		ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		began := time.Now()
		set.Collect(ctx, func(telemetry.Sample) {})
		if took := time.Since(began); took != 10*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// TestWarnOfShares: once for each level.
func TestWarnOfShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		set, _, log := watch(t, &telemetry.WatchOptions{
			Warn: func(namespace string, s doctor.Share) {
				heard = append(heard, fmt.Sprint(namespace, " ", s.Of, s.Name, " ", s.Used, " ", s.Level()))
			},
		})
		for _, step := range []struct {
			last int
			want []string
		}{
			{79_000, nil},
			{80_000, []string{"default launches 80000 80"}},
			{85_000, nil},
			{95_000, []string{"default launches 95000 95"}},
			{95_001, nil},
		} {
			heard = nil
			advance(t, log, step.last)
			time.Sleep(time.Minute)
			collect(t, set)
			if !slices.Equal(heard, step.want) {
				t.Errorf("at %d: heard %q, want %q", step.last, heard, step.want)
			}
		}
	})
}

func advance(t *testing.T, log *launchlog.Log, last int) {
	t.Helper()
	if _, err := log.Advance(ctx, last, "ann"); err != nil {
		t.Fatal(err)
	}
}

// TestALogThatPanics does not keep the set from reading again.
func TestALogThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, store, _ := watch(t, &telemetry.WatchOptions{
			Warn: func(string, doctor.Share) { panic(errors.New("of the caller")) },
		})
		log, err := launchlog.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		advance(t, log, 99_000)
		for range 2 {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("the panic is swallowed")
					}
				}()
				set.Collect(ctx, func(telemetry.Sample) {})
			}()
			time.Sleep(time.Minute)
		}
		if n := store.readings.Load(); n != 2 {
			t.Errorf("%d readings", n)
		}
	})
}
