package launchlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

// lost is a store that does not tell of launches.
type lost struct{ *memory.Store }

func (lost) Launch(context.Context, launchlog.Ref) (launchlog.Launch, error) {
	return launchlog.Launch{}, &launchlog.AttemptError{Err: errAway}
}

func (lost) Launches(context.Context, string, launchlog.Filter) ([]launchlog.Launch, error) {
	return nil, &launchlog.AttemptError{Err: errAway}
}

var shop = launchlog.App{Service: "shop", Environment: "production"}

// unset takes the launch from the environment, until the test ends.
func unset(t *testing.T) {
	t.Helper()
	t.Setenv("IDMINT_LAUNCH_ID", "")
	if err := os.Unsetenv("IDMINT_LAUNCH_ID"); err != nil {
		t.Fatal(err)
	}
}

// startShop starts a launch of the shop.
func startShop(t *testing.T, l *launchlog.Log, key string) launchlog.Launch {
	t.Helper()
	launch, err := l.Start(ctx, launchlog.Request{
		Key: key, Service: shop.Service, Environment: shop.Environment, Initiator: "ann",
	})
	if err != nil {
		t.Fatal(err)
	}
	return launch
}

// TestJoin: each app that joins has a number of its own, taken before it mints, and goes on as one
// that did not join.
func TestJoin(t *testing.T) {
	l := newLog(t, memory.New(nil), nil)
	startShop(t, l, "before")
	launch := startShop(t, l, "now")
	t.Setenv("IDMINT_LAUNCH_ID", strconv.Itoa(launch.ID))
	given := shop
	given.Launch = launch.ID
	for start, app := range []launchlog.App{shop, given, shop} {
		numbers, err := l.Join(ctx, app)
		if err != nil {
			t.Fatal(err)
		}
		if now, err := l.Show(ctx, launch.ID); err != nil || now.NextGenerator != start+1 {
			t.Errorf("start %d: %+v, %v", start, now, err)
		}
		gen, err := generator.NewDecimal(numbers)
		if err != nil {
			t.Fatal(err)
		}
		id, err := gen.Next(ctx)
		if p := id.Parts(); err != nil || p.Launch != launch.ID || p.Generator != start {
			t.Errorf("start %d: %v, %v", start, id, err)
		}
	}
	// The number is handed out once, also to callers at the same time.
	numbers, err := l.Join(ctx, shop)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var got []int
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, n, err := numbers.NextGenerator(ctx)
			mu.Lock()
			defer mu.Unlock()
			if got = append(got, n); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	seen := map[int]bool{}
	for _, n := range got {
		seen[n] = true
	}
	if now, err := l.Show(ctx, launch.ID); err != nil || len(seen) != 8 || !seen[3] ||
		now.NextGenerator != 11 {
		t.Errorf("%v, %+v, %v", got, now, err)
	}
}

