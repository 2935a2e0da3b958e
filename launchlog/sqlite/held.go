package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/launchlog"
)

// How long this process may keep the write lock and commit nothing. After that the store concludes
// that a transaction of the app has the lock, and waits for the store in turn.
const (
	// firstHeld is for a store that has written nothing yet. It is likely that the app asks for its
	// first number within a transaction, which would wait in vain each time.
	firstHeld = time.Second
	// laterHeld is for a store at work. Its callers have numbers in hand, and a long transaction, a
	// VACUUM or a checkpoint of the app passes.
	laterHeld = 10 * time.Second
	// unseen is how long nobody may have looked at the lock. After that it may be another
	// transaction that has it.
	unseen = time.Second
)

// A sighting is what calls that wait have seen of the write lock. The calls of a store share it, so
// that all of them give up at about the same time, and not one after another.
type sighting struct {
	wrote       bool        // the store has committed a transaction
	since, last time.Time   // when this process was first and last seen to have the lock
	log         os.FileInfo // the write-ahead log at that first time
}

func (s sighting) patience() time.Duration {
	if s.wrote {
		return laterHeld
	}
	return firstHeld
}

// forget is for when the lock was free, or somebody else's, or the log has changed.
func (s *sighting) forget() { *s = sighting{wrote: s.wrote} }

// commits counts the commits of stores in this process that are under way. While a disk takes its
// time with one, the lock is held and the log of the database does not grow either.
var commits atomic.Int64

// busyHint goes with SQLite's own error, which does not say who has the lock.
const busyHint = "if a transaction of this process has it, " +
	"take the first number before the transaction, with the generator's Ready"

// begin begins a transaction. Where another one has the lock that passes, and a Log tries again
// later. It would do so in vain if a transaction of this process waits for the very number that is
// asked for. Then the lock stays with this process, and nothing is committed: the error is
// [launchlog.ErrHeld].
func (s *Store) begin(ctx context.Context, conn *sql.Conn) (*sql.Tx, error) {
	unbroken := context.WithoutCancel(ctx)
	seen := &s.seen
	for {
		tx, err := conn.BeginTx(unbroken, nil) // which waits for the lock for some milliseconds
		if isBusy(err) && ctx.Err() != nil {
			return nil, err // the next call goes on from what was seen
		}
		var log os.FileInfo
		if isBusy(err) && commits.Load() == 0 && s.holdsLock() {
			log = s.look()[1]
		}
		if log == nil {
			seen.forget()
			return tx, err
		}
		now := time.Now()
		if now.Sub(seen.last) > unseen {
			seen.since, seen.log = now, log
		}
		if log.Size() != seen.log.Size() || !log.ModTime().Equal(seen.log.ModTime()) {
			seen.forget()
			return nil, err
		}
		seen.last = now
		if now.Sub(seen.since) > seen.patience() {
			return nil, fmt.Errorf("%w: %s", launchlog.ErrHeld, s.path)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
