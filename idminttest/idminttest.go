// Package idminttest provides keys for the tests of an app, without a launch log:
//
//	func TestGreeting(t *testing.T) {
//		ann := User{ID: idminttest.Key[User](t), Name: "Ann"}
//
// The keys are test IDs: they have launch 0, which no log hands out. Each test gets the same keys
// every time, 10000000000, 20000000000 and so on, whatever runs in parallel. Within a test no key
// repeats, even for several entities. A subtest begins with the first key again; if it shares rows
// with the surrounding test, pass the t of the outer test.
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

// tests holds the IDs of running tests by the tests' names. The testing.TB itself would not do as a
// key, because wrappers of it come and go within a test.
var tests sync.Map // string → *idmint.IDs

// IDs returns the test's generator, for functions of the app and for plugins such as gormid, in
// place of the one that [idmint.Open] returns. All calls in a test return the same generator. It
// has no log: Log returns nil and Close does nothing.
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

// Keys returns typed keys of an entity, minted by [IDs]: see [idmint.Keys].
func Keys[E any](t testing.TB) *generator.Keys[idtype.Decimal[E]] {
	t.Helper()
	return idmint.Keys[E](IDs(t))
}

// Key mints one key of an entity: see [Keys].
func Key[E any](t testing.TB) idtype.Decimal[E] {
	t.Helper()
	id, err := Keys[E](t).Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Launch starts a launch in a log in memory, for a test that opens IDs in the same way as the app:
//
//	store, app := idminttest.Launch(t, "shop")
//	ids, err := idmint.Open(t.Context(), store, app)
//
// The IDs have launch 1, so that a database that refuses test IDs accepts them. The first generator
// that is opened mints the same IDs every time: 10000000001, 20000000001 and so on. The app joins
// this launch regardless of IDMINT_LAUNCH_ID and IDMINT_DEPLOYMENT. If service is not a valid name
// of a service, the test fails.
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
