package generator_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
)

// A service has a register of order, and the numbers of its launches.
type service struct {
	mu      sync.Mutex // guards the rest
	value   int64
	looks   int64
	raises  int         // looks that raised the value
	numbers map[int]int // given out, by launch
	// answer, if set, is asked in place of the register, which tells what it would answer.
	answer func(ctx context.Context, is int64) (int64, error)
}

func newService() *service { return &service{numbers: map[int]int{}} }

// of is the source of a launch.
func (r *service) of(launch int) generator.Numbers { return &registered{r, launch} }

// generator makes one of a launch.
func (r *service) generator(t testing.TB, launch int) *generator.Decimal {
	t.Helper()
	g, err := generator.NewDecimal(r.of(launch))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// say makes every answer the same.
func (r *service) say(value int64, err error) {
	r.answering(func(context.Context, int64) (int64, error) { return value, err })
}

func (r *service) answering(answer func(context.Context, int64) (int64, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *service) set(value int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.value = value
}

// count adds looks of others.
func (r *service) count(looks int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looks += looks
}

func (r *service) get() (value, looks int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value, r.looks
}

type registered struct {
	*service
	launch int
}

func (r *registered) NextGenerator(context.Context) (launch, number int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.numbers[r.launch]++
	return r.launch, r.numbers[r.launch] - 1, nil
}

func (r *registered) Order(ctx context.Context, reached int64) (is, looks int64, err error) {
	r.mu.Lock()
	r.looks++
	if reached > r.value {
		r.raises++
		r.value = reached
	}
	is, looks, answer := r.value, r.looks, r.answer
	r.mu.Unlock()
	if answer != nil {
		is, err = answer(ctx, is)
	}
	return is, looks, err
}

// next mints one ID.
func next(t testing.TB, g *generator.Decimal) idtype.DecimalID {
	t.Helper()
	id, err := g.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func fill(t testing.TB, g *generator.Decimal, n int) {
	t.Helper()
	if _, err := g.Fill(ctx, make([]idtype.DecimalID, n)); err != nil {
		t.Fatal(err)
	}
}

func wantCounter(t testing.TB, g *generator.Decimal, want int) {
	t.Helper()
	if id := next(t, g); id.Parts().Counter != want {
		t.Fatalf("minted counter %d, want %d", id.Parts().Counter, want)
	}
}

// TestLateRegister: a register that does not answer holds up the first ID by 2 s, and no other
// call. The generator says so, and moves up when the answer comes.
func TestLateRegister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newService()
		all.set(1000)
		all.answering(func(ctx context.Context, _ int64) (int64, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		g := all.generator(t, launch)
		defer g.Close(ctx)
		before := time.Now()
		wantCounter(t, g, 1)
		if took := time.Since(before); took != 2*time.Second {
			t.Errorf("the first ID took %v", took)
		}
		time.Sleep(5 * time.Second) // a look is under way
		before = time.Now()
		for i := range 100 {
			wantCounter(t, g, i+2)
		}
		if took := time.Since(before); took != 0 {
			t.Errorf("100 IDs took %v", took)
		}
		s := g.Stats()
		if s.Blind != 1 || !errors.Is(s.Err, context.DeadlineExceeded) {
			t.Errorf("%+v", s)
		}
		all.answering(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		wantCounter(t, g, 1001)
		if s := g.Stats(); s.Err != nil || s.Moves != 1 || s.Unheard == 0 || s.Blind != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// TestBadRegister: a register that fails, panics or ends its goroutine costs no number, and stops
// nothing. It is asked less often meanwhile.
func TestBadRegister(t *testing.T) {
	for name, answer := range map[string]func() (int64, error){
		"fails":  func() (int64, error) { return 7, errAway },
		"panics": func() (int64, error) { panic(errAway) },
		"ends":   func() (int64, error) { runtime.Goexit(); return 0, nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := newService()
				g := all.generator(t, launch)
				if name != "ends" { // where the first look is part of the request for a number
					all.answering(func(context.Context, int64) (int64, error) { return answer() })
				}
				wantCounter(t, g, 1)
				all.answering(func(context.Context, int64) (int64, error) { return answer() })
				mintFor(t, time.Hour, g)
				if _, looks := all.get(); name != "ends" && looks > 200 {
					t.Errorf("%d looks within an hour", looks)
				}
				if s := g.Stats(); name != "ends" &&
					(!errors.Is(s.Err, errAway) || s.Unheard < 5 || !errors.Is(g.Close(ctx), errAway)) {
					t.Errorf("%+v", s)
				}
				if name == "ends" { // it looks on
					all.answering(nil)
					all.set(70_000)
					mintFor(t, 10*time.Minute, g)
					if n := next(t, g).Parts().Counter; n <= 70_000 {
						t.Errorf("minted counter %d", n)
					}
					if err := g.Close(ctx); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// mintFor mints an ID a second by each of the generators.
func mintFor(t testing.TB, d time.Duration, generators ...*generator.Decimal) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Second) {
		for _, g := range generators {
			next(t, g)
		}
	}
	synctest.Wait()
}
