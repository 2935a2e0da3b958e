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

// heldTime is how long this process may keep the write lock and commit nothing. After that the log
// takes it that a transaction of the app has the lock, and waits for the log in turn.
const heldTime = time.Second

// commits counts the commits of stores in this process that are under way. While a disk takes its
// time with one, the lock is held and the log of the database does not grow either.
var commits atomic.Int64

// busyHint goes with SQLite's own error, which does not say who has the lock.
const busyHint = "if a transaction of this process has it, " +
	"take the first number before the transaction, with the generator's Ready"

// begin begins a transaction. Where another one has the lock that is passing, and a Log tries again
// later. It would do so in vain if a transaction of this process waits for the very number that
// is asked for. Then the lock stays with this process, and nothing is committed: the error is
// [launchlog.ErrHeld].
func (s *Store) begin(ctx context.Context, conn *sql.Conn) (*sql.Tx, error) {
	unbroken := context.WithoutCancel(ctx)
	var since time.Time
	var before os.FileInfo
	for {
		tx, err := conn.BeginTx(unbroken, nil) // which waits for the lock for some milliseconds
		if !IsBusy(err) || ctx.Err() != nil || commits.Load() > 0 || !s.holdsLock() {
			return tx, err
		}
		log := s.look()[1]
		switch {
		case log == nil:
			return nil, err
		case before == nil:
			since, before = time.Now(), log
		case log.Size() != before.Size() || !log.ModTime().Equal(before.ModTime()):
			return nil, err
		case time.Since(since) > heldTime:
			return nil, fmt.Errorf("%s: %w", s.path, launchlog.ErrHeld)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
