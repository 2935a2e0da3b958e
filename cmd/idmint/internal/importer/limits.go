package importer

import (
	"fmt"
	"strconv"
)

// Limits of the memory that a file needs. A record is read as a whole, and a batch is kept until it
// is stored.
const (
	// maxRecord is the most bytes of a record, which is the default maximum of a packet of MySQL.
	maxRecord = 64 << 20
	// maxFields is the most fields of a record. Every database allows far fewer columns.
	maxFields = 1 << 17
	// batchBytes ends a batch before it has all its rows.
	batchBytes = 8 << 20
	// batchMemory ends a batch whose fields take more memory because there are many.
	batchMemory = 12 << 20
)

// A ColumnsError is returned for a file with more columns than a table may have, before anything is
// created.
type ColumnsError struct {
	Columns  int // of the table: one more than the file has, for the IDs
	Most     int
	Database string
}

func (e *ColumnsError) Error() string {
	const text = "the file has %d columns, and the table would have %d with the ID column: " +
		"in %s a table has at most %d"
	return fmt.Sprintf(text, e.Columns-1, e.Columns, e.Database, e.Most)
}

// quoted quotes a name for errors, and shortens it, because a name in a file may have any length.
func quoted(name string) string {
	const most = 256
	if len(name) <= most {
		return strconv.Quote(name)
	}
	return fmt.Sprintf("%q… (%d bytes)", name[:most], len(name))
}
