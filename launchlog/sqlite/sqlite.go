// Package sqlite is a launchlog.Store in a SQLite database file. It uses
// github.com/mattn/go-sqlite3, and is the embedded default for processes of one machine.
//
// The file must be on a local file system and have only one name: see [Check]. Every write is one
// IMMEDIATE transaction with a rollback journal and synchronous=EXTRA. When a call returns, what it
// acknowledges is on disk in the file itself. It survives a crash of the process or the machine,
// and the removal of any other file.
//
// # A separate file
//
// Keep the log in a separate file, such as launches.db, next to the file with the app's data. The
// app's file may then be in WAL mode, its transactions and reads do not delay the log's, and
// nothing else in the app has a reason to open the log's file.
//
// A log may share the app's file if that uses a rollback journal, which is SQLite's default. A file
// in WAL mode is rejected with a [FileError], even if it enters that mode while the log is open,
// because the numbers would be in PATH-wal and be lost with it. `PRAGMA journal_mode = DELETE` ends
// WAL mode.
//
// Within a process, open the log's file only through this driver. SQLite locks files, and the
// operating system drops all of a process's locks on a file as soon as the process closes it
// anywhere: in another SQLite library, or in os.ReadFile. Two processes could then write at once
// and lose acknowledged numbers, which the store cannot detect.
//
// # Files that are removed, copied or replaced
//
// A copy of the file contains everything that was acknowledged before the copying began, if nobody
// wrote in the meantime. To copy a log that is in use, call [Backup], or use `idmint backup` or
// SQLite's VACUUM INTO.
//
// During a write, SQLite keeps what it needs to undo the write in PATH-journal. If that file is
// removed meanwhile, the write continues, and a call whose commit notices the removal is ambiguous.
// Only if the process or the machine dies at the same moment does the write stay half done, which
// may damage the database. Never remove a PATH-journal that a crash has left, because the next
// process needs it to undo the write.
//
// If the file itself is removed or replaced while a store is open, the store's calls fail with a
// [FileError], and nothing is acknowledged. The store checks the file before a write, and again
// after its commit. An error of the second check says that the write may have been carried out.
// Once a call has seen the change, no other call succeeds, even if the file is moved back. Stop the
// processes that use a log before you restore it, and restart them afterwards: SQLite could undo a
// write with the journal of the previous file, and damage the restored one.
//
// The store does not notice two things. If the file is moved away and back between two calls of a
// store, the store may hand out numbers that another process took in the meantime. It also does not
// see data that is copied into an existing file. Copying while a process writes can damage the
// database.
//
// # Calls and disks
//
// A call ends with its context, even if the disk does not answer. If its commit had begun, the call
// is ambiguous and the commit may yet be carried out. A call with the same key or token settles it.
// Calls that wait for that commit have changed nothing. [Store.Close] waits until the disk has
// answered.
//
// # Transactions of the app
//
// SQLite has one writer at a time. Suppose that an app has written in a transaction on the log's
// own file, and then mints its first ID. The transaction waits for a number, and the log waits for
// the transaction's lock. The store cannot tell who holds the lock, so the call fails when its
// context or its budget ends, and the error says what to do: call the generator's Ready before the
// transaction begins. Ready takes the first number, and the generator asks for later ones ahead of
// time.
package sqlite

import (
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
	"github.com/idmint/idmint/internal/named"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/rows"
	"github.com/idmint/idmint/migrations"
)

// Mode selects what [DSN] does about a missing file.
type Mode string

// The modes.
const (
	Existing Mode = "rw"  // fail
	Create   Mode = "rwc" // create the file
)

// DSN returns the data source name for go-sqlite3 with the settings that a launch log needs. They
// also suit an app's other data: IMMEDIATE transactions, synchronous=EXTRA, and enforced foreign
// keys. The file keeps its journal mode. SQLite itself waits for a lock for 5 s, which is
// go-sqlite3's default, unless "&_busy_timeout=" and a number of milliseconds are appended.
func DSN(path string, mode Mode) string { return dialect.SQLiteDSN(path, string(mode), 0) }

// shortWait keeps SQLite's own waiting short, because that ignores the context. A [launchlog.Log]
// waits between attempts instead.
const shortWait = 25 * time.Millisecond

// Store keeps launch logs in a SQLite file. Create it with [Open].
type Store struct {
	rowSteps
	path string
	file os.FileInfo // of path; immutable
	gone atomic.Bool // whether the file was seen removed or replaced; never reset

	// writer has one connection, because SQLite has one writer. It is better for the steps of a
	// process to wait for this connection than for SQLite's lock.
	writer *sql.DB
	reader *sql.DB // for reads, which need no lock

	mu     sync.Mutex     // guards closed, and keeps steps from beginning while Close waits
	closed bool           // no more steps may begin
	steps  sync.WaitGroup // in progress, each in a goroutine
}

