package generator_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/launchlog"
	memorylog "github.com/idmint/idmint/launchlog/memory"
	"github.com/idmint/idmint/launchlog/storetest"
)

// answerTime is how long the launch log of this test takes for an answer.
const answerTime = 40 * time.Millisecond

// A process holds the numbers of an app until it is killed.
type process struct {
	generator.Ordered
	killed atomic.Bool

	mu    sync.Mutex // guards the rest
	heard int64      // from the register
	at    time.Time  // when
}

func (p *process) Order(ctx context.Context, reached int64) (is, looks int64, err error) {
	time.Sleep(answerTime / 2)
	if p.killed.Load() {
		return 0, 0, errAway
	}
	is, looks, err = p.Ordered.Order(ctx, reached)
	time.Sleep(answerTime / 2)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard, p.at = is, time.Now()
	return is, looks, err
}

// below is what the process has heard from the register, at another moment than this one.
func (p *process) below() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.at.Before(time.Now()) {
		return 0
	}
	return p.heard
}

// write mints at a rate per second until an end, in processes that live for 45 s or so and are then
// restarted or killed.
func write(
	t *testing.T, log *launchlog.Log, random *rand.Rand, rate float64, end time.Time,
) (minted int) {
	for time.Now().Before(end) {
		launch, err := log.Start(ctx, storetest.Request(launchlog.NewNote()))
		if err != nil {
			t.Error(err)
			return minted
		}
		p := &process{Ordered: log.Generators(launch.ID)}
		g, err := generator.NewDecimal(p)
		if err != nil {
			t.Error(err)
			return minted
		}
		seconds := (0.5 + random.Float64()) * 45
		for death := time.Now().Add(time.Duration(seconds * float64(time.Second))); time.Now().Before(
			death) && time.Now().Before(end); minted++ {
			heard := p.below()
			id, err := g.Next(ctx)
			if err != nil {
				t.Error(err)
				return minted
			}
			if counter := int64(id.Parts().Counter); counter <= heard {
				t.Errorf("counter %d is not above the register, which was at %d", counter, heard)
				return minted
			}
			wait := time.Duration(random.ExpFloat64() / rate * float64(time.Second))
			time.Sleep(min(wait, time.Until(death)))
		}
		if p.killed.Store(random.IntN(2) == 0); p.killed.Load() {
			_ = g.Close(canceled)
		} else if err := g.Close(ctx); err != nil {
			t.Error(err)
		}
		if after, _, err := log.Generators(launch.ID).Order(ctx, 0); err != nil || !p.killed.Load() &&
			after < int64(g.Stats().Counter) {
			t.Errorf("after Close the register is at %d, %v, want %d", after, err, g.Stats().Counter)
		}
	}
	return minted
}

// TestOrderOfFleet: of writers that run at once, and are restarted and killed meanwhile, each mints
// above what was reported when it last looked, and leaves nothing unreported that it closes.
func TestOrderOfFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, err := launchlog.New(memorylog.New(nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		end := time.Now().Add(4 * time.Minute)
		var wg sync.WaitGroup
		for i, rate := range []float64{500, 50, 5, 0.2} {
			wg.Go(func() {
				if n := write(t, log, rand.New(rand.NewPCG(1, uint64(i))), rate, end); n < 20 {
					t.Errorf("the writer of %v IDs a second has minted %d", rate, n)
				}
			})
		}
		wg.Wait()
		time.Sleep(2 * answerTime) // for looks that a Close with an ended context left behind
	})
}
