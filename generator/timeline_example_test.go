package generator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// counterInMemory stands for a counter in a database, as package launchlog has one.
type counterInMemory struct{ last int64 }

func (c *counterInMemory) Reserve(_ context.Context, floor, n int64) (int64, error) {
	first := max(c.last+1, floor)
	c.last = first + n - 1
	return first, nil
}

func (c *counterInMemory) Last(context.Context) (int64, error) { return c.last, nil }

// exampleClock stands at noon until something waits by it.
func exampleClock() *generator.TestClock {
	return generator.NewTestClock(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))
}

// A generator begins at the unit of time after the one in which it is made.
func ExampleTrace() {
	ctx := context.Background()
	gen, err := generator.NewTrace(generator.Given(24528),
		&generator.Options{Clock: exampleClock()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		id, err := gen.Next(ctx)
		fmt.Println(id, err)
	}
	id, _ := gen.Next(ctx)
	fmt.Printf("%+v\n", id.Parts())
	// Output:
	// 7877763696259235841 <nil>
	// 7877763696259235842 <nil>
	// {Timestamp:28659137 Node:24528 Bottom:3}
}

func ExampleNewTrace() {
	_, err := generator.NewTrace(generator.Given(65536), nil)
	fmt.Println(err)
	// Output: idtype: TraceID: node_no 65536 is outside 0..65535
}

// A goroutine that mints a lot takes chunks of 1,023 IDs.
func ExampleTrace_Owned() {
	ctx := context.Background()
	gen, _ := generator.NewTrace(generator.Given(1), &generator.Options{Clock: exampleClock()})
	mine, yours := gen.Owned(), gen.Owned()
	for _, own := range []*generator.OwnedTrace{mine, yours, mine, yours} {
		id, err := own.Next(ctx)
		fmt.Println("chunk", id.Chunk(), "counter", id.Counter(), err)
	}
	// Output:
	// chunk 0 counter 1 <nil>
	// chunk 1 counter 1 <nil>
	// chunk 0 counter 2 <nil>
	// chunk 1 counter 2 <nil>
}

// Two threads share a node number.
func ExampleTraceThread() {
	for thread := range 2 {
		pool, err := generator.TraceThread(thread, 2)
		if err != nil {
			fmt.Println(err)
			return
		}
		gen, _ := generator.NewTrace(generator.Given(1),
			&generator.Options{Clock: exampleClock(), Pool: pool})
		id, _ := gen.Next(context.Background())
		fmt.Println(*pool, id.Bottom())
	}
	// Output:
	// {1 2097151} 1
	// {2097153 4194303} 2097153
}

func ExampleEightByte() {
	ctx := context.Background()
	pair := generator.EightBytePair{Generator: 0x27, Cluster: 0}
	for _, mode := range []idtype.EightByteMode{
		idtype.EightByteSpread, idtype.EightByteTimeSequential,
	} {
		gen, _ := generator.NewEightByte(mode, generator.Given(pair),
			&generator.Options{Clock: exampleClock()})
		ids := make([]idtype.EightByteID, 2)
		n, err := gen.Fill(ctx, ids)
		fmt.Println(mode, ids[:n], err)
	}
	// Output:
	// SPREAD [806dec3739800270 806dec3739810270] <nil>
	// TIME_SEQUENTIAL [673b0ded80401270 673b0ded80411270] <nil>
}

// Generators of short IDs have no number: they share their times by a counter.
func ExampleShort() {
	ctx := context.Background()
	counter := &counterInMemory{}
	for range 2 {
		windows := generator.Ceiling(struct{}{}, counter, 3*time.Second)
		gen, _ := generator.NewShort(windows, &generator.Options{Clock: exampleClock()})
		id, err := gen.Next(ctx)
		fmt.Println(id.Time().Format(time.TimeOnly), id.Sequence(), err)
	}
	// Output:
	// 12:00:00 0 <nil>
	// 12:00:03 0 <nil>
}

// The metabyte is chosen per ID.
func ExampleSno() {
	ctx := context.Background()
	gen, _ := generator.NewSno(generator.Given(7), &generator.Options{Clock: exampleClock()})
	id, err := gen.Next(ctx)
	fmt.Println(id, err)
	orders := gen.With(255)
	id, err = orders.Next(ctx)
	fmt.Println(id, id.Meta(), id.Sequence(), err)
	// Output:
	// 9g3ab9q42222g222 <nil>
	// 9g3ab9q4xu22g223 255 1 <nil>
}

// A process that shares its IDs with no other numbers its own generators.
func ExamplePartitions() {
	var partitions generator.Partitions
	for range 2 {
		gen, _ := generator.NewSno(&partitions, &generator.Options{Clock: exampleClock()})
		id, err := gen.Next(context.Background())
		fmt.Println(id.Partition(), err)
	}
	// Output:
	// 0 <nil>
	// 1 <nil>
}

// Rows that are imported get IDs of their own times.
func ExampleBackdatedSno() {
	gen, _ := generator.NewBackdatedSno(9, nil)
	for _, at := range []string{
		"2019-07-03T18:45:04Z", "2012-02-29T08:00:00Z", "2019-07-03T18:45:04Z",
	} {
		t, _ := time.Parse(time.RFC3339, at)
		id, err := gen.At(t, 0)
		fmt.Println(id, id.Time().Format(time.DateOnly), id.Sequence(), err)
	}
	_, err := gen.At(time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC), 0)
	fmt.Println(err)
	// Output:
	// 6dmhr3w22222k222 2019-07-03 0 <nil>
	// 2xq9j2222222k222 2012-02-29 0 <nil>
	// 6dmhr3w22222k223 2019-07-03 1 <nil>
	// idtype: SnoID: unix_ms 946598400000 is outside 1262304000000..3461327255551
}

