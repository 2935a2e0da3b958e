// Package storetest tests what a launchlog.Store must do. A store uses it like this:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) launchlog.Store { … an empty store … }, nil)
//	}
//
// [Disturb] and [Simulate] search for errors at random.
//
// If a bug is found in a store, first add a test case here.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// Run runs the suite. Each test opens a separate store, which must be empty. If a store is too slow
// to take all 100,000 numbers of a launch, jump sets its next number; otherwise jump is nil. If the
// store's tables refuse to delete young claims, age makes the claims of a launch two days older.
// Open may call t.Parallel.
func Run(
	t *testing.T, open func(t *testing.T) launchlog.Store,
	jump func(store launchlog.Store, ref launchlog.Ref, next int) error,
	age ...func(store launchlog.Store, ref launchlog.Ref) error,
) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(*testing.T, launchlog.Store)
	}{
		{"EveryField", everyField},
		{"Limits", limits},
		{"DifferentNames", differentNames},
		{"SameKeySameLaunch", sameKey},
		{"Conflict", conflict},
		{"KnownLaunch", knownLaunch},
		{"End", end},
		{"Claim", claim},
		{"ClaimByToken", claimByToken},
		{"Namespaces", namespaces},
		{"List", list},
		{"Events", events},
		{"Digits", digits},
		{"Laps", laps},
		{"LapsAndAdvance", lapsAndAdvance},
		{"GeneratorsExhausted", func(t *testing.T, store launchlog.Store) {
			generatorsExhausted(t, store, jump)
		}},
		{"Trim", func(t *testing.T, store launchlog.Store) { trim(t, store, age) }},
		{"CanceledContext", canceled},
		{"Contention", func(t *testing.T, store launchlog.Store) { Disturb(t, store, 6, nil) }},
		{"Counter", counter},
		{"CounterExhausted", counterExhausted},
		{"Counters", counters},
		{"CounterAdvance", counterAdvance},
		{"Raise", raises},
		{"RaiseAgain", raisesAgain},
		{"Order", order},
		{"Clock", clock},
		{"Operator", func(t *testing.T, store launchlog.Store) { Disturb(t, store, 3, Operator) }},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

var ctx = context.Background()

// near is how far a store's time of an operation may be from this machine's. A smaller value would
// limit how long the operation may take.
const near = 10 * time.Minute

// newLog returns a log whose calls continue until the store answers, however busy the machine is.
func newLog(t *testing.T, store launchlog.Store, opts *launchlog.Options) *launchlog.Log {
	t.Helper()
	patient := launchlog.Options{}
	if opts != nil {
		patient = *opts
	}
	patient.Budget = time.Hour
	l := must(launchlog.New(store, &patient))(t)
	return l
}

// Request returns a small valid request with a key.
func Request(key string) launchlog.Request {
	return launchlog.Request{Key: key, Service: "shop", Environment: "test", Initiator: "ann"}
}

func start(t *testing.T, l *launchlog.Log, key string) launchlog.Launch {
	t.Helper()
	launch, err := l.Start(ctx, Request(key))
	if err != nil {
		t.Fatalf("start %q: %v", key, err)
	}
	return launch
}

func want[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// must returns the result of a call, or ends the test with its error: must(l.Show(ctx, 1))(t).
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// fails checks the error of a call: fails(l.Show(ctx, 99))(t, launchlog.ErrNotFound).
func fails[T any](_ T, err error) func(*testing.T, error) {
	return func(t *testing.T, target error) {
		t.Helper()
		wantError(t, err, target)
	}
}

func wantError(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("got error %v, want %v", err, target)
	}
}

// BeginsWith checks that an error begins with the name of the store's package.
func BeginsWith(t *testing.T, err error, name string) {
	t.Helper()
	if !strings.HasPrefix(fmt.Sprint(err), name) {
		t.Errorf("%v, want %q in front", err, name)
	}
}

func everyField(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, &launchlog.Options{Host: "build-7", PID: 99})
	first := start(t, l, "first")
	request := launchlog.Request{
		Key: "https://ci.example/run/4711?attempt=1&x='\"--", Service: "shop",
		Environment: "prod-eu", Initiator: "Ärger 😀", InitiatorKind: "user",
		Version: "1.2.3", Commit: "8f3c", Ref: "refs/heads/main", ArtifactDigest: "sha256:00ff",
		Ticket: "SHOP-1", Reason: "new year's sale",
		Approver: "bob", PipelineURL: "https://ci.example/run/4711", RollsBack: first.ID,
		Data: json.RawMessage(` {"b": 1.50, "a": [null, "x"]} `),
	}
	before := time.Now()
	launch := must(l.Start(ctx, request))(t)
	request.Data = json.RawMessage(`{"a":[null,"x"],"b":1.50}`)
	want(t, "request", launch.Request, request)
	want(t, "number", launch.ID, 2)
	want(t, "host", launch.Host, "build-7")
	want(t, "namespace", launch.Namespace, "default")
	want(t, "running", launch.Running(), true)
	want(t, "length of the hash", len(launch.RequestHash), 64)
	if d := launch.StartedAt.Sub(before).Abs(); d > near {
		t.Errorf("started %v from now", d)
	}
	shown := must(l.Show(ctx, 2))(t)
	want(t, "shown", shown, launch)
}

