package generator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/internal/testclock"
)

// memory stands for a launch log: a real one keeps its count where no restart loses it.
type memory struct {
	launch int
	next   atomic.Int64
}

func (m *memory) NextGenerator(context.Context) (launch, number int, err error) {
	return m.launch, int(m.next.Add(1)), nil
}

// counterInMemory stands for a counter in a database, as package launchlog has one.
type counterInMemory struct{ last int64 }

func (c *counterInMemory) Reserve(_ context.Context, floor, n int64) (int64, error) {
	first := max(c.last+1, floor)
	c.last = first + n - 1
	return first, nil
}

func (c *counterInMemory) Last(context.Context) (int64, error) { return c.last, nil }

// exampleClock stands at noon until something waits by it.
func exampleClock() *testclock.Clock {
	return testclock.New(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC))
}

// A generator is made once per app, has its number before the first transaction, and is shared.
func ExampleDecimal() {
	ctx := context.Background()
	gen, err := generator.NewDecimal(&memory{launch: 65})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := gen.Ready(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gen.Next(ctx))

	type User struct{}
	users, err := generator.For[idtype.Decimal[User]](gen) // typed keys
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(users.Next(ctx))
	fmt.Println(users.Many(ctx, 3)) // of rows that are inserted together
	// Output:
	// 10000100065 <nil>
	// 20000100065 <nil>
	// [30000100065 40000100065 50000100065] <nil>
}

// A goroutine that mints a lot takes counters in blocks, and others go on behind its block.
func ExampleDecimal_Owned() {
	ctx := context.Background()
	gen, _ := generator.NewDecimal(&memory{launch: 65})
	own := gen.Owned(1000)
	first, _ := own.Next(ctx)
	other, _ := gen.Next(ctx)
	second, _ := own.Next(ctx)
	fmt.Println(first.Parts().Counter, other.Parts().Counter, second.Parts().Counter)
	// Output: 1 1001 2
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
	// Output:
	// 1 <nil>
	// 6 <nil>
	// 2 <nil>
	// 7 <nil>
}

