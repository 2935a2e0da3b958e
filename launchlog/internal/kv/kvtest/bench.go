package kvtest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// Steps measures steps of a store beside a bare transaction of the same servers, which takes turns
// with them. The metric x-bare says how many times as long a step takes. Each client has a launch
// and a counter of its own.
func Steps(b *testing.B, store launchlog.Store, bare func(client, n int) error) {
	runs := 0
	for step, run := range map[string]func(namespace string, client, n int) error{
		"start": func(namespace string, client, n int) error {
			_, err := store.StartLaunch(ctx, start(namespace, fmt.Sprint(client, " ", n)))
			return err
		},
		"claim": func(namespace string, client, n int) error {
			_, err := store.ClaimGenerator(ctx, launchlog.Take{
				Ref:   launchlog.Ref{Namespace: namespace, Launch: client + 1},
				Token: fmt.Sprint(client, " ", n),
			})
			return err
		},
		"reserve": func(namespace string, client, _ int) error {
			_, err := store.ReserveNumbers(ctx, launchlog.CounterRef{
				Namespace: namespace, Name: fmt.Sprint("c", client),
			}, 0, 1)
			return err
		},
	} {
		for _, clients := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/clients=%d", step, clients), func(b *testing.B) {
				runs++
				namespace := fmt.Sprint("n", runs)
				for client := range clients {
					key := fmt.Sprint("client ", client)
					if _, err := store.StartLaunch(ctx, start(namespace, key)); err != nil {
						b.Fatal(err)
					}
				}
				var mu sync.Mutex // guards what follows
				var ours, theirs time.Duration
				var group sync.WaitGroup
				b.ResetTimer()
				for client := range clients {
					group.Go(func() {
						for n := 0; n < b.N/clients+1; n++ {
							began := time.Now()
							err := run(namespace, client, n)
							between := time.Now()
							if err == nil {
								err = bare(client, runs*1_000_000+n)
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
			})
		}
	}
}
