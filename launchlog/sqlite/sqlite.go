// Package sqlite is a launchlog.Store in a SQLite database file, by github.com/mattn/go-sqlite3:
// the embedded default, for processes of one machine.
//
// The file must lie on a local file system and have one name: see [Check]. Every write is one
// IMMEDIATE transaction with a rollback journal and synchronous=EXTRA. When a call returns, what it
// acknowledges is on disk in the file itself. It survives a crash of the process and of the
// machine, and the removal of any other file.
//
// # A file of its own
//
// Keep the log in a file of its own, such as launches.db, beside the one that has the app's data.
// Then the app's file may be in WAL mode, its transactions and reads do not hold up the log's, and
// nothing else in the app has a reason to open the log's file.
//
// A log may share the app's file if that has a rollback journal, which is SQLite's default. A file
// in WAL mode is refused with a [FileError], also if it gets that mode while the log is open: the
// numbers would be in PATH-wal, and be lost with it. `PRAGMA journal_mode = DELETE` ends WAL mode.
//
// Within a process, open the log's file by this driver alone. SQLite locks files, and the system
// drops a process's locks on a file as soon as the process closes it anywhere: in another SQLite
// library, or in os.ReadFile. Then two processes write at once, what was acknowledged is lost, and
// the store cannot notice.
//
// # Files that are removed, copied or replaced
//
// A copy of the file holds all that was acknowledged before the copying began, if nobody wrote
// meanwhile. [Backup], `idmint backup` and SQLite's VACUUM INTO copy a log that is in use.
//
// While a write is under way, SQLite keeps what it needs to undo it in PATH-journal. If that is
// removed meanwhile, the write goes on, and a call whose commit notices it is ambiguous. Only if
// the process or the machine dies in the same moment, what was half written stays so, and the
// database may be broken. A PATH-journal that was left by a crash must stay: the next process
// undoes by it.
//
// If the file itself is removed or replaced while a store is open, the store's calls fail with a
// [FileError], and nothing is acknowledged. The store looks before a write, and once more after its
// commit. An error of the second look says that the write may have been carried out. After the
// first call that sees it, no other succeeds, even if the file is moved back. Stop the processes
// that use a log before it is restored, and start them again after: SQLite may undo a write by the
// journal of the file that was there before, and break the restored one.
//
// The store does not notice two things. If the file is moved away and back between two calls of a
// store, it may give out what another process took in the meantime. And nobody sees what is copied
// into a file that stays in its place. To do so while a process writes can break the database.
//
// # Calls and disks
//
// A call ends with its context, even where the disk does not answer. If its commit was under way by
// then, it is ambiguous and may yet be carried out: the same key or token settles it. Calls that
// wait for that commit have changed nothing. [Store.Close] waits until the disk has answered.
//
// # Transactions of the app
//
// SQLite has one writer at a time. Suppose that an app has written in a transaction on the log's
// own file, and then mints its first ID. The transaction waits for a number, and the log waits for
// the transaction's lock. The store cannot tell whose lock it is, so the call fails when its
// context or its budget ends, and the error says what to do: call the generator's Ready before the
// transaction begins. Ready takes the first number. A generator asks for later ones ahead of time.
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

// Mode says what [DSN] does about a file that is not there.
type Mode string

// The modes.
const (
	Existing Mode = "rw"  // an error
	Create   Mode = "rwc" // make it
)

// DSN returns the data source name for go-sqlite3 with the settings that a launch log needs. They
// suit an app's other data as well: IMMEDIATE transactions, synchronous=EXTRA, and foreign keys
// that are checked. The file keeps its journal mode. SQLite itself waits for a lock as long as
// go-sqlite3's default says, 5 s, unless "&_busy_timeout=" and milliseconds are added.
func DSN(path string, mode Mode) string { return dialect.SQLiteDSN(path, string(mode), 0) }

// shortWait keeps the waiting out of SQLite, where it obeys no context: a [launchlog.Log] waits
// between attempts.
const shortWait = 25 * time.Millisecond

// Store keeps launch logs in a SQLite file. Make it with [Open].
type Store struct {
	rowSteps
	path string
	file os.FileInfo // what path names; immutable
	gone atomic.Bool // it was seen to be removed or replaced: for good

	// writer has one connection, since SQLite has one writer. Steps of the process better wait for
	// it here than in SQLite's lock.
	writer *sql.DB
	reader *sql.DB // for what needs no lock

	mu     sync.Mutex     // guards closed, and steps against being waited for while one begins
	closed bool           // no step begins any more
	steps  sync.WaitGroup // that are under way, each in a goroutine
}

type rowSteps = rows.Steps

var _ launchlog.Store = (*Store)(nil)

// Open opens the launch log in the file path. Its tables are made before, by migrations.Up on a
// database that was opened with DSN(path, Create), or by `idmint migrate`. It waits up to 10 s for a lock, or for a disk
// that does not answer. Errors are a [*FileError], or wrap a [*launchlog.SchemaError], the
// context's, or SQLite's, for a file that is not there or not a database. A file that is not to be
// written can be read: its first write fails.
func Open(ctx context.Context, path string) (*Store, error) {
	return openAs(ctx, path, false)
}

// OpenOrCreate is [Open] for development, and for apps of a single machine: it makes the file and its
// tables if they are missing, and upgrades old ones. Processes may call it at the same time. A file
// that was lost is made anew without an error, and gives out the numbers again that rows have
// already. So in production call Open, after `idmint migrate`. Errors are those of migrations.Up as
// well.
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

// OpenReader opens the launch log in the file path to be read, also in WAL mode. SQLite refuses
// each write. See [Open] for the rest.
func OpenReader(ctx context.Context, path string) (*Store, error) {
	return openAs(ctx, path, true)
}

// readers is how many reads run at once. A read that the disk does not answer keeps its connection
// and a thread, even when its caller has given up. Without a limit, an app that asks again and
// again would add one of each per call. The others wait for a connection until their contexts end.
const readers = 4

func openAs(ctx context.Context, path string, reading bool) (*Store, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(path) // the process may change its folder
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

// find prepares the store, and returns the version of its tables. It gives up with its context, also
// where the disk does not answer.
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

// refused says why a file cannot be opened.
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

// words are those of SQLite. Times are stored as text.
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

// Close closes the store's connections. It waits for the steps that are under way, as long as the
// disk takes.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.steps.Wait()
	return failed(s.path, errors.Join(s.reader.Close(), s.writer.Close()))
}
