package dialect

import (
	"context"
	"iter"
	"math/rand/v2"
	"time"
)

// firstPause is the longest pause before the second attempt.
const firstPause = 10 * time.Millisecond

// Attempts counts the attempts at something that passes, from 1, until ctx ends or the caller has
// what it wants. A random pause comes before each attempt but the first. It is up to 10 ms, then up
// to twice as much each time, and up to longest in the end. Random pauses keep many who wait for
// the same from coming back together. An ended ctx allows no attempt, not even the first.
func Attempts(ctx context.Context, longest time.Duration) iter.Seq[int] {
	return func(yield func(int) bool) {
		pause := min(firstPause, longest)
		for n := 1; ctx.Err() == nil && yield(n); n++ {
			timer := time.NewTimer(rand.N(pause))
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
			}
			pause = min(2*pause, longest)
		}
	}
}
