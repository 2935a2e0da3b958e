// Package idmint sets up an app's primary keys with one call:
//
//	type UserID = idtype.Decimal[User]
//
//	ids, err := idmint.Open(ctx, store, idmint.App{Service: "shop"})
//	if err != nil {
//		return err
//	}
//	defer func() { err = errors.Join(err, ids.Close(ctx)) }()
//
//	err = db.Use(gormid.New(ids)) // with GORM, or without:
//	users := idmint.Keys[User](ids)
//	ann.ID, err = users.Next(ctx)
//
// The store is the database that holds the launch log: postgres.New with the app's pool,
// sqlite.Open, or another store of the packages below launchlog. sqlite.OpenOrCreate needs no
// setup. [Open] is a convenience: it uses only what packages launchlog and generator export, so an
// app can do the same with them.
package idmint

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/idmint/idmint/claims"
	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog"
)

// App identifies the deployment of an app that opens its IDs. Only Service is required.
//
// A deployment is one launch in the log, which Open finds in one of three ways:
//
//   - By the launch number in Launch, or in the environment variable IDMINT_LAUNCH_ID, if a
//     pipeline has started the launch.
//   - By a key in Deployment, or in IDMINT_DEPLOYMENT, that names this deployment and no other. The
//     first process starts the launch, with the version and commit of its build, and the others
//     join it, even if their version or commit differs. If that launch has ended, they continue in
//     a new one. In Kubernetes, the label pod-template-hash is such a key, by the Downward API;
//     elsewhere, use the number of a release, or its commit.
//   - With neither, if Environment is empty or "dev", Open uses a launch for development, which
//     belongs to this user and folder. A log that has other launches rejects it.
type App struct {
	Service     string // such as "shop"; the log keeps the IDs of each service in order
	Environment string // "production" if empty
	Deployment  string // a key of up to 128 characters; overrides IDMINT_DEPLOYMENT
	Launch      int    // a launch number; overrides IDMINT_LAUNCH_ID
	// Log has the options of the launch log, such as Namespace, or Observe for metrics of its steps.
	// The zero value is a good choice.
	Log launchlog.Options
}

// The environment variables for what App leaves out.
const (
	launchVariable     = "IDMINT_LAUNCH_ID"
	deploymentVariable = "IDMINT_DEPLOYMENT"
)

// IDs mint the decimal IDs of an app, for any number of entities. They embed their generator: see
// [generator.Decimal].
type IDs struct {
	*generator.Decimal
	log *launchlog.Log
}

// Log returns the launch log of the IDs. It is nil for the IDs of package idminttest.
func (i *IDs) Log() *launchlog.Log { return i.log }

// Open joins the app's launch, or starts it, and returns a generator that has its first number.
// Call Open once when the app starts, and Close when it ends, so that the IDs of the next start
// begin above.
//
// Errors come from [launchlog.New], [launchlog.Log.StartOrJoin], [launchlog.Log.Join],
// [launchlog.Log.JoinDev] and [generator.Decimal.Ready]. If a store has no tables yet, opening the
// store fails, before this call.
func Open(ctx context.Context, store launchlog.Store, app App) (*IDs, error) {
	log, err := launchlog.New(store, &app.Log)
	if err != nil {
		return nil, err
	}
	numbers, err := join(ctx, log, app)
	if err != nil {
		return nil, err
	}
	ids, err := generator.NewDecimal(numbers)
	if err != nil {
		return nil, err
	}
	return &IDs{ids, log}, ids.Ready(ctx)
}

