// Package generator mints the IDs of package idtype.
//
// An app creates one generator per scheme and shares it. What makes the generator's IDs unique is a
// number that no other generator has. For a decimal generator, it is the number of a launch (one
// deployment of the app) together with a generator number, and the launch log hands out both:
//
//	numbers, err := log.Join(ctx, launchlog.App{Service: "shop", Environment: "production"})
//	gen, err := generator.NewDecimal(numbers)
//	err = gen.Ready(ctx) // takes its first number, before the first transaction
//	defer gen.Close(ctx) // reports its last counter, so that the next start begins above it
//	users, err := generator.For[UserID](gen)
//	user.ID, err = users.Next(ctx)
//
//	type         mints        unique by                        at most               waits for
//	[Decimal]    DecimalID    launch, generator numbers        any number            its numbers
//	[Sequence]   SequenceID   blocks of a counter              any number            its blocks
//	[Trace]      TraceID      node number                      4,194,303 per second  the next second
//	[EightByte]  EightByteID  generator and cluster            64 per millisecond    the next ms
//	[Short]      ShortID      Given(struct{}{}), or a Ceiling  512 per millisecond   the next ms
//	[Sno]        SnoID        partition                        65,536 per 4 ms       the next 4 ms
//	[Snowflake]  SnowflakeID  node number                      4,096 per millisecond the next ms
//	[UUID7]      UUID7ID      random bits of a given function  any number            nothing
//
// All of them have Next to mint one ID and Fill to mint many. [For] wraps a generator in typed
// [Keys]. [Decimal.Owned] creates a generator for a single goroutine. [SnowflakeIn] mints in other
// layouts than Twitter's. [BackdatedSno] mints IDs for times that the caller gives.
//
// # What it promises
//
// A generator never repeats an ID, provided that no other generator uses its numbers at the same
// time.
//
//   - [Decimal] and [Sequence] need no clock. Their numbers come from the launch log of package
//     launchlog, which never hands out a number twice.
//   - The other generators stamp times of a [Clock], and each needs a number for itself. A
//     [Windows] gives them the number, and the window of times that they may stamp with it. While
//     the app runs, the clock does not matter: it may jump to any time at any moment. After a
//     restart, a generator must know which times were used. A [Ceiling] records them in a log
//     counter, which holds the latest time that may be stamped; alternatively, the app keeps a
//     [Snapshot]. Trace IDs repeat at times that are a multiple of 388 days apart, even if the
//     clock jumps from one to the other: see [Trace].
//
// The IDs of one generator ascend, as numbers or in the order of their bytes. Trace IDs ascend
// until their timestamp wraps, sno IDs until the clock goes back and toggles the tick-tock bit, and
// eightbyte IDs only in mode TIME_SEQUENTIAL. IDs of several generators interleave. If the numbers
// of decimal generators are [Ordered], their IDs ascend to within seconds, and from one deployment
// to the next: see [Decimal].
//
// A generator that was not created by a constructor mints nothing: its calls fail with a
// [*NumberError].
//
// # Waiting
//
// Each unit of time has a number of slots, one for each ID. Calls that find no free slot wait, and
// are served in the order in which they came. They hold no lock while they wait, and return early
// when their context ends. [Options].MaxWait bounds the time that a call may have to wait for its
// turn, so that calls without a deadline end as well, with an ID or with a [*ClockError]. If the
// clock stands still, all waiting calls fail within 3 s. MaxWait does not bound the wait for a
// source of numbers, blocks or windows that does not answer: a request to it times out after a
// minute.
package generator
