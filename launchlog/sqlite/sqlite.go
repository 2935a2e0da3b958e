// Package sqlite is a launchlog.Store in a SQLite database file, by github.com/mattn/go-sqlite3: the embedded default, for
// processes of one machine.
//
// The file must lie on a local file system and have one name: see [Check]. Where it is removed or replaced while a store is
// open, the store's writes fail with a [FileError]. Every write is one IMMEDIATE transaction with the write-ahead log and
// synchronous=FULL, so what was acknowledged survives a crash of the process and of the machine.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
)

// Mode says what [DSN] does about a file that is not there.
type Mode string

// The modes.
const (
	Existing Mode = "rw"  // an error
	Create   Mode = "rwc" // make it
)

// DSN is the data source name for go-sqlite3 with the settings that a launch log needs, and that suit an app's other data as
// well: IMMEDIATE transactions, the write-ahead log, synchronous=FULL, and foreign keys that are checked. How long SQLite itself
// waits for a lock is go-sqlite3's default, 5 s, unless "&_busy_timeout=" and milliseconds are added.
func DSN(path string, mode Mode) string {
	settings := url.Values{
		"mode":          {string(mode)},
		"_txlock":       {"immediate"},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_foreign_keys": {"on"},
	}
	return "file:" + (&url.URL{Path: filepath.Clean(path)}).EscapedPath() + "?" + settings.Encode()
}

const (
	// shortWait keeps the waiting out of SQLite, where it obeys no context: a [launchlog.Log] waits between attempts.
	shortWait = "&_busy_timeout=25"
	// openWait bounds how long Open waits for a lock.
	openWait = 10 * time.Second
)

// Store keeps launch logs in a SQLite file. Make it with [Open].
type Store struct {
	path string
	file os.FileInfo // what path named when it was opened

	writer *sql.DB // one connection: SQLite has one writer, and within the process it is better waited for here than in its lock
	reader *sql.DB // for what needs no lock

	// Prepared once; immutable.
	byToken, nextGenerator, insertClaim, nextNumbers *sql.Stmt
}

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log in the file path. Its tables are made before, by migrations.Up on a database that was opened with
// DSN(path, Create). It waits up to 10 s for a lock. Errors: a [*launchlog.SchemaError], a [*FileError], the context's, or
// SQLite's, for a file that is not there or not a database. A file that is not to be written can be read: its first write fails.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path) // the process may change its folder
	if err != nil {
		return nil, err
	}
	s := &Store{path: path}
	dsn := DSN(path, Existing) + shortWait
	if s.writer, err = sql.Open("sqlite3", dsn); err != nil {
		return nil, err
	}
	s.writer.SetMaxOpenConns(1)
	if s.reader, err = sql.Open("sqlite3", dsn); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	waiting, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, 250*time.Millisecond) {
		if err = s.prepare(waiting); err == nil {
			return s, nil
		}
		if IsBusy(err) {
			select {
			case <-time.After(wait):
				continue
			case <-waiting.Done():
			}
		}
		if _, absent := os.Stat(path); errors.Is(absent, fs.ErrNotExist) {
			err = fmt.Errorf("%w: create it with `idmint migrate` or package migrations", absent)
		}
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), s.Close())
	}
}

func (s *Store) prepare(ctx context.Context) error {
	have, err := s.version(ctx)
	if err != nil {
		return err
	}
	if have != rows.SchemaVersion {
		return &launchlog.SchemaError{Have: have, Want: rows.SchemaVersion}
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&s.byToken, `SELECT ` + rows.Claim + ` FROM idmint_generator WHERE token = ?`},
		{&s.nextGenerator, `UPDATE idmint_launch SET next_generator_id = next_generator_id + 1
			WHERE namespace = ? AND launch_id = ? AND ended_at IS NULL AND next_generator_id < ? RETURNING next_generator_id - 1`},
		{&s.insertClaim, `INSERT INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid)
			VALUES (?, ?, ?, ?, ?, ?) RETURNING ` + rows.Claim},
		{&s.nextNumbers, reserveNumbers},
	} {
		if *p.stmt, err = s.writer.PrepareContext(ctx, p.text); err != nil {
			return err
		}
	}
	s.file, err = os.Stat(s.path)
	return err
}

func (s *Store) version(ctx context.Context) (version int, err error) {
	var tables int
	err = s.writer.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'idmint_schema'`).Scan(&tables)
	if err == nil && tables == 1 {
		err = s.writer.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM idmint_schema`).Scan(&version)
	}
	return version, err
}

// Close closes the store's connections.
func (s *Store) Close() error {
	err := s.writer.Close()
	if s.reader != nil {
		err = errors.Join(err, s.reader.Close())
	}
	return err
}

