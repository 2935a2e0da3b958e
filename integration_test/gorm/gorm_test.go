package gorm_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"gorm.io/driver/clickhouse"
	"gorm.io/driver/mysql"
	"gorm.io/driver/postgres"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
)

// inSQLite is a database in a file of the test's own.
var inSQLite = database{
	Kind: SQLite,
	New: func(t testing.TB) (schema, source string) {
		file := filepath.Join(t.TempDir(), "test.db")
		return "main", "file:" + file +
			"?_foreign_keys=on&_journal_mode=WAL&_synchronous=OFF&_busy_timeout=600000"
	},
	Open: sqlite.Open,
	Over: func(pool gorm.ConnPool) gorm.Dialector { return sqlite.New(sqlite.Config{Conn: pool}) },
}

// inPostgres is a database of the test's own; simple is the simple protocol, for poolers.
func inPostgres(t testing.TB, simple bool) database {
	server, _, source := newDatabase(t, databases.Postgres)
	return database{
		Kind: Postgres,
		New: func(t testing.TB) (string, string) {
			schema := newSchema(t, server, "SCHEMA", " CASCADE")
			return schema, source + "&search_path=" + schema
		},
		Open: func(source string) gorm.Dialector {
			return postgres.New(postgres.Config{DSN: source, PreferSimpleProtocol: simple})
		},
		Over: func(pool gorm.ConnPool) gorm.Dialector {
			return postgres.New(postgres.Config{Conn: pool})
		},
	}
}

// inMariaDB is a database of the test's own; plain is one without RETURNING, as MySQL is.
func inMariaDB(t testing.TB, plain bool) database {
	server, name, source := newDatabase(t, databases.MariaDB)
	return database{
		Kind:  MariaDB,
		Plain: plain,
		New: func(t testing.TB) (string, string) {
			schema := newSchema(t, server, "DATABASE", "")
			return schema, strings.Replace(source, "/"+name, "/"+schema, 1) + "?parseTime=true"
		},
		Open: func(source string) gorm.Dialector {
			return mysql.New(mysql.Config{DSN: source, DisableWithReturning: plain})
		},
		Over: func(pool gorm.ConnPool) gorm.Dialector {
			return mysql.New(mysql.Config{Conn: pool, DisableWithReturning: plain})
		},
	}
}

func inClickHouse(t testing.TB) database {
	server, name, source := newDatabase(t, databases.ClickHouse)
	return database{
		Kind: ClickHouse,
		New: func(t testing.TB) (string, string) {
			schema := newSchema(t, server, "DATABASE", "")
			return schema, strings.Replace(source, "/"+name, "/"+schema, 1)
		},
		Open: clickhouse.Open,
	}
}

// newDatabase makes a database for the test on the shared server.
func newDatabase(t testing.TB, kind databases.Kind) (server *sql.DB, name, source string) {
	t.Helper()
	d := dbtest.New(t, kind)
	return dbtest.Open(t, d), d.Database(), d.Source()
}

// newSchema makes a schema, in the server's word for it, until the test ends.
func newSchema(t testing.TB, server *sql.DB, word, drop string) string {
	t.Helper()
	schema := "s" + strings.ToLower(rand.Text())
	exec := func(query string) {
		if _, err := server.ExecContext(context.Background(), query); err != nil {
			t.Error(err)
		}
	}
	exec("CREATE " + word + " " + schema)
	t.Cleanup(func() { exec("DROP " + word + " " + schema + drop) })
	return schema
}
