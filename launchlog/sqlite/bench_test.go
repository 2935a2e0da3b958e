package sqlite_test

import (
	"runtime"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// BenchmarkReserve is the steps of 8 goroutines of one process.
func BenchmarkReserve(b *testing.B) {
	l, err := launchlog.New(open(b, newFile(b)), nil)
	if err != nil {
		b.Fatal(err)
	}
	c, err := l.Counter("c")
	if err != nil {
		b.Fatal(err)
	}
	b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Reserve(ctx, 0, 1); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
