package rows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/idmint/idmint/internal/dialect"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/detail"
)

// Words are the words of a dialect's SQL that differ within the steps' statements.
type Words struct {
	Tables   string // goes before the names of tables: their database and a dot, or ""
	Time     string // text of RFC 3339 of a column $ of times, in UTC
	Now      string // the time, by the database's clock
	Lock     string // makes a SELECT lock its rows; "" where the transaction is lock enough
	Is       string // compares, and takes two NULLs for equal
	Greatest string // the function that returns the greater one of two numbers
	Look     string // counts a look at the register ?, ?, and raises it to ?
	// Follow changes a row, whatever is there. A step that has changed nothing runs it, in a database
	// that shows rows before their commit is on disk; "" in others. See [Steps.write].
	Follow string
}

// A Tx runs the statements of a step, within its transaction or, for one that only reads, without.
type Tx interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}

// A Step returns what it came to. It may run on after its caller has given up, and more than once:
// it shares nothing with its caller.
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

// statements name their tables in full, so they find the same ones whatever the connection is set
// to.
type statements struct {
	word, now, makeNamespace, lastLaunch, lockLast, passing, setLast               string
	digits, lockDigits, setDigits                                                  string
	launchByKey, oneLaunch, lockLaunch, launches, running, insertLaunch, endLaunch string
	nextNumber, insertClaim, claimByToken, claims, trim, events, insertEvent       string
	value, lockValue, makeCounter, takeNumbers, advanceCounter, raiseCounter       string
	look, order, follow                                                            string
	oneCounter, counters                                                           string
}

