package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/migrations"
)

func newStore(t *testing.T) (*Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.db")
	db, err := sql.Open("sqlite3", DSN(path, Create))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, _, err := migrations.Up(context.Background(), db, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	s, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, path
}

// The settings that what was acknowledged survives by, on the store's own connections.
func TestSettings(t *testing.T) {
	s, _ := newStore(t)
	for _, db := range []*sql.DB{s.writer, s.reader} {
		for pragma, want := range map[string]string{
			"journal_mode": "delete", "synchronous": "3", "foreign_keys": "1", "busy_timeout": "25",
		} {
			var got string
			if err := db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %s, %v; want %s", pragma, got, err, want)
			}
		}
	}
}

func TestNetworkFileSystem(t *testing.T) {
	_, path := newStore(t)
	before := statfs
	defer func() { statfs = before }()
	statfs = func(p string, st *unix.Statfs_t) error {
		st.Type = unix.NFS_SUPER_MAGIC
		return nil
	}
	var e *FileError
	if _, err := Open(context.Background(), path); !errors.As(err, &e) {
		t.Errorf("got %v, want a FileError", err)
	}
	to := filepath.Join(t.TempDir(), "backup.db")
	if err := Backup(context.Background(), path, to); !errors.As(err, &e) {
		t.Errorf("got %v, want a FileError", err)
	}
	// A copy may lie there, since nobody else has it open.
	statfs = func(p string, st *unix.Statfs_t) error {
		if err := before(p, st); err != nil || !strings.HasPrefix(p, filepath.Dir(to)) {
			return err
		}
		st.Type = unix.NFS_SUPER_MAGIC
		return nil
	}
	if err := Backup(context.Background(), path, to); err != nil {
		t.Error(err)
	}
	if err := Check(to); !errors.As(err, &e) {
		t.Errorf("got %v: the test shows nothing", err)
	}
}

func TestClassify(t *testing.T) {
	s := &Store{path: "x.db"}
	for _, test := range []struct {
		code             sqlite3.ErrNo
		commit           bool
		again, ambiguous bool
	}{
		{sqlite3.ErrBusy, false, true, false},
		{sqlite3.ErrBusy, true, true, false},
		{sqlite3.ErrLocked, false, true, false},
		{sqlite3.ErrProtocol, false, true, false},
		{sqlite3.ErrIoErr, true, true, true},
		{sqlite3.ErrIoErr, false, false, false},
		{sqlite3.ErrFull, true, false, false},
		{sqlite3.ErrConstraint, false, false, false},
	} {
		err := s.classify(sqlite3.Error{Code: test.code}, test.commit)
		var a *launchlog.AttemptError
		again := errors.As(err, &a)
		if again != test.again || again && a.Ambiguous != test.ambiguous {
			t.Errorf("%v, at commit %v: %+v", test.code, test.commit, err)
		}
	}
}

// Open waits for a process that keeps the file for itself, and no longer than its context.
func TestOpenWaits(t *testing.T) {
	s, path := newStore(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	holder, err := sql.Open("sqlite3", DSN(path, Existing))
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	holder.SetMaxOpenConns(1)
	if _, err := holder.Exec("PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE held (x)"); err != nil {
		t.Fatal(err)
	}
	for patience := 50 * time.Millisecond; ; patience *= 2 { // a busy machine finds out late
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		_, err := Open(ctx, path)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want the context's error", err)
		}
		if isBusy(err) {
			break
		}
	}
	if err := holder.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
