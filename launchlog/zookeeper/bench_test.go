package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// Each step of the store takes turns with a bare transaction that sets a znode and makes one, on
// the same connection. The metric x-bare says how many times as long the step takes.
func BenchmarkSteps(b *testing.B) {
	for step, prepare := range map[string]func(*testing.B, *Store) func(client, i int) error{
		"start": benchStart, "claim": benchClaim, "reserve": benchReserve, "last": benchLast,
	} {
		for _, clients := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/clients=%d", step, clients), func(b *testing.B) {
				s := opened(b, prepared(b))
				bench(b, s, clients, prepare(b, s))
			})
		}
	}
}

var ctx = context.Background()

func benchStart(b *testing.B, s *Store) func(client, i int) error {
	logs := make([]*launchlog.Log, 16) // a namespace each
	for i := range logs {
		logs[i] = benchLog(b, s, fmt.Sprint("n", i))
	}
	return func(client, i int) error {
		_, err := logs[client].Start(ctx, storetest.Request(fmt.Sprint(client, " ", i)))
		return err
	}
}

func benchClaim(b *testing.B, s *Store) func(client, i int) error {
	log := benchLog(b, s, "n")
	for i := range 16 { // a launch each
		if _, err := log.Start(ctx, storetest.Request(fmt.Sprint(i))); err != nil {
			b.Fatal(err)
		}
	}
	return func(client, _ int) error {
		_, err := log.Claim(ctx, client+1)
		return err
	}
}

func benchReserve(_ *testing.B, s *Store) func(client, i int) error {
	return func(client, _ int) error {
		_, err := s.ReserveNumbers(ctx, counterOf(client), 0, 1)
		return err
	}
}

// benchLast reads, and changes nothing.
func benchLast(_ *testing.B, s *Store) func(client, i int) error {
	return func(client, _ int) error {
		_, err := s.LastNumber(ctx, counterOf(client))
		return err
	}
}

func counterOf(client int) launchlog.CounterRef {
	return launchlog.CounterRef{Namespace: "n", Name: fmt.Sprint("c", client)}
}

func benchLog(b *testing.B, s *Store, namespace string) *launchlog.Log {
	b.Helper()
	log, err := launchlog.New(s, &launchlog.Options{Namespace: namespace})
	if err != nil {
		b.Fatal(err)
	}
	return log
}

func bench(b *testing.B, s *Store, clients int, step func(client, i int) error) {
	e := s.engine
	bare := func(client, i int) error {
		path := fmt.Sprint(e.path, "/bare", client)
		return e.with(ctx, func(ctx context.Context, l *link) error {
			_, err := multi(ctx, l, []any{
				&zk.SetDataRequest{Path: path, Version: -1},
				&zk.CreateRequest{Path: fmt.Sprint(path, "/", i), Acl: e.acl},
			})
			if errors.Is(err, zk.ErrNodeExists) { // it was sent again
				return nil
			}
			return err
		})
	}
	for client := range clients {
		if err := e.with(ctx, func(ctx context.Context, l *link) error {
			return e.create(ctx, l, fmt.Sprint(e.path, "/bare", client))
		}); err != nil {
			b.Fatal(err)
		}
		if err := step(client, -1); err != nil { // makes what is made once
			b.Fatal(err)
		}
	}
	var mu sync.Mutex // guards what follows
	var ours, theirs time.Duration
	var group sync.WaitGroup
	b.ResetTimer()
	for client := range clients {
		group.Go(func() {
			for i := 0; i < b.N/clients+1; i++ {
				began := time.Now()
				err := step(client, i)
				between := time.Now()
				if err == nil {
					err = bare(client, i)
				}
				if err != nil {
					b.Error(err)
					return
				}
				mu.Lock()
				ours += between.Sub(began)
				theirs += time.Since(between)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(ours)/float64(theirs), "x-bare")
}
