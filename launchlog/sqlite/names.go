package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
)

// files are those of a database: its own, its write-ahead log, and the index of that, which holds
// the locks. Those that are not there are nil.
//
// They are only ever looked at. Whoever opens and closes one of them drops the locks that SQLite
// has on it for this process.
type files [3]os.FileInfo

// readers is how many reads run at once. A read that the disk does not answer keeps its connection
// and a thread, even when its caller has given up. Without a limit, an app that asks again and
// again would add one of each per call. The others wait for a connection until their contexts end.
const readers = 4

// unopened makes a store that has no connection yet. A symbolic link is followed once, as SQLite
// does: it names the other two after the file that it finds.
func unopened(path string) *Store {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	s := &Store{path: path, names: [3]string{path, real + "-wal", real + "-shm"}}
	s.writer = sql.OpenDB(connector{s, DSN(real, Existing) + shortWait, true})
	s.writer.SetMaxOpenConns(1)
	s.reader = sql.OpenDB(connector{s, DSN(real, Existing) + shortWait, false})
	s.reader.SetMaxOpenConns(readers)
	return s
}

// A connector opens a store's connections.
type connector struct {
	s      *Store
	dsn    string
	writer bool
}

func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

// Connect notes what files the writer writes to. SQLite has opened all of them when it has read
// anything. From then on they keep their names: SQLite removes the log and its index only when
// nobody has them open.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	if !c.writer {
		return c.Driver().Open(c.dsn)
	}
	before := c.s.look()
	if first := c.s.files.Load(); first != nil { // of a connection before: the file is the same
		before[0] = first[0]
	}
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	if err := c.s.note(conn.(*sqlite3.SQLiteConn), before[0]); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (s *Store) note(conn *sqlite3.SQLiteConn, main os.FileInfo) error {
	if _, err := conn.Exec("SELECT 1 FROM sqlite_schema", nil); err != nil {
		return err
	}
	now := s.look()
	if main != nil && !os.SameFile(main, now[0]) {
		return moved(s.names[0])
	}
	if err := s.checkOpen(now); err != nil {
		return err
	}
	s.files.Store(&now)
	return nil
}

// look says what the names stand for.
func (s *Store) look() (now files) {
	for i, name := range s.names {
		if info, err := os.Stat(name); err == nil {
			now[i] = info
		}
	}
	return now
}

// check says whether the files of the writer's connection still have their names. One may have been
// removed or replaced, as by a restore. Others do not see what is written to it, and their locks are
// in other files.
func (s *Store) check() error {
	opened, now := s.files.Load(), s.look()
	for i, name := range s.names {
		if (opened[i] != nil || now[i] != nil) && !os.SameFile(opened[i], now[i]) {
			return moved(name)
		}
	}
	return nil
}

// forsaken reports whether the file has its name, and what SQLite keeps beside it has not.
func (s *Store) forsaken() bool {
	opened := s.files.Load()
	return opened != nil && os.SameFile(opened[0], s.look()[0]) && s.check() != nil
}

func moved(name string) error {
	return &FileError{name, "was removed or replaced while the launch log was open: " +
		"after a restore advance launches and counters; then start the processes that use it anew"}
}
