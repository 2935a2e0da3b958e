package storetest

import (
	"errors"
	"testing"

	"github.com/idmint/idmint/launchlog"
)

// join checks Log.Join: it refuses what is not the app's, and takes the first number.
func join(t *testing.T, store launchlog.Store) {
	l := newLog(t, store, nil)
	r := Request("")
	launch, ended := start(t, l, "a"), start(t, l, "b")
	if _, err := l.End(ctx, ended.ID, launchlog.Ending{Outcome: launchlog.Failed}); err != nil {
		t.Fatal(err)
	}
	app := launchlog.App{Service: r.Service, Environment: r.Environment, Launch: launch.ID}
	for _, refused := range []struct {
		service, environment string
		launch               int
		err                  error
	}{
		{"billing", app.Environment, launch.ID, launchlog.ErrOtherApp},
		{app.Service, "staging", launch.ID, launchlog.ErrOtherApp},
		{app.Service, app.Environment, ended.ID, launchlog.ErrEnded},
		{app.Service, app.Environment, ended.ID + 1, launchlog.ErrNotFound},
	} {
		app := launchlog.App{
			Service: refused.service, Environment: refused.environment, Launch: refused.launch,
		}
		_, err := l.Join(ctx, app)
		wantError(t, err, refused.err)
		var named *launchlog.JoinError
		if !errors.As(err, &named) || named.App != app {
			t.Errorf("%v names %+v, want %+v", err, named, app)
		}
	}
	for n := range 3 {
		value := int64(500 * n) // where others have come
		if n > 0 {
			if _, err := l.Generators(launch.ID).Hint(ctx, 0, value); err != nil {
				t.Fatal(err)
			}
		}
		numbers, err := l.Join(ctx, app)
		wantError(t, err, nil)
		found, err := l.Show(ctx, launch.ID)
		wantError(t, err, nil)
		want(t, "numbers taken by joining", found.NextGenerator, n+1)
		got, err := numbers.NextGenerator(ctx)
		wantError(t, err, nil)
		want(t, "number", got, n)
		hint, err := numbers.Hint(ctx, 0, 0)
		wantError(t, err, nil)
		want(t, "hint", hint, value)
		if _, err := l.Generators(launch.ID).Hint(ctx, 0, value+100); err != nil {
			t.Fatal(err)
		}
		hint, err = numbers.Hint(ctx, 0, 0)
		wantError(t, err, nil)
		want(t, "the next hint", hint, value+100)
	}
}