// NewSteps makes the steps of the log that has the word. InTransaction runs a step in a transaction
// of its own, reading one that only reads, and looking one that writes in its first statement alone.
//
// After an UPDATE a step reads the row again, which is locked. RETURNING and last_insert_id(…) would
// not do: MySQL lacks the former, and the latter keeps an older number where no row was updated.
func NewSteps(w Words, word string, inTransaction, reading, looking Runner) Steps {
	const (
		thisNamespace = ` WHERE namespace = ?`
		thisLaunch    = ` WHERE namespace = ? AND launch_id = ?`
		thisCounter   = ` WHERE namespace = ? AND name = ?`
		lastLaunch    = `SELECT last_launch_id FROM idmint_namespace` + thisNamespace
		digits        = `SELECT last_launch_id, first_digits, last_digits FROM idmint_namespace` +
			thisNamespace
		value = `SELECT coalesce(max(value), 0) FROM idmint_counter` + thisCounter
	)
	launch := `SELECT ` + Times(Launch, w.Time) + ` FROM idmint_launch`
	claim := `SELECT ` + Times(Claim, w.Time) + ` FROM idmint_generator`
	counter := `SELECT ` + Times(Counter, w.Time) + ` FROM idmint_counter`
	in := func(text string) string { return Named(text, w.Tables) }
	return Steps{inTransaction, reading, looking, statements{
		word: in(Word),
		now:  `SELECT ` + strings.ReplaceAll(w.Time, "$", w.Now),

		makeNamespace: in(`INSERT INTO idmint_namespace (namespace) VALUES (?)`),
		lastLaunch:    in(lastLaunch),
		lockLast:      in(lastLaunch + w.Lock),
		digits:        in(digits),
		lockDigits:    in(digits + w.Lock),
		setDigits: in(`UPDATE idmint_namespace SET first_digits = ?, last_digits = ?` +
			thisNamespace),
		// passing is the launch that the next one takes its digits over from.
		passing: in(launch + thisNamespace + ` AND launch_id > ? AND next_generator_id < ?
			AND (outcome IS NULL OR outcome <> ?) ORDER BY launch_id LIMIT 1` + w.Lock),
		setLast: in(`UPDATE idmint_namespace SET last_launch_id = ?` + thisNamespace),

		launchByKey: in(launch + ` WHERE namespace = ? AND idempotency_key = ?`),
		oneLaunch:   in(launch + thisLaunch),
		lockLaunch:  in(launch + thisLaunch + w.Lock),
		launches: in(launch + thisNamespace + ` AND (? = '' OR service = ?)
			AND (? = '' OR environment = ?) AND (NOT ? OR ended_at IS NULL)
			AND (? <= 0 OR launch_id < ?) ORDER BY launch_id DESC LIMIT ?`),
		running: in(`SELECT launch_id FROM idmint_launch` + thisNamespace +
			` AND ended_at IS NULL ORDER BY launch_id` + w.Lock),
		insertLaunch: in(`INSERT INTO idmint_launch (` + Started + `, launch_id,
				first_generator_id, next_generator_id)
			VALUES (` + strings.Repeat("?, ", strings.Count(Started, ",")+1) + `?, ?, ?)`),
		endLaunch: in(`UPDATE idmint_launch SET ended_at = ` + w.Now + `, outcome = ?` +
			thisLaunch),

		nextNumber: in(`UPDATE idmint_launch SET next_generator_id = next_generator_id + 1` +
			thisLaunch + ` AND ended_at IS NULL AND next_generator_id < ?`),
		insertClaim: in(`INSERT INTO idmint_generator
			(namespace, launch_id, generator_id, token, host, pid)
			SELECT namespace, launch_id, next_generator_id - 1, ?, ?, ? FROM idmint_launch` +
			thisLaunch),
		claimByToken: in(claim + ` WHERE token = ?`),
		claims: in(claim + thisLaunch +
			` AND generator_id >= ? ORDER BY generator_id LIMIT ?`),
		trim: in(`DELETE FROM idmint_generator` + thisLaunch + ` AND generator_id < ?`),

		events: in(`SELECT ` + Times(Event, w.Time) + ` FROM idmint_launch_event` + thisNamespace +
			` AND launch_id ` + w.Is + ` nullif(?, 0) ORDER BY event_id`),
		insertEvent: in(`INSERT INTO idmint_launch_event
			(namespace, launch_id, kind, actor, detail) VALUES (?, ?, ?, ?, ?)`),

		value:       in(value),
		lockValue:   in(value + w.Lock),
		makeCounter: in(`INSERT INTO idmint_counter (namespace, name, value) VALUES (?, ?, 0)`),
		// takeNumbers finds no row where there is no counter yet, and where it has too few numbers
		// left: sums that are too large are an error in MySQL, and floating point in SQLite.
		takeNumbers: in(`UPDATE idmint_counter
			SET value = ` + w.Greatest + `(value, ? - 1) + ?, updated_at = ` + w.Now + `,
				note = '', holder = ''` + thisCounter + `
				AND ` + w.Greatest + `(value, ? - 1) <= 9223372036854775807 - ?`),
		advanceCounter: in(`UPDATE idmint_counter
			SET value = ?, updated_at = ` + w.Now + `, note = '', holder = ''` + thisCounter),
		raiseCounter: in(`UPDATE idmint_counter
			SET value = ?, note = ?, holder = ?, updated_at = ` + w.Now + thisCounter + `
			AND (value = ? OR value = ? AND note = ?)`),
		look: in(w.Look), follow: in(w.Follow),
		order: in(`SELECT value, looks, (` + Word + `),
				coalesce((SELECT token FROM idmint_generator` + thisLaunch + ` AND generator_id = ?), ''),
				coalesce((SELECT next_generator_id FROM idmint_launch` + thisLaunch + `), 0)
			FROM idmint_order WHERE namespace = ? AND service = ?`),
		oneCounter: in(counter + thisCounter),
		counters:   in(counter + thisNamespace + ` AND name > ? ORDER BY name LIMIT ?`),
	}, w.Tables, word}
}

// Named puts what is given before the names of a statement's tables, which begin with idmint_.
func Named(text, tables string) string {
	return strings.ReplaceAll(text, "idmint_", tables+"idmint_")
}

// tries bounds how often a step is run again at once where another process came in between.
const tries = 3

// errNotOpened is the error of a store that is the zero value.
var errNotOpened = errors.New("the launch log is closed, or was not opened")

func (s *Steps) read(ctx context.Context, step Step) (any, error) {
	if s.reading == nil {
		return nil, errNotOpened
	}
	return s.reading(ctx, step)
}

// write runs a step that changes rows, in the log that was opened and in no other one. The
// transaction locks the word's table, so the log stays in its place until it ends. A step is run
// again where another process made its row first, to find that: the whole transaction is rolled
// back, and the number with it.
//
// A step may change nothing because it finds what another one has made: the launch of its key, the
// claim of its token, a launch that has ended, a counter that is high enough. InnoDB shows such a
// row when its commit is in the log's memory, and before it is on disk or on a semi-synchronous
// replica. If the server is killed between, the row is gone, and its number is given out again. So
// what the step returns must not be acknowledged before that commit is. InnoDB has one log, and a
// commit waits until all of the log before it is written. Therefore the step makes a commit of its
// own, which comes behind the one that it has seen, and waits for it. That commit must change a
// row: one that does not waits for nothing, also after SELECT … FOR UPDATE, and MySQL drops an
// UPDATE that sets what is there. An error needs no such wait, because it gives out nothing.
//
// PostgreSQL shows a row after its commit is on disk. But an operator can cut off the wait for the
// synchronous standby, so package postgres locks the row, which there is a change. SQLite shows a
// row after the sync of its commit.
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

