package gormid_test

import (
	"path/filepath"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/idmint/idmint/internal/gormsuite"
)

var inSQLite = gormsuite.Database{
	Kind: gormsuite.SQLite,
	New: func(t testing.TB) (schema, source string) {
		file := filepath.Join(t.TempDir(), "test.db")
		return "main", "file:" + file +
			"?_foreign_keys=on&_journal_mode=WAL&_synchronous=OFF&_busy_timeout=20000"
	},
	Open: sqlite.Open,
	Over: func(pool gorm.ConnPool) gorm.Dialector { return sqlite.New(sqlite.Config{Conn: pool}) },
}

func TestSQLite(t *testing.T) { gormsuite.Run(t, inSQLite) }
