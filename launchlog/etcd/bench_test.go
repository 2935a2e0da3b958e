package etcd

import (
	"context"
	"fmt"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// BenchmarkSteps measures the steps of one client beside a bare transaction of the same cluster,
// which compares a key and writes it. The metric "txn/step" says how many of these a step takes.
func BenchmarkSteps(b *testing.B) {
	s := open(b, place(b))
	counter := launchlog.CounterRef{Namespace: "n", Name: "c"}
	launch := launchlog.Ref{Namespace: "n", Launch: 1}
	n, last := 0, int64(0) // over all runs
	start := func() error {
		_, err := s.StartLaunch(ctx, launchlog.Start{
			Namespace: "n", Request: storetest.Request(fmt.Sprint(n)),
		})
		return err
	}
	if err := start(); err != nil {
		b.Fatal(err)
	}
	bare := bareTransaction(b, s.engine)
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"Start", start},
		{"Claim", func() error {
			_, err := s.ClaimGenerator(ctx, launchlog.Take{Ref: launch, Token: fmt.Sprint(n)})
			return err
		}},
		{"Reserve", func() (err error) {
			last, err = s.ReserveNumbers(ctx, counter, 0, 1)
			return err
		}},
		{"Raise", func() error {
			row, err := s.RaiseCounter(ctx, counter, launchlog.Raise{
				From: last, To: last + 1, Note: fmt.Sprint(n),
			})
			last = row.Value
			return err
		}},
	} {
		b.Run(step.name, func(b *testing.B) {
			inStep, inBare := time.Duration(0), time.Duration(0)
			for b.Loop() {
				n++
				began := time.Now()
				if err := step.run(); err != nil {
					b.Fatal(err)
				}
				inStep += time.Since(began)
				began = time.Now()
				bare()
				inBare += time.Since(began)
			}
			b.ReportMetric(float64(inStep.Microseconds())/float64(b.N), "µs/step")
			b.ReportMetric(float64(inBare.Microseconds())/float64(b.N), "µs/txn")
			b.ReportMetric(float64(inStep)/float64(inBare), "txn/step")
		})
	}
}

// bareTransaction raises a key of its own.
func bareTransaction(b *testing.B, e *engine) func() {
	version := int64(0)
	key := e.key("bare", "key")
	return func() {
		a := ask(ctx, e.nodes, func(ctx context.Context, c *clientv3.Client) (
			*clientv3.TxnResponse, error,
		) {
			return c.Txn(ctx).If(clientv3.Compare(clientv3.Version(key), "=", version)).
				Then(clientv3.OpPut(key, "value")).Commit()
		})
		if a.err != nil || !a.value.Succeeded {
			b.Fatal(a.err)
		}
		version++
	}
}

// BenchmarkClients measures 16 clients of one process that want the same partition.
func BenchmarkClients(b *testing.B) {
	b.Run("Start", func(b *testing.B) { storetest.BenchmarkStart(b, open(b, place(b))) })
	b.Run("Claim", func(b *testing.B) { storetest.BenchmarkClaim(b, open(b, place(b))) })
}
