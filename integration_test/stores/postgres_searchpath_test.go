package stores_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/pgbouncer"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
)

// Schemas whose names must be quoted, the second with a quote in it and with what the statements'
// tables begin with.
const elsewhere, strange = "Elsewhere", `My "idmint_ Schema`

// inSchema makes a launch log in a schema of the database, and names the database with that as its
// search_path.
func inSchema(t testing.TB, d dsn.DSN, schema string) dsn.DSN {
	t.Helper()
	quoted := pgx.Identifier{schema}.Sanitize()
	dbtest.Exec(t, dbtest.Open(t, d), "CREATE SCHEMA "+quoted)
	return postgresServer.migrated(t, withPath(t, d, quoted))
}

func withPath(t testing.TB, d dsn.DSN, path string) dsn.DSN {
	t.Helper()
	return with(t, d, "search_path="+url.QueryEscape(path))
}

// TestPooler has PgBouncer in front of the server, which hands on connections with what another
// client has SET.
func TestPooler(t *testing.T) {
	t.Parallel()
	pooler := pgbouncer.New(t, dbtest.Server(t, databases.Postgres).DSN)
	for name, test := range map[string]func(t *testing.T, pooler dsn.DSN){
		"LeakGivesNothingTwice": leakGivesNothingTwice, "LeakedRole": leakedRole,
		"LeakLeadsNoMigration": leakLeadsNoMigration,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, pooler)
		})
	}
}

// Two stores of one DSN never count by different logs, whatever is leaked before and between.
func leakGivesNothingTwice(t *testing.T, pooler dsn.DSN) {
	d := postgresServer.database(t)
	inSchema(t, d, elsewhere)
	through := pooler.WithDatabase(d.Database())
	for i, schema := range []string{elsewhere, "public", elsewhere} {
		pgbouncer.Leak(t, through, "SET search_path = "+pgx.Identifier{schema}.Sanitize())
		launch, err := logOf(t, open(t, through)).Start(ctx,
			storetest.Request(fmt.Sprint(i)))
		if err != nil || launch.ID != 1+i {
			t.Errorf("with %s leaked: launch %d, %v; want %d", schema, launch.ID, err, 1+i)
		}
	}
}

// "$user" in the default search_path is the schema of the session's own role, whichever one another
// client has SET.
func leakedRole(t *testing.T, pooler dsn.DSN) {
	d := postgresServer.database(t)
	admin := dbtest.Open(t, d)
	role := d.Database() + "_other" // roles are the whole server's
	dbtest.Exec(t, admin, "CREATE ROLE "+role)
	t.Cleanup(func() {
		dbtest.Exec(t, admin, "DROP OWNED BY "+role)
		dbtest.Exec(t, admin, "DROP ROLE "+role)
	})
	inSchema(t, d, role)
	dbtest.Exec(t, admin, fmt.Sprintf("GRANT USAGE ON SCHEMA %[1]s TO %[1]s; "+
		"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA %[1]s, public TO %[1]s", role))
	through := pooler.WithDatabase(d.Database())
	for i, set := range []string{"RESET ROLE", "SET ROLE " + role, "SET ROLE " + role} {
		pgbouncer.Leak(t, through, set)
		launch, err := logOf(t, open(t, through)).Start(ctx,
			storetest.Request(fmt.Sprint(i)))
		if err != nil || launch.ID != 1+i {
			t.Errorf("after %s: launch %d, %v; want %d", set, launch.ID, err, 1+i)
		}
	}

	// The connection string's role is no leak.
	byRole := open(t, with(t, d, "role="+role))
	launch, err := logOf(t, byRole).Start(ctx, storetest.Request("r"))
	if schema := schemaOf(t, admin, "r", role); err != nil || launch.ID != 1 || schema != role {
		t.Errorf("by the connection string's role: launch %d in %s, %v", launch.ID, schema, err)
	}
}

// A log in a schema whose name must be quoted takes every step, in every mode.
func TestPostgresSchemaIsQuoted(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.Postgres)
	in := inSchema(t, d, strange)
	const modes = "exec simple_protocol cache_statement cache_describe describe_exec"
	for i, mode := range strings.Fields(modes) {
		tour(t,
			open(t, with(t, in, "default_query_exec_mode="+mode)), mode, 1+i)
	}
	var launches int
	table := pgx.Identifier{strange, "idmint_launch"}.Sanitize()
	err := dbtest.Open(t, d).QueryRow(`SELECT count(*) FROM ` + table).Scan(&launches)
	if err != nil || launches != 5 {
		t.Errorf("%d launches in the schema, %v", launches, err)
	}
}

