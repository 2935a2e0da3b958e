// Package launchlog keeps the two numbers that make IDs unique: the launch number, taken once per
// deployment, and the generator number, taken once per start of an app. It also keeps named
// counters, for the generators that need no launch.
//
// A [Log] is the whole API; a [Store] keeps its rows:
//
//	store            package              for
//	SQLite           launchlog/sqlite     one machine: the embedded default
//	PostgreSQL       launchlog/postgres   many machines
//	MySQL, MariaDB   launchlog/mysql      many machines
//	memory           launchlog/memory     tests, and the reference that other stores are measured by
//
// A deployment starts its launch and hands the number to its apps in their configuration:
//
//	launch, err := log.Start(ctx, launchlog.Request{Key: "deploy-4711", Service: "shop", Environment: "production", Initiator: "ann"})
//
// An app takes its generator numbers itself:
//
//	gen, err := generator.NewDecimal(log.Generators(launch.ID))
//	err = gen.Ready(ctx)
//
// Ready takes the first number, before the first transaction of the app. A transaction that mints
// on the log's own database holds what the log waits for. With SQLite that is the lock of the file.
// With a server it is a connection of the pool, if that is small.
//
// # Counters
//
// A [Counter] hands out ranges of the numbers 1 ..= 2^63−1 under a name of its own, to as many
// processes as ask. It serves
//
//   - IDs from the database: a process takes a block at a time, and counts through it by itself (hi/lo);
//   - generators that go by time: a counter of milliseconds, or whatever the unit is, stands at the end of the times that a generator may
//     stamp. It takes the next few seconds, from now on, before it uses them: whoever comes after it, on a clock that was set
//     back or after a crash, gets later ones.
//
// Both are one step, [Counter.Reserve], which takes numbers above all that were taken and not below
// a floor:
//
//	orders, err := log.Counter("orders")
//	gen, err := generator.NewSequence(orders, 1000)
//	err = gen.Ready(ctx)
//
// Numbers that were taken and not used are lost, and nothing says by whom they were taken.
//
// # What it promises
//
//   - No pair of launch and generator number is handed out twice within a namespace.
//   - A launch that was acknowledged is never lost: rows are not deleted and not renumbered.
//   - The same key gives the same launch, however often and wherever the step is retried. The same key with another request
//     is a [ConflictError].
//   - No number of a counter is handed out twice, and a counter is never lowered. A counter at its end says so, and does not wrap.
//   - Every call of a [Log] or a [Counter] ends with a result or a typed error, at the latest when its
//     context or [Options].Budget ends and the store has noticed: the stores get that end as their
//     context, and give up what is under way. [Log.Events] and [Log.Claims] that find nothing look for
//     the launch, with a budget of its own. The Open of a store has none, and waits up to 10 s.
//   - No call guesses. Where an answer was lost, the whole operation is run again under its key; a
//     counter takes other numbers instead.
//
// This holds as long as the store keeps what it acknowledged. A store that was restored from a
// backup gives out again the numbers that it forgot. So does one that failed over to a copy without
// the newest rows. After that, before anything else, call [Log.Advance]. Call [Counter.Advance] for
// each of [Log.Counters], and for those that the backup had not yet. Where that was forgotten,
// [Request].KnownLaunch notices lost launches. The floor of [Counter.Reserve] keeps clear of
// numbers that the caller knows.
//
// # Limits
//
// A namespace has 99,999 launches, and a launch has 100,000 generators, whose numbers are never
// used again. A restart of an app costs a generator number, so an app that crashes once a second
// uses up a launch in 28 hours: [Options].Warn hears of it from 80 % on. It hears of counters as
// well, whose numbers only a floor far too high uses up.
package launchlog