// A changing transaction knows whether it has changed a row.
type changing struct {
	Tx
	changed bool
}

func (c *changing) ExecContext(
	ctx context.Context, text string, args ...any,
) (sql.Result, error) {
	result, err := c.Tx.ExecContext(ctx, text, args...)
	if err == nil {
		n, _ := result.RowsAffected() // without the number the step writes once more
		c.changed = c.changed || n > 0
	}
	return result, err
}

// duplicate is the number of MySQL's error for a row that is there.
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

// run runs a statement of which the step knows that it changes its row.
func run(ctx context.Context, tx Tx, text string, args ...any) error {
	_, err := tx.ExecContext(ctx, text, args...)
	return err
}

// ensure makes a row by its key, unless find, which selects by the key, finds it. It is no upsert:
// MySQL wants the right to UPDATE for one, and SQLite's triggers that keep REPLACE off cannot tell
// one from it. In MySQL another process may make the row in between: that is an error, after which
// the step is run again.
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

// StartLaunch implements launchlog.Store.
func (s *Steps) StartLaunch(ctx context.Context, start launchlog.Launch) (launchlog.Launch, error) {
	step := func(ctx context.Context, tx Tx) (any, error) {
		last, err := ScanOne[int](tx.QueryRowContext(ctx, s.lastLaunch, start.Namespace))
		none := errors.Is(err, sql.ErrNoRows)
		if err != nil && !none {
			return nil, err
		}
		if err := Behind(start, last); err != nil {
			return nil, err
		}
		if none {
			if err := run(ctx, tx, s.makeNamespace, start.Namespace); err != nil {
				return nil, err
			}
		}
		launch, err := s.byKey(ctx, tx, start)
		if !errors.Is(err, sql.ErrNoRows) {
			return launch, err
		}
		id, first, err := s.next(ctx, tx, start)
		if err != nil {
			return nil, err
		}
		if err := run(ctx, tx, s.setLast, id, start.Namespace); err != nil {
			return nil, err
		}
		err = run(ctx, tx, s.insertLaunch, append(StartValues(start), id, first, first)...)
		if err != nil {
			return nil, err
		}
		if launch, err = s.byKey(ctx, tx, start); err != nil {
			return nil, err
		}
		return launch, s.addEvent(ctx, tx, launchlog.Event{
			Namespace: start.Namespace, Launch: launch.ID, Kind: "started", Actor: start.Initiator,
		})
	}
	launch, err := result[launchlog.Launch](s.write(ctx, step))
	return launch, s.ahead(ctx, launchlog.Ref{Namespace: start.Namespace}, err)
}

// next is the number of the next launch, and its first generator number. A launch that had its
// digits before ends.
func (s *Steps) next(
	ctx context.Context, tx Tx, start launchlog.Launch,
) (id, first int, err error) {
	is, err := scanDigits(tx.QueryRowContext(ctx, s.lockDigits, start.Namespace))
	if err != nil {
		return 0, 0, err
	}
	if id, ok := is.Next(is.last); ok {
		return id, 0, nil
	}
	from, err := ScanLaunch(tx.QueryRowContext(ctx, s.passing, start.Namespace,
		is.last-launchlog.Lap, launchlog.MaxGenerators, string(launchlog.Advanced)))
	if errors.Is(err, sql.ErrNoRows) {
		err = launchlog.ErrLaunchesExhausted
	}
	if err != nil {
		return 0, 0, err
	}
	id = from.ID + launchlog.Lap
	if from.Running() {
		ref := launchlog.Ref{Namespace: start.Namespace, Launch: from.ID}
		err = s.end(ctx, tx, ref, detail.HandingOn(id, start.Initiator))
	}
	return id, from.NextGenerator, err
}

// digitsRow are the digits of a namespace, and its last launch.
type digitsRow struct {
	launchlog.Digits
	last int
}

func scanDigits(r Row) (d digitsRow, err error) {
	err = r.Scan(&d.last, &d.First, &d.Last)
	return d, err
}

