// Package bench measures minting and texts beside other libraries. It is a module of its own, so
// that none of them enters that of the users.
//
// A figure is worth something beside others of the same run only, so each round runs every
// benchmark once, in one process, and the report divides figures of one round. An op is an ID.
// Serial is GOMAXPROCS=1; parallel is two goroutines on two processors that share a generator,
// where a perfect one takes half of the serial time per ID.
package bench
