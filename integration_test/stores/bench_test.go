package stores_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

// benchModes are the statements that Open's mode plans anew each time, and those that
// cache_statement keeps, by 4 and by 16 connections.
var benchModes = []string{
	"default_query_exec_mode=exec&pool_max_conns=4",
	"default_query_exec_mode=exec&pool_max_conns=16",
	"default_query_exec_mode=cache_statement&pool_max_conns=4",
	"default_query_exec_mode=cache_statement&pool_max_conns=16",
}

func BenchmarkPostgres(b *testing.B) {
	for _, bench := range []struct {
		name string
		run  func(*testing.B, launchlog.Store)
	}{{"StartLaunch", benchmarkStart}, {"Claim", benchmarkClaim}} {
		for _, mode := range benchModes {
			b.Run(bench.name+"/"+mode, func(b *testing.B) {
				bench.run(b, open(b, with(b, postgresServer.database(b), mode)))
			})
		}
	}
}

func BenchmarkMySQL(b *testing.B) {
	b.Run("StartLaunch", func(b *testing.B) {
		benchmarkStart(b, open(b, mysqlServer.database(b)))
	})
	b.Run("Claim", func(b *testing.B) {
		benchmarkClaim(b, open(b, mysqlServer.database(b)))
	})
}

// clients is how many the benchmarks have.
const clients = 16

// benchmarkStart measures how fast 16 clients start launches of one namespace, which has no more
// than 99,999: then comes the next one.
func benchmarkStart(b *testing.B, store launchlog.Store) {
	logs := make([]*launchlog.Log, b.N/launchlog.MaxLaunch+1)
	for i := range logs {
		logs[i] = benchLog(b, store, fmt.Sprint("n", i))
	}
	var count atomic.Int64
	parallel(b, func() error {
		n := count.Add(1) - 1
		_, err := logs[n/launchlog.MaxLaunch].Start(ctx, storetest.Request(fmt.Sprint("key ", n)))
		return err
	})
}

// benchmarkClaim measures how fast 16 clients claim generator numbers of one launch, which has no
// more than 100,000: then comes the next one.
func benchmarkClaim(b *testing.B, store launchlog.Store) {
	l := benchLog(b, store, "n")
	for i := range b.N/launchlog.MaxGenerators + 1 {
		if _, err := l.Start(ctx, storetest.Request(fmt.Sprint(i))); err != nil {
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
