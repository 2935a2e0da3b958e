// Package generator mints the IDs of package idtype.
//
// A generator is made once per app and scheme, with the numbers that make its IDs its own, and shared:
//
//	gen, err := generator.NewDecimal(launch, numbers)
//	id, err := gen.Next(ctx)
//	user.ID = UserID(id) // a typed key is a conversion away
//
//	type        mints              state                 waits for
//	[Decimal]   idtype.DecimalID   one word, one         its first number, and the next one where
//	                               atomic add per ID     fetching it took longer than the last 10 % of the counters
//
// # What it promises
//
// An ID is minted once, as long as the numbers handed to the generator are: a [Numbers] that never repeats a number, and a
// launch number that no other system uses. The launch log of package launchlog gives both. Nothing depends on a clock, on
// an address or on luck.
//
// No lock is held while waiting, and whoever waits obeys a context.
package generator
