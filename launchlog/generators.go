package launchlog

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
)

// Generators hands out the generator numbers of one launch, and keeps how far the counters of their
// IDs have come. It is a generator.Numbers and generator.Hinter of package generator.
type Generators struct {
	log    *Log
	launch int
	first  atomic.Pointer[Claim] // that Join took, until it is handed out
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

// HintCounter names the counter that holds how far decimal IDs have come in an epoch, in all
// launches of a namespace. It is "decimal/hint/0" for epoch 0. Do not use it for something else. It
// would get gaps, and IDs would begin elsewhere. After a restore it would repeat, because idmint
// advance leaves it as it is.
func HintCounter(epoch int) string { return hints + strconv.Itoa(epoch) }

const hints = "decimal/hint/"

// HintEpoch returns the epoch of a [HintCounter], and false for the name of another counter.
func HintEpoch(counter string) (epoch int, ok bool) {
	rest, ok := strings.CutPrefix(counter, hints)
	epoch, err := strconv.Atoi(rest)
	if !ok || err != nil || epoch < 0 || HintCounter(epoch) != counter {
		return 0, false
	}
	return epoch, true
}

// Hint raises the [HintCounter] of an epoch to counter, where it is below, and returns its value
// before. Counter 0 raises nothing. Where an answer was lost the value is unknown, and nothing
// depends on it. Errors: [*RequestError], [*UnresolvedError], or what the store says.
func (g *Generators) Hint(ctx context.Context, epoch int, counter int64) (int64, error) {
	if g == nil || g.log == nil {
		return 0, errNotMade
	}
	kind := Usage{Counter: HintCounter(epoch)}
	reported, err := g.log.before(kind)
	if err != nil {
		return 0, err
	}
	register := &Counter{g.log, CounterRef{g.log.opts.Namespace, HintCounter(epoch)}}
	value, err := register.Last(ctx)
	for err == nil && value < counter {
		// The loser of a compare-and-swap has another value to compare with: one that is higher.
		step := Raise{From: value, To: counter, Note: NewNote(), Holder: g.log.opts.Host}
		var row CounterState
		if row, err = register.Raise(ctx, step); err == nil && !step.Done(row) {
			value = row.Value
			continue
		}
		if err == nil { // it was at value, as the compare-and-swap has shown
			err = g.log.memory.took(kind, reported, value, 0)
		}
		break
	}
	return value, err
}
