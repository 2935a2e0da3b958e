package generator_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// memory stands for a launch log: a real one keeps its count where no restart loses it.
type memory struct {
	launch int
	next   atomic.Int64
}

func (m *memory) Launch() int { return m.launch }

func (m *memory) NextGenerator(context.Context) (int, error) { return int(m.next.Add(1)), nil }

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
	for range 2 {
		id, err := gen.Next(ctx)
		fmt.Println(id, err)
	}

	type User struct{}
	id, err := gen.Next(ctx)
	fmt.Println(idtype.Decimal[User](id), err) // a typed key
	// Output:
	// 10000100065 <nil>
	// 20000100065 <nil>
	// 30000100065 <nil>
}

func ExampleNewDecimal() {
	_, err := generator.NewDecimal(&memory{launch: 0})
	fmt.Println(errors.Is(err, generator.ErrTestLaunch))
	_, err = generator.NewDecimal(&memory{launch: 100_000})
	fmt.Println(err)
	// Output:
	// true
	// idtype: DecimalID: launch_id 100000 is outside 1..99999
}

// Rows that are inserted together take their IDs together.
func ExampleDecimal_Fill() {
	gen, _ := generator.NewDecimal(&memory{launch: 65})
	ids := make([]idtype.DecimalID, 3)
	n, err := gen.Fill(context.Background(), ids)
	fmt.Println(ids[:n], err)
	// Output: [10000100065 20000100065 30000100065] <nil>
}

// A goroutine that mints a lot takes counters in blocks, and others go on behind its block.
func ExampleDecimal_Owned() {
	ctx := context.Background()
	gen, _ := generator.NewDecimal(&memory{launch: 65})
	own := gen.Owned(1000)
	first, _ := own.Next(ctx)
	other, _ := gen.Next(ctx)
	second, _ := own.Next(ctx)
	fmt.Println(first.Counter(), other.Counter(), second.Counter())
	// Output: 1 1001 2
}

// Test IDs show that they are: their launch is 0.
func ExampleNewTestDecimal() {
	gen := generator.NewTestDecimal(new(memory))
	id, _ := gen.Next(context.Background())
	fmt.Println(id, id.IsTest())
	// Output: 10000100000 true
}

func ExampleDecimal_Stats() {
	gen, _ := generator.NewDecimal(&memory{launch: 65})
	gen.Owned(1000).Next(context.Background())
	s := gen.Stats()
	fmt.Println(s.Taken, "taken by generators", s.Generators, "of launch", s.Launch)
	fmt.Printf("%.4f %% of the counters\n", 100*float64(s.Counter)/idtype.DecimalMaxCounter)
	// Output:
	// 1000 taken by generators [1] of launch 65
	// 0.0001 % of the counters
}

// unreachable is a launch log that is away.
type unreachable struct{}

func (unreachable) Launch() int { return 65 }

func (unreachable) NextGenerator(context.Context) (int, error) {
	return 0, errors.New("connection refused")
}

func ExampleNumberError() {
	gen, _ := generator.NewDecimal(unreachable{})
	_, err := gen.Next(context.Background())

	var e *generator.NumberError
	fmt.Println(errors.As(err, &e), err)
	// Output: true generator: no generator number for launch 65: connection refused
}
