package launchlog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
)

// Generators hands out the generator numbers of a launch, and of the launches that continue it. It
// also records how far the counters of its service's IDs have advanced. It implements
// generator.Ordered of package generator.
type Generators struct {
	log     *Log
	launch  atomic.Int64           // of the next number
	first   atomic.Pointer[Claim]  // taken by Join, until it is handed out
	newest  atomic.Pointer[Claim]  // handed out last
	service atomic.Pointer[string] // once it is known
}

// Generators returns the source of a launch's generator numbers. It accepts any launch number,
// because it does not ask the store until a number is requested. When an app starts, use [Log.Join]
// instead.
func (l *Log) Generators(launch int) *Generators {
	g := &Generators{log: l}
	g.launch.Store(int64(launch))
	return g
}

// Launch returns the launch of the next number.
func (g *Generators) Launch() int {
	if g == nil {
		return 0
	}
	return int(g.launch.Load())
}

// NextGenerator claims the next generator number, as [Log.Claim] does, and returns it with the
// digits of its launch. If the launch has used its 100,000 numbers, or another launch has taken
// over its digits, the number belongs to the launch that continues it. The log starts that launch
// with the same request, except for a key and a reason that name the old launch, so that all
// processes continue in the same one.
func (g *Generators) NextGenerator(ctx context.Context) (digits, number int, err error) {
	if g == nil {
		return 0, 0, errNotMade
	}
	claim := g.first.Swap(nil)
	if claim == nil {
		taken, err := g.take(ctx)
		if err != nil {
			return 0, 0, err
		}
		claim = &taken
	}
	g.newest.Store(claim)
	return claim.Launch % Lap, claim.Generator, nil
}

// take claims the next number, from the launch that continues the earlier ones if they have none.
func (g *Generators) take(ctx context.Context) (Claim, error) {
	for {
		launch := g.Launch()
		claim, err := g.log.Claim(ctx, launch)
		if err == nil || !errors.Is(err, ErrGeneratorsExhausted) && !errors.Is(err, ErrEnded) {
			return claim, err
		}
		next, err := g.log.proceed(ctx, launch, err)
		if err != nil {
			return Claim{}, err
		}
		g.launch.CompareAndSwap(int64(launch), int64(next.ID))
	}
}

// proceed starts the launch that continues one without generator numbers, or finds it. Why is the
// error of the old launch, and is returned if somebody has ended that launch.
func (l *Log) proceed(ctx context.Context, launch int, why error) (Launch, error) {
	old, err := l.Show(ctx, launch)
	if err != nil {
		return Launch{}, err
	}
	r := old.Request
	r.Key = "continues launch " + strconv.Itoa(launch)
	// All processes give the same reason here. Numbers that are used up stay used up, even if the
	// launch was about to be handed on.
	r.Reason = fmt.Sprintf("launch %d, of key %s, has used its generator numbers", launch,
		quote(old.Key))
	switch {
	case errors.Is(why, ErrEnded) && old.Outcome != HandedOn:
		return Launch{}, why
	case old.NextGenerator < MaxGenerators:
		r.Reason = fmt.Sprintf("another launch took over the digits of launch %d, of key %s",
			launch, quote(old.Key))
	}
	return l.Start(ctx, r)
}

// Trouble returns [Log.Trouble] of the log.
func (g *Generators) Trouble() error {
	if g == nil {
		return nil
	}
	return g.log.Trouble()
}

// Order counts a read of the order register of the launch's service, raises the register to reached
// if it is below, and returns its value and the number of reads so far. It asks the store once.
// After an error nothing is known, but only the order of IDs depends on the register. The service
// is known from [Log.Join], or else read from the launch's row the first time.
//
// A read also checks that the store still has the generator number that was handed out last. If the
// store was replaced by an older copy, which may give that number to another process, the error is
// [ErrBehind], and the log takes no more numbers.
func (g *Generators) Order(ctx context.Context, reached int64) (is, looks int64, err error) {
	if g == nil || g.log == nil {
		return 0, 0, errNotMade
	}
	if _, err := g.log.before(Usage{}); err != nil {
		return 0, 0, err
	}
	service := g.service.Load()
	if service == nil {
		launch, err := g.log.Show(ctx, g.Launch())
		if err != nil {
			return 0, 0, err
		}
		service = &launch.Service
		g.service.Store(service)
	}
	look := Look{Ref: g.log.ref(g.Launch()), Service: *service, Reached: reached}
	if newest := g.newest.Load(); newest != nil {
		look.Launch, look.Generator, look.Token = newest.Launch, newest.Generator, newest.Token
	}
	is, looks, err = g.log.store.Order(ctx, look)
	if errors.Is(err, ErrBehind) {
		err = g.log.memory.lose(err)
	}
	return is, looks, about("order of "+*service, err)
}
