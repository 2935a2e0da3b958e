package stores_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/migrations"
)

// sqliteFiles are no server. Its package has the tests of what is SQLite's alone.
var sqliteFiles = server{
	kind: "SQLite", dialect: migrations.SQLite,
	trip: func(table string) (create, drop string) {
		return "CREATE TRIGGER trip BEFORE INSERT ON " + table +
			" BEGIN SELECT RAISE(ABORT, 'tripped'); END", "DROP TRIGGER trip"
	},
	refused: []string{
		"UPDATE OR REPLACE idmint_launch SET next_generator_id = NULL", // 0 by its default
		"UPDATE OR REPLACE idmint_namespace SET last_launch_id = NULL",
		"REPLACE INTO idmint_namespace (namespace, last_launch_id) VALUES ('default', 0)",
		replaceLaunch + "('default', 1, 'new', '', '', '', '', '')",
		replaceLaunch + "('default', 3, '1', '', '', '', '', '')",
		"REPLACE INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid) " +
			"VALUES ('default', 1, 0, 'x', 'h', 1)",
		"REPLACE INTO idmint_generator (namespace, launch_id, generator_id, token, host, pid) " +
			"SELECT 'default', 1, 7, token, 'h', 1 FROM idmint_generator",
		"REPLACE INTO idmint_launch_event (event_id, namespace, kind, actor) " +
			"VALUES (1, 'default', 'x', 'y')",
		"UPDATE OR REPLACE idmint_counter SET value = NULL",
		"UPDATE OR IGNORE idmint_counter SET value = 9",
		"REPLACE INTO idmint_counter (namespace, name, value) VALUES ('default', 'c', 0)",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'c', 0) " +
			"ON CONFLICT DO UPDATE SET value = 0",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'd', 1.5)",
	},
	refuses: func(err error) bool {
		var refused sqlite3.Error
		return errors.As(err, &refused) && refused.Code == sqlite3.ErrConstraint
	},
	objects: `SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema
		WHERE name NOT LIKE 'sqlite_%'`,
}

// fresh is a database without tables.
func (s server) fresh(t testing.TB) dsn.DSN {
	t.Helper()
	if s.dialect != migrations.SQLite {
		return dbtest.New(t, s.kind)
	}
	d, err := dsn.Parse("sqlite:" + filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