// Where a pool sets the search_path, the log is found by the default, unless the path that was set
// leads to another one.
func TestPostgresSetSearchPath(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.Postgres)
	db := dbtest.Open(t, d)
	dbtest.Exec(t, db, "CREATE SCHEMA empty")
	inSchema(t, d, elsewhere)
	here := postgresServer.database(t)
	dbtest.Exec(t, dbtest.Open(t, here), "CREATE SCHEMA empty")
	inSchema(t, here, elsewhere)
	role := postgresServer.database(t)
	inSchema(t, role, elsewhere)
	dbtest.Exec(t, dbtest.Open(t, role),
		`ALTER DATABASE `+role.Database()+` SET search_path = "Elsewhere"`)
	const temporary = "CREATE TEMP TABLE idmint_schema (version int); " +
		"INSERT INTO idmint_schema VALUES (1000)"
	const setElsewhere = `SET search_path = "Elsewhere"`
	none := launchlog.SchemaError{Have: 0, Want: 4}
	both := postgres.SearchPathError{Default: "public", Current: elsewhere}
	for _, test := range []struct {
		name string
		d    dsn.DSN
		set  string // by the pool, on each connection
		want any    // the schema, or an error
	}{
		{"the default is another one", here, setElsewhere, both},
		{"the default has none", d, setElsewhere, postgres.SearchPathError{Current: elsewhere}},
		{"neither has one", d, `SET search_path = empty`, none},
		{"the default alone has one", here, `SET search_path = empty`, "public"},
		{"the same one", here, `SET search_path = empty, public`, "public"},
		{"the connection string's", withPath(t, d, `empty, "Elsewhere"`), ``, elsewhere},
		{
			"the connection string's, set again", withPath(t, d, `"Elsewhere"`), setElsewhere,
			elsewhere,
		},
		{"the database's", role, ``, elsewhere},
		{
			"the connection string's before the database's", withPath(t, role, `public`), ``,
			"public",
		},
		{"a temporary table", here, temporary, "public"},
		{"a temporary table, by name", withPath(t, here, `pg_temp, public`), temporary, "public"},
		{"nothing but a temporary table", withPath(t, d, `pg_temp`), temporary, none},
	} {
		config, err := pgxpool.ParseConfig(test.d.Source())
		if err != nil {
			t.Fatal(err)
		}
		config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, test.set, pgx.QueryExecModeSimpleProtocol)
			return err
		}
		pool, err := pgxpool.NewWithConfig(ctx, config)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		s, err := postgres.New(ctx, pool)
		var got any
		var path *postgres.SearchPathError
		var schema *launchlog.SchemaError
		switch {
		case errors.As(err, &path):
			got = *path
			text := err.Error()
			if !strings.Contains(text, path.Current) || !strings.Contains(text, path.Default) ||
				!strings.Contains(text, "into the connection string") {
				t.Errorf("%s: %v", test.name, err)
			}
		case errors.As(err, &schema):
			got = *schema
		case err == nil:
			_, err = logOf(t, s).Start(ctx, storetest.Request(test.name))
			if err == nil {
				got = schemaOf(t, dbtest.Open(t, test.d), test.name, "public", elsewhere)
			}
		}
		if got != test.want {
			t.Errorf("%s: got %+v, %v; want %+v", test.name, got, err, test.want)
		}
	}
}

// schemaOf is the one of these schemas whose log has a launch of the key.
func schemaOf(t testing.TB, db *sql.DB, key string, schemas ...string) (found string) {
	t.Helper()
	for _, schema := range schemas {
		var here bool
		table := pgx.Identifier{schema, "idmint_launch"}.Sanitize()
		text := "SELECT EXISTS (SELECT FROM " + table + " WHERE idempotency_key = $1)"
		err := db.QueryRow(text, key).Scan(&here)
		if err == nil && here { // it is an error where there is no log
			found += schema
		}
	}
	return found
}
