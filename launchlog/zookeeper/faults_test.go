package zookeeper

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/idmint/idmint/internal/faultnet"
	"github.com/idmint/idmint/launchlog/internal/kv"
	"github.com/idmint/idmint/launchlog/internal/kv/kvtest"
)

func TestFaults(t *testing.T) {
	kvtest.Faults(t, func(t *testing.T) func(kvtest.Dial) kvtest.Client {
		c := prepared(t)
		for n := len(c.Servers); n < 3; n++ { // each has a connection of its own
			c.Servers = append(c.Servers, c.Servers[0])
		}
		return func(dial kvtest.Dial) kvtest.Client {
			c := c
			c.dialer = dial
			return client(t, c)
		}
	})
}

// behind is an engine whose requests a hook sees, by the number that the protocol has for them.
func behind(t *testing.T, hook func(op byte) faultnet.Fate) (e, other engine) {
	t.Helper()
	c := prepared(t)
	other = client(t, c)
	wire := faultnet.New(t)
	c.dialer = wire.Dial
	e = client(t, c)
	wire.Hook(func(request []byte) faultnet.Fate {
		if len(request) < 12 { // its length, its own number, the kind's
			return faultnet.Pass
		}
		return hook(request[11])
	})
	return e, other
}

const opGet, opMulti = 4, 14

func commit(t *testing.T, e engine, version int64) {
	t.Helper()
	var changes []kv.Change
	for _, name := range []string{"state", "other"} {
		changes = append(changes, kv.Change{Name: name, Version: version, Value: []byte("{}")})
	}
	if done, err := e.Commit(t.Context(), "n/p", changes...); err != nil || !done {
		t.Fatalf("commit: %t, %v", done, err)
	}
}

// A read that has no answer to its transaction returns nothing.
func TestBarrier(t *testing.T) {
	e, other := behind(t, func(op byte) faultnet.Fate {
		if op == opMulti {
			return faultnet.Mute
		}
		return faultnet.Pass
	})
	commit(t, other, 0)
	for name, read := range map[string]func(context.Context) ([]kv.Row, error){
		"read": func(ctx context.Context) ([]kv.Row, error) { return e.Read(ctx, "n/p", "state") },
		"reads": func(ctx context.Context) ([]kv.Row, error) {
			return e.Read(ctx, "n/p", "state", "other")
		},
		"list": func(ctx context.Context) ([]kv.Row, error) { return e.List(ctx, "n/p", "", "", 1) },
		"each": func(ctx context.Context) ([]kv.Row, error) {
			return e.Each(ctx, []string{"n/p"}, "state")
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if rows, err := read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
		cancel()
	}
}

// Another client writes while a read is between two of its rows.
func TestTornRead(t *testing.T) {
	var e, other engine
	gets, version, last := 0, int64(0), int64(0)
	e, other = behind(t, func(op byte) faultnet.Fate {
		if op == opGet {
			if gets++; gets%2 == 0 && version < last {
				version++
				commit(t, other, version)
			}
		}
		return faultnet.Pass
	})
	commit(t, other, 0)
	for range 20 { // the first of two rows may be read late
		last = version + 3
		rows, err := e.Read(t.Context(), "n/p", "state", "other")
		if err != nil || rows[0].Version != rows[1].Version || version == 0 {
			t.Fatalf("%+v, %v, of rows that are written together %d times", rows, err, version)
		}
	}
}
