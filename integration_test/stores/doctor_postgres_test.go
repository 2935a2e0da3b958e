package stores_test

import (
	"database/sql"
	"maps"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/findings"
	"github.com/idmint/idmint/migrations"
)

// as is the database's name for another user, whose password is "app".
func as(t *testing.T, d dsn.DSN, user string) dsn.DSN {
	t.Helper()
	u, err := url.Parse(d.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(user, "app")
	named, err := dsn.Parse(u.String())
	if err != nil {
		t.Fatal(err)
	}
	return named
}

// newRole makes a role for a database of PostgreSQL, whose password is "app".
func newRole(t *testing.T, d dsn.DSN) string {
	t.Helper()
	db := dbtest.Open(t, d)
	role := d.Database() + "_app" // roles are the whole server's
	dbtest.Exec(t, db, "CREATE ROLE "+role+" LOGIN PASSWORD 'app'")
	t.Cleanup(func() {
		dbtest.Exec(t, db, "REASSIGN OWNED BY "+role+" TO CURRENT_USER", "DROP OWNED BY "+role,
			"DROP ROLE "+role)
	})
	return role
}

// run runs statements. APP stands for the name of the app's user.
func run(t *testing.T, db *sql.DB, user, statements string) {
	t.Helper()
	for text := range strings.SplitSeq(strings.ReplaceAll(statements, "APP", user), "; ") {
		if text != "" {
			dbtest.Exec(t, db, text)
		}
	}
}

// A wrong is what an operator does wrong, what mends it, and what a check says in between.
type wrong struct{ do, undo, code, text string }

// Each setting of a database and of a role is found while it is wrong, and not before nor after.
// Package servers of soak_test has those of a server.
func TestDoctorPostgres(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.Postgres)
	admin := dbtest.Open(t, d)
	user := newRole(t, d)
	app := as(t, d, user)
	var checksums string
	if err := admin.QueryRow("SHOW data_checksums").Scan(&checksums); err != nil {
		t.Fatal(err)
	}
	well := map[string]string{}
	if checksums == "off" {
		well["postgres.checksums"] = "note: data_checksums is off"
	}
	findings.SQL(t, "before migrate", app,
		findings.With(well, "schema", "finding: there is no launch log"))
	postgresServer.migrated(t, d)
	page, err := os.ReadFile("../../docs/operate/postgresql.md")
	if err != nil {
		t.Fatal(err)
	}
	_, grants, _ := strings.Cut(string(page), "```sql\n")
	grants, _, _ = strings.Cut(grants, "```")
	dbtest.Exec(t, admin, strings.ReplaceAll(grants, " TO app;", " TO "+user+";"))
	findings.SQL(t, "after migrate", app, well)
	ids, err := idmint.Open(ctx, open(t, app), idmint.App{Service: "shop", Deployment: "a"})
	if err != nil || ids.Close(ctx) != nil {
		t.Errorf("an app with the page's grants starts its launch: %v", err)
	}

	for _, c := range []wrong{
		{
			"ALTER ROLE APP SET default_transaction_read_only = on",
			"ALTER ROLE APP RESET default_transaction_read_only",
			"writable", "finding: default_transaction_read_only is on",
		},
		{
			"REVOKE UPDATE ON idmint_counter FROM APP", "GRANT UPDATE ON idmint_counter TO APP",
			"rights", "finding: the role APP lacks UPDATE on idmint_counter",
		},
		{
			"REVOKE INSERT ON idmint_launch FROM APP", "GRANT INSERT ON idmint_launch TO APP",
			"rights", "finding: the role APP lacks INSERT on idmint_launch",
		},
		{
			"GRANT DELETE, TRUNCATE ON idmint_launch TO APP",
			"REVOKE DELETE, TRUNCATE ON idmint_launch FROM APP",
			"rights",
			"note: the role APP does not need DELETE on idmint_launch, TRUNCATE on idmint_launch",
		},
		{
			"ALTER ROLE APP SUPERUSER", "ALTER ROLE APP NOSUPERUSER", "rights",
			"note: the role APP is a superuser",
		},
		{
			"ALTER TABLE idmint_launch_event OWNER TO APP",
			"ALTER TABLE idmint_launch_event OWNER TO CURRENT_USER; " +
				"GRANT SELECT, INSERT, UPDATE ON idmint_launch_event TO APP",
			"rights", "note: the role APP owns the tables",
		},
		{
			"ALTER TABLE idmint_counter ENABLE ROW LEVEL SECURITY",
			"ALTER TABLE idmint_counter DISABLE ROW LEVEL SECURITY",
			"rights", "finding: row-level security applies to the role APP",
		},
		{
			"ALTER TABLE idmint_counter DISABLE TRIGGER idmint_counter_update",
			"ALTER TABLE idmint_counter ENABLE TRIGGER idmint_counter_update",
			"triggers", "finding: triggers are disabled: idmint_counter_update",
		},
		{
			"ALTER TABLE idmint_counter RENAME TO counter",
			"ALTER TABLE counter RENAME TO idmint_counter",
			"tables", "finding: 1 of 7 tables are missing: idmint_counter",
		},
		{
			"ALTER TABLE idmint_counter SET UNLOGGED", "ALTER TABLE idmint_counter SET LOGGED",
			"tables", "finding: tables are UNLOGGED, so a crash empties them: idmint_counter",
		},
		{
			"ALTER TRIGGER idmint_launch_delete ON idmint_launch RENAME TO other",
			"ALTER TRIGGER other ON idmint_launch RENAME TO idmint_launch_delete",
			"triggers", "finding: 1 of 18 triggers are missing: idmint_launch_delete",
		},
		{
			"ALTER ROLE APP SET session_replication_role = replica",
			"ALTER ROLE APP RESET session_replication_role",
			"triggers", "finding: session_replication_role is replica",
		},
		{
			"INSERT INTO idmint_schema (version) VALUES (99)",
			"DELETE FROM idmint_schema WHERE version = 99",
			"schema", "finding: the tables have version 99, newer than",
		},
		{
			"DELETE FROM idmint_schema WHERE version >= 4",
			"INSERT INTO idmint_schema (version) VALUES (4), (5), (6), (7)",
			"schema", "finding: the tables have version 3, older than 7",
		},
	} {
		run(t, admin, user, c.do)
		findings.SQL(t, c.do, app,
			findings.With(well, c.code, strings.ReplaceAll(c.text, "APP", user)))
		run(t, admin, user, c.undo)
	}
	findings.SQL(t, "in the end", app, well)
}

// A dump that is loaded again makes other tables on the same server.
func TestDoctorPostgresIdentity(t *testing.T) {
	t.Parallel()
	d := postgresServer.database(t)
	db := dbtest.Open(t, d)
	identity := func() map[string]string {
		t.Helper()
		id, err := doctor.Identity(ctx, db, migrations.Postgres)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	before := identity()
	if before["system_identifier"] == "" || before["timeline"] == "" || before["table"] == "" {
		t.Errorf("%v", before)
	}
	if again := identity(); !maps.Equal(before, again) {
		t.Errorf("%v, and again %v", before, again)
	}
	if err := migrations.Down(ctx, db, migrations.Postgres, 0); err != nil {
		t.Fatal(err)
	}
	if id := identity(); id["table"] != "" {
		t.Errorf("without tables: %v", id)
	}
	postgresServer.migrated(t, d)
	if id := identity(); id["table"] == before["table"] {
		t.Errorf("with other tables: %v", id)
	}
}