// Digits implements launchlog.Store.
func (s *Steps) Digits(ctx context.Context, namespace string) (launchlog.Digits, error) {
	found, err := list(ctx, s, scanDigits, s.digits, namespace)
	if err != nil || len(found) == 0 {
		return launchlog.AllDigits, err
	}
	return found[0].Digits, nil
}

// SetDigits implements launchlog.Store.
func (s *Steps) SetDigits(
	ctx context.Context, namespace string, digits launchlog.Digits,
) (launchlog.Digits, error) {
	return result[launchlog.Digits](s.write(ctx, func(ctx context.Context, tx Tx) (any, error) {
		if err := ensure(ctx, tx, s.lastLaunch, s.makeNamespace, namespace); err != nil {
			return nil, err
		}
		is, err := scanDigits(tx.QueryRowContext(ctx, s.lockDigits, namespace))
		if err != nil || !is.Allow(digits, is.last) {
			return is.Digits, err
		}
		return digits, run(ctx, tx, s.setDigits, digits.First, digits.Last, namespace)
	}))
}

func (s *Steps) byKey(ctx context.Context, tx Tx, l launchlog.Launch) (launchlog.Launch, error) {
	return ScanLaunch(tx.QueryRowContext(ctx, s.launchByKey, l.Namespace, l.Key))
}

// launch is one launch, by s.oneLaunch or s.lockLaunch.
func (s *Steps) launch(
	ctx context.Context, tx Tx, text string, ref launchlog.Ref,
) (launchlog.Launch, error) {
	l, err := ScanLaunch(tx.QueryRowContext(ctx, text, ref.Namespace, ref.Launch))
	if errors.Is(err, sql.ErrNoRows) {
		err = launchlog.ErrNotFound
	}
	return l, err
}

func (s *Steps) addEvent(ctx context.Context, tx Tx, e launchlog.Event) error {
	return run(ctx, tx, s.insertEvent,
		e.Namespace, OrNull(e.Launch, e.Launch == 0), e.Kind, e.Actor, Text(e.Detail))
}

// EndLaunch implements launchlog.Store.
func (s *Steps) EndLaunch(
	ctx context.Context, ref launchlog.Ref, ending launchlog.Ending,
) (launchlog.Launch, error) {
	step := func(ctx context.Context, tx Tx) (any, error) {
		launch, err := s.launch(ctx, tx, s.lockLaunch, ref)
		if err != nil || !launch.Running() {
			return launch, err
		}
		if err := s.end(ctx, tx, ref, ending); err != nil {
			return nil, err
		}
		return s.launch(ctx, tx, s.oneLaunch, ref)
	}
	return result[launchlog.Launch](s.write(ctx, step))
}

func (s *Steps) end(ctx context.Context, tx Tx, ref launchlog.Ref, ending launchlog.Ending) error {
	outcome := string(ending.Outcome)
	if err := run(ctx, tx, s.endLaunch, outcome, ref.Namespace, ref.Launch); err != nil {
		return err
	}
	return s.addEvent(ctx, tx, launchlog.Event{
		Namespace: ref.Namespace, Launch: ref.Launch, Kind: "ended",
		Actor: ending.Actor, Detail: detail.Ended(ending),
	})
}

// ClaimGenerator implements launchlog.Store.
func (s *Steps) ClaimGenerator(ctx context.Context, take launchlog.Claim) (launchlog.Claim, error) {
	ref := launchlog.Ref{Namespace: take.Namespace, Launch: take.Launch}
	step := func(ctx context.Context, tx Tx) (any, error) {
		claim, err := ScanClaim(tx.QueryRowContext(ctx, s.claimByToken, take.Token))
		if !errors.Is(err, sql.ErrNoRows) {
			return claim, err
		}
		taken, err := Update(ctx, tx, s.nextNumber,
			take.Namespace, take.Launch, launchlog.MaxGenerators)
		if err != nil {
			return nil, err
		}
		if !taken {
			launch, err := s.launch(ctx, tx, s.oneLaunch, ref) // why there was none to take
			if err == nil {
				err = NoNumber(launch)
			}
			return nil, err
		}
		err = run(ctx, tx, s.insertClaim,
			take.Token, take.Host, take.PID, take.Namespace, take.Launch)
		if err != nil {
			return nil, err
		}
		return ScanClaim(tx.QueryRowContext(ctx, s.claimByToken, take.Token))
	}
	claim, err := result[launchlog.Claim](s.write(ctx, step))
	return claim, s.ahead(ctx, ref, err)
}