// join joins the launch of the app, and starts it if necessary.
func join(ctx context.Context, log *launchlog.Log, app App) (*launchlog.Generators, error) {
	dev := app.Environment == "" || app.Environment == "dev"
	if app.Environment == "" {
		app.Environment = "production"
	}
	_, launched := os.LookupEnv(launchVariable)
	launched = launched || app.Launch != 0
	if app.Deployment == "" && app.Launch == 0 {
		app.Deployment = os.Getenv(deploymentVariable)
	}
	switch {
	case launched && app.Deployment != "":
		return nil, fmt.Errorf("idmint: both a launch and the deployment %q are given: "+
			"set either %s or %s, or one of App's fields", app.Deployment, launchVariable,
			deploymentVariable)
	case app.Deployment != "":
		return log.StartOrJoin(ctx, app.request())
	case !launched && dev:
		return log.JoinDev(ctx, app.Service)
	case !launched:
		return nil, fmt.Errorf("idmint: %q in %q has no deployment: set %s to its key, "+
			"or %s to its launch number", app.Service, app.Environment, deploymentVariable,
			launchVariable)
	}
	return log.Join(ctx, launchlog.App{
		Service: app.Service, Environment: app.Environment, Launch: app.Launch,
	})
}

// request returns the request for a deployment's launch, made by the process that starts it.
func (a App) request() launchlog.Request {
	r := launchlog.Request{
		Key:     a.Service + "/" + a.Environment + "/" + a.Deployment,
		Service: a.Service, Environment: a.Environment,
		Initiator: a.Service, InitiatorKind: "app", Reason: "deployment " + a.Deployment,
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		r.Version = build.Main.Version
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				r.Commit = s.Value
			}
		}
	}
	return r
}

// OpenTrace returns a generator of trace IDs, whose node is lent by the store: see package claims.
// It needs no launch, and does not have to be closed. Of app, it only uses Log. For typed
// keys, use [generator.For].
func OpenTrace(ctx context.Context, store launchlog.Store, app App) (*generator.Trace, error) {
	return lent(ctx, store, app, claims.Nodes, generator.NewTrace)
}

// OpenSno returns a generator of sno IDs, whose partition is lent by the store: see [OpenTrace].
func OpenSno(ctx context.Context, store launchlog.Store, app App) (*generator.Sno, error) {
	return lent(ctx, store, app, claims.Partitions, generator.NewSno)
}

// OpenEightByte returns a generator of eightbyte IDs, whose generator number and cluster are lent
// by the store: see [OpenTrace].
func OpenEightByte(
	ctx context.Context, store launchlog.Store, mode idtype.EightByteMode, app App,
) (*generator.EightByte, error) {
	return lent(ctx, store, app, claims.Pairs, func(
		pairs generator.Windows[generator.EightBytePair], opts *generator.Options,
	) (*generator.EightByte, error) {
		return generator.NewEightByte(mode, pairs, opts)
	})
}

// OpenSnowflake returns a generator of snowflake IDs in a layout, whose node is lent by the store:
// see [OpenTrace]. For layouts with few nodes, follow the advice at [claims.Snowflakes].
func OpenSnowflake[L idtype.Snowflakes](
	ctx context.Context, store launchlog.Store, app App,
) (*generator.SnowflakeIn[L], error) {
	return lent(ctx, store, app, claims.Snowflakes[L], generator.NewSnowflakeIn[L])
}

// lent returns a generator that has a lent number, and is ready.
func lent[N any, G interface{ Ready(context.Context) error }](
	ctx context.Context, store launchlog.Store, app App,
	lend func(*launchlog.Log, *claims.Options) (*claims.Source[N], error),
	make func(generator.Windows[N], *generator.Options) (G, error),
) (gen G, err error) {
	log, err := launchlog.New(store, &app.Log)
	if err != nil {
		return gen, err
	}
	numbers, err := lend(log, nil)
	if err != nil {
		return gen, err
	}
	if gen, err = make(numbers, nil); err != nil {
		return gen, err
	}
	return gen, gen.Ready(ctx)
}

// Keys returns typed keys of an entity, which are of type [idtype.Decimal] of the entity.
func Keys[E any](ids *IDs) *generator.Keys[idtype.Decimal[E]] {
	keys, err := generator.For[idtype.Decimal[E]](ids.Decimal)
	if err != nil {
		panic(err) // no decimal key is of another scheme
	}
	return keys
}
