package launchlog

import (
	"context"
	"sync/atomic"
)

// Generators hands out the generator numbers of one launch, and keeps how far the counters of its
// service's IDs have come. It is a generator.Ordered of package generator.
type Generators struct {
	log     *Log
	launch  int
	first   atomic.Pointer[Claim]  // that Join took, until it is handed out
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
	if first := g.first.Swap(nil); first != nil {
		return first.Generator, nil
	}
	claim, err := g.log.claim(ctx, g.launch)
	return claim.Generator, about("", err)
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
func (g *Generators) Order(ctx context.Context, reached int64) (is, looks int64, err error) {
	if g == nil || g.log == nil {
		return 0, 0, errNotMade
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
	ref := ServiceRef{g.log.opts.Namespace, *service}
	is, looks, err = g.log.store.Order(ctx, ref, reached)
	return is, looks, about("order of "+*service, err)
}
