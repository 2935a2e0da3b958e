// Package generator mints the IDs of package idtype.
//
// A generator is made once per app and scheme, with the numbers that make its IDs its own, and
// shared:
//
//	gen, err := generator.NewDecimal(numbers) // of a launch
//	err = gen.Ready(ctx) // takes its first number, before the first transaction
//	id, err := gen.Next(ctx)
//	user.ID = UserID(id) // a typed key is a conversion away
//
//	type         mints               its own by                       at most                waits for
//	[Decimal]    idtype.DecimalID    launch, generator numbers        any number             its numbers
//	[Sequence]   idtype.SequenceID   blocks of a counter              any number             its blocks
//	[Trace]      idtype.TraceID      node number                      4,194,303 per second   the next second
//	[EightByte]  idtype.EightByteID  generator and cluster            64 per millisecond     the next ms
//	[Short]      idtype.ShortID      Given(struct{}{}), or a Ceiling  512 per millisecond    the next ms
//	[Sno]        idtype.SnoID        partition                        65,536 per 4 ms        the next 4 ms
//
// All have Next for one ID and Fill for many. [Decimal.Owned] and [Trace.Owned] make a generator
// for one goroutine. [Buffer] keeps IDs of any generator ready. [BackdatedSno] mints IDs of times
// that are given.
//
// # What it promises
//
// An ID is minted once, as long as what the generator is given is: numbers that nobody else has
// at the time.
//
//   - [Decimal] and [Sequence] need no clock. Their numbers come from the launch log of package
//     launchlog. It never repeats one.
//   - The others stamp times of a [Clock], and need a number for themselves. A [Windows] says which,
//     and for which times. Within a run of the app the clock does not matter: it may step to any
//     time, at any moment. What a restart needs is kept by [Ceiling] in a counter of the launch log,
//     or by a [Snapshot]. Trace IDs repeat at times that are a multiple of 388 days apart, also where
//     a clock jumps from one to the other: see [Trace].
//
// IDs of one generator ascend as numbers, or in the order of their bytes. Trace IDs do so until
// their timestamp wraps, and sno IDs until the clock goes back and tick-tock sets in. Eightbyte
// IDs do so in mode TIME_SEQUENTIAL. Those of several generators interleave.
//
// A generator that no constructor made mints nothing: its calls fail with [ErrNotMade].
//
// # Waiting
//
// Calls that find no slots of the time wait in the order in which they came, and are served in
// it. No lock is held while waiting, and whoever waits obeys a context. [Options].MaxWait bounds
// how far away a call's turn may be, so calls without a deadline end too: with an ID, or with a
// [*ClockError]. Where the clock stands still, all calls that wait hear of it within 3 s. A
// source of numbers, blocks or windows that does not answer is not in it: a request has a minute.
package generator
