package launchlog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
)

// Generators hands out the generator numbers of a launch, and of those that continue it. It keeps
// how far the counters of its service's IDs have come. It is a generator.Ordered of package
// generator.
type Generators struct {
	log     *Log
	launch  atomic.Int64           // of the next number
	first   atomic.Pointer[Claim]  // that Join took, until it is handed out
	newest  atomic.Pointer[Claim]  // that was handed out
	service atomic.Pointer[string] // once it is known
}

// Generators returns the source of a launch's generator numbers. It asks the store only when it is
// asked for a number. So it takes any launch number: [Log.Join] is for an app that starts.
func (l *Log) Generators(launch int) *Generators {
	g := &Generators{log: l}
	g.launch.Store(int64(launch))
	return g
}

// Launch returns the launch that the next number is of.
func (g *Generators) Launch() int {
	if g == nil {
		return 0
	}
	return int(g.launch.Load())
}

// NextGenerator claims the next generator number, as [Log.Claim] does, and returns the digits of its
// launch with it. Where that has used its 100,000 numbers, or another launch has taken its digits
// over, the number is one of the launch that continues it: the log starts it, with the request of the
// launch, and a key and a reason that name it. Whoever comes there continues in the same one.
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

// take claims the next number, of the launch that continues where the others have none.
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
// error of that one, and stays the error if somebody has ended it.
func (l *Log) proceed(ctx context.Context, launch int, why error) (Launch, error) {
	old, err := l.Show(ctx, launch)
	if err != nil {
		return Launch{}, err
	}
	r := old.Request
	r.Key = "continues launch " + strconv.Itoa(launch)
	// All who come here give the same reason: numbers that are used up stay so, also where the launch
	// was to be handed on.
	r.Reason = fmt.Sprintf("launch %d, of key %s, has used its generator numbers", launch, quote(old.Key))
	switch {
	case errors.Is(why, ErrEnded) && old.Outcome != HandedOn:
		return Launch{}, why
	case old.NextGenerator < MaxGenerators:
		r.Reason = fmt.Sprintf("another launch took over the digits of launch %d, of key %s", launch,
			quote(old.Key))
	}
	return l.Start(ctx, r)
}

// Trouble is that of the [Log].
func (g *Generators) Trouble() error {
	if g == nil {
		return nil
	}
	return g.log.Trouble()
}

// Order counts a look at the register of order of the launch's service, raises the register to
// reached where it is below, and returns what it is then, and how many looks it has counted. The
// store is asked once: after an error nothing is known, and nothing depends on it but the order of
// IDs. The service is that of [Log.Join], or else the launch's row tells it at the first look.
//
// A look also sees whether the store still has the generator number that was handed out last. Where
// an older copy was put in its place, which may give that number to another process, the error is
// [ErrBehind], and the log takes no number any more.
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
