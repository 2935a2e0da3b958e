package stores_test

import (
	"strings"
	"testing"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/findings"
	"github.com/idmint/idmint/migrations"
)

// Each setting of a database and of a user is found while it is wrong, and not before nor after.
// Package servers of soak_test has those of a server.
func TestDoctorMySQL(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, databases.MariaDB)
	admin := dbtest.Open(t, d)
	all := d.Database() + ".*"
	findings.SQL(t, "before migrate", granted(t, d, "migrator"),
		map[string]string{"schema": "finding: there is no launch log"})
	mysqlServer.migrated(t, d)
	app := granted(t, d, "app")
	user, _ := app.User()
	findings.SQL(t, "after migrate", app, nil)
	unneeded := map[string]string{"rights": "note: the role root@% does not need"}
	findings.SQL(t, "as root", d, unneeded)
	for _, c := range []wrong{
		{
			"REVOKE UPDATE (value) ON idmint_counter FROM APP@'%'",
			"GRANT UPDATE (value) ON idmint_counter TO APP@'%'",
			"rights", "finding: the role APP@% lacks UPDATE on idmint_counter",
		},
		{
			"REVOKE INSERT ON idmint_counter FROM APP@'%'",
			"GRANT INSERT ON idmint_counter TO APP@'%'",
			"rights", "finding: the role APP@% lacks INSERT on idmint_counter",
		},
		{
			"GRANT DELETE ON idmint_counter TO APP@'%'",
			"REVOKE DELETE ON idmint_counter FROM APP@'%'",
			"rights", "note: the role APP@% does not need DELETE on idmint_counter",
		},
		{
			"GRANT UPDATE ON idmint_launch TO APP@'%'",
			"REVOKE UPDATE ON idmint_launch FROM APP@'%'; " +
				"GRANT UPDATE (next_generator_id) ON idmint_launch TO APP@'%'",
			"rights", "note: the role APP@% does not need UPDATE of keys on idmint_launch",
		},
		{
			"GRANT INSERT ON idmint_schema TO APP@'%'",
			"REVOKE INSERT ON idmint_schema FROM APP@'%'",
			"rights", "note: the role APP@% does not need INSERT on idmint_schema",
		},
		{
			"GRANT DROP, TRIGGER ON " + all + " TO APP@'%'",
			"REVOKE DROP, TRIGGER ON " + all + " FROM APP@'%'",
			"rights", "note: the role APP@% does not need DROP, TRIGGER",
		},
		{
			"GRANT SUPER ON *.* TO APP@'%'", "REVOKE SUPER ON *.* FROM APP@'%'",
			"rights", "note: the role APP@% does not need SUPER",
		},
		{
			"ALTER TABLE idmint_counter RENAME TO counter",
			"ALTER TABLE counter RENAME TO idmint_counter",
			"tables", "finding: tables are missing: idmint_counter",
		},
		{ // its foreign key refuses another engine
			"ALTER TABLE idmint_counter_kept DROP FOREIGN KEY idmint_counter_kept_counter; " +
				"ALTER TABLE idmint_counter_kept ENGINE = Aria", "",
			"tables",
			"finding: tables are not InnoDB, and lack transactions: idmint_counter_kept",
		},
		{
			"DROP TABLE idmint_counter_kept", "", "tables",
			"finding: tables are missing: idmint_counter_kept",
		},
	} {
		run(t, admin, user, c.do)
		if c.code == "tables" && c.undo == "" { // the app does not see it
			findings.SQL(t, c.do, d, findings.With(unneeded, c.code, c.text))
		} else {
			findings.SQL(t, c.do, app,
				map[string]string{c.code: strings.ReplaceAll(c.text, "APP", user)})
		}
		run(t, admin, user, c.undo)
	}
	id, err := doctor.Identity(ctx, admin, migrations.MySQL)
	if err != nil || id["server_id"] == "" || id["database"] != d.Database() || len(id) != 3 {
		t.Errorf("%v, %v", id, err)
	}
}