// TestJoinRefuses: whatever would fail at the first ID, or go unnoticed, fails at start, and takes
// no number.
func TestJoinRefuses(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.FixedZone("", 3600))
	store := memory.New(func() time.Time { return at })
	l := newLog(t, store, nil)
	startShop(t, l, "runs")
	startShop(t, l, "ended")
	if _, err := l.End(ctx, 2, launchlog.Ending{Outcome: launchlog.Failed}); err != nil {
		t.Fatal(err)
	}
	away := newLog(t, lost{store}, nil)
	variable := `IDMINT_LAUNCH_ID "%s" is not a launch number`
	for name, test := range map[string]struct {
		log      *launchlog.Log
		app      launchlog.App
		variable string
		err      error
		text     string
	}{
		"no variable": {l, shop, "", nil, fmt.Sprintf(variable, "")},
		"a word":      {l, shop, "one", nil, fmt.Sprintf(variable, "one")},
		"launch 0":    {l, shop, "0", nil, fmt.Sprintf(variable, "0")},
		"a sign":      {l, shop, "+1", nil, fmt.Sprintf(variable, "+1")},
		"a space":     {l, shop, "1 ", nil, fmt.Sprintf(variable, "1 ")},
		"too large":   {l, shop, "100000", nil, fmt.Sprintf(variable, "100000")},
		"not there":   {l, shop, "3", launchlog.ErrNotFound, "has no such launch"},
		"ended": {
			l, shop, "2", launchlog.ErrEnded,
			"it ended at 2026-11-23T11:00:00Z, with outcome failed: start a new launch",
		},
		"another service": {
			l,
			launchlog.App{Service: "billing", Environment: "production"},
			"1",
			launchlog.ErrOtherApp, `"billing" in "production" cannot join launch 1: ` +
				`it belongs to "shop" in "production": give this app the number of its own launch`,
		},
		"another environment": {
			l,
			launchlog.App{Service: "shop", Environment: "staging"},
			"1",
			launchlog.ErrOtherApp, `it belongs to "shop" in "production"`,
		},
		"the log is away": {away, shop, "1", errAway, "the log does not answer: show"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("IDMINT_LAUNCH_ID", test.variable)
			var numbers *launchlog.Generators
			var err error
			synctest.Test(t, func(*testing.T) { // where a budget is over at once
				numbers, err = test.log.Join(ctx, test.app)
			})
			var refused *launchlog.JoinError
			if numbers != nil || !errors.As(err, &refused) || !strings.Contains(err.Error(), test.text) {
				t.Fatalf("%v, %v, want %q", numbers, err, test.text)
			}
			if test.err != nil && !errors.Is(err, test.err) {
				t.Errorf("%v is no %v", err, test.err)
			}
			var wrong *launchlog.RequestError
			if test.err == nil && (!errors.As(err, &wrong) || wrong.Value != test.variable) {
				t.Errorf("%v", wrong)
			}
		})
	}
	for _, app := range []launchlog.App{
		{Environment: "production"},
		{Service: "shop"},
		{Service: "shop", Environment: "a\nb"},
		{Service: "shop", Environment: "production", Launch: -1},
		{Service: "shop", Environment: "production", Launch: launchlog.MaxLaunch + 1},
	} {
		var wrong *launchlog.RequestError
		if _, err := l.Join(ctx, app); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", app, err)
		}
	}
	for _, none := range []*launchlog.Log{nil, {}} {
		app := shop
		app.Launch = 1
		if _, err := none.Join(ctx, app); err == nil {
			t.Error("a log that no constructor made is joined")
		}
		if _, err := none.JoinDev(ctx, "shop"); err == nil {
			t.Error("a log that no constructor made is joined")
		}
	}
	if now, err := l.Show(ctx, 1); err != nil || now.NextGenerator != 0 {
		t.Errorf("%+v, %v: no number was to be taken", now, err)
	}
}

// TestJoinDev: a user has one launch in a folder, until it is ended.
func TestJoinDev(t *testing.T) {
	l := newLog(t, memory.New(nil), nil)
	t.Chdir(t.TempDir())
	unset(t)
	join := func(service string, launch, number int) {
		t.Helper()
		numbers, err := l.JoinDev(ctx, service)
		if err != nil {
			t.Fatal(err)
		}
		of, n, err := numbers.NextGenerator(ctx)
		if err != nil || of != launch || n != number {
			t.Errorf("generator %d of launch %d, %v, want %d of %d", n, of, err,
				number, launch)
		}
	}
	join("shop", 1, 0)
	join("shop", 1, 1)
	join("billing", 2, 0)
	if found, err := l.Show(ctx, 1); err != nil || found.Service != "shop" ||
		found.Environment != "dev" || found.Initiator == "" {
		t.Errorf("%+v, %v", found, err)
	}
	for _, n := range []int{1, 3} { // each time another one goes on
		if _, err := l.End(ctx, n, launchlog.Ending{Outcome: launchlog.Aborted}); err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			join("shop", 3, 0)
			join("shop", 3, 1)
		}
	}
	join("shop", 4, 0)
	t.Chdir(t.TempDir())
	join("shop", 5, 0)
}

