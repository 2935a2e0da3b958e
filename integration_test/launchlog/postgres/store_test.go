package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/launchlog/serversuite"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

var suite = serversuite.Server[*postgres.Store]{
	Kind: databases.Postgres, Dialect: migrations.Postgres, Open: postgres.Open,
	OnlyReads: "default_transaction_read_only=on",
	InDoubt:   true,
	Kill: func(db *sql.DB, _ int) (ended int, err error) {
		err = db.QueryRow(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()
			AND random() < 0.3`).Scan(&ended)
		return ended, err
	},
	Trip: func(table string) (create, drop string) {
		return `CREATE OR REPLACE FUNCTION trip() RETURNS trigger LANGUAGE plpgsql
				AS $$ BEGIN RAISE EXCEPTION 'tripped'; END $$;
			CREATE TRIGGER trip BEFORE INSERT ON ` + table +
			` FOR EACH ROW EXECUTE FUNCTION trip()`, "DROP TRIGGER trip ON " + table
	},
	Refused: []string{
		"TRUNCATE idmint_namespace CASCADE", "TRUNCATE idmint_launch CASCADE",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'c', 0) " +
			"ON CONFLICT (namespace, name) DO UPDATE SET value = 0",
		"INSERT INTO idmint_launch_event (event_id, namespace, kind, actor) " +
			"VALUES (1, 'default', 'x', 'y')",
		"UPDATE idmint_launch SET data = '{'",
	},
	Refuses: func(err error) bool {
		var refused *pgconn.PgError
		return errors.As(err, &refused) &&
			(strings.HasPrefix(refused.Code, "2") || refused.Code == "428C9")
	},
	Unopened: func(t *testing.T, d dsn.DSN) [][3]string {
		return [][3]string{
			{
				"another schema", serversuite.With(t, d, "search_path=pg_temp").Source(),
				"create it with `idmint migrate`",
			},
			{"no database", d.WithDatabase("none").Source(), `database "none" does not exist`},
			{"not a DSN", "postgres://me:secret@[bad", "cannot parse"},
		}
	},
}

func TestMain(m *testing.M) { suite.Main(m) }

func TestServer(t *testing.T) { suite.Run(t) }

// The newest server does what the others do.
func TestPostgres18(t *testing.T) {
	newest := suite
	newest.Kind = databases.Postgres18
	newest.Suite(t)
}