func sameKey(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	a, b := start(t, l, "a"), start(t, l, "b")
	want(t, "numbers", []int{a.ID, b.ID}, []int{1, 2})
	want(t, "again", start(t, l, "a"), a)
	elsewhere := newLog(t, store, &launchlog.Options{Host: "another", PID: 1})
	want(t, "again, elsewhere", start(t, elsewhere, "a"), a)
	ended := must(l.End(ctx, a.ID, launchlog.Ending{Outcome: launchlog.Failed}))(t)
	want(t, "again, ended", start(t, l, "a"), ended)
	want(t, "no number was burnt", start(t, l, "c").ID, 3)
}

func conflict(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	first := start(t, l, "k")
	other := Request("k")
	other.Version, other.Data = "2", json.RawMessage(`{"x":1}`)
	_, err := l.Start(ctx, other)
	var c *launchlog.ConflictError
	if !errors.As(err, &c) {
		t.Fatalf("got %v, want a ConflictError", err)
	}
	want(t, "conflict", *c, launchlog.ConflictError{
		Key: "k", Launch: first.ID, Differ: []string{"version", "data"},
	})
	want(t, "next number", start(t, l, "other").ID, 2)
}

func knownLaunch(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	start(t, l, "a")
	r := Request("b")
	r.KnownLaunch = 5
	fails(l.Start(ctx, r))(t, launchlog.ErrBehind)
	last, err := l.Advance(ctx, 7, "operator")
	if err != nil || last != 7 {
		t.Fatalf("advance: %d, %v", last, err)
	}
	running := start(t, l, "running")
	last, err = l.Advance(ctx, 3, "operator")
	if e := new(*launchlog.RequestError); !errors.As(err, e) || last != 8 ||
		(*e).Reason != "is below the last launch, 8" { // without an unfinished advance
		t.Fatalf("advance to a number below the last one: %d, %v", last, err)
	}
	if still, err := l.Show(ctx, running.ID); err != nil || !still.Running() {
		t.Errorf("an advance that was refused ended launch %d: %v", running.ID, err)
	}
	launch := must(l.Start(ctx, r))(t)
	want(t, "number after the gap", launch.ID, 9)
	r.KnownLaunch = 0
	again := must(l.Start(ctx, r))(t)
	want(t, "what the caller knows is not part of the request", again, launch)
	r.KnownLaunch = 50
	fails(l.Start(ctx, r))(t, launchlog.ErrBehind) // even with an existing key
	shown := must(l.Show(ctx, 1))(t)
	want(t, "a launch that ran when the numbers were advanced", shown.Outcome, launchlog.Advanced)
	fails(l.Claim(ctx, 1))(t, launchlog.ErrEnded)
	if _, err := l.Claim(ctx, launch.ID); err != nil {
		t.Errorf("the launch that was started since: %v", err)
	}
	fails(l.Show(ctx, 5))(t, launchlog.ErrNotFound)
	found, err := l.Events(ctx, 0)
	if err != nil || len(found) != 1 || found[0].Kind != "advanced" ||
		found[0].Actor != "operator" || string(found[0].Detail) != `{"from":1,"to":7}` {
		t.Errorf("events of the namespace: %+v, %v", found, err)
	}
}

