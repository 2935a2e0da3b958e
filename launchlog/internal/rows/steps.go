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
)

// Words are the words of a dialect's SQL that differ within the steps' statements.
type Words struct {
	Time          string // text of RFC 3339 of a column $ of times, in UTC
	Now           string // the time, by the database's clock
	Lock          string // makes a SELECT lock its rows; "" where the transaction is lock enough
	Is            string // compares, and takes two NULLs for equal
	MakeNamespace string // makes the namespace ?, unless it is there
	MakeCounter   string // makes the counter ?, ? with the value 0, unless it is there
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

// Own is what a store has of its own beside its words. That is its transactions, and the three
// steps on the way to a number that have to be fast.
type Own struct {
	// Write runs a step in a transaction of its own, and Read one that only reads. Race is a Write
	// that runs the step again where another process made its row first, to find that.
	Write, Race, Read func(context.Context, Step) (any, error)

	// ByToken finds a claim, or returns sql.ErrNoRows.
	ByToken func(ctx context.Context, tx Tx, token string) (launchlog.Claim, error)
	// TakeGenerator takes the next number of a launch that runs and has one, and records the claim.
	// It reports whether it did.
	TakeGenerator func(
		ctx context.Context, tx Tx, take launchlog.Take,
	) (claim launchlog.Claim, taken bool, err error)
	// TakeNumbers takes numbers of a counter that is there and has so many. It reports whether it
	// did.
	TakeNumbers func(
		ctx context.Context, tx Tx, ref launchlog.CounterRef, floor, n int64,
	) (first int64, taken bool, err error)
}

// Steps are the steps of a launchlog.Store in a database of database/sql. The store embeds them.
type Steps struct {
	own                                    Own
	words                                  Words
	launch, claim, event, counter          string // SELECTs of columns
	endLaunch, advanceCounter, selectValue string
	raiseCounter, now                      string

	word string // of the log that was opened; immutable once the store is open
}

const (
	thisLaunch  = ` WHERE namespace = ? AND launch_id = ?`
	thisCounter = ` WHERE namespace = ? AND name = ?`
	selectLast  = `SELECT last_launch_id FROM idmint_namespace WHERE namespace = ?`
)

// NewSteps makes the steps of a store.
func NewSteps(w Words, own Own) Steps {
	s := Steps{
		own: own, words: w,
		launch:  `SELECT ` + Times(Launch, w.Time) + ` FROM idmint_launch`,
		claim:   `SELECT ` + Times(Claim, w.Time) + ` FROM idmint_generator`,
		event:   `SELECT ` + Times(Event, w.Time) + ` FROM idmint_launch_event`,
		counter: `SELECT ` + Times(Counter, w.Time) + ` FROM idmint_counter`,
	}
	s.endLaunch = `UPDATE idmint_launch SET ended_at = ` + w.Now + `, outcome = ?` + thisLaunch
	s.selectValue = `SELECT coalesce(max(value), 0) FROM idmint_counter` + thisCounter
	s.advanceCounter = `UPDATE idmint_counter
		SET value = ?, updated_at = ` + w.Now + `, note = '', holder = ''` + thisCounter
	s.raiseCounter = `UPDATE idmint_counter
		SET value = ?, note = ?, holder = ?, updated_at = ` + w.Now + thisCounter + `
		AND (value = ? OR value = ? AND note = ?)`
	s.now = `SELECT ` + strings.ReplaceAll(w.Time, "$", w.Now)
	return s
}

// started is how many values a row of a new launch has beside its number.
var started = strings.Count(Started, ",") + 1

// tries bounds how often a step is run again at once where another process came in between.
const tries = 3

// errNotOpened is the error of a store that is the zero value.
var errNotOpened = errors.New("the launch log is closed, or was not opened")

func (s *Steps) run(
	ctx context.Context, by func(context.Context, Step) (any, error), step Step,
) (any, error) {
	if by == nil {
		return nil, errNotOpened
	}
	return by(ctx, step)
}

// write runs a step that changes rows, in the log that was opened and in no other one. The
// transaction locks the word's table, so the log stays in its place until it ends.
func (s *Steps) write(
	ctx context.Context, by func(context.Context, Step) (any, error), step Step,
) (any, error) {
	return s.run(ctx, by, func(ctx context.Context, tx Tx) (any, error) {
		word, err := ScanOne[string](tx.QueryRowContext(ctx, Word))
		switch {
		case errors.Is(err, sql.ErrNoRows), err == nil && word != s.word:
			return nil, launchlog.ErrOtherLog
		case err != nil:
			return nil, err
		}
		return step(ctx, tx)
	})
}

// Bind says which log was opened, by its [Word].
func (s *Steps) Bind(word string) { s.word = word }

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

// Change runs a statement that is to change one row. MariaDB changes none, without an error, where
// KILL QUERY interrupts it while it fires triggers. Then the error is ErrRaced, and the step is run
// again.
func Change(ctx context.Context, tx Tx, text string, args ...any) error {
	found, err := Update(ctx, tx, text, args...)
	if err == nil && !found {
		err = ErrRaced
	}
	return err
}

// StartLaunch implements launchlog.Store.
func (s *Steps) StartLaunch(ctx context.Context, start launchlog.Start) (launchlog.Launch, error) {
	step := func(ctx context.Context, tx Tx) (any, error) {
		last, err := s.lastLaunch(ctx, tx, start.Namespace)
		none := errors.Is(err, sql.ErrNoRows)
		if err != nil && !none {
			return nil, err
		}
		if err := Behind(start, last); err != nil {
			return nil, err
		}
		if none {
			if err := s.makeNamespace(ctx, tx, start.Namespace); err != nil {
				return nil, err
			}
		}
		launch, err := s.byKey(ctx, tx, start)
		if !errors.Is(err, sql.ErrNoRows) {
			return launch, err
		}
		taken, err := Update(ctx, tx, `UPDATE idmint_namespace
			SET last_launch_id = last_launch_id + 1
			WHERE namespace = ? AND last_launch_id < ?`, start.Namespace, launchlog.MaxLaunch)
		if err == nil && !taken {
			last, err = s.lastLaunch(ctx, tx, start.Namespace)
			if err == nil && last >= launchlog.MaxLaunch {
				err = launchlog.ErrLaunchesExhausted
			} else if err == nil {
				err = ErrRaced // see Change
			}
		}
		if err != nil {
			return nil, err
		}
		err = Change(ctx, tx, `INSERT INTO idmint_launch (`+Started+`, launch_id)
			SELECT `+strings.Repeat("?, ", started)+`last_launch_id
			FROM idmint_namespace WHERE namespace = ?`,
			append(StartValues(start), start.Namespace)...)
		if err != nil {
			return nil, err
		}
		if launch, err = s.byKey(ctx, tx, start); err != nil {
			return nil, err
		}
		return launch, addEvent(ctx, tx, launchlog.Event{
			Namespace: start.Namespace, Launch: launch.ID, Kind: "started", Actor: start.Initiator,
		})
	}
	launch, err := result[launchlog.Launch](s.write(ctx, s.own.Race, step))
	return launch, s.ahead(ctx, launchlog.Ref{Namespace: start.Namespace}, err)
}

func (s *Steps) byKey(ctx context.Context, tx Tx, start launchlog.Start) (launchlog.Launch, error) {
	const thisKey = ` WHERE namespace = ? AND idempotency_key = ?`
	return ScanLaunch(tx.QueryRowContext(ctx, s.launch+thisKey, start.Namespace, start.Key))
}

func (s *Steps) lastLaunch(ctx context.Context, tx Tx, namespace string) (int, error) {
	return ScanOne[int](tx.QueryRowContext(ctx, selectLast, namespace))
}

func (s *Steps) makeNamespace(ctx context.Context, tx Tx, namespace string) error {
	_, err := tx.ExecContext(ctx, s.words.MakeNamespace, namespace)
	return err
}

func (s *Steps) oneLaunch(
	ctx context.Context, tx Tx, ref launchlog.Ref, lock string,
) (launchlog.Launch, error) {
	row := tx.QueryRowContext(ctx, s.launch+thisLaunch+lock, ref.Namespace, ref.Launch)
	l, err := ScanLaunch(row)
	return l, NotFound(err, sql.ErrNoRows)
}

func addEvent(ctx context.Context, tx Tx, e launchlog.Event) error {
	return Change(ctx, tx, `INSERT INTO idmint_launch_event
		(namespace, launch_id, kind, actor, detail) VALUES (?, ?, ?, ?, ?)`,
		e.Namespace, OrNull(e.Launch, e.Launch == 0), e.Kind, e.Actor, Text(e.Detail))
}

// EndLaunch implements launchlog.Store.
func (s *Steps) EndLaunch(
	ctx context.Context, ref launchlog.Ref, ending launchlog.Ending,
) (launchlog.Launch, error) {
	step := func(ctx context.Context, tx Tx) (any, error) {
		launch, err := s.oneLaunch(ctx, tx, ref, s.words.Lock)
		if err != nil || !launch.Running() {
			return launch, err
		}
		if err := s.end(ctx, tx, ref, ending); err != nil {
			return nil, err
		}
		return s.oneLaunch(ctx, tx, ref, "")
	}
	return result[launchlog.Launch](s.write(ctx, s.own.Write, step))
}

func (s *Steps) end(ctx context.Context, tx Tx, ref launchlog.Ref, ending launchlog.Ending) error {
	outcome := string(ending.Outcome)
	if err := Change(ctx, tx, s.endLaunch, outcome, ref.Namespace, ref.Launch); err != nil {
		return err
	}
	detail, err := EndedDetail(ending)
	if err != nil {
		return err
	}
	return addEvent(ctx, tx, launchlog.Event{
		Namespace: ref.Namespace, Launch: ref.Launch, Kind: "ended",
		Actor: ending.Actor, Detail: detail,
	})
}

// ClaimGenerator implements launchlog.Store.
func (s *Steps) ClaimGenerator(ctx context.Context, take launchlog.Take) (launchlog.Claim, error) {
	step := func(ctx context.Context, tx Tx) (any, error) {
		claim, err := s.own.ByToken(ctx, tx, take.Token)
		if !errors.Is(err, sql.ErrNoRows) {
			return claim, err
		}
		claim, taken, err := s.own.TakeGenerator(ctx, tx, take)
		if err != nil || taken {
			return claim, err
		}
		launch, err := s.oneLaunch(ctx, tx, take.Ref, "") // why there was none to take
		if err == nil {
			err = NoNumber(launch)
		}
		return nil, err
	}
	claim, err := result[launchlog.Claim](s.write(ctx, s.own.Race, step))
	return claim, s.ahead(ctx, take.Ref, err)
}

// ahead explains the error of a step whose row was there already, by rows that do not fit together.
func (s *Steps) ahead(ctx context.Context, ref launchlog.Ref, err error) error {
	_, cause := dialect.CauseOf(err)
	if cause != dialect.Guarded && dialect.MySQLNumber(err) != "1062" { // a duplicate
		return err
	}
	return Ahead(ref, err, func(text string, args ...any) ([][2]int, error) {
		return list(ctx, s, ScanPair, text, args...)
	})
}

// AdvanceLaunches implements launchlog.Store.
func (s *Steps) AdvanceLaunches(
	ctx context.Context, namespace string, last int, ending launchlog.Ending,
) (launchlog.Advanced, error) {
	now, err := result[int](s.write(ctx, s.own.Write, func(ctx context.Context, tx Tx) (any, error) {
		if err := s.makeNamespace(ctx, tx, namespace); err != nil {
			return nil, err
		}
		now, err := ScanOne[int](tx.QueryRowContext(ctx, selectLast+s.words.Lock, namespace))
		if err != nil || now > last {
			return now, err
		}
		found, err := tx.QueryContext(ctx, `SELECT launch_id FROM idmint_launch
			WHERE namespace = ? AND ended_at IS NULL ORDER BY launch_id`+s.words.Lock, namespace)
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
		err = Change(ctx, tx, `UPDATE idmint_namespace SET last_launch_id = ? WHERE namespace = ?`,
			last, namespace)
		if err != nil {
			return nil, err
		}
		detail, err := AdvancedDetail(now, last)
		if err != nil {
			return nil, err
		}
		return last, addEvent(ctx, tx, launchlog.Event{
			Namespace: namespace, Kind: "advanced", Actor: ending.Actor, Detail: detail,
		})
	}))
	return launchlog.Advanced{Last: now}, err
}

// ReserveNumbers implements launchlog.Store.
func (s *Steps) ReserveNumbers(
	ctx context.Context, ref launchlog.CounterRef, floor, n int64,
) (int64, error) {
	return result[int64](s.write(ctx, s.own.Write, func(ctx context.Context, tx Tx) (any, error) {
		for range tries {
			first, taken, err := s.own.TakeNumbers(ctx, tx, ref, floor, n)
			if err != nil || taken {
				return first, err
			}
			value, err := s.value(ctx, tx, ref, "")
			if err != nil {
				return nil, err
			}
			if max(value, floor-1) > math.MaxInt64-n {
				return nil, launchlog.ErrCounterExhausted
			}
			if err := s.makeCounter(ctx, tx, ref); err != nil {
				return nil, err
			}
		}
		return nil, ErrRaced
	}))
}

func (s *Steps) makeCounter(ctx context.Context, tx Tx, ref launchlog.CounterRef) error {
	if err := s.makeNamespace(ctx, tx, ref.Namespace); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, s.words.MakeCounter, ref.Namespace, ref.Name)
	return err
}

