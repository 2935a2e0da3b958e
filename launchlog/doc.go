// Package launchlog keeps the two numbers that make IDs unique: the launch number, taken once per deployment, and the
// generator number, taken once per start of an app.
//
// A [Log] is the whole API; a [Store] keeps its rows:
//
//	store    package             for
//	SQLite   launchlog/sqlite    one machine: the embedded default
//	memory   launchlog/memory    tests, and the reference that other stores are measured by
//
// A deployment starts its launch and hands the number to its apps in their configuration:
//
//	launch, err := log.Start(ctx, launchlog.Request{Key: "deploy-4711", Service: "shop", Environment: "production", Initiator: "ann"})
//
// An app takes its generator numbers itself:
//
//	gen, err := generator.NewDecimal(launch, log.Generators(launch))
//
// # What it promises
//
//   - No pair of launch and generator number is handed out twice within a namespace.
//   - A launch that was acknowledged is never lost: rows are not deleted and not renumbered.
//   - The same key gives the same launch, however often and wherever the step is retried. The same key with another request
//     is a [ConflictError].
//   - Every call ends, within its context and its budget, with a result or a typed error. It never guesses: where an answer
//     was lost, the whole operation is run again under its key.
//
// This holds as long as the store keeps what it acknowledged. One that was restored from a backup, or failed over to a copy that
// lacked the newest rows, gives out again the numbers that it forgot: after a restore, call [Log.Advance] before anything else.
// [Request].KnownLaunch notices lost launches where that was forgotten.
//
// # Limits
//
// A namespace has 99,999 launches, and a launch has 100,000 generators, whose numbers are never used again. A restart of an
// app costs a generator number, so an app that crashes once a second uses up a launch in 28 hours: [Options].Warn hears of
// it from 80 % on.
package launchlog