// write runs f in one transaction. Only waiting for the connection obeys the context: a statement that was begun is not
// interrupted, because where it ended would be unknown.
func (s *Store) write(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return s.classify(err, false)
	}
	defer conn.Close()
	ctx = context.WithoutCancel(ctx)
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return s.classify(err, false)
	}
	if err = s.checkFile(); err == nil {
		err = f(ctx, tx)
	}
	if err == nil {
		return s.classify(tx.Commit(), true)
	}
	if rollback := tx.Rollback(); rollback != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // its transaction may be open: it is not used again
	}
	return s.classify(err, false)
}

// read runs f, which needs no lock.
func read[T any](ctx context.Context, s *Store, f func(context.Context) (T, error)) (T, error) {
	if err := ctx.Err(); err != nil {
		var zero T
		return zero, err
	}
	v, err := f(ctx)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // SQLite says no more than that it was interrupted
	}
	return v, s.classify(err, false)
}

// classify says which errors a launchlog.Log may try again after. A statement that fails has changed nothing, as its
// transaction is rolled back; a commit that fails for a reason other than the lock may have been made.
func (s *Store) classify(err error, commit bool) error {
	var e sqlite3.Error
	switch {
	case err == nil:
		return nil
	case IsBusy(err):
		return &launchlog.AttemptError{Err: fmt.Errorf("%s: %w", s.path, err)}
	case errors.As(err, &e):
		err = fmt.Errorf("%s: %w", s.path, err)
		if e.Code == sqlite3.ErrReadonly {
			err = fmt.Errorf("%w: the file and its folder must be writable", err)
		}
		if commit && e.Code == sqlite3.ErrIoErr {
			return &launchlog.AttemptError{Ambiguous: true, Err: err}
		}
	}
	return err
}

// IsBusy reports whether err says that another connection holds the lock: nothing was changed, and it may be tried again.
func IsBusy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked || e.Code == sqlite3.ErrProtocol)
}

// StartLaunch implements launchlog.Store.
func (s *Store) StartLaunch(ctx context.Context, start launchlog.Start) (launch launchlog.Launch, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		last, err := lastLaunch(ctx, tx, start.Namespace)
		if err != nil {
			return err
		}
		if err := rows.Behind(start, last); err != nil {
			return err
		}
		launch, err = rows.ScanLaunch(tx.QueryRowContext(ctx, selectLaunch+` WHERE namespace = ? AND idempotency_key = ?`, start.Namespace, start.Key))
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var id int
		err = tx.QueryRowContext(ctx, `UPDATE idmint_namespace SET last_launch_id = last_launch_id + 1
			WHERE namespace = ? AND last_launch_id < ? RETURNING last_launch_id`, start.Namespace, launchlog.MaxLaunch).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return launchlog.ErrLaunchesExhausted
		}
		if err != nil {
			return err
		}
		if launch, err = insertLaunch(ctx, tx, id, start); err != nil {
			return err
		}
		return addEvent(ctx, tx, launchlog.Event{Namespace: start.Namespace, Launch: id, Kind: "started", Actor: start.Initiator})
	})
	return launch, err
}

// lastLaunch returns the namespace's counter, which is made where it is not there.
func lastLaunch(ctx context.Context, tx *sql.Tx, namespace string) (last int, err error) {
	_, err = tx.ExecContext(ctx, `INSERT INTO idmint_namespace (namespace) SELECT ?1
		WHERE NOT EXISTS (SELECT 1 FROM idmint_namespace WHERE namespace = ?1)`, namespace)
	if err == nil {
		err = tx.QueryRowContext(ctx, `SELECT last_launch_id FROM idmint_namespace WHERE namespace = ?`, namespace).Scan(&last)
	}
	return last, err
}

