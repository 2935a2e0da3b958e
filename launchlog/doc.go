// Package launchlog hands out the two numbers that make IDs unique. Each deployment of an app is a
// launch, which takes a launch number. Each start of the app then takes the next generator number
// of that launch. For generators that need no launch, the package keeps log counters.
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
//	memory           launchlog/memory     tests, and the reference for other stores
//
// A deployment starts its launch and passes the launch number to its apps in their configuration:
//
//	launch, err := log.Start(ctx, launchlog.Request{
//		Key: "deploy-4711", Service: "shop", Environment: "production", Initiator: "ann",
//	})
//
// When an app starts, it joins its launch and takes its own generator numbers:
//
//	numbers, err := log.Join(ctx, launchlog.App{Service: "shop", Environment: "production"})
//	gen, err := generator.NewDecimal(numbers)
//	err = gen.Ready(ctx)
//	defer gen.Close(ctx)
//
// [Log.Join] reads the launch number from the environment, and rejects a launch that has ended or
// that belongs to another service or environment. On a laptop, use [Log.JoinDev].
//
// Ready prepares the generator for its first ID. Call it before the app's first transaction,
// because a transaction that mints IDs on the log's own database can block the log: with SQLite it
// holds the file's lock, and with a server it may hold the last connection of a small pool.
//
// # Log counters
//
// A [Counter] hands out ranges of the numbers 1 ..= 2^63−1 under a name, to any number of
// processes. It has two uses:
//
//   - Sequence IDs. A process reserves a block of numbers and counts through the block without
//     asking the database again (hi/lo).
//   - Generators that go by time. Their log counter is a ceiling: the latest time that a generator
//     may put into an ID, in milliseconds or another unit. Before a generator uses the next few
//     seconds, it reserves them as a window. A generator that comes later gets later times, even
//     after a crash or on a clock that was set back.
//
// Both blocks and windows are reserved by [Counter.Reserve], which returns numbers above all those
// reserved before and not below a given floor:
//
//	orders, err := log.Counter("orders")
//	gen, err := generator.NewSequence(orders, 1000)
//	err = gen.Ready(ctx)
//
// Numbers that were reserved but never used are lost. The log does not record who reserved them.
//
// # Guarantees
//
//   - Within a namespace, no pair of launch number and generator number is handed out twice. Nor is
//     a pair of launch digits and generator number, which is what an ID shows.
//   - A launch that was acknowledged is never lost. No row is deleted or renumbered, except that
//     [Log.Trim] deletes old claims.
//   - The same key always gives the same launch, however often and from wherever the call is
//     retried. The same key with a different request is a [ConflictError].
//   - No number of a log counter is handed out twice, and a log counter never goes down. A log
//     counter that has reached its end returns an error rather than wrapping around.
//   - Every call of a [Log] or a [Counter] ends with a result or a typed error, at the latest when
//     its context or [Options].Budget has ended and the store has noticed. Stores receive that end
//     in their context, and abandon what is in progress. [Log.List], [Log.Claims] and
//     [Log.Counters] read pages of 1,000 rows, each with its own budget. If [Log.Events] or
//     [Log.Claims] finds nothing, it looks up the launch, with another budget. Opening a store has
//     no budget: it waits up to a minute for an SQL server, and up to 10 s for others.
//   - No call guesses. If an answer was lost, the log runs the whole operation again under the same
//     key. A log counter reserves other numbers instead.
//
// These guarantees hold as long as the store keeps what it acknowledged. A store that was restored
// from a backup, or that failed over to a copy without the newest rows, hands out the forgotten
// numbers again. After either, call [Log.Advance] until it succeeds, before you do anything else.
// Then call [Counter.Advance] for each of [Log.Counters], and for those that the backup did not
// have yet. If you forget, three checks may still notice: [Request].KnownLaunch detects lost
// launches, the floor of [Counter.Reserve] avoids numbers that the caller knows, and a Log
// remembers the numbers that it was given. If the store falls below one of those, the Log takes no
// more numbers: see [ErrBehind].
//
// # Times
//
// Times of launches, claims, log counters and events are for people. No operation compares them,
// and no number depends on them. SQL databases set them by their own clock, whereas etcd, ZooKeeper
// and Cassandra store the clock of the process that wrote the row. In those three, no time is
// before an earlier one of the same kind: the launches and advances of a namespace, the claims and
// end of a launch, or a log counter. If one process has a clock that is a year ahead, the rows
// written after its own therefore show its time until a year has passed.
//
// # Limits
//
// Launch numbers go up to 2^31−1. An ID shows the last five digits of its launch number, 1 ..=
// 99999, so launches that are [Lap] apart have the same digits. The later of them ends the earlier
// one, as [HandedOn], if it is still running, and continues its generator numbers. All launches
// with the same digits thus share 100,000 generator numbers, each handed out once. Digits of a
// launch that [Log.Advance] ended or skipped are never used again. A namespace is exhausted when
// the numbers of all its digits are used up, after 10^10 starts of apps: see
// [ErrLaunchesExhausted].
//
// Each restart of an app uses a generator number, so an app that crashes once a second uses up all
// numbers of its digits in 28 hours. [Options].Warn is called at 80, 90 and 95 %, once each. When
// the numbers are used up, [Generators] continues with another launch. Warn is called for log
// counters as well, although only a floor that is far too high uses one up.
package launchlog
