package gormsuite

import (
	"path/filepath"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
)

// InSQLite is a database in a file of the test's own.
var InSQLite = Database{
	Kind: SQLite,
	New: func(t testing.TB) (schema, source string) {
		file := filepath.Join(t.TempDir(), "test.db")
		return "main", "file:" + file +
			"?_foreign_keys=on&_journal_mode=WAL&_synchronous=OFF&_busy_timeout=600000"
	},
	Open: sqlite.Open,
	Over: func(pool gorm.ConnPool) gorm.Dialector { return sqlite.New(sqlite.Config{Conn: pool}) },
}
