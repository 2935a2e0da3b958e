package launchlog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/idmint/idmint/internal/named"
)

// launchVariable is the environment variable in which a deployment passes the launch number to an
// app. [Log.Join] reads it, and idmint launch start --format env writes it.
const launchVariable = "IDMINT_LAUNCH_ID"

// App identifies an app that joins a launch. Service and Environment must be the same as in the
// request that started the launch.
type App struct {
	Service     string
	Environment string
	// Launch is the launch number. If it is zero, Join reads IDMINT_LAUNCH_ID in the environment.
	Launch int
}

// A JoinError is returned if an app cannot join a launch. Its text says what to do.
type JoinError struct {
	App    App    // with the launch number, or 0 if there is none
	Reason string // what is wrong, and what to do
	Err    error  // the log's error, ErrOtherApp, or a *RequestError for the variable
}

func (e *JoinError) Error() string {
	launch := "its launch"
	if e.App.Launch != 0 {
		launch = "launch " + strconv.Itoa(e.App.Launch)
	}
	return fmt.Sprintf("launchlog: %s in %s cannot join %s: %s", quote(e.App.Service),
		quote(e.App.Environment), launch, e.Reason)
}

func (e *JoinError) Unwrap() error { return e.Err }

// Join takes an app's first generator number of its launch, and returns the source of all its
// generator numbers:
//
//	numbers, err := log.Join(ctx, launchlog.App{Service: "shop", Environment: "production"})
//	gen, err := generator.NewDecimal(numbers)
//
// Call it once, when the app starts. It detects at that point what would otherwise fail at the
// first ID, or go unnoticed: there is no launch number, the log does not have the launch, or the
// launch has ended or belongs to another service or environment. The error is a [*JoinError], which
// wraps [ErrNotFound], [ErrEnded], [ErrOtherApp], an [*UnresolvedError], or the store's own error.
// A service or environment that no launch can have is a [*RequestError].
//
// The first generator that is created with the result uses the number that Join has taken. An app
// that joins and mints nothing leaves that number unused.
func (l *Log) Join(ctx context.Context, app App) (*Generators, error) {
	if l == nil {
		return nil, errNotMade
	}
	if err := app.validate(); err != nil {
		return nil, err
	}
	if app.Launch == 0 {
		value := os.Getenv(launchVariable)
		n, ok := ParseLaunch(value)
		if !ok {
			wrong := &RequestError{launchVariable, value, "is not a launch number: set it to the " +
				"one that idmint launch start prints, once per deployment"}
			return nil, &JoinError{App: app, Reason: named.Bare(wrong), Err: wrong}
		}
		app.Launch = n
	}
	launch, err := l.Show(ctx, app.Launch)
	if err != nil {
		return nil, app.refused(err)
	}
	if err := app.admits(launch); err != nil {
		return nil, err
	}
	return l.join(ctx, app)
}

// StartOrJoin joins the launch with a key, and starts it if there is none. It is for apps that
// start their own launch: each process of a deployment makes the same request, whose key identifies
// the deployment. If the requests differ, for example because they come from two builds, the first
// one counts. A launch that has ended is continued in a new one, whose key has "#2" appended, or
// "#3" and so on, so that a deployment can start again after [Log.Advance] or a rollback.
//
// Errors are the same as for [Log.Start], except the [*ConflictError], and for [Log.Join].
func (l *Log) StartOrJoin(ctx context.Context, r Request) (*Generators, error) {
	if l == nil {
		return nil, errNotMade
	}
	app := App{Service: r.Service, Environment: r.Environment}
	key := r.Key
	for n := 2; ; n++ {
		launch, err := l.Start(ctx, r)
		if other := (*ConflictError)(nil); errors.As(err, &other) {
			launch, err = l.Show(ctx, other.Launch)
		}
		if err != nil {
			return nil, err
		}
		app.Launch = launch.ID
		if err := app.owns(launch); err != nil {
			return nil, err
		}
		if launch.Running() || launch.Outcome == HandedOn {
			numbers, err := l.join(ctx, app)
			if !errors.Is(err, ErrEnded) {
				return numbers, err
			}
		}
		r.Key = key + "#" + strconv.Itoa(n)
	}
}

// join takes the first number of a launch that belongs to the app.
func (l *Log) join(ctx context.Context, app App) (*Generators, error) {
	numbers := l.Generators(app.Launch)
	claim, err := numbers.take(ctx)
	if err != nil {
		return nil, app.refused(err)
	}
	numbers.first.Store(&claim)
	numbers.service.Store(&app.Service)
	return numbers, nil
}

// owns returns an error if a launch belongs to another app.
func (a App) owns(launch Launch) error {
	if launch.Service != a.Service || launch.Environment != a.Environment {
		return &JoinError{App: a, Err: ErrOtherApp, Reason: fmt.Sprintf("it belongs to %s in %s: "+
			"give this app the number of its own launch",
			quote(launch.Service), quote(launch.Environment))}
	}
	return nil
}

// admits returns an error if a launch belongs to another app, or has ended.
func (a App) admits(launch Launch) error {
	if err := a.owns(launch); err != nil {
		return err
	}
	if !launch.Running() && launch.Outcome != HandedOn { // another one continues it
		return &JoinError{App: a, Err: ErrEnded, Reason: fmt.Sprintf("it ended at %s, with "+
			"outcome %s: start a new launch for this deployment",
			launch.EndedAt.UTC().Format(time.RFC3339), launch.Outcome)}
	}
	return nil
}

func (a App) validate() error {
	for _, f := range [...]struct{ name, value string }{
		{"service", a.Service}, {"environment", a.Environment},
	} {
		if f.value == "" {
			return &RequestError{f.name, f.value, "is required: set it in App"}
		}
		if err := checkText(f.name, f.value, 255); err != nil {
			return err
		}
	}
	if a.Launch != 0 && !validLaunch(a.Launch) {
		return &RequestError{"launch", strconv.Itoa(a.Launch), "is not a launch number"}
	}
	return nil
}

// refused turns an error of the log into a JoinError that says what to do.
func (a App) refused(err error) error {
	reason := named.Bare(err)
	switch unresolved := (*UnresolvedError)(nil); {
	case errors.Is(err, ErrNotFound):
		reason = "the log has no such launch: check that the app uses the log and namespace " +
			"that idmint launch start used"
	case errors.Is(err, ErrEnded):
		reason = "it has ended: start a new launch for this deployment"
	case errors.As(err, &unresolved):
		reason = "the log does not answer: " + named.Bare(unresolved)
	}
	return &JoinError{App: a, Reason: reason, Err: err}
}
