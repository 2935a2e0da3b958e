//go:build race

package sqlite_test

// raceEnabled: with the race detector, the 100,000 claims of a launch take minutes.
func init() { raceEnabled = true }
