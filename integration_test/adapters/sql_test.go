package adapters_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/sqlsuite"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

func TestSQLServerColumns(t *testing.T) {
	t.Parallel()
	for kind, dialect := range map[databases.Kind]sqlid.Dialect{
		databases.Postgres: sqlid.Postgres,
		databases.MariaDB:  sqlid.MariaDB,
	} {
		t.Run(string(kind), func(t *testing.T) {
			db := dbtest.Open(t, dbtest.New(t, kind))
			sqlsuite.Columns(t, sqlsuite.Database{Dialect: dialect, DB: db})
		})
	}
}

// Every driver, in every way in which it talks to its server.
func TestSQLServerDrivers(t *testing.T) {
	t.Parallel()
	for name, interpolate := range map[string]bool{
		"go-sql-driver in binary": false,
		"go-sql-driver in text":   true,
	} {
		t.Run(name, func(t *testing.T) {
			config, err := mysql.ParseDSN(dbtest.New(t, databases.MariaDB).Source())
			if err != nil {
				t.Fatal(err)
			}
			config.InterpolateParams = interpolate
			connector, err := mysql.NewConnector(config)
			if err != nil {
				t.Fatal(err)
			}
			db := sql.OpenDB(connector)
			t.Cleanup(func() { db.Close() })
			sqlsuite.Driver(t, sqlsuite.Database{Dialect: sqlid.MariaDB, DB: db})
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
					if err != nil {
						t.Fatal(err)
					}
					config.DefaultQueryExecMode = mode
					// which takes most of the time
					config.RuntimeParams["synchronous_commit"] = "off"
					db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(afterConnect))
					t.Cleanup(func() { db.Close() })
					sqlsuite.Driver(t, sqlsuite.Database{Dialect: sqlid.Postgres, DB: db})
				})
			}
		}
	})
}
