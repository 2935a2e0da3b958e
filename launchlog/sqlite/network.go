package sqlite

import "fmt"

// A NetworkError is returned by [Open] for a file on a network file system, where SQLite's locks do not hold: two processes
// would take the same number.
type NetworkError struct {
	Path       string
	FileSystem string
}

func (e *NetworkError) Error() string {
	return fmt.Sprintf("%s is on a network file system (%s), where SQLite's locks do not hold: use a local one, or a database server", e.Path, e.FileSystem)
}