// ahead explains the error of a step whose row was there already, by rows that do not fit together.
func (s *Steps) ahead(ctx context.Context, ref launchlog.Ref, err error) error {
	_, cause := dialect.CauseOf(err)
	if cause != dialect.Guarded && dialect.MySQLNumber(err) != duplicate {
		return err
	}
	return Ahead(ref, s.tables, err, func(text string, args ...any) ([][2]int, error) {
		return list(ctx, s, ScanPair, text, args...)
	})
}

// AdvanceLaunches implements launchlog.Store.
func (s *Steps) AdvanceLaunches(
	ctx context.Context, namespace string, last int, ending launchlog.Ending,
) (now, finished int, err error) {
	now, err = result[int](s.write(ctx, func(ctx context.Context, tx Tx) (any, error) {
		if err := ensure(ctx, tx, s.lastLaunch, s.makeNamespace, namespace); err != nil {
			return nil, err
		}
		now, err := ScanOne[int](tx.QueryRowContext(ctx, s.lockLast, namespace))
		if err != nil || now > last {
			return now, err
		}
		found, err := tx.QueryContext(ctx, s.running, namespace)
		running, err := Collect(found, err, ScanOne[int])
		if err != nil {
			return nil, err
		}
		for _, id := range running {
			ref := launchlog.Ref{Namespace: namespace, Launch: id}
			if err := s.end(ctx, tx, ref, ending); err != nil {
				return nil, err
			}
		}
		if now == last {
			return now, nil
		}
		if err := run(ctx, tx, s.setLast, last, namespace); err != nil {
			return nil, err
		}
		return last, s.addEvent(ctx, tx, launchlog.Event{
			Namespace: namespace, Kind: "advanced", Actor: ending.Actor,
			Detail: detail.Advanced(now, last),
		})
	}))
	return now, 0, err
}

// ReserveNumbers implements launchlog.Store.
func (s *Steps) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	return result[int64](s.write(ctx, func(ctx context.Context, tx Tx) (any, error) {
		for range tries {
			taken, err := Update(ctx, tx, s.takeNumbers,
				floor, n, ref.Namespace, ref.Name, floor, n)
			if err != nil {
				return nil, err
			}
			value, err := s.valueOf(ctx, tx, s.value, ref)
			if err != nil || taken {
				return value - n + 1, err
			}
			if max(value, floor-1) > math.MaxInt64-n {
				return nil, launchlog.ErrCounterExhausted
			}
			if err := s.makeSure(ctx, tx, ref); err != nil {
				return nil, err
			}
		}
		return nil, ErrRaced
	}))
}

// makeSure makes a counter, unless it is there.
func (s *Steps) makeSure(ctx context.Context, tx Tx, ref launchlog.CounterRef) error {
	err := ensure(ctx, tx, s.lastLaunch, s.makeNamespace, ref.Namespace)
	if err == nil {
		err = ensure(ctx, tx, s.oneCounter, s.makeCounter, ref.Namespace, ref.Name)
	}
	return err
}

// valueOf returns a counter's value, by s.value or s.lockValue, 0 where there is no counter.
func (s *Steps) valueOf(
	ctx context.Context, tx Tx, text string, ref launchlog.CounterRef,
) (int64, error) {
	return ScanOne[int64](tx.QueryRowContext(ctx, text, ref.Namespace, ref.Name))
}

// AdvanceCounter implements launchlog.Store.
func (s *Steps) AdvanceCounter(
	ctx context.Context, ref launchlog.CounterRef, target int64, actor string,
) (int64, error) {
	return result[int64](s.write(ctx, func(ctx context.Context, tx Tx) (any, error) {
		if err := s.makeSure(ctx, tx, ref); err != nil {
			return nil, err
		}
		now, err := s.valueOf(ctx, tx, s.lockValue, ref)
		if err != nil || now >= target {
			return now, err
		}
		if err := run(ctx, tx, s.advanceCounter, target, ref.Namespace, ref.Name); err != nil {
			return nil, err
		}
		return target, s.addEvent(ctx, tx, launchlog.Event{
			Namespace: ref.Namespace, Kind: "counter-advanced", Actor: actor,
			Detail: detail.Counter(ref.Name, now, target),
		})
	}))
}

