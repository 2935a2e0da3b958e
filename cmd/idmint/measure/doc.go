// Package measure finds out in real databases what the docs claim of the ID types. It measures
// their order, their size on disk, what a query by time reads, and how fast they are inserted. Each
// stands beside the IDs that others use. The tests assert the claims on it, and idmint report shows
// them.
//
// A [Database] is a place of its own in a database, which [Database.Close] removes. A [Key] is a
// scheme of IDs in a form of storage. What was measured are plain structs, which JSON keeps.
//
// IDs are minted in simulated time, by the generators of package generator on a test's clock. So a
// run of minutes takes a second, and is the same every time, apart from what is random in the IDs.
package measure