// value returns a counter's value, 0 where there is no counter.
func (s *Steps) value(
	ctx context.Context, tx Tx, ref launchlog.CounterRef, lock string,
) (int64, error) {
	return ScanOne[int64](tx.QueryRowContext(ctx, s.selectValue+lock, ref.Namespace, ref.Name))
}

// AdvanceCounter implements launchlog.Store.
func (s *Steps) AdvanceCounter(
	ctx context.Context, ref launchlog.CounterRef, target int64, actor string,
) (int64, error) {
	return result[int64](s.write(ctx, s.own.Write, func(ctx context.Context, tx Tx) (any, error) {
		if err := s.makeCounter(ctx, tx, ref); err != nil {
			return nil, err
		}
		now, err := s.value(ctx, tx, ref, s.words.Lock)
		if err != nil || now >= target {
			return now, err
		}
		if err := Change(ctx, tx, s.advanceCounter, target, ref.Namespace, ref.Name); err != nil {
			return nil, err
		}
		detail, err := CounterDetail(ref.Name, now, target)
		if err != nil {
			return nil, err
		}
		return target, addEvent(ctx, tx, launchlog.Event{
			Namespace: ref.Namespace, Kind: "counter-advanced", Actor: actor, Detail: detail,
		})
	}))
}

// Launch implements launchlog.Store.
func (s *Steps) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	step := func(ctx context.Context, tx Tx) (any, error) {
		return s.oneLaunch(ctx, tx, ref, "")
	}
	return result[launchlog.Launch](s.run(ctx, s.own.Read, step))
}

