package stores_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/migrations"
)

// openers open the launch logs of SQL databases.
var openers = map[dsn.Kind]opener{
	dsn.Postgres: func(ctx context.Context, source string) (store, error) {
		return postgres.Open(ctx, source)
	},
	dsn.MySQL: func(ctx context.Context, source string) (store, error) {
		return mysql.Open(ctx, source)
	},
	dsn.SQLite: func(ctx context.Context, source string) (store, error) {
		return sqlite.Open(ctx, source)
	},
}

var postgresServer = server{
	kind: databases.Postgres, dialect: migrations.Postgres,
	onlyReads: "default_transaction_read_only=on",
	inDoubt:   true,
	locks:     "SELECT 1 FROM idmint_launch, idmint_namespace FOR UPDATE",
	calls: `SELECT pid FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock'`,
	trip: func(table string) (create, drop string) {
		return `CREATE OR REPLACE FUNCTION trip() RETURNS trigger LANGUAGE plpgsql
				AS $$ BEGIN RAISE EXCEPTION 'tripped'; END $$;
			CREATE TRIGGER trip BEFORE INSERT ON ` + table +
			` FOR EACH ROW EXECUTE FUNCTION trip()`, "DROP TRIGGER trip ON " + table
	},
	refused: []string{
		"TRUNCATE idmint_namespace CASCADE", "TRUNCATE idmint_launch CASCADE",
		"INSERT INTO idmint_counter (namespace, name, value) VALUES ('default', 'c', 0) " +
			"ON CONFLICT (namespace, name) DO UPDATE SET value = 0",
		"INSERT INTO idmint_launch_event (event_id, namespace, kind, actor) " +
			"VALUES (1, 'default', 'x', 'y')",
		"UPDATE idmint_launch SET data = '{'",
	},
	refuses: func(err error) bool {
		var refused *pgconn.PgError
		return errors.As(err, &refused) &&
			(strings.HasPrefix(refused.Code, "2") || refused.Code == "428C9")
	},
	unopened: func(_ *testing.T, d dsn.DSN) [][3]string {
		return [][3]string{
			{"no database", d.WithDatabase("none").Source(), `database "none" does not exist`},
			{"not a DSN", "postgres://me:secret@[bad", "cannot parse"},
		}
	},
	objects: objectsOfPostgres,
}

// The newest server takes every step.
func TestPostgres18(t *testing.T) {
	t.Parallel()
	newest := postgresServer
	newest.kind = databases.Postgres18
	tour(t, open(t, newest.database(t)), "a", 1)
	versions(t, newest)
}
