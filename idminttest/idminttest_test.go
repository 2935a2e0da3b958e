package idminttest_test

import (
	"slices"
	"testing"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/idminttest"
	"github.com/idmint/idmint/idtype"
)

type (
	User   struct{ ID UserID }
	UserID = idtype.Decimal[User]
	Event  struct{ ID idtype.Decimal[Event] }
)

// A run is a test that ends when the test around it says so. Each call gets another one, as by a
// library that wraps testing.T.
type run struct {
	testing.TB
	cleanups *[]func()
}

func (r *run) Name() string     { return "the same" }
func (r *run) Cleanup(f func()) { *r.cleanups = append(*r.cleanups, f) }

// TestKeys: a test has the same keys in each run, and never repeats one within it. Other tests have
// these keys as well.
func TestKeys(t *testing.T) {
	for range 2 { // as go test -count=2
		var cleanups []func()
		users := idminttest.Keys[User](&run{t, &cleanups})
		got := []UserID{idminttest.Key[User](&run{t, &cleanups})}
		for range 2 {
			id, err := users.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, id)
		}
		id := idminttest.Key[Event](&run{t, &cleanups})
		got = append(got, UserID(id))
		if want := []UserID{1e10, 2e10, 3e10, 4e10}; !slices.Equal(got, want) || !id.IsTest() {
			t.Errorf("%v, want %v", got, want)
		}
		for _, f := range cleanups {
			f()
		}
	}
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if first := idminttest.Key[User](t); first != 1e10 {
				t.Errorf("it begins at %v", first)
			}
		})
	}
	if idminttest.IDs(t).Log() != nil {
		t.Error("test IDs have a log")
	}
}

// TestLaunch: an app that opens its IDs has the same ones whatever the environment says.
func TestLaunch(t *testing.T) {
	for variable, value := range map[string]string{
		"IDMINT_LAUNCH_ID": "7", "IDMINT_DEPLOYMENT": "7f9c",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, value)
			store, app := idminttest.Launch(t, "shop")
			ids, err := idmint.Open(t.Context(), store, app)
			if err != nil {
				t.Fatal(err)
			}
			defer ids.Close(t.Context())
			id, err := ids.Next(t.Context())
			if err != nil || id.Parts() != (idtype.DecimalParts{Counter: 1, Launch: 1}) {
				t.Errorf("%v, %v", id, err)
			}
			if launch, err := ids.Log().Show(t.Context(), 1); launch.Service != "shop" {
				t.Errorf("%+v, %v", launch, err)
			}
		})
	}
}
