// Package idminttest gives the tests of an app keys without a launch log:
//
//	func TestGreeting(t *testing.T) {
//		ann := User{ID: idminttest.Key[User](t), Name: "Ann"}
//
// The keys are test IDs: their launch is 0, which no log hands out. Each test gets the same ones
// every time, 10000000000, 20000000000 and so on, whatever runs in parallel. Calls within a test
// never repeat a key, also for several entities. A subtest begins at the first key again: if it
// shares rows with the test around it, pass the t of the outer test.
package idminttest

import (
	"context"
	"sync"
	"testing"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/memory"
)

// tests are the IDs of the tests that run, by their names. Values that embed a testing.TB come and
// go within a test, so they are not what it is known by.
var tests sync.Map // string → *idmint.IDs

// IDs returns the test's generator, in place of the one that [idmint.Open] returns, for functions of
// the app and for plugins such as gormid. All calls in a test return the same one. It has no log, so
// Log returns nil and Close does nothing.
func IDs(t testing.TB) *idmint.IDs {
	t.Helper()
	made := &idmint.IDs{Decimal: generator.NewTestDecimal(nil)}
	ids, known := tests.LoadOrStore(t.Name(), made)
	if !known {
		t.Cleanup(func() { tests.Delete(t.Name()) })
		if err := made.Ready(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	return ids.(*idmint.IDs)
}

// Keys mints the typed keys of an entity, as [idmint.Keys] of [IDs] does.
func Keys[E any](t testing.TB) *generator.Keys[idtype.Decimal[E]] {
	t.Helper()
	return idmint.Keys[E](IDs(t))
}

// Key returns the next of the [Keys].
func Key[E any](t testing.TB) idtype.Decimal[E] {
	t.Helper()
	id, err := Keys[E](t).Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Launch starts a launch in a log in memory, for a test that opens IDs as the app does:
//
//	store, app := idminttest.Launch(t, "shop")
//	ids, err := idmint.Open(t.Context(), store, app)
//
// The IDs are of launch 1, so a database that refuses test IDs accepts them. The first generator
// that is opened mints the same ones every time: 10000000001, 20000000001 and so on. The app joins
// this launch whatever IDMINT_LAUNCH_ID and IDMINT_DEPLOYMENT say. If no launch can be of such a
// service, the test fails.
func Launch(t testing.TB, service string) (launchlog.Store, idmint.App) {
	t.Helper()
	app := idmint.App{Service: service, Environment: "test"}
	store := memory.New(nil)
	log, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := log.Start(t.Context(), launchlog.Request{
		Key: "test", Service: app.Service, Environment: app.Environment, Initiator: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	app.Launch = launch.ID
	return store, app
}
