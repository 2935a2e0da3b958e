// Package measures in real databases what the docs claim about the ID types: their order, their
// size on disk, and how fast they are inserted, compared with serial keys and UUIDv7. Tests check
// the claims with it, and idmint report shows the figures for a user's own databases.
//
// A [Database] is a separate place in a database, which [Database.Close] removes. A [Key] is a
// scheme of IDs in a form of storage.
//
// IDs are minted in simulated time, by the generators of package generator with a simulated clock.
// Therefore a run of minutes takes a second, and is the same every time apart from the random parts
// of IDs.
package measure
