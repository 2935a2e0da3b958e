// Package storetest says what a launchlog.Store must do. A store joins with
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) launchlog.Store { … an empty store … }, nil)
//	}
//
// [Stalled] is for stores whose disk can be made to stand still.
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
