//go:build !cgo

package sqlite

// hasCgo is false for a program without the driver, which is in C. Every constructor refuses then.
// The driver is not imported: its stub would take the name sqlite3 from drivers that are in Go.
const hasCgo = false

func isDiskError(error) bool { return false }
