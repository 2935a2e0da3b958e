// Package measure finds out in real databases what the docs claim of the ID types: their order,
// their size on disk, and how fast they are inserted, compared with serial keys and UUIDv7. Tests
// assert the claims on it, and idmint report shows the figures of a user's own databases.
//
// A [Database] is a place of its own in a database, which [Database.Close] removes. A [Key] is a
// scheme of IDs in a form of storage.
//
// IDs are minted in simulated time, by the generators of package generator on a test's clock. So a
// run of minutes takes a second, and is the same every time, apart from what is random in the IDs.
package measure
