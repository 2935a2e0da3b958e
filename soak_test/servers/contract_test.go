package servers_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/pgbouncer"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/mysql"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

var ctx = context.Background()

// migrate makes the tables of a launch log.
func migrate(t *testing.T, d dsn.DSN) dsn.DSN {
	t.Helper()
	if _, _, err := migrations.Up(ctx, dbtest.Open(t, d), d.Kind); err != nil {
		t.Fatal(err)
	}
	return d
}

// openPostgres opens the launch log of a database until the test ends.
func openPostgres(t *testing.T, d dsn.DSN) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(ctx, d.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func openMySQL(t *testing.T, d dsn.DSN) *mysql.Store {
	t.Helper()
	s, err := mysql.Open(ctx, d.Source())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func logOf(t *testing.T, store launchlog.Store) *launchlog.Log {
	t.Helper()
	l, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// changed is a database's name with some of its parts changed.
func changed(t *testing.T, d dsn.DSN, change func(*url.URL, url.Values)) dsn.DSN {
	t.Helper()
	u, err := url.Parse(d.URL())
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	change(u, query)
	u.RawQuery = query.Encode()
	if d, err = dsn.Parse(u.String()); err != nil {
		t.Fatal(err)
	}
	return d
}

// contract runs the tests of every store. Open opens an empty log, and a way to its tables.
func contract(t *testing.T, open func(t *testing.T) (launchlog.Store, *sql.DB)) {
	t.Helper()
	tables := map[launchlog.Store]*sql.DB{}
	storetest.Run(t, func(t *testing.T) launchlog.Store {
		s, db := open(t)
		tables[s] = db
		return s
	}, func(s launchlog.Store, ref launchlog.Ref, next int) error {
		_, err := tables[s].Exec(fmt.Sprintf("UPDATE idmint_launch SET next_generator_id = %d "+
			"WHERE namespace = '%s' AND launch_id = %d", next, ref.Namespace, ref.Launch))
		return err
	})
}

// The newest server does what the others do.
func TestPostgres18(t *testing.T) {
	contract(t, func(t *testing.T) (launchlog.Store, *sql.DB) {
		d := migrate(t, dbtest.New(t, databases.Postgres18))
		return openPostgres(t, d), dbtest.Open(t, d)
	})
}

// Another client of a pooler has set the search_path of all its connections to the schema of
// another log, which is in use.
func TestPostgresLeakedSearchPath(t *testing.T) {
	pooler := pgbouncer.New(t, dbtest.Server(t, databases.Postgres).DSN)
	const leaked = `SET search_path = "Elsewhere"`
	contract(t, func(t *testing.T) (launchlog.Store, *sql.DB) {
		d := migrate(t, dbtest.New(t, databases.Postgres))
		db := dbtest.Open(t, d)
		dbtest.Exec(t, db, `CREATE SCHEMA "Elsewhere"`)
		if _, _, err := migrations.Up(ctx, db, d.Kind, "Elsewhere"); err != nil {
			t.Fatal(err)
		}
		other, err := postgres.Open(ctx, d.Source(), "Elsewhere")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { other.Close() })
		for _, key := range []string{"a", "b"} {
			if _, err := logOf(t, other).Start(ctx, storetest.Request(key)); err != nil {
				t.Fatal(err)
			}
		}
		through := pooler.WithDatabase(d.Database())
		pgbouncer.Leak(t, through, leaked)
		s := openPostgres(t, through)
		pgbouncer.Leak(t, through, leaked)
		return s, db
	})
}

// Whatever a server's defaults are, Open's connections do every step, and migrations go up. The
// user has no special rights: init_connect is for such users.
func TestMariaDBHostileDefaults(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB)
	admin := dbtest.Open(t, server.DSN)
	admin.SetMaxOpenConns(1) // whose session began before
	dbtest.Exec(t, admin, "CREATE USER app@'%' IDENTIFIED BY 'app'",
		"GRANT ALL ON `t_%`.* TO app@'%'")
	for name, value := range map[string]string{
		"autocommit": "0", "completion_type": "'CHAIN'", "foreign_key_checks": "0",
		"init_connect": "'SET NAMES latin1'", "max_join_size": "1", "sql_mode": "''",
		"sql_safe_updates": "1", "sql_select_limit": "1", "time_zone": "'-11:00'",
		"transaction_isolation": "'SERIALIZABLE'", "unique_checks": "0",
	} {
		dbtest.Exec(t, admin, "SET GLOBAL "+name+" = "+value)
	}
	made := 0
	contract(t, func(t *testing.T) (launchlog.Store, *sql.DB) {
		made++
		d, _, err := server.Create(ctx, fmt.Sprint("t_", made))
		if err != nil {
			t.Fatal(err)
		}
		app := changed(t, d, func(u *url.URL, _ url.Values) {
			u.User = url.UserPassword("app", "app")
		})
		db := dbtest.Open(t, changed(t, app, func(_ *url.URL, query url.Values) {
			query.Set("autocommit", "1")
		}))
		return openMySQL(t, migrate(t, app)), db
	})
}
