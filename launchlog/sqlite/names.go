package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
)

// files are the files of a database: its own, its write-ahead log, and the index of that log, which
// holds the locks. Those that are not there are nil.
//
// They are only ever looked at. Whoever opens and closes one of them drops the locks that SQLite
// has on it for this process.
type files [3]os.FileInfo

// opened are the files that the writer's connection has open, or had until it was closed.
type opened struct {
	files
	alone bool // it was closed as the last one, and SQLite has removed the log and its index with it
}

// readers is how many reads run at once. A read that the disk does not answer keeps its connection
// and a thread, even when its caller has given up. Without a limit, an app that asks again and
// again would add one of each per call. The others wait for a connection until their contexts end.
const readers = 4

// unopened makes a store that has no connection yet. It follows a symbolic link once, as SQLite does.
// The other two files are named after the one that it finds. So is the argument of dsn.
func unopened(path string, dsn func(path string) string) *Store {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	s := &Store{path: path, names: [3]string{path, real + "-wal", real + "-shm"}}
	s.newSteps()
	s.writer = sql.OpenDB(connector{s, dsn(real), true})
	s.writer.SetMaxOpenConns(1)
	s.reader = sql.OpenDB(connector{s, dsn(real), false})
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
	before := c.s.opened.Load() // of a connection that was closed: the files are the same
	if before == nil {
		before = &opened{files: c.s.look(), alone: true}
	}
	made, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	conn := made.(*sqlite3.SQLiteConn)
	if err := c.s.note(conn, before); err != nil {
		conn.Close()
		return nil, err
	}
	return writerConn{conn, c.s}, nil
}

// A writerConn is the writer's connection, whose files are looked at as long as it is open.
type writerConn struct {
	*sqlite3.SQLiteConn
	s *Store
}

// Close notes whether the other files stay, as they do while a reader's connection has them open.
// The next connection then shares their locks with that one, and must not find other files.
func (c writerConn) Close() error {
	alone := c.s.reader.Stats().OpenConnections == 0
	c.s.opened.Store(&opened{files: c.s.opened.Load().files, alone: alone})
	return c.SQLiteConn.Close()
}

func (s *Store) note(conn *sqlite3.SQLiteConn, before *opened) error {
	if _, err := conn.Exec("SELECT 1 FROM sqlite_schema", nil); err != nil {
		return err
	}
	now := s.look()
	if i := before.differ(now); i >= 0 && before.files[i] != nil {
		return s.lose(s.names[i])
	}
	s.opened.Store(&opened{files: now})
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
// removed or replaced, as by a restore. Others do not see what is written to it, and their locks
// are in other files.
//
// What was seen once counts for good. Files that come back to their names lack what others wrote in
// the meantime.
func (s *Store) check() error {
	for {
		if gone := s.gone.Load(); gone != nil {
			return gone
		}
		opened, now := s.opened.Load(), s.look()
		i := opened.differ(now)
		if i < 0 {
			return nil
		}
		if s.opened.Load() == opened { // no connection was closed or opened while it looked
			return s.lose(s.names[i])
		}
	}
}

// differ returns the index of the first name that stands for another file than it did, or -1.
func (o *opened) differ(now files) int {
	for i, was := range o.files {
		if o.alone && i > 0 {
			break
		}
		if (was != nil || now[i] != nil) && !os.SameFile(was, now[i]) {
			return i
		}
	}
	return -1
}

// forsaken reports whether the file has its name, and what SQLite keeps beside it has not.
func (s *Store) forsaken() bool {
	opened := s.opened.Load()
	return opened != nil && os.SameFile(opened.files[0], s.look()[0]) && s.check() != nil
}

// lose has the store refuse everything from now on, and returns the reason.
func (s *Store) lose(name string) error {
	s.gone.CompareAndSwap(nil, &FileError{
		name, "was removed or replaced while the launch log was open: after a restore " +
			"advance launches and counters; then start the processes that use it anew",
	})
	return s.gone.Load()
}
