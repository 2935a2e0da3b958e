// Package launchlog keeps the two numbers that make IDs unique. A launch is a deployment of your
// app: it takes a launch number once. A generator number belongs to a launch: each start of an app
// takes the next one. The package also keeps named counters, for the generators that need no
// launch.
//
// A [Log] is the whole API; a [Store] keeps its rows:
//
//	store            package              for
//	SQLite           launchlog/sqlite     one machine: the embedded default
//	PostgreSQL       launchlog/postgres   many machines
//	MySQL, MariaDB   launchlog/mysql      many machines
//	etcd             launchlog/etcd       many machines, each step decided by a majority
//	ZooKeeper        launchlog/zookeeper  the same
//	Cassandra        launchlog/cassandra  the same
//	memory           launchlog/memory     tests, and the reference that other stores are measured by
//
// A deployment starts its launch and hands the number to its apps in their configuration:
//
//	launch, err := log.Start(ctx, launchlog.Request{
//		Key: "deploy-4711", Service: "shop", Environment: "production", Initiator: "ann",
//	})
//
// An app joins its launch when it starts, and takes its generator numbers itself:
//
//	numbers, err := log.Join(ctx, launchlog.App{Service: "shop", Environment: "production"})
//	gen, err := generator.NewDecimal(numbers)
//	err = gen.Ready(ctx)
//	defer gen.Close(ctx)
//
// [Log.Join] reads the number from the environment, and refuses a launch that has ended or is
// another service's. [Log.JoinDev] is for laptops.
//
// Ready readies the generator. Call it before the app's first transaction. A transaction that mints
// on the log's own database holds what the log waits for. With SQLite that is the lock of the file.
// With a server it is a connection of the pool, if that is small.
//
// # Counters
//
// A [Counter] hands out ranges of the numbers 1 ..= 2^63−1 under a name of its own, to as many
// processes as ask. It serves
//
//   - IDs from the database. A process takes a block at a time, and counts through it by itself
//     (hi/lo).
//   - Generators that go by time. Their counter is a ceiling: it holds the latest time that a
//     generator may stamp, in milliseconds or whatever the unit is. The generator takes a window,
//     the next few seconds from now on, before it uses them. Whoever comes after it gets later
//     times, also after a crash or on a clock that was set back.
//
// Blocks and windows are one step, [Counter.Reserve]. It takes numbers that are above all that were
// taken and not below a floor:
//
//	orders, err := log.Counter("orders")
//	gen, err := generator.NewSequence(orders, 1000)
//	err = gen.Ready(ctx)
//
// Numbers that were taken and not used are lost. The log does not say who took them.
//
// # What it promises
//
//   - No pair of launch and generator number is handed out twice within a namespace. Nor is one of a
//     launch's digits and generator number, which is what an ID shows.
//   - A launch that was acknowledged is never lost: rows are not deleted and not renumbered, but
//     for old claims, which [Log.Trim] deletes.
//   - The same key gives the same launch, however often and wherever the step is retried. The same
//     key with another request is a [ConflictError].
//   - No number of a counter is handed out twice, and a counter is never lowered. A counter at its
//     end says so, and does not wrap.
//   - Every call of a [Log] or a [Counter] ends with a result or a typed error. It ends at the
//     latest when its context or [Options].Budget ends and the store has noticed. The stores get
//     that end as their context, and give up what is under way. [Log.List], [Log.Claims] and
//     [Log.Counters] read pages of 1,000 rows, each with a budget of its own. Where [Log.Events]
//     and [Log.Claims] find nothing, they look for the launch, with a budget of its own. The Open
//     of a store has no budget, and waits up to a minute for a server of SQL, and up to 10 s otherwise.
//   - No call guesses. Where an answer was lost, the log runs the whole operation again under its
//     key. A counter takes other numbers instead.
//
// This holds as long as the store keeps what it acknowledged. A store that was restored from a
// backup gives out again the numbers that it forgot. So does one that failed over to a copy without
// the newest rows. After that, before anything else, call [Log.Advance] until it succeeds. Then call
// [Counter.Advance] for each of [Log.Counters], and for those that the backup had not yet. Where
// that was forgotten, [Request].KnownLaunch notices lost launches. The floor of [Counter.Reserve]
// keeps clear of numbers that the caller knows. A Log remembers the numbers that it was given. If
// the store comes to one below them, the Log takes none any more: see [ErrBehind].
//
// # Times
//
// Times of launches, claims, counters and events are for people. No step compares them, and no
// number depends on them. SQL databases set them by their own clock. etcd, ZooKeeper and Cassandra
// keep the clock of the process that wrote. There no time is before an earlier one of the same
// kind: the namespace's launches and advances, a launch's claims and end, a counter. So one process
// with a clock a year ahead has the rows after its own bear its time, until a year has passed.
//
// # Limits
//
// Launch numbers go on, up to 2^31−1. An ID shows the last five digits of one, 1 ..= 99999, and
// launches that are [Lap] apart have the same digits. The later of them ends the earlier one if it
// runs, as [HandedOn], and its generator numbers go on after those of the earlier one. So all
// launches of some digits share 100,000 generator numbers, each handed out once. Digits of a launch
// that [Log.Advance] ended or skipped are never used again. A namespace ends when the numbers of all
// its digits are used up, after 10^10 starts of apps: see [ErrLaunchesExhausted].
//
// A restart of an app costs a generator number. So an app that crashes once a second uses up those of
// its digits in 28 hours. [Options].Warn is called at 80, 90 and 95 %, once each. Then [Generators]
// go on in a launch that continues the one which is used up. Warn is called for counters as well.
// Only a floor that is far too high uses up a counter.
package launchlog