// list runs a query that only reads.
func list[T any](
	ctx context.Context, s *Steps, scan func(Row) (T, error), text string, args ...any,
) ([]T, error) {
	return result[[]T](s.run(ctx, s.own.Read, func(ctx context.Context, tx Tx) (any, error) {
		found, err := tx.QueryContext(ctx, text, args...)
		return Collect(found, err, scan)
	}))
}

// Launches implements launchlog.Store.
func (s *Steps) Launches(
	ctx context.Context, namespace string, f launchlog.Filter,
) ([]launchlog.Launch, error) {
	return list(ctx, s, ScanLaunch, s.launch+` WHERE namespace = ? AND (? = '' OR service = ?)
		AND (? = '' OR environment = ?) AND (NOT ? OR ended_at IS NULL)
		AND (? <= 0 OR launch_id < ?) ORDER BY launch_id DESC LIMIT ?`,
		namespace, f.Service, f.Service, f.Environment, f.Environment,
		f.Running, f.Before, f.Before, f.Limit)
}

// Events implements launchlog.Store.
func (s *Steps) Events(ctx context.Context, ref launchlog.Ref) ([]launchlog.Event, error) {
	return list(ctx, s, ScanEvent, s.event+` WHERE namespace = ?
		AND launch_id `+s.words.Is+` nullif(?, 0) ORDER BY event_id`, ref.Namespace, ref.Launch)
}

