package stores_test

import (
	"database/sql"
	"errors"
	"fmt"
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
	"github.com/idmint/idmint/migrations"
)

// inSchema makes a launch log in a new schema of the database.
func inSchema(t *testing.T, d dsn.DSN, schema string) *sql.DB {
	t.Helper()
	db := dbtest.Open(t, d)
	dbtest.Exec(t, db, "CREATE SCHEMA "+pgx.Identifier{schema}.Sanitize())
	if _, _, err := migrations.Up(ctx, db, migrations.Postgres, schema); err != nil {
		t.Fatal(err)
	}
	return db
}

// openIn opens the launch log of a schema.
func openIn(t *testing.T, d dsn.DSN, schema string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(ctx, d.Source(), schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A pooler hands on connections with what another client has SET, or made for its session. None of
// it leads to another log.
func TestPooler(t *testing.T) {
	t.Parallel()
	pooler := pgbouncer.New(t, dbtest.Server(t, databases.Postgres).DSN)
	d := postgresServer.database(t)
	admin := inSchema(t, d, "Elsewhere")
	role := newRole(t, d)
	dbtest.Exec(t, admin, fmt.Sprintf(`GRANT USAGE ON SCHEMA "Elsewhere" TO %[1]s;
		GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA "Elsewhere", public TO %[1]s`, role))
	through := pooler.WithDatabase(d.Database())
	for i, leaked := range []string{
		`SET search_path = "Elsewhere"`, "SET ROLE " + role, "RESET ROLE",
		"CREATE TEMP TABLE idmint_schema (version int, word text)",
	} {
		pgbouncer.Leak(t, through, leaked)
		for _, schema := range []string{"public", "Elsewhere"} {
			s := openIn(t, through, schema)
			launch, err := logOf(t, s).Start(ctx, storetest.Request(fmt.Sprint(i)))
			if err != nil || launch.ID != 1+i {
				t.Errorf("after %s, in %s: launch %d, %v; want %d", leaked, schema, launch.ID, err,
					1+i)
			}
		}
	}

	db := dbtest.Open(t, through)
	latest := migrations.Latest(migrations.Postgres)
	up := func() error { _, _, err := migrations.Up(ctx, db, migrations.Postgres); return err }
	for _, step := range []struct {
		run  func() error
		want int
	}{
		{func() error { return migrations.Down(ctx, db, migrations.Postgres, 1) }, 1},
		{up, latest},
	} {
		if err := step.run(); err != nil {
			t.Error(err)
		}
		for schema, want := range map[string]int{"public": step.want, "Elsewhere": latest} {
			got, err := migrations.Version(ctx, db, migrations.Postgres, schema)
			if err != nil || got != want {
				t.Errorf("%s has version %d, %v; want %d", schema, got, err, want)
			}
		}
	}
}

// A log in a schema whose name must be quoted takes every step, in every mode, whatever the
// search_path is. The log of the schema public is another one.
func TestPostgresSchema(t *testing.T) {
	t.Parallel()
	const strange = `My "idmint_ Schema`
	d := postgresServer.database(t)
	db := inSchema(t, d, strange)
	const modes = "exec simple_protocol cache_statement cache_describe describe_exec"
	for i, mode := range strings.Fields(modes) {
		mode := with(t, d, "search_path=public&default_query_exec_mode="+mode)
		tour(t, openIn(t, mode, strange), fmt.Sprint("own ", i), 1+2*i)
		pool, err := pgxpool.New(ctx, mode.Source())
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		s, err := postgres.New(ctx, pool, strange)
		if err != nil {
			t.Fatal(err)
		}
		tour(t, s, fmt.Sprint("app ", i), 2+2*i)
	}
	for schema, want := range map[string]int{strange: 10, "public": 0} {
		var launches int
		table := pgx.Identifier{schema, "idmint_launch"}.Sanitize()
		err := db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&launches)
		if err != nil || launches != want {
			t.Errorf("%d launches in %s, %v; want %d", launches, schema, err, want)
		}
	}
	_, err := postgres.Open(ctx, d.Source(), "nowhere")
	if none := (*launchlog.SchemaError)(nil); !errors.As(err, &none) || none.Have != 0 {
		t.Errorf("a schema that is not there: %v, want a SchemaError", err)
	}
	_, _, err = migrations.Up(ctx, db, migrations.Postgres, "nowhere")
	if err == nil || !strings.Contains(err.Error(), `no schema "nowhere": create it`) {
		t.Errorf("up in a schema that is not there: %v", err)
	}
}
