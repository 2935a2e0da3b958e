package rows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
)

// A Tx runs the statements of a step, in its transaction or, if the step only reads, without one.
type Tx interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}

// A Step returns its result. It may run more than once, and may continue after its caller has given
// up, so it shares nothing with its caller.
type Step = func(ctx context.Context, tx Tx) (any, error)

// A Runner runs a step.
type Runner = func(context.Context, Step) (any, error)

// Steps are the steps of a launchlog.Store in a database of database/sql. The store embeds them.
type Steps struct {
	inTransaction, reading, looking Runner
	statements
	tables string // see Words
	opened string // the word of the log that was opened
}

// tries limits how often a step is rerun immediately because another process got in between.
const tries = 3

// errNotOpened is the error of a store with the zero value.
var errNotOpened = errors.New("the launch log is closed, or was not opened")

func (s *Steps) read(ctx context.Context, step Step) (any, error) {
	if s.reading == nil {
		return nil, errNotOpened
	}
	return s.reading(ctx, step)
}

// write runs a step that changes rows, but only in the log that was opened. The transaction locks the
// table of the word, so the log cannot be replaced before the transaction ends. If another process
// creates the step's row first, the whole transaction is rolled back, including the number, and the
// step is rerun and finds that row.
//
// A step may change nothing because it finds what another step has created: the launch of its key, the
// claim of its token, a launch that has ended, or a log counter that is high enough. InnoDB shows such a
// row once its commit is in the log's memory, before it is on disk or on a semi-synchronous replica. If
// the server is killed in between, the row is lost and its number is handed out again, so the result
// must not be acknowledged before that commit is. InnoDB has one log, and a commit waits until all of
// the log before it is written. The step therefore makes a commit, which comes after the one that it has
// seen, and waits for it. That commit must change a row. One that changes nothing does not wait, even
// after SELECT … FOR UPDATE, and MySQL drops an UPDATE that sets a value to itself. An error needs no
// such wait, because it hands out nothing.
//
// PostgreSQL shows a row only after its commit is on disk. However, an operator can cancel the wait for
// the synchronous standby, so package postgres locks the row, which counts as a change there. SQLite
// shows a row after the sync of its commit.
func (s *Steps) write(ctx context.Context, step Step) (v any, err error) {
	if s.inTransaction == nil {
		return nil, errNotOpened
	}
	for range tries {
		v, err = s.inTransaction(ctx, func(ctx context.Context, tx Tx) (any, error) {
			word, err := ScanOne[string](tx.QueryRowContext(ctx, s.word))
			switch {
			case errors.Is(err, sql.ErrNoRows), err == nil && word != s.opened:
				return nil, launchlog.ErrOtherLog
			case err != nil:
				return nil, err
			}
			changing := &changing{Tx: tx}
			v, err := step(ctx, changing)
			if err == nil && !changing.changed && s.follow != "" {
				err = run(ctx, tx, s.follow)
			}
			return v, err
		})
		if dialect.MySQLNumber(err) != duplicate {
			return v, err
		}
	}
	return nil, &launchlog.AttemptError{Err: err}
}

// A changing transaction records whether it has changed a row.
type changing struct {
	Tx
	changed bool
}

func (c *changing) ExecContext(
	ctx context.Context, text string, args ...any,
) (sql.Result, error) {
	result, err := c.Tx.ExecContext(ctx, text, args...)
	if err == nil {
		n, _ := result.RowsAffected() // if the number is unknown, the step writes once more
		c.changed = c.changed || n > 0
	}
	return result, err
}

// duplicate is the number of MySQL's error for a row that already exists.
const duplicate = "1062"

func result[T any](v any, err error) (T, error) {
	of, ok := v.(T)
	if err == nil && !ok {
		err = fmt.Errorf("a step returned %T, want %T", v, of)
	}
	return of, err
}

// Update runs a statement and reports whether it changed a row.
func Update(ctx context.Context, tx Tx, text string, args ...any) (found bool, err error) {
	result, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 1, err
}

// run runs a statement that is known to change its row.
func run(ctx context.Context, tx Tx, text string, args ...any) error {
	_, err := tx.ExecContext(ctx, text, args...)
	return err
}

// ensure inserts a row with a key, unless find, which selects by the key, finds one. It is not an upsert,
// because MySQL requires the right to UPDATE for that, and SQLite's triggers that reject REPLACE cannot
// distinguish the two. In MySQL another process may insert the row in between, which is an error after
// which the step is rerun.
func ensure(ctx context.Context, tx Tx, find, insert string, key ...any) error {
	found, err := tx.QueryContext(ctx, find, key...)
	if err != nil {
		return err
	}
	there := found.Next()
	if err := errors.Join(found.Err(), found.Close()); err != nil || there {
		return err
	}
	return run(ctx, tx, insert, key...)
}

// list runs a query that only reads.
func list[T any](
	ctx context.Context, s *Steps, scan func(Row) (T, error), text string, args ...any,
) ([]T, error) {
	return result[[]T](s.read(ctx, func(ctx context.Context, tx Tx) (any, error) {
		found, err := tx.QueryContext(ctx, text, args...)
		return Collect(found, err, scan)
	}))
}

// Now implements launchlog.Store.
func (s *Steps) Now(ctx context.Context) (time.Time, error) {
	return result[time.Time](s.read(ctx, func(ctx context.Context, tx Tx) (any, error) {
		return ScanTime(tx.QueryRowContext(ctx, s.now))
	}))
}
