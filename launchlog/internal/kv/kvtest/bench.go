package kvtest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// Steps measures steps of a store beside a bare transaction of the same servers, which takes turns
// with them. The metric x-bare says how many times as long a step takes. Each client has a
// namespace of its own.
func Steps(b *testing.B, s launchlog.Store, bare func(client, n int) error) {
	runs := 0
	for step, run := range map[string]func(namespace string, n int) error{
		"start": func(namespace string, n int) error {
			_, err := s.StartLaunch(ctx, start(namespace, fmt.Sprint(n)))
			return err
		},
		"claim": func(namespace string, n int) error {
			ref := launchlog.Ref{Namespace: namespace, Launch: 1}
			_, err := s.ClaimGenerator(ctx, launchlog.Take{Ref: ref, Token: fmt.Sprint(n)})
			return err
		},
		"reserve": func(namespace string, _ int) error {
			ref := launchlog.CounterRef{Namespace: namespace, Name: "c"}
			_, err := s.ReserveNumbers(ctx, ref, 0, 1)
			return err
		},
	} {
		for _, clients := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/clients=%d", step, clients), func(b *testing.B) {
				runs++
				namespaces := make([]string, clients)
				for i := range namespaces {
					namespaces[i] = fmt.Sprintf("n%d-%d", runs, i)
					if _, err := s.StartLaunch(ctx, start(namespaces[i], "first")); err != nil {
						b.Fatal(err)
					}
				}
				var ours, theirs atomic.Int64
				b.ResetTimer()
				err := kv.Parallel(ctx, clients, clients, func(_ context.Context, client int) error {
					for n := range b.N/clients + 1 {
						began := time.Now()
						if err := run(namespaces[client], n); err != nil {
							return err
						}
						between := time.Now()
						if err := bare(client, runs*1_000_000+n); err != nil {
							return err
						}
						ours.Add(int64(between.Sub(began)))
						theirs.Add(int64(time.Since(between)))
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(ours.Load())/float64(theirs.Load()), "x-bare")
			})
		}
	}
}
