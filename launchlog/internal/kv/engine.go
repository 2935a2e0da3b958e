// Package kv is a launchlog.Store over a small engine that compares and writes rows: etcd,
// ZooKeeper or Cassandra. The engines are packages below launchlog. Its steps follow the model
// launch.pml in docs/design/models.
package kv

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// An Engine keeps rows in partitions. Rows of one partition are read as a snapshot, and written
// together or not at all. Nothing is guaranteed across partitions. The version of a row only rises:
// it is 1 for a new row, and one higher after each write. A row that was deleted is never written
// again. A version therefore identifies one state of its row forever, except 0, which means that
// the row does not exist yet or any more.
//
// The store is responsible for that. It deletes only claims and their tokens. These are written
// once, by a commit that also raises the version of their partition's state, which is never
// deleted. If that commit is carried out again after they were deleted, the version of the state
// refuses it.
//
// Partitions have names of up to three segments, separated by slashes. Rows have names of one
// segment. A segment has 1 to 255 letters, digits and the characters - _ . ~ % and begins with a
// letter or digit. No partition is within another: "a/b" and "a/b/c" are not both partitions.
// Values have up to 256 KiB.
//
// Somebody may delete a log and create another in its place while an app is running. An engine is
// therefore bound to the log that was opened, by the random word of its schema row. Each read and
// each commit checks, in the same atomic step, that this log still exists. If it does not, the call
// returns [launchlog.ErrOtherLog], and has changed nothing. Each engine implements the binding
// differently. A TRUNCATE of Cassandra's table is the exception: the engine detects it by another
// read, when a partition has no rows.
//
// Methods obey their context, and are safe for use by many goroutines and many processes. They
// return the context's error unwrapped only if nothing was sent. Other temporary failures are a
// [*launchlog.AttemptError]. A node that is stopped or cut off delays a call by some seconds, as
// long as a majority answers.
type Engine interface {
	// Read returns rows of a partition as one snapshot, in the order of names. It is linearizable,
	// so it returns what was acknowledged before the call. A row that does not exist has version 0,
	// and so have all rows of a partition in which nothing was written yet.
	Read(ctx context.Context, part string, names ...string) ([]Row, error)

	// Commit writes rows of a partition if each of them has the version given in its change, and
	// reports whether it did. If it did not, some row had another version at some moment of the
	// call, and the rows must be read again. Each name is in only one change. There are up to four
	// changes, or up to [MostDeletes] that delete.
	//
	// The engine settles a lost answer itself if it can: see [Settle]. If it cannot, the error is
	// an ambiguous [*launchlog.AttemptError]: the commit may have been carried out, or may yet be.
	// It is carried out at most once, because it raises the versions that it compares.
	Commit(ctx context.Context, part string, changes ...Change) (done bool, err error)

	// List returns up to limit rows of a partition whose names are between after and before, both
	// excluded, in the byte order of the names. An empty name leaves that side unlimited. List sees
	// what was acknowledged before the call, but is not a snapshot.
	List(ctx context.Context, part, after, before string, limit int) ([]Row, error)

	// Each returns the row with the given name from each partition, in the order of parts, with
	// version 0 for a row that does not exist. There are up to 1,000 parts. Each sees what was
	// acknowledged before the call, but is not a snapshot.
	Each(ctx context.Context, parts []string, name string) ([]Row, error)

	// Now returns the time of the engine's clock, or zero if it has none.
	Now(ctx context.Context) (time.Time, error)
}

// Lines is implemented by engines in which processes that want to change the same partition may
// form a line. Without one, a thousand processes that compare and swap all disturb each other.
type Lines interface {
	// Wait returns when it is this process's turn in a partition. The line is only a courtesy: Wait
	// also returns if the line does not move for long, or if the context ends. The caller must call
	// leave at the end.
	Wait(ctx context.Context, part string) (leave func())
}

// Row is a row of a partition.
type Row struct {
	Name    string
	Value   []byte
	Version int64 // 0: there is no such row
}

// Change is a row that a commit compares and writes. No two commits write the same value, because
// each of the store's values contains a random word of its commit.
type Change struct {
	Name    string
	Version int64  // that the row must have; 0: it must not exist
	Value   []byte // nil: delete the row, which exists
}

// MostDeletes is how many rows a commit may delete. It is below etcd's limit of 128 per
// transaction, and keeps a batch below the 5 KiB of which Cassandra warns.
const MostDeletes = 64

// Settle decides from a later snapshot of the changed rows whether a commit whose answer was lost
// was carried out. Rows are in the order of changes.
//
// A single row decides, if its version is the one that the commit would have created: its value is
// then either the commit's or another's. A row that is written once therefore decides forever. If
// others wrote some of the rows but not all, the commit was not carried out and cannot be any more.
// If others have overwritten or deleted all of them since, nothing is known. If nobody wrote any,
// the commit may yet be carried out: run it again unchanged.
func Settle(changes []Change, rows []Row) (done, known bool) {
	written := 0
	for i, c := range changes {
		switch rows[i].Version {
		case c.Version + 1:
			return bytes.Equal(rows[i].Value, c.Value), true
		case c.Version:
		default:
			written++
		}
	}
	return false, 0 < written && written < len(changes)
}

// Reread reads the rows of changes as one snapshot, in the same order.
func Reread(ctx context.Context, e Engine, part string, changes []Change) ([]Row, error) {
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Name
	}
	return e.Read(ctx, part, names...)
}

var errUnsettled = errors.New("the answer was lost, and others have overwritten the rows since")

// Settled decides whether a commit in doubt was carried out, after it was refused when it was sent
// again. If the rows do not decide, the error is an ambiguous [*launchlog.AttemptError].
func Settled(ctx context.Context, e Engine, part string, changes []Change) (bool, error) {
	rows, err := Reread(ctx, e, part, changes)
	if err == nil {
		if done, known := Settle(changes, rows); known {
			return done, nil
		}
		err = errUnsettled
	}
	return false, &launchlog.AttemptError{Ambiguous: true, Err: err}
}
