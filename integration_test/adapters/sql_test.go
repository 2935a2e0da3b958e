package adapters_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

// A sqlDatabase is an empty database of one dialect, by its driver of database/sql.
type sqlDatabase struct {
	Dialect sqlid.Dialect
	DB      *sql.DB
	End     string // of CREATE TABLE
}

// sqlInMemory is a database of SQLite.
func sqlInMemory(t *testing.T) sqlDatabase {
	db := dbtest.OpenSource(t, "sqlite3", ":memory:")
	db.SetMaxOpenConns(1) // another connection would be another database
	return sqlDatabase{sqlid.SQLite, db, " WITHOUT ROWID"}
}

func TestSQLColumns(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { testSQLColumns(t, sqlInMemory(t)) })
	for kind, dialect := range map[databases.Kind]sqlid.Dialect{
		databases.Postgres: sqlid.Postgres,
		databases.MariaDB:  sqlid.MariaDB,
	} {
		t.Run(string(kind), func(t *testing.T) {
			testSQLColumns(t, sqlDatabase{dialect, dbtest.Open(t, dbtest.New(t, kind)), ""})
		})
	}
}

// Every driver, in every way in which it talks to its server.
func TestSQLDrivers(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { testSQLDriver(t, sqlInMemory(t)) })
	for name, interpolate := range map[string]bool{
		"go-sql-driver in binary": false,
		"go-sql-driver in text":   true,
	} {
		t.Run(name, func(t *testing.T) {
			config, err := mysql.ParseDSN(dbtest.New(t, databases.MariaDB).Source())
			try(t, err)
			config.InterpolateParams = interpolate
			connector, err := mysql.NewConnector(config)
			try(t, err)
			db := sql.OpenDB(connector)
			t.Cleanup(func() { db.Close() })
			testSQLDriver(t, sqlDatabase{sqlid.MariaDB, db, ""})
		})
	}
	t.Run("pgx", func(t *testing.T) {
		source := dbtest.New(t, databases.Postgres).Source()
		for _, mode := range apart {
			for name, afterConnect := range map[string]func(context.Context, *pgx.Conn) error{
				"alone":      func(context.Context, *pgx.Conn) error { return nil },
				"with pgxid": pgxid.AfterConnect,
			} {
				t.Run(mode.String()+" "+name, func(t *testing.T) {
					config, err := pgx.ParseConfig(source)
					try(t, err)
					config.DefaultQueryExecMode = mode
					// which takes most of the time
					config.RuntimeParams["synchronous_commit"] = "off"
					db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(afterConnect))
					t.Cleanup(func() { db.Close() })
					testSQLDriver(t, sqlDatabase{sqlid.Postgres, db, ""})
				})
			}
		}
	})
}

// parameter is the i-th parameter of a statement, from 1 on.
func (s sqlDatabase) parameter(i int) string {
	if s.Dialect == sqlid.Postgres {
		return fmt.Sprintf("$%d", i)
	}
	return "?"
}

func (s sqlDatabase) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := s.DB.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// tableOfTest is a table's name for a subtest of one type of IDs. Drivers keep the statements that
// they prepared, with the types that a table of the same name had.
func tableOfTest(t *testing.T) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, t.Name()[strings.LastIndex(t.Name(), "/")+1:])
}
