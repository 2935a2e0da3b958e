package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

var errClosed = errors.New("the launch log is closed")

// A result is the outcome of a step.
type result[T any] struct {
	value T
	err   error
}

// run runs a step in a separate goroutine, because a sync of the disk cannot be interrupted. The
// caller may stop waiting for the answer. The step still runs to its end, and [Store.Close] waits
// for that.
func run[T any](s *Store, step func() (T, error)) <-chan result[T] {
	answer := make(chan result[T], 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.writer == nil { // closed, or the zero Store
		answer <- result[T]{err: fmt.Errorf("%s: %w", s.path, errClosed)}
		return answer
	}
	s.steps.Go(func() {
		value, err := step()
		answer <- result[T]{value, err}
	})
	return answer
}

// write runs f in one transaction. If the context ends first, the transaction is rolled back,
// unless its commit has begun. Such a commit may yet be carried out, which is ambiguous.
func (s *Store) write(ctx context.Context, f rows.Step) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var decided atomic.Bool // set by the first of the two: the commit, or the caller giving up
	answer := run(s, func() (any, error) { return s.transact(ctx, &decided, f) })
	select {
	case r := <-answer:
		return r.value, r.err
	case <-ctx.Done():
	}
	if !decided.Swap(true) {
		return nil, ctx.Err()
	}
	select {
	case r := <-answer:
		return r.value, r.err
	default:
		err := fmt.Errorf("%s: its commit waits for the disk, or for rows that are being read "+
			"from the file: %w", s.path, ctx.Err())
		return nil, &launchlog.AttemptError{Ambiguous: true, Err: err}
	}
}

// transact is what [write] runs. Only waiting for the connection obeys the context. A statement
// that has begun is not interrupted, because it would be unknown where it ended.
func (s *Store) transact(ctx context.Context, decided *atomic.Bool, f rows.Step) (any, error) {
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return nil, s.classify(err, false)
	}
	defer conn.Close()
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil) // waits for the lock for a few ms
	if err != nil {
		return nil, s.classify(err, false)
	}
	var value any
	if err = s.check(); err == nil {
		err = s.checkJournal(ctx, tx)
	}
	if err == nil {
		value, err = f(context.WithoutCancel(ctx), tx)
	}
	if err == nil && decided.Swap(true) {
		err = ctx.Err()
	}
	if err == nil {
		if err := s.commit(tx); err != nil {
			return nil, err
		}
		return value, nil
	}
	if rollback := tx.Rollback(); rollback != nil {
		// Its transaction may still be open, so it is not used again.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	return nil, s.classify(err, false)
}

// commit commits, and acknowledges only what others are sure to see. It therefore checks the file's
// name again: if the file was removed or replaced while the disk was busy, the commit is in a file
// that nobody else will open. The result is ambiguous, because the replacement may be a copy that
// contains the commit. A Log that runs the step again gets the same error, and stops.
//
// From then on, no number is acknowledged twice. Suppose that B has opened another file under the
// name. A step of A that is acknowledged checked the name earlier, after its own commit, so the
// commit was in the file when that was removed, copied or replaced. A's next step finds B's file,
// or none, and A fails from then on, because its own file may get its name back. The package's
// documentation warns of two exceptions. If the file gets its name back before A's next step, A
// does not notice. And if B opens the other file while A commits, SQLite may undo something in it
// with A's journal.
func (s *Store) commit(tx *sql.Tx) error {
	if err := tx.Commit(); err != nil {
		return s.classify(err, true)
	}
	if err := s.check(); err != nil {
		return &launchlog.AttemptError{Ambiguous: true, Err: err}
	}
	return nil
}

// read runs f, which needs no lock. If the file lost its name, the result is not returned.
func (s *Store) read(ctx context.Context, f rows.Step) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case r := <-run(s, func() (any, error) {
		value, err := f(ctx, s.reader)
		if moved := s.check(); moved != nil {
			return nil, moved
		}
		return value, err
	}):
		if r.err != nil && ctx.Err() != nil {
			r.err = ctx.Err() // SQLite only says that it was interrupted
		}
		return r.value, s.classify(r.err, false)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// classify wraps an error in an AttemptError if a launchlog.Log may try again after it. A statement
// that fails has changed nothing, because its transaction is rolled back. A commit that fails for a
// reason other than the lock may have been carried out. SQLite also reports a failure if somebody
// else has deleted its journal.
func (s *Store) classify(err error, commit bool) error {
	of, cause := dialect.CauseOf(err)
	switch {
	case cause == dialect.Contended && commit:
		return &launchlog.AttemptError{Err: fmt.Errorf("%s: %w: rows are being read from the "+
			"file: close them, or keep the launch log in a separate file", s.path, err)}
	case cause == dialect.Contended:
		return &launchlog.AttemptError{Err: fmt.Errorf("%s: %w: %s", s.path, err, rows.Ready)}
	case of != dialect.SQLite:
		return err
	case isAbsent(err):
		return fmt.Errorf("%w: %s: %w", launchlog.ErrOtherLog, s.path, err)
	case cause == dialect.ReadOnly:
		return fmt.Errorf("%s: %w: the file and its folder must be writable", s.path, err)
	case commit && isDiskError(err):
		return &launchlog.AttemptError{Ambiguous: true, Err: fmt.Errorf("%s: %w", s.path, err)}
	}
	return fmt.Errorf("%s: %w", s.path, err)
}

// isAbsent reports whether the tables of the log are missing or older. SQLite does not have a
// separate code for this.
func isAbsent(err error) bool {
	return strings.Contains(err.Error(), "no such table: idmint_") ||
		strings.Contains(err.Error(), "no such column: word")
}

// isBusy reports whether err means that another connection holds the lock. Nothing was changed, and
// the step may be tried again.
func isBusy(err error) bool {
	_, cause := dialect.CauseOf(err)
	return cause == dialect.Contended
}
