package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
)

func workerCounter(path string) (*launchlog.Counter, error) {
	l, err := workerLog(path)
	if err != nil {
		return nil, err
	}
	return l.Counter("c")
}

// rangesWorker reserves blocks, some of them above a floor, until it is killed. Each is written
// down before it would be used.
func rangesWorker(args []string) error {
	c, err := workerCounter(args[0])
	if err != nil {
		return err
	}
	out, err := os.OpenFile(args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for floor := int64(0); ; {
		n := []int64{1, 10, 1000}[rand.N(3)]
		first, err := c.Reserve(ctx, floor, n)
		if err != nil {
			return err
		}
		if first < floor {
			return fmt.Errorf("numbers from %d on, for floor %d", first, floor)
		}
		if _, err := fmt.Fprintf(out, "%d %d\n", first, n); err != nil {
			return err
		}
		floor = max(0, first+rand.N[int64](3000)-2000)
	}
}

// TestCounterKills kills, and now and then stops, processes that reserve from one counter.
func TestCounterKills(t *testing.T) {
	path := newFile(t)
	saw := endure(t, "ranges", path, 6, size(100, 30), size(1000, 200))
	var ranges []storesuite.Range
	numbers, highest := int64(0), int64(0)
	for _, line := range saw.lines {
		var r storesuite.Range
		if _, err := fmt.Sscanf(line, "%d %d", &r.First, &r.N); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		ranges = append(ranges, r)
		numbers, highest = numbers+r.N, max(highest, r.First+r.N-1)
	}
	repeats := storesuite.Repeats(ranges)
	if repeats != 0 {
		t.Errorf("%d of %d ranges have numbers of another", repeats, len(ranges))
	}
	c, err := workerCounter(path)
	if err != nil {
		t.Fatal(err)
	}
	last, err := c.Last(ctx)
	if err != nil || last < highest {
		t.Errorf("number %d was handed out, and the counter is at %d, %v", highest, last, err)
	}
	if first, err := c.Reserve(ctx, 0, 1); err != nil || first != last+1 {
		t.Errorf("the next number after %d: %d, %v", last, first, err)
	}
	t.Logf("%v: %d ranges of %d numbers, up to %d: %d repeats",
		saw, len(ranges), numbers, highest, repeats)
	if len(ranges) < size(1000, 200) {
		t.Errorf("only %d ranges: the test shows too little", len(ranges))
	}
}

// BenchmarkReserve is the steps of 8 goroutines of one process; TestManyProcesses has the rate of 8
// processes.
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
