// Package sqlite is a launchlog.Store in a SQLite database file, by github.com/mattn/go-sqlite3: the embedded default, for
// processes of one machine.
//
// The file must lie on a local file system and have one name: see [Check]. Every write is one
// IMMEDIATE transaction with the write-ahead log and synchronous=FULL, so what was acknowledged
// survives a crash of the process and of the machine.
//
// # The file belongs to this driver
//
// Within a process, open the log's file by this driver alone. SQLite locks files, and the system
// drops a process's locks on a file as soon as the process closes it anywhere: when another SQLite
// library does, or os.ReadFile. Then two processes write at once, and what was acknowledged is
// lost. The store cannot notice. So copy a log that is in use by [Backup], by `idmint backup`, or
// by SQLite's VACUUM INTO, and never by reading its files. Best give the log a file of its own,
// beside the one that has the app's data: then nothing else in the app has a reason to open it.
//
// # Files that are taken away
//
// SQLite keeps two files beside the database, PATH-wal and PATH-shm. Where one of the three is
// removed or replaced while a store is open, the store's calls fail with a [FileError], and nothing
// is acknowledged. The store looks before a write, and once more after its commit: an error of
// the latter says that the write may have been carried out. The first call that sees it is followed
// by no other that succeeds, even if the files are moved back. Stop the processes that use a log
// before it is restored, and start them again after.
//
// Two things are not noticed. If files are moved away and back between two calls of a store, it may
// give out what another process took in the meantime. And nobody sees what is written into a file
// that stays in its place. To copy a backup over the
// file while a process has it open, with PATH-wal and PATH-shm left there, can break the database.
//
// # Calls and disks
//
// A call ends with its context, even where the disk does not answer. If its commit was under way
// by then it is ambiguous, and may yet be carried out: the same key or token settles it. Calls that
// wait for that commit have changed nothing. [Store.Close] waits until the disk has answered.
//
// # Transactions of the app
//
// SQLite has one writer at a time. An app that has written in a transaction on the same file, and
// then mints its first ID, waits for a number that waits for the transaction. On Linux the store
// notices a transaction of its own process that has kept the lock and committed nothing: the error
// is [launchlog.ErrHeld]. It comes after a second from a store that has written nothing yet. From
// one that has, it comes after 10 s, since the app's long transactions and a VACUUM pass. All calls
// that wait then fail at about the same time.
//
// So a generator takes its first number before the transaction, with its Ready. Until it has one,
// each call in such a transaction fails so. Later numbers it asks for ahead of time. Elsewhere than
// on Linux the call waits until its budget is used up.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/idmint/idmint/internal/dialect"
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

// DSN is the data source name for go-sqlite3 with the settings that a launch log needs, and that suit
// an app's other data as well: IMMEDIATE transactions, the write-ahead log, synchronous=FULL, and
// foreign keys that are checked. SQLite itself waits for a lock as long as go-sqlite3's default says,
// 5 s, unless "&_busy_timeout=" and milliseconds are added.
func DSN(path string, mode Mode) string { return dialect.SQLiteDSN(path, string(mode), 0) }

const (
	// shortWait keeps the waiting out of SQLite, where it obeys no context: a [launchlog.Log] waits between attempts.
	shortWait = 25 * time.Millisecond
	// openWait bounds how long Open waits for a lock.
	openWait = 10 * time.Second
)

// Store keeps launch logs in a SQLite file. Make it with [Open].
type Store struct {
	path   string
	names  [3]string                 // of the files; immutable
	opened atomic.Pointer[opened]    // the files of the writer's connection
	gone   atomic.Pointer[FileError] // one of them was seen to be removed or replaced: for good

	writer *sql.DB  // one connection: SQLite has one writer, and within the process it is better waited for here than in its lock
	reader *sql.DB  // for what needs no lock
	seen   sighting // of the lock; guarded by the writer's connection: whoever has it

	mu     sync.Mutex     // guards closed, and steps against being waited for while one begins
	closed bool           // no step begins any more
	steps  sync.WaitGroup // that are under way, each in a goroutine

	// Prepared once, before Open returns; immutable.
	byToken, nextGenerator, insertClaim, nextNumbers *sql.Stmt
}

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log in the file path. Its tables are made before, by migrations.Up on a
// database that was opened with DSN(path, Create). It waits up to 10 s for a lock, or for a disk
// that does not answer. Errors: a [*launchlog.SchemaError], a [*FileError], the context's, or
// SQLite's, for a file that is not there or not a database. A file that is not to be written can be
// read: its first write fails.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path) // the process may change its folder
	if err != nil {
		return nil, err
	}
	s := unopened(path)
	late := fmt.Errorf("waited for %v", openWait)
	waiting, cancel := context.WithTimeoutCause(ctx, openWait, late)
	defer cancel()
	var last atomic.Pointer[error] // of the attempts
	opened := run(s, func() (struct{}, error) { return struct{}{}, s.attempt(waiting, &last) })
	select {
	case r := <-opened:
		if r.err == nil {
			return s, nil
		}
		err = errors.Join(s.refused(r.err), s.Close())
	case <-waiting.Done():
		go s.Close() // as soon as the disk answers
		err = fmt.Errorf("%s: the disk has not answered", path)
		if e := last.Load(); e != nil {
			err = s.refused(*e)
		}
	}
	if waiting.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(waiting), err)
	}
	return nil, err
}

// attempt prepares the store as soon as nobody locks it out.
func (s *Store) attempt(ctx context.Context, last *atomic.Pointer[error]) (err error) {
	for range dialect.Attempts(ctx, 250*time.Millisecond) {
		if err = s.prepare(ctx); !isBusy(err) {
			return err
		}
		last.Store(&err)
	}
	return cmp.Or(err, ctx.Err())
}