func ExamplePoolError() {
	gen, _ := generator.NewBackdatedSno(9, &generator.Pool{Min: 10, Max: 10})
	at := time.Date(2019, 7, 3, 18, 45, 4, 0, time.UTC)
	gen.At(at, 0)
	_, err := gen.At(at, 0)
	fmt.Println(errors.As(err, new(*generator.PoolError)), err)
	// Output: true generator: sno: the sequence numbers 10..10 of 2019-07-03T18:45:04Z are used up
}

// An app keeps the snapshot of its generator when it stops, and goes on from it when it starts.
func ExampleSnapshot() {
	ctx := context.Background()
	clock := exampleClock()
	gen, _ := generator.NewSno(generator.Given(7), &generator.Options{Clock: clock})
	gen.Next(ctx)
	file, _ := json.Marshal(gen.Snapshot())

	var snapshot generator.Snapshot
	if err := json.Unmarshal(file, &snapshot); err != nil {
		fmt.Println(err)
	}
	gen, err := generator.NewSno(generator.Given(7),
		&generator.Options{Clock: clock, Snapshot: &snapshot})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := gen.Next(ctx)
	fmt.Println(id.Time().Format(time.RFC3339Nano), id.Sequence(), err)

	_, err = generator.NewSno(generator.Given(8),
		&generator.Options{Clock: clock, Snapshot: &snapshot})
	fmt.Println(err)
	// Output:
	// 2026-03-14T12:00:00.004Z 1 <nil>
	// generator: snapshot of sno number 7 at 2026-03-14T12:00:00.004Z: is of another number, and says nothing about this one
}

// With a counter in a database, an app that crashes repeats nothing, though its clock was set back.
func ExampleCeiling() {
	ctx := context.Background()
	counter, clock := &counterInMemory{}, exampleClock()
	for range 2 {
		gen, _ := generator.NewTrace(generator.Ceiling(1, counter, 3*time.Second),
			&generator.Options{Clock: clock})
		id, err := gen.Next(ctx)
		fmt.Println(id, err)
		clock.Add(-time.Second) // and then it crashes
	}
	// Output:
	// 7877763318507634689 <nil>
	// 7877764143141355521 <nil>
}

// A clock that was set back is waited for, if it is not too far.
func ExampleClockError() {
	ctx := context.Background()
	clock := exampleClock()
	gen, _ := generator.NewTrace(generator.Given(1),
		&generator.Options{Clock: clock, Regression: generator.RegressionFails})
	gen.Next(ctx)
	clock.Add(-time.Minute)
	_, err := gen.Next(ctx)

	var e *generator.ClockError
	fmt.Println(errors.As(err, &e), errors.Is(err, generator.ErrClockBehind))
	fmt.Println(e.Until.Sub(e.Now), err)
	// Output:
	// true true
	// 1m0s generator: trace: waiting at 2026-03-14T11:59:01.000Z for 2026-03-14T12:00:01.000Z: the clock is behind the IDs minted so far, or behind their counter
}

// A metric hears of waits.
func ExampleOptions() {
	gen, err := generator.NewSno(generator.Given(1), &generator.Options{
		Clock:   exampleClock(),
		MaxWait: time.Second,
		Pool:    &generator.Pool{Min: 0, Max: 1},
		Overflow: func(o generator.Overflow) {
			fmt.Println("waiting for", o.Until.UTC().Format(time.RFC3339Nano))
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	gen.Fill(context.Background(), make([]idtype.SnoID, 5))
	_, err = generator.NewSno(generator.Given(1), &generator.Options{MaxWait: -time.Second})
	fmt.Println(err)
	// Output:
	// waiting for 2026-03-14T12:00:00.004Z
	// waiting for 2026-03-14T12:00:00.008Z
	// waiting for 2026-03-14T12:00:00.012Z
	// generator: MaxWait -1s is negative
}

func ExampleStats() {
	clock := exampleClock()
	gen, _ := generator.NewSno(generator.Given(1),
		&generator.Options{Clock: clock, Pool: &generator.Pool{Min: 0, Max: 63}})
	gen.Fill(context.Background(), make([]idtype.SnoID, 80))
	s := gen.Stats()
	fmt.Println(s.Issued, s.Waits, s.PoolUsed, s.Time.Format(time.RFC3339Nano))
	// Output: 80 2 0.25 2026-03-14T12:00:00.008Z
}

// A buffer has the IDs of a slow source ready before they are needed.
func ExampleBuffer() {
	ctx := context.Background()
	gen, _ := generator.NewEightByte(idtype.EightByteTimeSequential,
		generator.Given(generator.EightBytePair{}),
		&generator.Options{Clock: exampleClock()})
	buffer, err := generator.NewBuffer(gen, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		id, err := buffer.Next(ctx)
		fmt.Println(id.Sequence(), err)
	}
	// Output:
	// 0 <nil>
	// 1 <nil>
	// 2 <nil>
}

// With blocks, two generators count side by side.
func ExampleSequence() {
	ctx := context.Background()
	counter := &counterInMemory{}
	a, _ := generator.NewSequence(counter, 5)
	b, _ := generator.NewSequence(counter, 5)
	for _, gen := range []*generator.Sequence{a, b, a, b} {
		id, err := gen.Next(ctx)
		fmt.Println(id, err)
	}
	fmt.Printf("%+v\n", a.Stats())
	// Output:
	// 1 <nil>
	// 6 <nil>
	// 2 <nil>
	// 7 <nil>
	// {Taken:2 Blocks:1 BlockUsed:0.4}
}