type rowSteps = rows.Steps

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log in the file path. The tables must have been created, either by
// migrations.Up on a database that was opened with DSN(path, Create), or by `idmint migrate`. Open
// waits up to 10 s for a lock, or for a disk that does not answer. The error is a [*FileError], or
// wraps a [*launchlog.SchemaError], the context's, or SQLite's, for example for a file that does
// not exist or is not a database. A read-only file can be read: the first write fails.
func Open(ctx context.Context, path string) (*Store, error) {
	return openAs(ctx, path, false)
}

// OpenOrCreate is [Open] for development, and for apps on a single machine: it creates the file and
// its tables if they are missing, and upgrades old tables. Several processes may call it at the
// same time. If the file was lost, OpenOrCreate creates a new one without an error, which hands out
// again the numbers that rows already have. In production, therefore, call Open after `idmint
// migrate`. Errors may also come from migrations.Up.
func OpenOrCreate(ctx context.Context, path string) (*Store, error) {
	if err := migrate(ctx, path); err != nil {
		return nil, failed(path, err)
	}
	return Open(ctx, path)
}

func migrate(ctx context.Context, path string) error {
	if err := Check(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", dialect.SQLiteDSN(path, string(Create), shortWait))
	if err != nil {
		return err
	}
	_, _, err = migrations.Up(ctx, db, migrations.SQLite)
	return errors.Join(err, db.Close())
}

// OpenReader opens the launch log in the file path for reading, also in WAL mode. SQLite rejects
// every write. See [Open] for the rest.
func OpenReader(ctx context.Context, path string) (*Store, error) {
	return openAs(ctx, path, true)
}

// readers is how many reads run at once. A read that the disk does not answer keeps its connection
// and a thread, even after its caller has given up. Without a limit, an app that asks again and
// again would add one of each per call. Other reads wait for a connection until their contexts end.
const readers = 4

func openAs(ctx context.Context, path string, reading bool) (*Store, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(path) // the process may change its working directory
	if err != nil {
		return nil, failed(path, err)
	}
	s := &Store{path: absolute}
	if s.file, err = os.Stat(absolute); err != nil {
		return nil, failed(absolute, s.refused(err))
	}
	dsn := dialect.SQLiteDSN(absolute, string(Existing), shortWait)
	if reading {
		dsn = dialect.SQLiteReaderDSN(absolute, shortWait)
	}
	if s.writer, err = sql.Open("sqlite3", dsn); err != nil {
		return nil, failed(absolute, err)
	}
	s.writer.SetMaxOpenConns(1)
	if s.reader, err = sql.Open("sqlite3", dsn); err != nil {
		return nil, failed(absolute, err)
	}
	s.reader.SetMaxOpenConns(readers)
	err = rows.Await(ctx, 10*time.Second, func(ctx context.Context) (int, error) {
		return s.find(ctx, reading)
	})
	if err != nil {
		go s.Close() // as soon as the disk answers
		return nil, failed(absolute, s.refused(err))
	}
	return s, nil
}

// find prepares the store, and returns the version of its tables. It gives up when its context
// ends, even if the disk does not answer.
func (s *Store) find(ctx context.Context, reading bool) (int, error) {
	select {
	case r := <-run(s, func() (int, error) { return s.prepare(ctx, reading) }):
		if isBusy(r.err) {
			r.err = &launchlog.AttemptError{Err: r.err}
		}
		return r.value, r.err
	case <-ctx.Done():
		return 0, fmt.Errorf("the disk has not answered: %w", ctx.Err())
	}
}

// refused explains why a file cannot be opened.
func (s *Store) refused(err error) error {
	if _, absent := os.Stat(s.path); errors.Is(absent, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", absent, named.Bare(&launchlog.SchemaError{}))
	}
	return err
}

func (s *Store) prepare(ctx context.Context, reading bool) (have int, err error) {
	have, err = s.version(ctx)
	if err == nil && !reading {
		err = s.checkJournal(ctx, s.writer)
	}
	if err != nil || !rows.Fits(have) {
		return have, err
	}
	word, err := rows.ScanOne[string](s.writer.QueryRowContext(ctx, rows.Word))
	s.rowSteps = rows.NewSteps(words, word, s.write, s.read, s.write)
	return have, err
}

// words are the Words of SQLite, which stores times as text.
var words = rows.Words{
	Time: `$`, Now: `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`, Is: `IS`, Greatest: `max`,
	Look: `INSERT INTO idmint_order (namespace, service, value, looks) VALUES (?, ?, ?, 1)
		ON CONFLICT DO UPDATE SET value = max(value, excluded.value), looks = looks + 1,
			updated_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`,
}

func (s *Store) version(ctx context.Context) (version int, err error) {
	var tables int
	err = s.writer.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema
		WHERE type = 'table' AND name = 'idmint_schema'`).Scan(&tables)
	if err == nil && tables == 1 {
		err = s.writer.QueryRowContext(ctx, rows.Version).Scan(&version)
	}
	return version, err
}

// Close closes the store's connections. It waits for steps in progress, however long the disk
// takes.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.steps.Wait()
	return failed(s.path, errors.Join(s.reader.Close(), s.writer.Close()))
}
