// Package generator mints the IDs of package idtype.
//
// An app makes one generator per scheme and shares it. It gives the generator the numbers that make
// its IDs its own. For a decimal generator these are the numbers of a launch, a deployment of the
// app, from the launch log:
//
//	numbers, err := log.Join(ctx, launchlog.App{Service: "shop", Environment: "production"})
//	gen, err := generator.NewDecimal(numbers)
//	err = gen.Ready(ctx) // takes its first number, before the first transaction
//	defer gen.Close(ctx) // reports how far it came, so that the next start begins above it
//	users, err := generator.For[UserID](gen)
//	user.ID, err = users.Next(ctx)
//
//	type         mints        its own by                       at most               waits for
//	[Decimal]    DecimalID    launch, generator numbers        any number            its numbers
//	[Sequence]   SequenceID   blocks of a counter              any number            its blocks
//	[Trace]      TraceID      node number                      4,194,303 per second  the next second
//	[EightByte]  EightByteID  generator and cluster            64 per millisecond    the next ms
//	[Short]      ShortID      Given(struct{}{}), or a Ceiling  512 per millisecond   the next ms
//	[Sno]        SnoID        partition                        65,536 per 4 ms       the next 4 ms
//	[Snowflake]  SnowflakeID  node number                      4,096 per millisecond the next ms
//	[UUID7]      UUID7ID      random bits of a function given  any number            nothing
//
// All have Next for one ID and Fill for many. [For] makes typed [Keys] of them. [Decimal.Owned]
// makes a generator for one goroutine. [SnowflakeIn] mints in other layouts. [BackdatedSno] mints IDs of times that are given.
//
// # What it promises
//
// A generator mints an ID once. The condition is that nobody else has its numbers at the time.
//
//   - [Decimal] and [Sequence] need no clock. Their numbers come from the launch log of package
//     launchlog. It never repeats one.
//   - The others stamp times of a [Clock], and need a number for themselves. A [Windows] gives them
//     the number, and the window of times that they may stamp with it. Within a run of the app the
//     clock does not matter: it may step to any time, at any moment. A restart needs to know which
//     times were used. A [Ceiling] keeps that in a counter of the launch log: it holds the latest
//     time that may be stamped. Or a [Snapshot] keeps it. Trace IDs repeat at times that are a
//     multiple of 388 days apart, also where a clock jumps from one to the other: see [Trace].
//
// IDs of one generator ascend as numbers, or in the order of their bytes. Trace IDs do so until
// their timestamp wraps, and sno IDs until the clock goes back and tick-tock sets in. Eightbyte
// IDs do so in mode TIME_SEQUENTIAL. Those of several generators interleave. Decimal IDs do so
// within seconds, and ascend from one deployment to the next, if their numbers are [Ordered].
//
// A generator that no constructor made mints nothing: its calls fail with a [*NumberError].
//
// # Waiting
//
// A time has a number of slots, one for each ID. Calls that find no slot wait, and are served in
// the order in which they came. No lock is held while waiting, and whoever waits obeys a context.
// [Options].MaxWait bounds how far away a call's turn may be. So calls without a deadline end too,
// with an ID or with a [*ClockError]. Where the clock stands still, all calls that wait hear of it
// within 3 s. MaxWait does not bound the wait for a source of numbers, blocks or windows that does
// not answer: a request has a minute.
package generator
