package faults_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/pgbouncer"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/cassandra"
	"github.com/idmint/idmint/launchlog/etcd"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/zookeeper"
	"github.com/idmint/idmint/migrations"
)

// SQLite is a file of the test, and no server.
const SQLite databases.Kind = "SQLite"

// store is a launchlog.Store that can be closed.
type store interface {
	launchlog.Store
	io.Closer
}

// A target is what the tests need to know of a kind of database.
type target struct {
	open    func(context.Context, dsn.DSN) (store, error)
	prepare func(context.Context, dsn.DSN) error // makes the tables, or prepares the store
	args    []string                             // of a server, or of each node
	small   []string                             // more of them, for a small disk
	full    string                               // in the message of a server whose disk is full
	early   bool                                 // shows rows before their commit is on disk

	// Of servers of SQL:
	sessions string   // selects the other sessions in the database
	ends     []string // what ends one, or its statement
	backup   string   // a command of the shell, with %s for the database's name
	restore  string
	enlarge  string // has the server ask for room on its disk
	// a connection pooler between; nil where there is none
	pooler func(testing.TB, dsn.DSN) dsn.DSN
}

// inSQL adds to a target how its store is opened, and its tables are made.
func (t target) inSQL(
	dialect migrations.Dialect, open func(ctx context.Context, source string) (store, error),
) target {
	t.open = func(ctx context.Context, d dsn.DSN) (store, error) { return open(ctx, d.Source()) }
	t.prepare = func(ctx context.Context, d dsn.DSN) error {
		source := d.Source()
		if dialect == migrations.SQLite {
			source = sqlite.DSN(source, sqlite.Create)
		}
		db, err := sql.Open(d.Driver(), source)
		if err != nil {
			return err
		}
		_, _, err = migrations.Up(ctx, db, dialect)
		return errors.Join(err, db.Close())
	}
	return t
}

// keyValue is a target by functions of its store's package.
func keyValue[C any, S store](
	config func(dsn.DSN) (C, error), open func(context.Context, C) (S, error),
	migrate func(context.Context, C) (int, int, error), args, small []string,
) target {
	return target{
		args: args, small: small, full: "No space left on device",
		open: func(ctx context.Context, d dsn.DSN) (store, error) {
			c, err := config(d)
			if err != nil {
				return nil, err
			}
			return open(ctx, c)
		},
		prepare: func(ctx context.Context, d dsn.DSN) error {
			c, err := config(d)
			if err == nil {
				_, _, err = migrate(ctx, c)
			}
			return err
		},
	}
}

// targets are all of them. By the logs of their small disks, servers notice soon that it is full.
var targets = map[databases.Kind]target{
	SQLite: target{}.inSQL(migrations.SQLite,
		func(ctx context.Context, path string) (store, error) { return sqlite.Open(ctx, path) }),
	databases.Postgres: target{
		// which the store must not go by; so that the log fits on a small disk
		args: []string{"-c", "synchronous_commit=off", "-c", "max_wal_size=64MB"},
		full: "No space left on device",
		sessions: "SELECT pid FROM pg_stat_activity WHERE datname = current_database() " +
			"AND pid <> pg_backend_pid() ORDER BY random()",
		ends:   []string{"SELECT pg_terminate_backend(%d)", "SELECT pg_cancel_backend(%d)"},
		backup: "PGPASSWORD=idmint pg_dump -h 127.0.0.1 -U postgres %s >/tmp/backup.sql",
		restore: "PGPASSWORD=idmint psql -h 127.0.0.1 -U postgres -q -v ON_ERROR_STOP=1 " +
			"-o /dev/null -f /tmp/backup.sql %s",
		// another segment of its log
		enlarge: "SELECT pg_logical_emit_message(false, '', repeat('x', 1000)), pg_switch_wal()",
		pooler:  pgbouncer.New,
	}.inSQL(migrations.Postgres,
		func(ctx context.Context, source string) (store, error) { return postgres.Open(ctx, source) }),
	databases.MariaDB: target{
		full: "is full", early: true,
		sessions: "SELECT id FROM information_schema.processlist WHERE db = database() " +
			"AND id <> connection_id() ORDER BY rand()",
		ends:    []string{"KILL CONNECTION %d", "KILL QUERY %d"},
		backup:  asRoot + "mariadb-dump -uroot --single-transaction %s >/tmp/backup.sql",
		restore: asRoot + "mariadb -uroot %s </tmp/backup.sql",
		enlarge: "CREATE OR REPLACE TABLE large SELECT seq, repeat('x', 1000) x FROM seq_1_to_1000",
	}.inSQL(migrations.MySQL,
		func(ctx context.Context, source string) (store, error) { return mysql.Open(ctx, source) }),
	databases.Etcd: keyValue(
		func(d dsn.DSN) (etcd.Config, error) {
			return etcd.Config{Endpoints: d.Nodes(), Prefix: d.Prefix()}, nil
		}, etcd.Open, etcd.Migrate, nil, nil),
	databases.ZooKeeper: keyValue(
		func(d dsn.DSN) (c zookeeper.Config, err error) {
			c.Servers, c.Path = d.Nodes(), d.Prefix()
			c.SessionTimeout, err = d.Session()
			return c, err
		}, zookeeper.Open, zookeeper.Migrate,
		// followers miss their leader after 2 s
		[]string{"tickTime=500", "syncLimit=4"}, []string{"preAllocSize=64", "snapCount=1000"}),
	databases.Cassandra: keyValue(
		func(d dsn.DSN) (c cassandra.Config, err error) {
			c.Hosts, c.Keyspace = d.Nodes(), strings.TrimPrefix(d.Prefix(), "/")
			c.Replication, err = d.Replication()
			return c, err
		}, cassandra.Open, cassandra.Migrate, nil, []string{
			"commitlog_segment_size: 1MiB", "commit_failure_policy: die",
			"disk_failure_policy: die",
		}),
}

// asRoot has MariaDB's clients find the password, where there is one.
const asRoot = "export MYSQL_PWD=$(mariadb -uroot -e 'SELECT 1' >/dev/null || echo idmint); "
