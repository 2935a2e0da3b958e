package kv_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

// TestReference has the store and the reference take the same random steps. Their answers are the
// same.
func TestReference(t *testing.T) {
	const seeds, steps = 80, 120
	for seed := range uint64(seeds) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		clock := func() time.Time { return now }
		reference := memory.New(clock)
		tried := kv.New(kvtest.NewMemory(), clock)
		random := rand.New(rand.NewPCG(seed, 0))
		for n := range steps {
			now = now.Add(time.Millisecond)
			run := randomStep(random, n)
			want, wantErr := run(reference)
			got, err := run(tried)
			if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("seed %d, step %d: got %+v, %v, want %+v, %v", seed, n, got, err, want,
					wantErr)
			}
		}
	}
}

// plain makes an answer whose empty list is none.
func plain[T any](list []T, err error) (any, error) {
	if len(list) == 0 {
		return "none", err
	}
	return list, err
}

type store = launchlog.Store

func randomStep(random *rand.Rand, n int) func(store) (any, error) {
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	namespace := pick("a", "a", "b.c-d_e")
	ref := launchlog.Ref{Namespace: namespace, Launch: random.IntN(12) - 1}
	counter := launchlog.CounterRef{
		Namespace: namespace, Name: pick("c", "c/d", "c.d", "c-d", "c/d/e", "c0", "c_d"),
	}
	ending := launchlog.Ending{
		Outcome: launchlog.Failed, Actor: pick("ann", "bob"), Reason: pick("", `<&>"\`),
	}
	number := random.Int64N(30)
	switch k := random.IntN(14); k {
	case 0, 1:
		r := storetest.Request(pick("a", "b", "c/d", "ä", strings.Repeat("k", 255), fmt.Sprint(n)))
		r.Service, r.Environment = pick("shop", "mail"), pick("prod", "test")
		r.Data = []byte(pick(`{}`, `{"a":"<&>"}`, `{"a":1.0e400}`))
		start := launchlog.Start{Namespace: namespace, Request: r, RequestHash: "h", Host: "h"}
		start.KnownLaunch = random.IntN(4)
		return func(s store) (any, error) { return s.StartLaunch(ctx, start) }
	case 2:
		return func(s store) (any, error) { return s.EndLaunch(ctx, ref, ending) }
	case 3, 4:
		take := launchlog.Take{Ref: ref, Token: fmt.Sprint(n), Host: "h", PID: n}
		return func(s store) (any, error) { return s.ClaimGenerator(ctx, take) }
	case 5:
		last := 1 + random.IntN(12)
		if random.IntN(10) == 0 {
			last = launchlog.MaxLaunch - random.IntN(3)
		}
		return func(s store) (any, error) {
			return s.AdvanceLaunches(ctx, namespace, last, ending)
		}
	case 6:
		return func(s store) (any, error) { return s.Launch(ctx, ref) }
	case 7:
		f := launchlog.Filter{
			Service: pick("", "", "shop"), Environment: pick("", "", "prod"),
			Running: random.IntN(2) == 0, Before: random.IntN(12), Limit: 1 + random.IntN(9),
		}
		if random.IntN(3) == 0 {
			f.Before, f.Limit = launchlog.MaxLaunch+random.IntN(3), launchlog.MaxLaunch
		}
		return func(s store) (any, error) { return plain(s.Launches(ctx, namespace, f)) }
	case 8:
		if random.IntN(2) == 0 {
			ref.Launch = 0
		}
		return func(s store) (any, error) { return plain(s.Events(ctx, ref)) }
	case 9:
		from, limit := random.IntN(6)-1, 1+random.IntN(4)
		return func(s store) (any, error) { return plain(s.Claims(ctx, ref, from, limit)) }
	case 10:
		return func(s store) (any, error) {
			return s.ReserveNumbers(ctx, counter, number, 1+number%4)
		}
	case 11:
		return func(s store) (any, error) {
			return s.AdvanceCounter(ctx, counter, 1+number, "ann")
		}
	case 12:
		raise := launchlog.Raise{From: number, To: number + 2, Note: fmt.Sprint(n), Holder: "h"}
		if random.IntN(2) == 0 {
			raise.From = 0
		}
		return func(s store) (any, error) {
			last, err := s.LastNumber(ctx, counter)
			if err == nil && n%2 == 0 {
				raise.From, raise.To = last, last+2
			}
			return s.RaiseCounter(ctx, counter, raise)
		}
	default:
		after := pick("", "c", "c/", "c.", "c.~", "c.d", "c/d", "c-", "-", "_", "c\xff", "d", "c/Z",
			"c d")
		limit := 1 + random.IntN(8)
		return func(s store) (any, error) {
			return plain(s.Counters(ctx, namespace, after, limit))
		}
	}
}
