package storetest

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// clients is how many the benchmarks have.
const clients = 16

// BenchmarkStart measures how fast 16 clients start launches of one namespace, which has no more than
// 99,999: then comes the next one.
func BenchmarkStart(b *testing.B, store launchlog.Store) {
	logs := make([]*launchlog.Log, b.N/launchlog.MaxLaunch+1)
	for i := range logs {
		logs[i] = benchLog(b, store, fmt.Sprint("n", i))
	}
	var count atomic.Int64
	parallel(b, func() error {
		n := count.Add(1) - 1
		_, err := logs[n/launchlog.MaxLaunch].Start(ctx, Request(fmt.Sprint("key ", n)))
		return err
	})
}

// BenchmarkClaim measures how fast 16 clients claim generator numbers of one launch, which has no more
// than 100,000: then comes the next one.
func BenchmarkClaim(b *testing.B, store launchlog.Store) {
	l := benchLog(b, store, "n")
	for i := range b.N/launchlog.MaxGenerators + 1 {
		if _, err := l.Start(ctx, Request(fmt.Sprint(i))); err != nil {
			b.Fatal(err)
		}
	}
	var count atomic.Int64
	parallel(b, func() error {
		_, err := l.Claim(ctx, int(count.Add(1)-1)/launchlog.MaxGenerators+1)
		return err
	})
}

func benchLog(b *testing.B, store launchlog.Store, namespace string) *launchlog.Log {
	l, err := launchlog.New(store, &launchlog.Options{Namespace: namespace})
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func parallel(b *testing.B, step func() error) {
	b.SetParallelism(max(1, clients/runtime.GOMAXPROCS(0)))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := step(); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
