//go:build race

package claims_test

// The race detector is slow, and sees in few fleets what it sees in many.
const seeds = 8