// Launch implements launchlog.Store.
func (s *Steps) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	return result[launchlog.Launch](s.read(ctx, func(ctx context.Context, tx Tx) (any, error) {
		return s.launch(ctx, tx, s.oneLaunch, ref)
	}))
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

// Launches implements launchlog.Store.
func (s *Steps) Launches(
	ctx context.Context, namespace string, f launchlog.Filter,
) ([]launchlog.Launch, error) {
	return list(ctx, s, ScanLaunch, s.launches, namespace,
		f.Service, f.Service, f.Environment, f.Environment, f.Running, f.Before, f.Before, f.Limit)
}

// Events implements launchlog.Store.
func (s *Steps) Events(ctx context.Context, ref launchlog.Ref) ([]launchlog.Event, error) {
	return list(ctx, s, ScanEvent, s.events, ref.Namespace, ref.Launch)
}

// Claims implements launchlog.Store.
func (s *Steps) Claims(
	ctx context.Context, ref launchlog.Ref, from, limit int,
) ([]launchlog.Claim, error) {
	return list(ctx, s, ScanClaim, s.claims, ref.Namespace, ref.Launch, from, limit)
}

// TrimClaims implements launchlog.Store.
func (s *Steps) TrimClaims(ctx context.Context, ref launchlog.Ref, below int) error {
	_, err := s.write(ctx, func(ctx context.Context, tx Tx) (any, error) {
		return nil, run(ctx, tx, s.trim, ref.Namespace, ref.Launch, below)
	})
	return err
}

// RaiseCounter implements launchlog.Store. A row that an earlier attempt has made is written again:
// so this commit waits for the disk, behind that one's.
func (s *Steps) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, raise launchlog.Raise,
) (launchlog.CounterState, error) {
	step := func(ctx context.Context, tx Tx) (any, error) {
		if raise.From == 0 {
			if err := s.makeSure(ctx, tx, ref); err != nil {
				return nil, err
			}
		}
		raised, err := Update(ctx, tx, s.raiseCounter, raise.To, raise.Note, raise.Holder,
			ref.Namespace, ref.Name, raise.From, raise.To, raise.Note)
		if err != nil {
			return nil, err
		}
		row, err := ScanCounter(tx.QueryRowContext(ctx, s.oneCounter, ref.Namespace, ref.Name))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return launchlog.CounterState{}, nil
		case err == nil && !raised && row.Value == raise.From:
			err = ErrRaced // it was raised to there in between
		}
		return row, err
	}
	return result[launchlog.CounterState](s.write(ctx, step))
}

// Order implements launchlog.Store.
func (s *Steps) Order(
	ctx context.Context, look launchlog.Look,
) (value, looks int64, err error) {
	if s.looking == nil {
		return 0, 0, errNotOpened
	}
	step := func(ctx context.Context, tx Tx) (any, error) {
		_, err := tx.ExecContext(ctx, s.look, look.Namespace, look.Service, look.Reached)
		if err != nil {
			return nil, err
		}
		var found [2]int64
		var word, token string
		var next int
		err = tx.QueryRowContext(ctx, s.order, look.Namespace, look.Launch, look.Generator,
			look.Namespace, look.Launch, look.Namespace, look.Service,
		).Scan(&found[0], &found[1], &word, &token, &next)
		switch {
		case err != nil:
			return nil, err
		case word != s.opened:
			return nil, launchlog.ErrOtherLog
		}
		return found, look.Kept(token, next)
	}
	found, err := result[[2]int64](s.looking(ctx, step))
	if errors.Is(err, launchlog.ErrBehind) {
		// A proxy may have asked a replica, which is late. It sends a transaction to the server that
		// writes.
		found, err = result[[2]int64](s.write(ctx, step))
	}
	return found[0], found[1], err
}

// Now implements launchlog.Store.
func (s *Steps) Now(ctx context.Context) (time.Time, error) {
	return result[time.Time](s.read(ctx, func(ctx context.Context, tx Tx) (any, error) {
		return ScanTime(tx.QueryRowContext(ctx, s.now))
	}))
}

// LastNumber implements launchlog.Store.
func (s *Steps) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	return result[int64](s.read(ctx, func(ctx context.Context, tx Tx) (any, error) {
		return s.valueOf(ctx, tx, s.value, ref)
	}))
}

// Counters implements launchlog.Store.
func (s *Steps) Counters(
	ctx context.Context, namespace, after string, limit int,
) ([]launchlog.CounterState, error) {
	return list(ctx, s, ScanCounter, s.counters, namespace, after, limit)
}