// TestContinues: a launch whose generator numbers are used up goes on in another one, which the log
// starts by itself: once, whoever comes there, at a start of an app and while it runs.
func TestContinues(t *testing.T) {
	unset(t)
	store := &scarce{Store: memory.New(nil)}
	l := newLog(t, store, nil)
	request := storetest.Request("a deployment")
	request.Service, request.Environment, request.Version = "shop", "production", "1.7"
	if _, err := l.Start(ctx, request); err != nil {
		t.Fatal(err)
	}
	app := launchlog.App{Service: "shop", Environment: "production", Launch: 1}
	var got []string
	var mu sync.Mutex
	var group sync.WaitGroup
	for range 2 { // processes
		group.Go(func() {
			numbers, err := newLog(t, store, nil).Join(ctx, app)
			if err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				launch, number, err := numbers.NextGenerator(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				got = append(got, fmt.Sprintf("%d/%d", launch, number))
				mu.Unlock()
			}
		})
	}
	group.Wait()
	slices.Sort(got)
	if want := []string{"1/0", "1/1", "2/0", "2/1", "3/0", "3/1"}; !slices.Equal(got, want) {
		t.Errorf("the numbers are %v, want %v", got, want)
	}
	next, err := l.Show(ctx, 3)
	if err != nil || next.Key != "continues launch 2" || next.Version != "1.7" ||
		!strings.Contains(next.Reason, "launch 2") {
		t.Errorf("%+v, %v", next, err)
	}
	if _, err := l.End(ctx, 3, launchlog.Ending{Outcome: launchlog.Failed}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Join(ctx, app); !errors.Is(err, launchlog.ErrEnded) {
		t.Errorf("after the end of the launch that continues it: %v", err)
	}
}

// TestStartOrJoin: a key has one launch, whoever started it, and a new one after each that has ended.
// The launch of another app is refused.
func TestStartOrJoin(t *testing.T) {
	l := newLog(t, memory.New(nil), nil)
	join := func(version string, launch, number int) {
		t.Helper()
		r := storetest.Request("7f9c")
		r.Version = version
		numbers, err := l.StartOrJoin(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		digits, got, err := numbers.NextGenerator(ctx)
		if err != nil || digits != launch || got != number {
			t.Errorf("%s has launch %d, %d, %v, want %d, %d", version, digits, got, err, launch, number)
		}
	}
	join("1.7", 1, 0)
	join("1.8", 1, 1)
	for launch, outcome := range []launchlog.Outcome{1: launchlog.Failed, 2: launchlog.Superseded} {
		if launch == 0 {
			continue
		}
		if _, err := l.End(ctx, launch, launchlog.Ending{Outcome: outcome}); err != nil {
			t.Fatal(err)
		}
		join("1.7", launch+1, 0)
		join("1.8", launch+1, 1)
	}
	if third, err := l.Show(ctx, 3); err != nil || third.Key != "7f9c#3" || third.Version != "1.7" {
		t.Errorf("%+v, %v", third, err)
	}
	r := storetest.Request("7f9c")
	r.Service = "another"
	if _, err := l.StartOrJoin(ctx, r); !errors.Is(err, launchlog.ErrOtherApp) {
		t.Errorf("the launch of another app: %v", err)
	}
}

// scarce is a store whose launches have two generator numbers.
type scarce struct {
	*memory.Store
	mu sync.Mutex
}

func (s *scarce) ClaimGenerator(
	ctx context.Context, take launchlog.Claim,
) (launchlog.Claim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	launch, err := s.Store.Launch(ctx, launchlog.Ref{Namespace: take.Namespace, Launch: take.Launch})
	if err == nil && launch.Running() && launch.NextGenerator >= 2 {
		return launchlog.Claim{}, launchlog.ErrGeneratorsExhausted
	}
	return s.Store.ClaimGenerator(ctx, take)
}

// TestJoinDevRefuses: it starts no launch where others may be in use.
func TestJoinDevRefuses(t *testing.T) {
	refuses := func(l *launchlog.Log, text string) {
		t.Helper()
		var refused *launchlog.JoinError
		if _, err := l.JoinDev(ctx, "shop"); !errors.As(err, &refused) ||
			!strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
	l := newLog(t, memory.New(nil), nil)
	t.Setenv("IDMINT_LAUNCH_ID", "")
	refuses(l, `IDMINT_LAUNCH_ID is "": an app that has a launch must call Join`)
	unset(t)
	startShop(t, l, "production")
	for n := range 1100 { // more than a page of younger launches
		if _, err := l.Start(ctx, launchlog.Request{
			Key: strconv.Itoa(n), Service: "shop", Environment: "dev", Initiator: "ann",
		}); err != nil {
			t.Fatal(err)
		}
	}
	refuses(l, `the log has launch 1 of "shop" in "production"`)
	if found, err := l.List(ctx, launchlog.Filter{Limit: 1}); err != nil || found[0].ID != 1101 {
		t.Errorf("%+v, %v: no launch was to be started", found, err)
	}
	if _, err := l.JoinDev(ctx, ""); err == nil {
		t.Error("a service without a name")
	}
	synctest.Test(t, func(*testing.T) {
		refuses(newLog(t, lost{memory.New(nil)}, nil), "the log does not answer: list")
	})
}
