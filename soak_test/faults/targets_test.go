package faults_test

import (
	"context"
	"io"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/pgbouncer"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/migrations"
)

// A target is what the tests need to know of a kind of database.
type target struct {
	kind     databases.Kind
	dialect  migrations.Dialect
	open     func(ctx context.Context, source string) (store, error)
	parser   func() parser
	args     []string // of a server that is killed
	sessions string   // selects the other sessions in the database
	ends     []string // what ends one, or its statement
	backup   string   // a command of the shell, with %s for the database's name
	restore  string
	enlarge  string // has the server ask for room on its disk
	full     string // in the message of one that has none
	// a connection pooler between; nil where there is none
	pooler func(testing.TB, dsn.DSN) dsn.DSN
	// prepare prepares a store of keys and values, which has no dialect
	prepare func(ctx context.Context, source string) error
	small   []string // settings for a small disk
}

// targetOf is the target of a kind.
func targetOf(k databases.Kind) target {
	if t, ok := targets[k]; ok {
		return t
	}
	return clusters[k]
}

var targets = map[databases.Kind]target{
	databases.Postgres: {
		databases.Postgres, migrations.Postgres,
		func(ctx context.Context, source string) (store, error) {
			return postgres.Open(ctx, source)
		},
		postgresMessages,
		// which the store must not go by; so that the log fits on a small disk
		[]string{"-c", "synchronous_commit=off", "-c", "max_wal_size=64MB"},
		"SELECT pid FROM pg_stat_activity WHERE datname = current_database() " +
			"AND pid <> pg_backend_pid() ORDER BY random()",
		[]string{"SELECT pg_terminate_backend(%d)", "SELECT pg_cancel_backend(%d)"},
		"PGPASSWORD=idmint pg_dump -h 127.0.0.1 -U postgres %s >/tmp/backup.sql",
		"PGPASSWORD=idmint psql -h 127.0.0.1 -U postgres -q -v ON_ERROR_STOP=1 -o /dev/null -f " +
			"/tmp/backup.sql %s",
		// another segment of its log
		"SELECT pg_logical_emit_message(false, '', repeat('x', 1000)), pg_switch_wal()",
		"No space left on device",
		pgbouncer.New,
		nil,
		nil,
	},
	databases.MariaDB: {
		databases.MariaDB, migrations.MySQL,
		func(ctx context.Context, source string) (store, error) { return mysql.Open(ctx, source) },
		mysqlMessages,
		nil,
		"SELECT id FROM information_schema.processlist WHERE db = database() " +
			"AND id <> connection_id() ORDER BY rand()",
		[]string{"KILL CONNECTION %d", "KILL QUERY %d"},
		"export MYSQL_PWD=$(mariadb -uroot -e 'SELECT 1' >/dev/null || echo idmint); " +
			"mariadb-dump -uroot --single-transaction %s >/tmp/backup.sql",
		"export MYSQL_PWD=$(mariadb -uroot -e 'SELECT 1' >/dev/null || echo idmint); " +
			"mariadb -uroot %s </tmp/backup.sql",
		"CREATE OR REPLACE TABLE large SELECT seq, repeat('x', 1000) x FROM seq_1_to_1000",
		"is full",
		nil,
		nil,
		nil,
	},
}

// store is a launchlog.Store that can be closed.
type store interface {
	launchlog.Store
	io.Closer
}