func end(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	launch := start(t, l, "a")
	ended := must(l.End(
		ctx, launch.ID,
		launchlog.Ending{Outcome: launchlog.Succeeded, Actor: "ann", Reason: "done"},
	))(t)
	if ended.Running() || ended.Outcome != launchlog.Succeeded ||
		ended.EndedAt.Before(launch.StartedAt) {
		t.Errorf("ended: %+v", ended)
	}
	again := must(l.End(
		ctx, launch.ID, launchlog.Ending{Outcome: launchlog.Succeeded, Actor: "bob"},
	))(t)
	want(t, "ended again", again, ended)
	_, err := l.End(ctx, launch.ID, launchlog.Ending{Outcome: launchlog.Failed})
	var c *launchlog.ConflictError
	if !errors.As(err, &c) {
		t.Errorf("another outcome: got %v, want a ConflictError", err)
	}
	fails(l.End(ctx, 99, launchlog.Ending{Outcome: launchlog.Failed}))(t, launchlog.ErrNotFound)
	fails(l.Events(ctx, 99))(t, launchlog.ErrNotFound)
	fails(l.Claims(ctx, 99, 0, 1))(t, launchlog.ErrNotFound)
	fails(l.Claim(ctx, launch.ID))(t, launchlog.ErrEnded)
}

func claim(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, &launchlog.Options{Host: "web-1", PID: 42})
	launch, other := start(t, l, "a"), start(t, l, "b")
	var claims []launchlog.Claim
	for i := range 5 {
		c := must(l.Claim(ctx, launch.ID))(t)
		want(t, "number", c.Generator, i)
		want(t, "holder", []any{c.Launch, c.Host, c.PID}, []any{launch.ID, "web-1", 42})
		if d := time.Since(c.ClaimedAt).Abs(); d > near {
			t.Errorf("claimed %v from now", d)
		}
		claims = append(claims, c)
	}
	numbers := l.Generators(other.ID)
	if of, n, err := numbers.NextGenerator(ctx); of != other.ID || n != 0 || err != nil {
		t.Errorf("each launch counts by itself: %d of %d, %v", n, of, err)
	}
	got := must(l.Claims(ctx, launch.ID, 1, 3))(t)
	want(t, "records", got, claims[1:4])
	shown, err := l.Show(ctx, launch.ID)
	want(t, "next number", shown.NextGenerator, 5)
	wantError(t, err, nil)
	for _, missing := range []int{-1, 0, 3, 100_000} {
		fails(l.Claim(ctx, missing))(t, launchlog.ErrNotFound)
	}
}

func claimByToken(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	launch := start(t, l, "a")
	take := launchlog.Claim{
		Namespace: "default", Launch: launch.ID, Token: "t1", Host: "h", PID: 1,
	}
	first := must(store.ClaimGenerator(ctx, take))(t)
	must(l.Claim(ctx, launch.ID))(t)
	must(l.End(ctx, launch.ID, launchlog.Ending{Outcome: launchlog.Succeeded}))(t)
	again := must(store.ClaimGenerator(ctx, take))(t)
	want(t, "the same token, even when the launch has ended", again, first)
}

func namespaces(t *testing.T, store launchlog.Store) {
	a, b := newLog(t, store, &launchlog.Options{Namespace: "a"}),
		newLog(t, store, &launchlog.Options{Namespace: "b"})
	start(t, a, "k1")
	want(t, "number in a", start(t, a, "k2").ID, 2)
	want(t, "number in b, for a key of a", start(t, b, "k2").ID, 1)
	fails(b.Show(ctx, 2))(t, launchlog.ErrNotFound)
	fails(b.Claim(ctx, 2))(t, launchlog.ErrNotFound)
	fails(b.End(ctx, 2, launchlog.Ending{Outcome: launchlog.Failed}))(t, launchlog.ErrNotFound)
	found := must(b.List(ctx, launchlog.Filter{}))(t)
	want(t, "launches of b", len(found), 1)
}

