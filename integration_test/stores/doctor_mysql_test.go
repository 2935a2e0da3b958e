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
	user := d.Database() + "_app" // users are the whole server's
	app, all := as(t, d, user), d.Database()+".*"
	run(t, admin, user, "CREATE USER APP@'%' IDENTIFIED BY 'app'; "+
		"GRANT CREATE ON "+all+" TO APP@'%'")
	t.Cleanup(func() { run(t, admin, user, "DROP USER APP@'%'") })
	findings.SQL(t, "before migrate", app,
		map[string]string{"schema": "finding: there is no launch log"})
	mysqlServer.migrated(t, d)
	run(t, admin, user, "REVOKE CREATE ON "+all+" FROM APP@'%'; "+
		"GRANT SELECT ON idmint_schema TO APP@'%'")
	for _, table := range []string{"namespace", "launch", "generator", "launch_event", "counter", "order"} {
		run(t, admin, user, "GRANT SELECT, INSERT, UPDATE ON idmint_"+table+" TO APP@'%'")
	}
	findings.SQL(t, "after migrate", app, nil)
	unneeded := map[string]string{"rights": "note: the role root@% needs no"}
	findings.SQL(t, "as root", d, unneeded)
	for _, c := range []wrong{
		{
			"REVOKE UPDATE ON idmint_counter FROM APP@'%'",
			"GRANT UPDATE ON idmint_counter TO APP@'%'",
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
			"rights", "note: the role APP@% needs no DELETE on idmint_counter",
		},
		{
			"GRANT DROP, TRIGGER ON " + all + " TO APP@'%'",
			"REVOKE DROP, TRIGGER ON " + all + " FROM APP@'%'",
			"rights", "note: the role APP@% needs no DROP, TRIGGER",
		},
		{
			"GRANT SUPER ON *.* TO APP@'%'", "REVOKE SUPER ON *.* FROM APP@'%'",
			"rights", "note: the role APP@% needs no SUPER",
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
			"finding: tables are not InnoDB, and know no transactions: idmint_counter_kept",
		},
		{
			"DROP TABLE idmint_counter_kept", "", "tables",
			"finding: tables are missing: idmint_counter_kept",
		},
		{
			"DROP TRIGGER idmint_counter_update", "", "triggers",
			"finding: 1 of 12 triggers are missing: idmint_counter_update of 000",
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
