//go:build race

package generator_test

// raceEnabled: the race detector makes atomic steps some 20 times slower, and counts allocations of
// its own.
func init() { raceEnabled = true }
