// Package storetest says what a launchlog.Store must do. A store joins with
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) launchlog.Store { … an empty store … }, nil)
//	}
//
// [Held] and [Stalled] are for stores that share a pool with an app, and whose disk can be made to
// stand still.
package storetest

import (
	"testing"

	"github.com/idmint/idmint/internal/storesuite"
	"github.com/idmint/idmint/launchlog"
)

// Run runs the suite. Each test opens stores of its own, which must be empty. Where a store is too
// slow to take all the 100,000 numbers of a launch, jump sets its next one. It is nil otherwise.
func Run(
	t *testing.T, open func(t *testing.T) launchlog.Store,
	jump func(store launchlog.Store, ref launchlog.Ref, next int) error,
) {
	t.Helper()
	storesuite.Run(t, open, jump)
}

// Request returns a small valid request with that key.
func Request(key string) launchlog.Request { return storesuite.Request(key) }

// An AppPool is a pool of an app, in which a store has no connections of its own.
type AppPool struct {
	Connections int // of the pool
	// begins a transaction, and waits for a connection
	Begin func() (rollback func(), _ error)
	// New makes a store that has not written yet.
	New func() (launchlog.Store, error)
	// Elsewhere is a store of the same database whose connections are its own.
	Elsewhere launchlog.Store
	// Lock holds up all steps that change the namespace "default", from a connection elsewhere.
	Lock func() (unlock func(), _ error)
}

// Held has transactions of an app hold all connections of its pool while they wait for a step.
// Where the store knows that, the step fails and says what to do. It fails soon in a store that has
// not written, and not within seconds in one that has. Where connections come back it does not.
func Held(t *testing.T, pool AppPool) {
	t.Helper()
	storesuite.Held(t, storesuite.AppPool(pool))
}

// A Disk can be made to stand still.
type Disk interface {
	Stall(t *testing.T)   // makes nothing durable from now on
	Reached(t *testing.T) // waits until a commit stands still
	Resume(t *testing.T)
}

// Stalled has the disk below a store stand still while it commits. Every call ends nevertheless.
// The call that commits may have been carried out, and says so. Those behind it have changed
// nothing. The key settles what was in doubt.
func Stalled(t *testing.T, store launchlog.Store, disk Disk) {
	t.Helper()
	storesuite.Stalled(t, store, disk)
}

// BenchmarkStart measures how fast 16 clients start launches.
func BenchmarkStart(b *testing.B, store launchlog.Store) { storesuite.BenchmarkStart(b, store) }

// BenchmarkClaim measures how fast 16 clients claim generator numbers of one launch, and of the
// next when that has no more.
func BenchmarkClaim(b *testing.B, store launchlog.Store) { storesuite.BenchmarkClaim(b, store) }