// A generator begins at the unit of time after the one in which it is made.
func ExampleTrace() {
	gen, err := generator.NewTrace(generator.Given(24528),
		&generator.Options{Clock: exampleClock(), MaxWait: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := gen.Next(context.Background())
	fmt.Printf("%v %+v %v\n", id, id.Parts(), err)
	// Output: 7877763696259235841 {Timestamp:28659137 Node:24528 Bottom:1} <nil>
}

func ExampleEightByte() {
	ctx := context.Background()
	pair := generator.EightBytePair{Generator: 0x27, Cluster: 0}
	for _, mode := range []idtype.EightByteMode{
		idtype.EightByteSpread, idtype.EightByteTimeSequential,
	} {
		gen, _ := generator.NewEightByte(mode, generator.Given(pair),
			&generator.Options{Clock: exampleClock(), MaxWait: time.Minute})
		ids := make([]idtype.EightByteID, 2)
		n, err := gen.Fill(ctx, ids)
		fmt.Println(mode, ids[:n], err)
	}
	// Output:
	// SPREAD [806dec3739800270 806dec3739810270] <nil>
	// TIME_SEQUENTIAL [673b0ded80401270 673b0ded80411270] <nil>
}

// Generators of short IDs have no number: they share their times by a counter. With it, an app that
// crashes repeats nothing, though its clock was set back.
func ExampleCeiling() {
	ctx := context.Background()
	counter, clock := &counterInMemory{}, exampleClock()
	for range 2 {
		windows := generator.Ceiling(struct{}{}, counter, 3*time.Second)
		gen, _ := generator.NewShort(windows,
			&generator.Options{Clock: clock, MaxWait: time.Minute})
		id, err := gen.Next(ctx)
		fmt.Println(id.Time().Format(time.TimeOnly), err)
		clock.Add(-time.Second) // and then it crashes
	}
	// Output:
	// 12:00:00 <nil>
	// 12:00:03 <nil>
}

// A process that shares its IDs with no other numbers its own generators. The metabyte is chosen per
// ID.
func ExampleSno() {
	ctx := context.Background()
	for partition := range 2 {
		gen, _ := generator.NewSno(generator.Given(partition),
			&generator.Options{Clock: exampleClock(), MaxWait: time.Minute})
		id, err := gen.Next(ctx)
		fmt.Println(id, id.Parts().Partition, err)
		orders := gen.With(255)
		id, err = orders.Next(ctx)
		fmt.Println(id, id.Parts().Meta, id.Parts().Sequence, err)
	}
	// Output:
	// 9g3ab9q422222222 0 <nil>
	// 9g3ab9q4xu222223 255 1 <nil>
	// 9g3ab9q422224222 1 <nil>
	// 9g3ab9q4xu224223 255 1 <nil>
}

// Rows that are imported get IDs of their own times.
func ExampleBackdatedSno() {
	gen, _ := generator.NewBackdatedSno(9, nil)
	for _, at := range []string{"2019-07-03T18:45:04Z", "2012-02-29T08:00:00Z"} {
		t, _ := time.Parse(time.RFC3339, at)
		id, err := gen.At(t, 0)
		fmt.Println(id, id.Time().Format(time.DateOnly), err)
	}
	// Output:
	// 6dmhr3w22222k222 2019-07-03 <nil>
	// 2xq9j2222222k222 2012-02-29 <nil>
}

// An app keeps the snapshot of its generator when it stops, and goes on from it when it starts.
func ExampleSnapshot() {
	ctx := context.Background()
	clock := exampleClock()
	opts := &generator.Options{Clock: clock, MaxWait: time.Minute}
	gen, _ := generator.NewSno(generator.Given(7), opts)
	gen.Next(ctx)
	file, _ := json.Marshal(gen.Snapshot())

	var snapshot generator.Snapshot
	if err := json.Unmarshal(file, &snapshot); err != nil {
		fmt.Println(err)
	}
	for _, partition := range []int{7, 8} {
		opts.Snapshot = &snapshot
		gen, err := generator.NewSno(generator.Given(partition), opts)
		if err != nil {
			fmt.Println(err)
			return
		}
		id, err := gen.Next(ctx)
		fmt.Println(id.Time().Format(time.RFC3339Nano), id.Parts().Sequence, err)
	}
	// Output:
	// 2026-03-14T12:00:00.004Z 1 <nil>
	// generator: Snapshot of sno number 7 at 2026-03-14T12:00:00.004Z belongs to another number, so it does not protect this one
}

// A metric hears of waits. A clock that was set back is waited for, if it is not too far.
func ExampleOptions() {
	ctx, clock := context.Background(), exampleClock()
	gen, err := generator.NewSno(generator.Given(1), &generator.Options{
		Clock:   clock,
		MaxWait: 50 * time.Second,
		Pool:    &generator.Pool{Min: 0, Max: 1},
		Overflow: func(o generator.Overflow) {
			fmt.Println("waiting for", o.Until.UTC().Format(time.RFC3339Nano), o.Units)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	gen.Fill(ctx, make([]idtype.SnoID, 4))
	clock.Add(-time.Minute)
	_, err = gen.Next(ctx)
	var e *generator.ClockError
	fmt.Println(errors.As(err, &e), errors.Is(err, generator.ErrClockBehind))
	fmt.Println(e.Until.Sub(e.Now), err)
	// Output:
	// waiting for 2026-03-14T12:00:00.004Z 1
	// waiting for 2026-03-14T12:00:00.008Z 2
	// true true
	// 59.996s generator: sno: waiting at 2026-03-14T11:59:00.008Z for 2026-03-14T12:00:00.004Z: the clock is behind the IDs minted so far, or behind their counter
}
