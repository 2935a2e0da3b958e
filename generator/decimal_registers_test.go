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

// registers are those of a namespace: the registers of its epochs, and the numbers of its launches.
type registers struct {
	mu      sync.Mutex // guards the rest
	highest map[int]int64
	numbers map[int]int // given out, by launch
	looks   int
	reports int
	// answer, if set, is asked in place of the register, which tells what it would answer.
	answer func(ctx context.Context, epoch int, is int64) (int64, error)
}

func newRegisters() *registers {
	return &registers{highest: map[int]int64{}, numbers: map[int]int{}}
}

// of is the source of a launch.
func (r *registers) of(launch int) generator.Numbers { return &hinted{r, launch} }

// generator makes one of a launch.
func (r *registers) generator(t testing.TB, launch int) *generator.Decimal {
	t.Helper()
	g, err := generator.NewDecimal(r.of(launch))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// say makes every answer the same.
func (r *registers) say(counter int64, err error) {
	r.answering(func(context.Context, int, int64) (int64, error) { return counter, err })
}

func (r *registers) answering(answer func(context.Context, int, int64) (int64, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *registers) set(epoch int, counter int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.highest[epoch] = counter
}

func (r *registers) get(epoch int) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.highest[epoch]
}

func (r *registers) looked() (looks, reports int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.looks, r.reports
}

type hinted struct {
	*registers
	launch int
}

func (h *hinted) Launch() int { return h.launch }

func (h *hinted) NextGenerator(context.Context) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.numbers[h.launch]++
	return h.numbers[h.launch] - 1, nil
}

func (h *hinted) Hint(ctx context.Context, epoch int, counter int64) (int64, error) {
	h.mu.Lock()
	h.looks++
	is, answer := h.highest[epoch], h.answer
	if counter > is {
		h.reports++
		h.highest[epoch] = counter
	}
	h.mu.Unlock()
	if answer != nil {
		return answer(ctx, epoch, is)
	}
	return is, nil
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

func wantCounter(t testing.TB, g *generator.Decimal, want int) {
	t.Helper()
	if id := next(t, g); id.Parts().Counter != want {
		t.Fatalf("minted counter %d, want %d", id.Parts().Counter, want)
	}
}

// TestLateHint: a register that does not answer holds up the first ID by 2 s, and no other call.
// The generator says so, and moves up when the answer comes.
func TestLateHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newRegisters()
		all.set(0, 1000)
		all.answering(func(ctx context.Context, _ int, _ int64) (int64, error) {
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
		before = time.Now()
		for i := range 100 { // a look is under way for most of them
			wantCounter(t, g, i+2)
		}
		if took := time.Since(before); took != 0 {
			t.Errorf("100 IDs took %v", took)
		}
		s := g.Stats()
		if s.Unhinted != 1 || !errors.Is(s.Err, context.DeadlineExceeded) {
			t.Errorf("%+v", s)
		}
		all.answering(nil)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		wantCounter(t, g, 1001)
		if s := g.Stats(); s.Err != nil || s.Moves != 1 || s.Unheard == 0 ||
			s.Unhinted != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// TestBadRegister: a register that fails, panics or ends its goroutine costs no number, and stops
// nothing.
func TestBadRegister(t *testing.T) {
	for name, answer := range map[string]func() (int64, error){
		"fails":  func() (int64, error) { return 7, errAway },
		"panics": func() (int64, error) { panic(errAway) },
		"ends":   func() (int64, error) { runtime.Goexit(); return 0, nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := newRegisters()
				g := all.generator(t, launch)
				if name != "ends" { // where the first look is part of the request for a number
					all.answering(func(context.Context, int, int64) (int64, error) { return answer() })
				}
				wantCounter(t, g, 1)
				all.answering(func(context.Context, int, int64) (int64, error) { return answer() })
				time.Sleep(time.Minute)
				synctest.Wait()
				if s := g.Stats(); name != "ends" && (!errors.Is(s.Err, errAway) ||
					s.Unheard < 5 || !errors.Is(g.Close(ctx), errAway)) {
					t.Errorf("%+v", s)
				}
				if name == "ends" { // it looks on
					all.answering(nil)
					all.set(0, 700)
					time.Sleep(time.Minute)
					synctest.Wait()
					wantCounter(t, g, 701)
					if err := g.Close(ctx); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}
