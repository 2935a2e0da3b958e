package importer

import (
	"fmt"
	"strconv"
)

// What a file may ask of the memory. A record is read whole, and a batch is kept until it is
// stored.
const (
	// maxRecord is how many bytes a record may have: as many as a packet of MySQL has by default.
	maxRecord = 64 << 20
	// maxFields is how many fields a record may have. Every database takes far fewer columns.
	maxFields = 1 << 17
	// batchBytes ends a batch that has not all its rows yet.
	batchBytes = 8 << 20
	// batchMemory ends one whose fields take more, because there are many.
	batchMemory = 12 << 20
)

// A ColumnsError is returned for a file with more columns than a table may have. It comes before
// anything is made.
type ColumnsError struct {
	Columns  int // of the table: one more than the file has, for the IDs
	Most     int
	Database string
}

func (e *ColumnsError) Error() string {
	const text = "the file has %d columns, and the table would have %d with the one of the IDs: " +
		"in %s a table has at most %d"
	return fmt.Sprintf(text, e.Columns-1, e.Columns, e.Database, e.Most)
}

// quoted is a name as errors say it. A file may hold one of any length.
func quoted(name string) string {
	const most = 256
	if len(name) <= most {
		return strconv.Quote(name)
	}
	return fmt.Sprintf("%q… (%d bytes)", name[:most], len(name))
}