func insertLaunch(ctx context.Context, tx *sql.Tx, id int, s launchlog.Start) (launchlog.Launch, error) {
	return rows.ScanLaunch(tx.QueryRowContext(ctx, `INSERT INTO idmint_launch (launch_id, `+rows.Started+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING `+rows.Launch,
		append([]any{id}, rows.StartValues(s)...)...))
}

// EndLaunch implements launchlog.Store.
func (s *Store) EndLaunch(ctx context.Context, ref launchlog.Ref, ending launchlog.Ending) (launch launchlog.Launch, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if launch, err = oneLaunch(ctx, tx, ref); err != nil || !launch.Running() {
			return err
		}
		if err := end(ctx, tx, ref, ending); err != nil {
			return err
		}
		launch, err = oneLaunch(ctx, tx, ref)
		return err
	})
	return launch, err
}

func end(ctx context.Context, tx *sql.Tx, ref launchlog.Ref, ending launchlog.Ending) error {
	_, err := tx.ExecContext(ctx, `UPDATE idmint_launch SET ended_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), outcome = ?
		WHERE namespace = ? AND launch_id = ?`, string(ending.Outcome), ref.Namespace, ref.Launch)
	if err != nil {
		return err
	}
	detail, err := rows.EndedDetail(ending)
	if err != nil {
		return err
	}
	return addEvent(ctx, tx, launchlog.Event{Namespace: ref.Namespace, Launch: ref.Launch, Kind: "ended", Actor: ending.Actor, Detail: detail})
}

// ClaimGenerator implements launchlog.Store.
func (s *Store) ClaimGenerator(ctx context.Context, take launchlog.Take) (claim launchlog.Claim, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		claim, err = rows.ScanClaim(tx.StmtContext(ctx, s.byToken).QueryRowContext(ctx, take.Token))
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var number int
		err = tx.StmtContext(ctx, s.nextGenerator).QueryRowContext(ctx, take.Namespace, take.Launch, launchlog.MaxGenerators).Scan(&number)
		if errors.Is(err, sql.ErrNoRows) {
			launch, err := oneLaunch(ctx, tx, take.Ref)
			return cmp.Or(err, rows.NoNumber(launch))
		}
		if err != nil {
			return err
		}
		claim, err = rows.ScanClaim(tx.StmtContext(ctx, s.insertClaim).QueryRowContext(ctx,
			take.Namespace, take.Launch, number, take.Token, take.Host, take.PID))
		return err
	})
	return claim, err
}

// AdvanceLaunches implements launchlog.Store.
func (s *Store) AdvanceLaunches(ctx context.Context, namespace string, last int, ending launchlog.Ending) (now int, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if now, err = lastLaunch(ctx, tx, namespace); err != nil || now > last {
			return err
		}
		found, err := tx.QueryContext(ctx, `SELECT launch_id FROM idmint_launch WHERE namespace = ? AND ended_at IS NULL ORDER BY launch_id`, namespace)
		running, err := rows.Collect(found, err, rows.ScanOne[int])
		if err != nil {
			return err
		}
		for _, id := range running {
			if err := end(ctx, tx, launchlog.Ref{Namespace: namespace, Launch: id}, ending); err != nil {
				return err
			}
		}
		if now == last {
			return nil
		}
		if _, err := tx.ExecContext(ctx, `UPDATE idmint_namespace SET last_launch_id = ? WHERE namespace = ?`, last, namespace); err != nil {
			return err
		}
		detail, err := rows.AdvancedDetail(now, last)
		if err != nil {
			return err
		}
		now = last
		return addEvent(ctx, tx, launchlog.Event{Namespace: namespace, Kind: "advanced", Actor: ending.Actor, Detail: detail})
	})
	return now, err
}

// Launch implements launchlog.Store.
func (s *Store) Launch(ctx context.Context, ref launchlog.Ref) (launchlog.Launch, error) {
	return read(ctx, s, func(ctx context.Context) (launchlog.Launch, error) { return oneLaunch(ctx, s.reader, ref) })
}

// Launches implements launchlog.Store.
func (s *Store) Launches(ctx context.Context, namespace string, f launchlog.Filter) ([]launchlog.Launch, error) {
	return read(ctx, s, func(ctx context.Context) ([]launchlog.Launch, error) {
		found, err := s.reader.QueryContext(ctx, selectLaunch+` WHERE namespace = ?1 AND (?2 = '' OR service = ?2) AND (?3 = '' OR environment = ?3)
			AND (NOT ?4 OR ended_at IS NULL) AND (?5 <= 0 OR launch_id < ?5) ORDER BY launch_id DESC LIMIT ?6`,
			namespace, f.Service, f.Environment, f.Running, f.Before, f.Limit)
		return rows.Collect(found, err, rows.ScanLaunch)
	})
}

// Events implements launchlog.Store.
func (s *Store) Events(ctx context.Context, ref launchlog.Ref) ([]launchlog.Event, error) {
	return read(ctx, s, func(ctx context.Context) ([]launchlog.Event, error) {
		found, err := s.reader.QueryContext(ctx, `SELECT `+rows.Event+` FROM idmint_launch_event
			WHERE namespace = ? AND launch_id IS ? ORDER BY event_id`, ref.Namespace, rows.OrNull(ref.Launch, ref.Launch == 0))
		return rows.Collect(found, err, rows.ScanEvent)
	})
}

// Claims implements launchlog.Store.
func (s *Store) Claims(ctx context.Context, ref launchlog.Ref, from, limit int) ([]launchlog.Claim, error) {
	return read(ctx, s, func(ctx context.Context) ([]launchlog.Claim, error) {
		found, err := s.reader.QueryContext(ctx, `SELECT `+rows.Claim+` FROM idmint_generator
			WHERE namespace = ? AND launch_id = ? AND generator_id >= ? ORDER BY generator_id LIMIT ?`, ref.Namespace, ref.Launch, from, limit)
		return rows.Collect(found, err, rows.ScanClaim)
	})
}