// Claims implements launchlog.Store.
func (s *Steps) Claims(
	ctx context.Context, ref launchlog.Ref, from, limit int,
) ([]launchlog.Claim, error) {
	return list(ctx, s, ScanClaim, s.claim+thisLaunch+`
		AND generator_id >= ? ORDER BY generator_id LIMIT ?`,
		ref.Namespace, ref.Launch, from, limit)
}

// RaiseCounter implements launchlog.Store. A row that an earlier attempt has made is written again:
// so this commit waits for the disk, behind that one's.
func (s *Steps) RaiseCounter(
	ctx context.Context, ref launchlog.CounterRef, raise launchlog.Raise,
) (launchlog.CounterState, error) {
	step := func(ctx context.Context, tx Tx) (any, error) {
		if raise.From == 0 {
			if err := s.makeCounter(ctx, tx, ref); err != nil {
				return nil, err
			}
		}
		raised, err := Update(ctx, tx, s.raiseCounter, raise.To, raise.Note, raise.Holder,
			ref.Namespace, ref.Name, raise.From, raise.To, raise.Note)
		if err != nil {
			return nil, err
		}
		row, err := ScanCounter(tx.QueryRowContext(ctx, s.counter+thisCounter,
			ref.Namespace, ref.Name))
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return launchlog.CounterState{}, nil
		case err == nil && !raised && row.Value == raise.From:
			err = ErrRaced // see Change
		}
		return row, err
	}
	return result[launchlog.CounterState](s.write(ctx, s.own.Race, step))
}

// Now implements launchlog.Store.
func (s *Steps) Now(ctx context.Context) (time.Time, error) {
	return result[time.Time](s.run(ctx, s.own.Read, func(ctx context.Context, tx Tx) (any, error) {
		return ScanTime(tx.QueryRowContext(ctx, s.now))
	}))
}

// LastNumber implements launchlog.Store.
func (s *Steps) LastNumber(ctx context.Context, ref launchlog.CounterRef) (int64, error) {
	return result[int64](s.run(ctx, s.own.Read, func(ctx context.Context, tx Tx) (any, error) {
		return s.value(ctx, tx, ref, "")
	}))
}

// Counters implements launchlog.Store.
func (s *Steps) Counters(
	ctx context.Context, namespace, after string, limit int,
) ([]launchlog.CounterState, error) {
	return list(ctx, s, ScanCounter, s.counter+`
		WHERE namespace = ? AND name > ? ORDER BY name LIMIT ?`, namespace, after, limit)
}
