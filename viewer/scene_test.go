package viewer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/viewer"
)

// now is the time of the tests.
var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// A clock is set by a test.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newLog(t testing.TB, store launchlog.Store, opts *launchlog.Options) *launchlog.Log {
	t.Helper()
	if opts == nil {
		opts = &launchlog.Options{Host: "web-1", PID: 4711}
	}
	log, err := launchlog.New(store, opts)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func newPages(t testing.TB, log *launchlog.Log, opts *viewer.Options) *viewer.Handler {
	t.Helper()
	var o viewer.Options
	if opts != nil {
		o = *opts
	}
	if o.Now == nil {
		o.Now = func() time.Time { return now }
	}
	if o.Timeout == 0 { // the machine may stand still
		o.Timeout = time.Hour
	}
	h, err := viewer.New(log, &o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// start starts a launch of a service.
func start(t testing.TB, log *launchlog.Log, r launchlog.Request) launchlog.Launch {
	t.Helper()
	l, err := log.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// sample is the pages of a log of several services, with 120 launches.
func sample(t testing.TB) *viewer.Handler {
	t.Helper()
	return newPages(t, newLog(t, sampleStore(t), nil), nil)
}

// sampleStore has 120 launches of three services, and a counter beyond what JSON readers keep.
func sampleStore(t testing.TB) *memory.Store {
	t.Helper()
	c := &clock{now.Add(-40 * 24 * time.Hour)}
	store := memory.New(c.now)
	log := newLog(t, store, nil)
	ctx := context.Background()
	for i := range 120 {
		service := []string{"shop", "billing", "search"}[i%3]
		l := start(t, log, launchlog.Request{
			Key: fmt.Sprintf("https://ci.example/run/%d", i), Service: service,
			Environment: []string{"prod", "staging"}[i/3%2], Initiator: "ann", InitiatorKind: "ci",
			Version: fmt.Sprintf("v1.%d.0", i), Ticket: fmt.Sprintf("SHOP-%d", i), Approver: "joe",
			Reason: "release of the week", Commit: "0f3a9c1", Ref: "main",
			PipelineURL: fmt.Sprintf("https://ci.example/run/%d", i),
			Data:        json.RawMessage(`{"region":"eu-1","big":9007199254740993}`),
		})
		for range 1 + i%5*30 {
			if _, err := log.Claim(ctx, l.ID); err != nil {
				t.Fatal(err)
			}
		}
		if i < 114 {
			c.at = c.at.Add(3 * time.Hour)
			outcome := launchlog.Succeeded
			if i%10 == 4 {
				outcome = launchlog.Failed
			}
			if i%17 == 3 {
				outcome = launchlog.RolledBack
			}
			if _, err := log.End(ctx, l.ID, launchlog.Ending{Outcome: outcome, Actor: "ci"}); err != nil {
				t.Fatal(err)
			}
		}
		c.at = c.at.Add(4 * time.Hour)
	}
	c.at = now
	orders, err := log.Counter("orders")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := orders.Reserve(ctx, 0, 9007199254740993); err != nil {
		t.Fatal(err)
	}
	return store
}