func list(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	for i := 1; i <= 10; i++ {
		r := Request(fmt.Sprint(i))
		if i%2 == 0 {
			r.Service = "mail"
		}
		if i%5 == 0 {
			r.Environment = "prod"
		}
		must(l.Start(ctx, r))(t)
	}
	for id := 1; id <= 4; id++ {
		must(l.End(ctx, id, launchlog.Ending{Outcome: launchlog.Superseded}))(t)
	}
	for _, test := range []struct {
		filter launchlog.Filter
		want   []int
	}{
		{launchlog.Filter{}, []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
		{launchlog.Filter{Limit: 3}, []int{10, 9, 8}},
		{launchlog.Filter{Limit: 3, Before: 8}, []int{7, 6, 5}},
		{launchlog.Filter{Service: "mail"}, []int{10, 8, 6, 4, 2}},
		{launchlog.Filter{Environment: "prod"}, []int{10, 5}},
		{launchlog.Filter{Service: "mail", Running: true, Limit: 2, Before: 10}, []int{8, 6}},
		{launchlog.Filter{Service: "none"}, nil},
	} {
		found := must(l.List(ctx, test.filter))(t)
		var ids []int
		for _, launch := range found {
			ids = append(ids, launch.ID)
		}
		want(t, fmt.Sprintf("%+v", test.filter), ids, test.want)
	}
}

func events(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	launch := start(t, l, "a")
	start(t, l, "a")
	start(t, l, "b")
	for range 2 {
		must(l.End(ctx, launch.ID, launchlog.Ending{
			Outcome: launchlog.Aborted, Actor: "bob", Reason: "wrong branch",
		}))(t)
	}
	found := must(l.Events(ctx, launch.ID))(t)
	if len(found) != 2 {
		t.Fatalf("events: %+v", found)
	}
	want(t, "kinds", []string{found[0].Kind, found[1].Kind}, []string{"started", "ended"})
	want(t, "actors", []string{found[0].Actor, found[1].Actor}, []string{"ann", "bob"})
	want(t, "detail", string(found[1].Detail), `{"outcome":"aborted","reason":"wrong branch"}`)
	if found[0].At.IsZero() || found[1].At.Before(found[0].At) {
		t.Errorf("times: %v, %v", found[0].At, found[1].At)
	}
}

// generatorsExhausted takes all the numbers of a launch, or only those around the levels of
// warnings.
func generatorsExhausted(
	t *testing.T, store launchlog.Store, jump func(launchlog.Store, launchlog.Ref, int) error,
) {
	steps := []int{0, launchlog.MaxGenerators}
	if jump != nil {
		steps = []int{0, 2, 79_998, 80_002, 89_998, 90_002, 94_998, 95_002, 99_997, 100_000}
	}
	levels := map[int]int{}
	l := newLog(t, store, &launchlog.Options{Warn: func(u launchlog.Usage) { levels[u.Level()]++ }})
	launch := start(t, l, "a")
	for ; len(steps) > 0; steps = steps[2:] {
		if steps[0] > 0 {
			ref := launchlog.Ref{Namespace: launch.Namespace, Launch: launch.ID}
			wantError(t, jump(store, ref, steps[0]), nil)
		}
		for i := steps[0]; i < steps[1]; i++ {
			c, err := l.Claim(ctx, launch.ID)
			if err != nil || c.Generator != i {
				t.Fatalf("claim %d: %+v, %v", i, c, err)
			}
		}
	}
	fails(l.Claim(ctx, launch.ID))(t, launchlog.ErrGeneratorsExhausted)
	want(t, "warnings by level", levels, map[int]int{80: 1, 90: 1, 95: 1})
	shown := must(l.Show(ctx, launch.ID))(t)
	want(t, "next number", shown.NextGenerator, launchlog.MaxGenerators)
}

func canceled(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	launch := start(t, l, "a")
	c := newCounter(t, l, "c")
	dead, cancel := context.WithCancel(ctx)
	cancel()
	for name, call := range map[string]func() error{
		"Start":   func() error { _, err := l.Start(dead, Request("b")); return err },
		"Claim":   func() error { _, err := l.Claim(dead, launch.ID); return err },
		"Now":     func() error { _, err := l.Now(dead); return err },
		"Reserve": func() error { _, err := c.Reserve(dead, 0, 1); return err },
		"Raise":   func() error { _, err := c.Raise(dead, newRaise(0, 1, "a")); return err },
		"Advance": func() error { _, err := c.Advance(dead, 5, "operator"); return err },
		"Last":    func() error { _, err := c.Last(dead); return err },
	} {
		err := call()
		var u *launchlog.UnresolvedError
		if !errors.Is(err, context.Canceled) || !errors.As(err, &u) || u.Uncertain {
			t.Errorf("%s: got %v, want an UnresolvedError that is certain", name, err)
		}
	}
	shown := must(l.Show(ctx, launch.ID))(t)
	want(t, "next number", shown.NextGenerator, 0)
	wantLast(t, c, 0)
}
