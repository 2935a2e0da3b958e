package launchlog

import (
	"context"
	"errors"
	"sync/atomic"
)

// Generators hands out the generator numbers of one launch, and keeps how far the counters of its
// service's IDs have come. It is a generator.Ordered of package generator.
type Generators struct {
	log     *Log
	launch  int
	first   atomic.Pointer[Claim]  // that Join took, until it is handed out
	newest  atomic.Pointer[Claim]  // that was handed out
	service atomic.Pointer[string] // once it is known
}

// Generators returns the source of a launch's generator numbers. It asks the store only when it is
// asked for a number. So it takes any launch number: [Log.Join] is for an app that starts.
func (l *Log) Generators(launch int) *Generators { return &Generators{log: l, launch: launch} }

// Launch returns the launch that the numbers are of.
func (g *Generators) Launch() int {
	if g == nil {
		return 0
	}
	return g.launch
}

// NextGenerator claims the next generator number, as [Log.Claim] does. Its errors do not name the
// launch, because the generator's do.
func (g *Generators) NextGenerator(ctx context.Context) (int, error) {
	if g == nil {
		return 0, errNotMade
	}
	claim := g.first.Swap(nil)
	if claim == nil {
		taken, err := g.log.claim(ctx, g.launch)
		if err != nil {
			return 0, about("", err)
		}
		claim = &taken
	}
	g.newest.Store(claim)
	return claim.Generator, nil
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
		launch, err := g.log.Show(ctx, g.launch)
		if err != nil {
			return 0, 0, err
		}
		service = &launch.Service
		g.service.Store(service)
	}
	look := Look{Ref: g.log.ref(g.launch), Service: *service, Reached: reached}
	if newest := g.newest.Load(); newest != nil {
		look.Generator, look.Token = newest.Generator, newest.Token
	}
	is, looks, err = g.log.store.Order(ctx, look)
	if errors.Is(err, ErrBehind) {
		err = g.log.memory.lose(err)
	}
	return is, looks, about("order of "+*service, err)
}
