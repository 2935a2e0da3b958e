//go:build !cgo

package sqlite

// hasCgo is false for a program without the driver, which is written in C. Every constructor then
// fails. The driver is not imported, because its stub would take the name sqlite3 from drivers
// written in Go.
const hasCgo = false

func isDiskError(error) bool { return false }