// refused says why a file cannot be opened.
func (s *Store) refused(err error) error {
	if _, absent := os.Stat(s.path); errors.Is(absent, fs.ErrNotExist) {
		err = fmt.Errorf("%w: create it with `idmint migrate` or package migrations", absent)
	}
	return fmt.Errorf("%s: %w", s.path, err)
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
	return nil
}

func (s *Store) version(ctx context.Context) (version int, err error) {
	var tables int
	err = s.writer.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'idmint_schema'`).Scan(&tables)
	if err == nil && tables == 1 {
		err = s.writer.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM idmint_schema`).Scan(&version)
	}
	return version, err
}

// Close closes the store's connections. It waits for the steps that are under way, as long as the
// disk takes. Where the log beside the file was removed or replaced, Close returns a [*FileError],
// and the connections stay open for as long as the process runs. Closing the last one, SQLite would
// write the pages of that log into the file, over what was restored there.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.steps.Wait()
	if s.forsaken() {
		return s.check()
	}
	return errors.Join(s.reader.Close(), s.writer.Close())
}

// StartLaunch implements launchlog.Store.
func (s *Store) StartLaunch(ctx context.Context, start launchlog.Start) (launchlog.Launch, error) {
	return write(ctx, s, func(ctx context.Context, tx *sql.Tx) (launch launchlog.Launch, err error) {
		last, err := lastLaunch(ctx, tx, start.Namespace)
		if err != nil {
			return launch, err
		}
		if err := rows.Behind(start, last); err != nil {
			return launch, err
		}
		launch, err = rows.ScanLaunch(tx.QueryRowContext(ctx, selectLaunch+` WHERE namespace = ? AND idempotency_key = ?`, start.Namespace, start.Key))
		if !errors.Is(err, sql.ErrNoRows) {
			return launch, err
		}
		var id int
		err = tx.QueryRowContext(ctx, `UPDATE idmint_namespace SET last_launch_id = last_launch_id + 1
			WHERE namespace = ? AND last_launch_id < ? RETURNING last_launch_id`, start.Namespace, launchlog.MaxLaunch).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return launch, launchlog.ErrLaunchesExhausted
		}
		if err != nil {
			return launch, err
		}
		if launch, err = insertLaunch(ctx, tx, id, start); err != nil {
			return launch, err
		}
		return launch, addEvent(ctx, tx, launchlog.Event{
			Namespace: start.Namespace, Launch: id, Kind: "started", Actor: start.Initiator,
		})
	})
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
func (s *Store) EndLaunch(
	ctx context.Context, ref launchlog.Ref, ending launchlog.Ending,
) (launchlog.Launch, error) {
	return write(ctx, s, func(ctx context.Context, tx *sql.Tx) (launchlog.Launch, error) {
		launch, err := oneLaunch(ctx, tx, ref)
		if err != nil || !launch.Running() {
			return launch, err
		}
		if err := end(ctx, tx, ref, ending); err != nil {
			return launch, err
		}
		return oneLaunch(ctx, tx, ref)
	})
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
func (s *Store) ClaimGenerator(ctx context.Context, take launchlog.Take) (launchlog.Claim, error) {
	return write(ctx, s, func(ctx context.Context, tx *sql.Tx) (launchlog.Claim, error) {
		byToken := tx.StmtContext(ctx, s.byToken)
		claim, err := rows.ScanClaim(byToken.QueryRowContext(ctx, take.Token))
		if !errors.Is(err, sql.ErrNoRows) {
			return claim, err
		}
		var number int
		err = tx.StmtContext(ctx, s.nextGenerator).QueryRowContext(ctx, take.Namespace, take.Launch, launchlog.MaxGenerators).Scan(&number)
		if errors.Is(err, sql.ErrNoRows) {
			launch, err := oneLaunch(ctx, tx, take.Ref)
			return claim, cmp.Or(err, rows.NoNumber(launch))
		}
		if err != nil {
			return claim, err
		}
		return rows.ScanClaim(tx.StmtContext(ctx, s.insertClaim).QueryRowContext(ctx,
			take.Namespace, take.Launch, number, take.Token, take.Host, take.PID))
	})
}

// AdvanceLaunches implements launchlog.Store.
func (s *Store) AdvanceLaunches(
	ctx context.Context, namespace string, last int, ending launchlog.Ending,
) (int, error) {
	return write(ctx, s, func(ctx context.Context, tx *sql.Tx) (now int, err error) {
		if now, err = lastLaunch(ctx, tx, namespace); err != nil || now > last {
			return now, err
		}
		found, err := tx.QueryContext(ctx, `SELECT launch_id FROM idmint_launch WHERE namespace = ? AND ended_at IS NULL ORDER BY launch_id`, namespace)
		running, err := rows.Collect(found, err, rows.ScanOne[int])
		if err != nil {
			return now, err
		}
		for _, id := range running {
			if err := end(ctx, tx, launchlog.Ref{Namespace: namespace, Launch: id}, ending); err != nil {
				return now, err
			}
		}
		if now == last {
			return now, nil
		}
		if _, err := tx.ExecContext(ctx, `UPDATE idmint_namespace SET last_launch_id = ? WHERE namespace = ?`, last, namespace); err != nil {
			return now, err
		}
		detail, err := rows.AdvancedDetail(now, last)
		if err != nil {
			return now, err
		}
		now = last
		return now, addEvent(ctx, tx, launchlog.Event{
			Namespace: namespace, Kind: "advanced", Actor: ending.Actor, Detail: detail,
		})
	})
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
