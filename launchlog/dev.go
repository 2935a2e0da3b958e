package launchlog

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strconv"
)

// devEnvironment is the environment of the launches that [Log.JoinDev] starts.
const devEnvironment = "dev"

// JoinDev starts a launch and joins it, for development on a laptop and for tests. It is [Log.Join]
// without a deployment:
//
//	numbers, err := log.JoinDev(ctx, "shop")
//
// A service has one such launch for each user and folder, in the environment "dev". Every start of
// the app takes its next generator number. If somebody has ended the launch, the next start begins
// another one.
//
// JoinDev is never for production, because there a launch records who deployed what. It therefore
// returns a [*JoinError] if IDMINT_LAUNCH_ID is set, or if the log's namespace has a launch of
// another environment. Other errors are the same as for [Log.StartOrJoin].
func (l *Log) JoinDev(ctx context.Context, service string) (*Generators, error) {
	if l == nil {
		return nil, errNotMade
	}
	app := App{Service: service, Environment: devEnvironment}
	if err := app.validate(); err != nil {
		return nil, err
	}
	if value, ok := os.LookupEnv(launchVariable); ok {
		return nil, &JoinError{App: app, Reason: launchVariable + " is " + quote(value) +
			": an app that has a launch must call Join"}
	}
	if err := l.onlyDev(ctx, app); err != nil {
		return nil, err
	}
	r, err := devRequest(service)
	if err != nil {
		return nil, &JoinError{App: app, Reason: err.Error(), Err: err}
	}
	return l.StartOrJoin(ctx, r)
}

// onlyDev returns an error if the namespace has a launch of another environment.
func (l *Log) onlyDev(ctx context.Context, app App) error {
	for before := 0; ; {
		page, err := l.List(ctx, Filter{Before: before, Limit: pageRows})
		if err != nil {
			return app.refused(err)
		}
		for _, launch := range page {
			if launch.Environment != devEnvironment {
				return &JoinError{App: app, Err: ErrOtherApp, Reason: fmt.Sprintf("the log has "+
					"launch %d of %s in %s: give the app its deployment or its launch, or use "+
					"another log for development", launch.ID, quote(launch.Service),
					quote(launch.Environment))}
			}
		}
		if len(page) < pageRows {
			return nil
		}
		before = page[len(page)-1].ID
	}
}

// devRequest returns the request for this user's launch in this folder. Machines that share a log
// may share the launch, because each start takes another number.
func devRequest(service string) (Request, error) {
	folder, err := os.Getwd()
	if err != nil {
		return Request{}, err
	}
	who := "user " + strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil { // a container's user may have no name
		who = u.Username
	}
	// A folder's name may be longer than a key, and may have characters that a key cannot have.
	of := digest([]byte(service + "\x00" + who + "\x00" + folder))
	return Request{
		Key: "dev-" + of[:32], Service: service, Environment: devEnvironment,
		Initiator: who, InitiatorKind: "user", Reason: "development in " + quote(folder),
	}, nil
}
