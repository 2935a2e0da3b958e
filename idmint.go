// Package idmint starts an app's primary keys with one call:
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
// The store is where the launch log is kept: postgres.New of an app's pool, sqlite.Open, and so on,
// of the packages below launchlog. sqlite.OpenOrCreate needs nothing to be there before. [Open] is
// written with the parts that packages launchlog and generator have, and does nothing that an app
// cannot do with them.
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

// App says which deployment of which app opens its IDs. Only Service is required.
//
// A deployment is one launch of the log. It is the one whose number stands in Launch, or in the
// environment variable IDMINT_LAUNCH_ID, where a pipeline has started it. Or it is that of a key that
// names the deployment and no other, in Deployment or in IDMINT_DEPLOYMENT: the first process starts
// the launch, with the version and commit of its build, and the others join it, whatever theirs are.
// If that launch has ended, they continue in a new one. In Kubernetes the label pod-template-hash is
// such a key, by the Downward API; elsewhere the number of a release, or its commit. With neither,
// and no Environment but "dev", it is a launch of this user and folder for development, which no log
// takes that has other launches.
type App struct {
	Service     string // such as "shop": the log keeps the order of IDs for each service
	Environment string // "production" if empty
	Deployment  string // a key of up to 128 characters
	Launch      int    // a launch number: it wins over the environment
	Namespace   string // of the log: launchlog.DefaultNamespace if empty
}

// The environment variables that say what App leaves out.
const (
	launchVariable     = "IDMINT_LAUNCH_ID"
	deploymentVariable = "IDMINT_DEPLOYMENT"
)

// IDs mint the decimal IDs of an app, for any number of entities. They are a generator: see
// [generator.Decimal].
type IDs struct {
	*generator.Decimal
	log *launchlog.Log
}

// Log is the launch log that the IDs are of. It is nil for those of package idminttest.
func (i *IDs) Log() *launchlog.Log { return i.log }

// Open joins the app's launch, or starts it, and readies a generator of its own. Call it once, when
// the app starts, and Close when it ends: then the next start's IDs begin above this one's.
//
// Errors are those of [launchlog.New], [launchlog.Log.StartOrJoin], [launchlog.Log.Join],
// [launchlog.Log.JoinDev] and [generator.Decimal.Ready]. A store that has no tables yet says so when
// it is opened, before this call.
func Open(ctx context.Context, store launchlog.Store, app App) (*IDs, error) {
	log, err := launchlog.New(store, &launchlog.Options{Namespace: app.Namespace})
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

// join takes the app's first number of its launch.
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
			"take %s or %s, and App's field of the other stays empty", app.Deployment, launchVariable,
			deploymentVariable)
	case app.Deployment != "":
		return log.StartOrJoin(ctx, app.request())
	case !launched && dev:
		return log.JoinDev(ctx, app.Service)
	case !launched:
		return nil, fmt.Errorf("idmint: %q in %q has no deployment: set %s to the key of it, "+
			"or %s to its launch", app.Service, app.Environment, deploymentVariable, launchVariable)
	}
	return log.Join(ctx, launchlog.App{
		Service: app.Service, Environment: app.Environment, Launch: app.Launch,
	})
}

// request is that of a deployment's launch, by the process that starts it.
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

// OpenTrace opens trace IDs, whose node is lent by the store: see package claims. No launch is needed,
// nor is anything closed: of app only Namespace counts. Typed keys are [generator.For]'s.
func OpenTrace(ctx context.Context, store launchlog.Store, app App) (*generator.Trace, error) {
	return lent(ctx, store, app, claims.Nodes, generator.NewTrace)
}

// OpenSno opens sno IDs, whose partition is lent by the store: see [OpenTrace].
func OpenSno(ctx context.Context, store launchlog.Store, app App) (*generator.Sno, error) {
	return lent(ctx, store, app, claims.Partitions, generator.NewSno)
}

// OpenEightByte opens eight-byte IDs, whose generator and cluster are lent by the store: see
// [OpenTrace].
func OpenEightByte(
	ctx context.Context, store launchlog.Store, mode idtype.EightByteMode, app App,
) (*generator.EightByte, error) {
	return lent(ctx, store, app, claims.Pairs, func(
		pairs generator.Windows[generator.EightBytePair], opts *generator.Options,
	) (*generator.EightByte, error) {
		return generator.NewEightByte(mode, pairs, opts)
	})
}

// OpenSnowflake opens snowflake IDs of a layout, whose node is lent by the store: see [OpenTrace].
// Layouts of few nodes need what [claims.Snowflakes] says.
func OpenSnowflake[L idtype.Snowflakes](
	ctx context.Context, store launchlog.Store, app App,
) (*generator.SnowflakeIn[L], error) {
	return lent(ctx, store, app, claims.Snowflakes[L], generator.NewSnowflakeIn[L])
}

// lent readies a generator whose number is lent.
func lent[N any, G interface{ Ready(context.Context) error }](
	ctx context.Context, store launchlog.Store, app App,
	lend func(*launchlog.Log, *claims.Options) (*claims.Source[N], error),
	make func(generator.Windows[N], *generator.Options) (G, error),
) (gen G, err error) {
	log, err := launchlog.New(store, &launchlog.Options{Namespace: app.Namespace})
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

// Keys mints the typed keys of an entity, which are [idtype.Decimal] of it.
func Keys[E any](ids *IDs) *generator.Keys[idtype.Decimal[E]] {
	keys, err := generator.For[idtype.Decimal[E]](ids.Decimal)
	if err != nil {
		panic(err) // no decimal key is of another scheme
	}
	return keys
}
