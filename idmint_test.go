package idmint_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

type user struct{ ID idtype.Decimal[user] }

// inBubble runs a test on a clock of its own, which begins within all layouts: where the machine
// stands still, the log answers in time.
func inBubble(t *testing.T, test func(*testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)))
		test(t)
	})
}

// TestOpenDeployment: three processes of a deployment that start at once have one launch, and a
// generator number each. Those of the next deployment have the next launch, and IDs above theirs.
func TestOpenDeployment(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := memory.New(nil)
		var before []idtype.Decimal[user]
		for i, deployment := range []string{"7f9c", "5b2d"} {
			var mu sync.Mutex
			var minted []idtype.Decimal[user]
			var numbers []int
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					ids, err := idmint.Open(t.Context(), store,
						idmint.App{Service: "shop", Deployment: deployment})
					if err != nil {
						t.Error(err)
						return
					}
					defer ids.Close(context.Background())
					id, err := idmint.Keys[user](ids).Next(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					minted = append(minted, id)
					numbers = append(numbers, id.Parts().Generator)
					if id.Parts().Launch != i+1 {
						t.Errorf("%+v, want launch %d", id.Parts(), i+1)
					}
				})
			}
			wg.Wait()
			slices.Sort(numbers)
			if !slices.Equal(numbers, []int{0, 1, 2}) {
				t.Errorf("the generator numbers are %v", numbers)
			}
			if len(before) > 0 && slices.Min(minted) < slices.Max(before) {
				t.Errorf("%v after %v", minted, before)
			}
			before = minted
		}
		log, err := launchlog.New(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		launch, err := log.Show(t.Context(), 1)
		if err != nil || launch.Key != "shop/production/7f9c" || launch.InitiatorKind != "app" {
			t.Errorf("%+v, %v", launch, err)
		}
	})
}

// TestOpenEnvironment: the environment names the launch or the deployment. Without either, the app
// has a launch for development.
func TestOpenEnvironment(t *testing.T) {
	open := func(store launchlog.Store, app idmint.App) (idtype.DecimalID, error) {
		ids, err := idmint.Open(t.Context(), store, app)
		if err != nil {
			return 0, err
		}
		defer ids.Close(t.Context())
		return ids.Next(t.Context())
	}
	shop := idmint.App{Service: "shop"}

	dev := memory.New(nil)
	if id, err := open(dev, shop); err != nil || id.Parts().Launch != 1 {
		t.Errorf("for development: %v, %v", id, err)
	}
	staging := idmint.App{Service: "shop", Environment: "staging"}
	if _, err := open(dev, staging); err == nil || !strings.Contains(err.Error(), "no deployment") {
		t.Errorf("staging without a deployment: %v", err)
	}
	t.Setenv("IDMINT_DEPLOYMENT", "a")
	if id, err := open(dev, shop); err != nil || id.Parts().Launch != 2 {
		t.Errorf("a deployment: %v, %v", id, err)
	}
	log, err := launchlog.New(dev, nil)
	if err != nil {
		t.Fatal(err)
	}
	request := storetest.Request("shop/production/b") // by a process of another build
	request.Environment = "production"
	if _, err := log.Start(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	t.Setenv("IDMINT_DEPLOYMENT", "b")
	if id, err := open(dev, shop); err != nil || id.Parts().Launch != 3 {
		t.Errorf("a deployment that another build has started: %v, %v", id, err)
	}
	for last := 5; last < 10; last += 4 { // an advance, after a restore, ends all
		if _, err := log.Advance(t.Context(), last, "ann"); err != nil {
			t.Fatal(err)
		}
		if id, err := open(dev, shop); err != nil || id.Parts().Launch != last+1 {
			t.Errorf("a deployment whose launch has ended: %v, %v", id, err)
		}
	}
	t.Setenv("IDMINT_DEPLOYMENT", "")
	if _, err := open(dev, shop); !errors.Is(err, launchlog.ErrOtherApp) {
		t.Errorf("for development, beside a deployment: %v", err)
	}

	store := memory.New(nil)
	log, err = launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	request = storetest.Request("a")
	request.Environment = "production"
	if _, err := log.Start(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	t.Setenv("IDMINT_LAUNCH_ID", "1")
	if id, err := open(store, shop); err != nil || id.Parts().Launch != 1 {
		t.Errorf("a launch: %v, %v", id, err)
	}
	both := idmint.App{Service: "shop", Deployment: "a"}
	if _, err := open(store, both); err == nil || !strings.Contains(err.Error(), "IDMINT_DEPLOYMENT") {
		t.Errorf("both: %v", err)
	}
	if _, err := open(nil, shop); err == nil {
		t.Error("without a store it opens")
	}
}

// TestOpenLent: generators of IDs that carry the time have numbers that nobody else has.
func TestOpenLent(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store, app := memory.New(nil), idmint.App{Service: "shop"}
		seen := map[string]bool{}
		mint := func(id fmt.Stringer, err error) {
			t.Helper()
			if err != nil || seen[id.String()] {
				t.Errorf("%v, %v", id, err)
				return
			}
			seen[id.String()] = true
		}
		nodes := map[int]bool{}
		for range 3 {
			trace, err := idmint.OpenTrace(t.Context(), store, app)
			if err != nil {
				t.Fatal(err)
			}
			id, err := trace.Next(t.Context())
			mint(id, err)
			nodes[id.Parts().Node] = true
			sno, err := idmint.OpenSno(t.Context(), store, app)
			if err != nil {
				t.Fatal(err)
			}
			unique, err := sno.Next(t.Context())
			mint(unique, err)
			eight, err := idmint.OpenEightByte(t.Context(), store, idtype.EightByteSpread, app)
			if err != nil {
				t.Fatal(err)
			}
			short, err := eight.Next(t.Context())
			mint(short, err)
			flakes, err := idmint.OpenSnowflake[idtype.Twitter](t.Context(), store, app)
			if err != nil {
				t.Fatal(err)
			}
			flake, err := flakes.Next(t.Context())
			mint(flake, err)
		}
		if len(nodes) != 3 || len(seen) != 12 {
			t.Errorf("%d nodes, %d IDs", len(nodes), len(seen))
		}
		if _, err := idmint.OpenTrace(t.Context(), nil, app); err == nil {
			t.Error("without a store it opens")
		}
	})
}

// TestOpenLog: every call passes on the options of the log.
func TestOpenLog(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := memory.New(nil)
		steps := 0
		app := idmint.App{Service: "shop", Log: launchlog.Options{
			Namespace: "tenant", Observe: func(context.Context, launchlog.Step) { steps++ },
		}}
		ids, err := idmint.Open(t.Context(), store, app)
		if err != nil {
			t.Fatal(err)
		}
		defer ids.Close(context.Background())
		opened := steps
		if _, err := idmint.OpenTrace(t.Context(), store, app); err != nil {
			t.Fatal(err)
		}
		counters, err := store.Counters(t.Context(), "tenant", "", 100)
		if err != nil || len(counters) == 0 || opened == 0 || steps == opened {
			t.Errorf("counters %v, %v; %d steps, then %d", counters, err, opened, steps)
		}
		launches, err := store.Launches(t.Context(), "tenant", launchlog.Filter{Limit: 1})
		if err != nil || len(launches) != 1 {
			t.Errorf("launches %v, %v", launches, err)
		}
	})
}
