package servers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/idmint/idmint/doctor"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/integration_test/findings"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

// Settings of a whole server are found while they are wrong, and not before nor after. Package
// stores has those of a database and of a user.
func TestDoctorMariaDBSettings(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB, "--log-bin=binlog", "--sync-binlog=1",
		"--server-id=7")
	admin := dbtest.Open(t, migrate(t, server.DSN))
	dbtest.Exec(t, admin, "CREATE USER app@'%' IDENTIFIED BY 'app'",
		"GRANT SELECT, INSERT, UPDATE ON idmint.* TO app@'%'")
	app := as(t, server.DSN, "app")
	unneeded := map[string]string{"rights": "note: the role app@% does not need"}
	findings.SQL(t, "well", app, unneeded)
	for _, c := range []struct{ setting, was, code, text string }{
		{
			"innodb_flush_log_at_trx_commit = 2", "1", "mysql.flush_log",
			"finding: innodb_flush_log_at_trx_commit is 2",
		},
		{"sync_binlog = 0", "1", "mysql.sync_binlog", "finding: sync_binlog is 0"},
		{"sync_binlog = 100", "1", "mysql.sync_binlog", "finding: sync_binlog is 100"},
		{
			"innodb_doublewrite = OFF", "ON", "mysql.doublewrite",
			"finding: innodb_doublewrite is OFF",
		},
	} {
		name, _, _ := strings.Cut(c.setting, " ")
		dbtest.Exec(t, admin, "SET GLOBAL "+c.setting)
		findings.SQL(t, c.setting, app, findings.With(unneeded, c.code, c.text))
		dbtest.Exec(t, admin, "SET GLOBAL "+name+" = "+c.was)
	}
	findings.SQL(t, "in the end", app, unneeded)
	dbtest.Exec(t, admin, "SET GLOBAL read_only = 1") // root may write all the same
	findings.SQL(t, "read-only", server.DSN, map[string]string{
		"writable": "finding: read_only is ON", "rights": "note: the role root@% does not need",
	})
	dbtest.Exec(t, admin, "SET GLOBAL read_only = 0")
	id, err := doctor.Identity(ctx, admin, migrations.MySQL)
	if err != nil || id["server_id"] != "7" || id["gtid_domain_id"] != "0" ||
		id["database"] != "idmint" || len(id) != 3 {
		t.Errorf("%v, %v", id, err)
	}

	// What doctor leaves to the server, that refuses by itself.
	dbtest.Exec(t, admin, "SET GLOBAL binlog_format = 'STATEMENT'")
	_, err = logOf(t, openMySQL(t, server.DSN)).Start(ctx, storetest.Request("k"))
	if err == nil || !strings.Contains(err.Error(), "BINLOG_FORMAT = STATEMENT") {
		t.Errorf("with binlog_format STATEMENT: %v", err)
	}
}

// An asynchronous replica is noted, a semi-synchronous one passes.
func TestDoctorMariaDBReplicas(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB, "--log-bin=binlog", "--sync-binlog=1",
		"--server-id=7", "--rpl-semi-sync-master-enabled=ON")
	db := dbtest.Open(t, server.DSN)
	dbtest.Exec(t, db, "CREATE USER replica@'127.0.0.1' IDENTIFIED BY 'r'",
		"GRANT REPLICATION SLAVE ON *.* TO replica@'127.0.0.1'", "RESET MASTER")
	none := map[string]string{"schema": "finding: there is no launch log"}
	findings.SQL(t, "alone", server.DSN, none)
	// The replica is another server in the same container.
	const replica = "mariadb -uroot -S /tmp/r.sock -e "
	sh := func(command string) error {
		_, err := server.Exec(ctx, "sh", "-c", command)
		return err
	}
	if err := sh("mariadb-install-db --skip-test-db --auth-root-authentication-method=normal " +
		"--user=$(id -un) --datadir=/tmp/r >/dev/null && " +
		"setsid mariadbd --no-defaults --user=$(id -un) --datadir=/tmp/r --port=3307 " +
		"--socket=/tmp/r.sock --pid-file=/tmp/r.pid --server-id=8 --skip-slave-start " +
		">/tmp/r.log 2>&1 </dev/null &"); err != nil {
		t.Fatal(err)
	}
	for sh(replica+"'SELECT 1'") != nil { // it starts
	}
	if err := sh(replica + `"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=3306, ` +
		`MASTER_USER='replica', MASTER_PASSWORD='r', MASTER_SSL=0; START SLAVE"`); err != nil {
		t.Fatal(err)
	}
	status := func(name, value string) {
		t.Helper()
		for got := ""; got != value; time.Sleep(10 * time.Millisecond) {
			err := db.QueryRow("SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(&name, &got)
			if err != nil {
				t.Fatalf("%s is %s, %v", name, got, err)
			}
		}
	}
	status("Slaves_connected", "1")
	findings.SQL(t, "asynchronous", server.DSN, findings.With(none, "mysql.replicas",
		"note: 1 replicas are connected, and none is semi-synchronous"))
	err := sh(replica + "'STOP SLAVE; SET GLOBAL rpl_semi_sync_slave_enabled = 1; START SLAVE'")
	if err != nil {
		t.Fatal(err)
	}
	status("Rpl_semi_sync_master_clients", "1")
	findings.SQL(t, "semi-synchronous", server.DSN, none)
}

// A node of Galera is not certified, be it alone.
func TestDoctorGalera(t *testing.T) {
	server := dbtest.Run(t, databases.MariaDB, "--wsrep-on=ON",
		"--wsrep-provider=/usr/lib/galera/libgalera_smm.so", "--wsrep-cluster-address=gcomm://",
		"--binlog-format=ROW", "--innodb-autoinc-lock-mode=2")
	findings.SQL(t, "as a node", server.DSN, map[string]string{
		"schema": "finding: there is no launch log", "mysql.galera": "finding: wsrep_on is ON",
	})
}
