// Package kv is a launchlog.Store over a small engine of rows that are compared and written: etcd,
// ZooKeeper, Cassandra. The engines are packages below launchlog. Its steps are those of the model
// launch.pml of docs/design/models.
package kv

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// An Engine keeps rows in partitions. Rows of one partition are read as one snapshot, and written
// together or not at all. Nothing holds between two partitions. The version of a row only rises: 1
// for a new row, and one more at each write. A row that was deleted is never written again. So a
// version names a state of its row for ever, but for 0: no row yet, or none any more.
//
// The store sees to that. It deletes claims and their tokens alone. These are written once, by a
// commit that also raises the version of their partition's state, and the state stays. So where that
// commit is carried out once more, after they were deleted, the state's version refuses it.
//
// Partitions are named by up to three segments with slashes between them, rows by one segment. A
// segment is of 1 to 255 letters, digits and the signs - _ . ~ % and begins with a letter or digit.
// No partition lies within another: "a/b" and "a/b/c" are not both partitions. Values are of up to
// 256 KiB.
//
// Somebody may delete a log and make another in its place, under an app that runs. So an engine is
// bound to the log that was opened, by the random word of its schema row. Each read and each commit
// finds out, in the same atomic step, that this log is still there. Otherwise it returns
// [launchlog.ErrOtherLog], and has changed nothing. Each engine has its own way of binding. A
// TRUNCATE of Cassandra's table is the exception: the engine finds it by another read, where a
// partition has no rows.
//
// Methods obey their context, and are safe for use by many goroutines and many processes. They
// return the context's error bare only where nothing was sent. Other passing failures are a
// [*launchlog.AttemptError]. A node that is stopped or cut off costs a call some seconds, while a
// majority answers.
type Engine interface {
	// Read returns rows of a partition as one snapshot, in the order of names: linearizable, so
	// what was acknowledged before the call is seen. A row that is not there has version 0. So have
	// all rows of a partition in which nothing was written yet.
	Read(ctx context.Context, part string, names ...string) ([]Row, error)

	// Commit writes rows of a partition if each of them has the version that its change names, and
	// reports whether it did. If not, some row had another version at a moment of the call: rows
	// are to be read again. Each name stands in one change. There are up to four changes, or up to
	// [MostDeletes] that delete.
	//
	// The engine settles a lost answer itself where it can: see [Settle]. Where it cannot, the
	// error is an ambiguous [*launchlog.AttemptError]: the commit may have been carried out, or may
	// yet be. It is carried out once at most, since it bumps the versions that it compares.
	Commit(ctx context.Context, part string, changes ...Change) (done bool, err error)

	// List returns up to limit rows of a partition whose names lie between after and before,
	// neither included, in the order of the names' bytes. An empty name is no bound. List sees what
	// was acknowledged before the call, and is no snapshot.
	List(ctx context.Context, part, after, before string, limit int) ([]Row, error)

	// Each returns the row of that name of each partition, in the order of parts, with version 0
	// for a row that is not there. There are up to 1,000 parts. It sees what was acknowledged
	// before the call, and is no snapshot.
	Each(ctx context.Context, parts []string, name string) ([]Row, error)

	// Now is the time by the engine's clock, or zero where it has none.
	Now(ctx context.Context) (time.Time, error)
}

// Lines are engines in which processes that want to change the same partition may stand in line. A
// thousand that compare and swap without one are each in the way of all others.
type Lines interface {
	// Wait returns when it is this process's turn in a partition. That is a courtesy: it also returns
	// where the line does not move for long, or the context ends. Leave is called in the end.
	Wait(ctx context.Context, part string) (leave func())
}

// Row is a row of a partition.
type Row struct {
	Name    string
	Value   []byte
	Version int64 // 0: there is no such row
}

// Change is a row that a commit compares and writes. No two commits write the same value: each of
// the store's values has a random word of its commit.
type Change struct {
	Name    string
	Version int64  // that the row must have; 0: it must not be there
	Value   []byte // nil: the row, which is there, is deleted
}

// MostDeletes is how many rows a commit may delete. It is below what etcd takes in a transaction,
// 128, and a batch of as many stays below the 5 KiB of which Cassandra warns.
const MostDeletes = 64

// Settle tells from a later snapshot of the changed rows what became of a commit whose answer was
// lost. Rows are in the order of changes.
//
// One row decides, if its version is the one that the commit would have made: the value there is
// the commit's, or another's. A row that is written once decides for ever. Where others wrote one
// of the rows, and nobody another one, it was not carried out and cannot be. Where others have
// overwritten or deleted all of them since, nothing is known. Where nobody wrote any, it may yet be
// carried out: run it again as it is.
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

// Reread reads the rows of changes as one snapshot, in their order.
func Reread(ctx context.Context, e Engine, part string, changes []Change) ([]Row, error) {
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = c.Name
	}
	return e.Read(ctx, part, names...)
}

var errUnsettled = errors.New("the answer was lost, and others have overwritten the rows since")

// Settled finds out what became of a commit in doubt, which was refused when it was sent again. The
// error is an ambiguous [*launchlog.AttemptError] where the rows do not tell.
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
